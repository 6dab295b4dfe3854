// The page that asks: a question with its background and filters, then a conversation.

import * as client from "./client.js";
import { announce, button, errorNote, field, h, replace, select } from "./dom.js";
import { filterBuilder } from "./filters.js";
import { bytes } from "./format.js";
import { lastNamespace, questions } from "./session.js";
import { T } from "./texts.js";
import { makeTurn } from "./turn.js";

/** A link to a question; everything stands behind the `#`, which browsers do not send to servers. Without the key. */
export function linkTo({ namespace, objective, context, filters }) {
  const query = new URLSearchParams({ ns: namespace, q: objective });
  if (context && context !== objective) query.set("c", context);
  if (filters) query.set("f", JSON.stringify(filters));
  return `${location.origin}${location.pathname}#/ask?${query}`;
}

function given(query) {
  let filters = null;
  try {
    filters = JSON.parse(query.get("f") ?? "null");
  } catch {
    // A link that was cut short still brings its question.
  }
  return { namespace: query.get("ns"), objective: query.get("q") ?? "", context: query.get("c") ?? "", filters };
}

let running = null;

/** End what still runs when the reader goes to another page. */
export function leaveAsk() {
  running?.stop();
  running = null;
}

export async function askPage(main, query) {
  replace(main, h("div", { class: "start" }, h("h1", { tabindex: "-1" }, T.askTitle), h("p", { class: "hint" }, T.loading)));
  let spaces;
  try {
    spaces = await client.namespaces();
  } catch (error) {
    replace(main, h("div", { class: "start" }, h("h1", { tabindex: "-1" }, T.askTitle), errorNote(error)));
    return;
  }
  if (spaces.length === 0) {
    replace(
      main,
      h(
        "div",
        { class: "start" },
        h("h1", { tabindex: "-1" }, T.askTitle),
        h("p", { class: "lead" }, T.noNamespaces),
        h("a", { class: "button primary", href: "#/manage/upload" }, T.uploadFirst),
      ),
    );
    return;
  }
  startForm(main, spaces, given(query));
}

function startForm(main, spaces, asked) {
  const named = (name) => spaces.find((space) => space.name === name);
  let space = named(asked.namespace) ?? named(lastNamespace.get()) ?? spaces[0];
  let builder = null;
  const problem = h("div", {});
  const about = h("p", { class: "hint about", "aria-live": "polite" });
  const filtersPlace = h("div", {});
  const objective = questionField(T.objectivePlaceholder, asked.objective, () => submit());
  objective.id = "objective";
  objective.setAttribute("aria-label", T.objective);
  const context = h("textarea", { rows: "3", maxlength: "50000", dir: "auto", value: asked.context });

  function choose(name, filters = null) {
    space = named(name);
    lastNamespace.set(name);
    builder = filterBuilder({ namespace: name, schema: space.attributes_schema, initial: filters });
    replace(filtersPlace, builder.element);
    describe();
  }

  async function describe() {
    const chosen = space;
    replace(about, T.loading);
    try {
      const { results } = await client.sizes();
      if (chosen !== space) return;
      const size = results.find((other) => other.name === space.name);
      replace(about, aboutSpace(space, size));
    } catch {
      replace(about, aboutSpace(space, null));
    }
  }

  function submit() {
    replace(problem);
    if (!objective.value.trim()) {
      objective.focus();
      return;
    }
    let filters;
    try {
      filters = builder.value();
    } catch (error) {
      replace(problem, errorNote({ message: T.notJson(error.message) }));
      return;
    }
    const question = {
      namespace: space.name,
      objective: objective.value.trim(),
      context: context.value.trim() || objective.value.trim(),
      filters,
    };
    questions.add({ ...question, at: new Date().toISOString() });
    conversation(main, space, question);
  }

  const namespaceField = field(T.namespace, (id) => select(id, spaces.map(({ name }) => [name, name]), space.name, choose));
  const hasMore = Boolean(asked.context || asked.filters);
  replace(
    main,
    h(
      "div",
      { class: "start" },
      h("h1", { tabindex: "-1" }, T.askTitle),
      h(
        "form",
        {
          class: "composer",
          onsubmit: (event) => {
            event.preventDefault();
            submit();
          },
        },
        objective,
        h("div", { class: "row" }, namespaceField, h("span", { class: "spacer" }), h("button", { class: "button primary", type: "submit" }, T.ask)),
      ),
      about,
      problem,
      h(
        "details",
        { class: "more", open: hasMore },
        h("summary", {}, T.more),
        field(T.context, (id) => Object.assign(context, { id }), { hint: T.contextHint, wide: true }),
        h("h2", { class: "small" }, T.filters),
        filtersPlace,
      ),
      earlier(main, spaces),
    ),
  );
  choose(space.name, asked.filters);
  objective.focus();
  grow(objective);
}

function aboutSpace(space, size) {
  const names = Object.entries(space.attributes_schema);
  const searched = names.filter(([, { is_searchable: is }]) => is).map(([name]) => name);
  return [
    size && `${T.documents(size.document_count)} · ${bytes(size.storage_bytes)} · `,
    searched.length > 0 ? T.searches(searched.slice(0, 5).join(", ") + (searched.length > 5 ? ", …" : "")) : T.searchesAll,
    " · ",
    h("a", { href: `#/manage/schema?ns=${encodeURIComponent(space.name)}` }, T.attributesOf(names.length)),
  ];
}

function earlier(main, spaces) {
  const asked = questions.all().filter((question) => spaces.some(({ name }) => name === question.namespace));
  if (asked.length === 0) return null;
  const section = h(
    "section",
    { class: "earlier" },
    h(
      "div",
      { class: "row" },
      h("h2", { class: "small" }, T.earlier),
      h("span", { class: "spacer" }),
      button(T.forget, () => {
        questions.clear();
        section.remove();
        document.getElementById("objective")?.focus();
      }, { kind: "plain" }),
    ),
    h(
      "ul",
      {},
      asked.slice(0, 12).map((question) =>
        h(
          "li",
          {},
          h("a", { href: linkTo(question).split(location.pathname)[1], dir: "auto" }, question.objective),
          h("span", { class: "hint" }, question.namespace),
        ),
      ),
    ),
  );
  return section;
}

function conversation(main, space, question) {
  const thread = h("div", { class: "thread" });
  const message = questionField(T.followUpPlaceholder, "", () => follow(message.value));
  message.setAttribute("aria-label", T.followUp);
  message.maxLength = 2000;
  const send = button(T.send, () => follow(message.value), { mark: "send", quiet: true, kind: "primary round" });
  const stop = button(T.stop, () => current?.stop(), { mark: "stop", quiet: true, kind: "primary round", hidden: true });
  const composer = h("div", { class: "follow" }, message, send, stop);
  let sessionId = null;
  let current = null;

  replace(
    main,
    h(
      "div",
      { class: "conversation" },
      h(
        "div",
        { class: "row scope" },
        h("h1", { class: "off-screen", tabindex: "-1" }, T.conversation),
        h("span", { class: "hint" }, T.askedOf, " ", h("strong", {}, h("bdi", {}, space.name)), question.filters && ` · ${T.filtered}`),
        h("span", { class: "spacer" }),
        h("a", { class: "button plain", href: "#/ask", onclick: (event) => again(event) }, T.newQuestion),
      ),
      thread,
      composer,
    ),
  );

  function again(event) {
    leaveAsk();
    // The address may be this very one; then the browser reports no change of it.
    if (location.hash === "#/ask" || location.hash === "") {
      event.preventDefault();
      askPage(main, new URLSearchParams());
    }
  }

  async function turn(text) {
    const body = sessionId
      ? { message: text, include_attributes: true }
      : { objective: text, context: question.context, filters: question.filters ?? undefined, include_attributes: true, multiturn: true };
    const made = makeTurn({
      question: text,
      ask: { namespace: space.name, sessionId, body },
      schema: space.attributes_schema,
      link: sessionId ? null : linkTo({ ...question, objective: text }),
      reply: follow,
    });
    current = made;
    running = made;
    thread.append(made.element);
    send.hidden = true;
    stop.hidden = false;
    announce(T.searching);
    if (thread.children.length > 1) made.element.scrollIntoView({ block: "start" });
    const response = await made.run();
    if (response && response.status !== "failed") sessionId = response.session_id;
    else sessionId = null;
    if (current === made) {
      current = null;
      send.hidden = false;
      stop.hidden = true;
    }
  }

  function follow(text) {
    const trimmed = text.trim();
    if (!trimmed || current) return;
    message.value = "";
    grow(message);
    turn(trimmed);
  }

  composer.addEventListener("keydown", (event) => {
    if (event.key === "Escape") current?.stop();
  });
  message.focus({ preventScroll: true });
  turn(question.objective);
}

/** A field that grows with its text; Enter sends it, with Shift it makes a new line. */
function questionField(placeholder, value, onenter) {
  const element = h("textarea", { class: "question", rows: "1", maxlength: "2000", dir: "auto", placeholder, value });
  element.addEventListener("input", () => grow(element));
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    onenter();
  });
  return element;
}

function grow(element) {
  element.style.height = "auto";
  element.style.height = `${Math.min(element.scrollHeight, 240)}px`;
}

