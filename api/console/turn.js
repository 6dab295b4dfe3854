// One turn of a conversation: the question, the status while it is searched, the answer, its findings, what to copy.

import { answerText, asMarkdown } from "./answer.js";
import * as client from "./client.js";
import { announce, append, button, errorNote, h, replace, toast, uniqueId } from "./dom.js";
import { openDocument } from "./drawer.js";
import { dated, facts, seconds, titleOf } from "./format.js";
import { T } from "./texts.js";

const MOST_DETAILS = 6;

/**
 * A turn. `run()` searches and resolves with the response, or with null where there was none.
 *
 * @param ask `{namespace, sessionId, body}` as the client takes it.
 * @param reply called with the text of an option when a question back is answered by a click.
 */
export function makeTurn({ question, ask, schema, link, reply }) {
  const turnId = uniqueId("turn");
  const status = h("p", { class: "status", role: "status" });
  const steps = h("ol", { class: "steps", hidden: true });
  const answer = h("div", { class: "answer" });
  const findings = h("div", { class: "findings" });
  const heading = h("h2", { id: `${turnId}-question`, dir: "auto", tabindex: "-1" }, question);
  const element = h(
    "article",
    { class: "turn", "aria-labelledby": heading.id, "aria-busy": "true" },
    heading,
    h("div", { class: "progress" }, status, steps),
    h("div", { class: "columns" }, answer, findings),
  );
  const controller = new AbortController();

  async function run() {
    const begin = performance.now();
    replace(status, h("span", { class: "pulse" }), T.beginning);
    try {
      const response = await client.search(ask.namespace, {
        sessionId: ask.sessionId,
        body: ask.body,
        signal: controller.signal,
        onStatus: ({ message }) => {
          replace(status, h("span", { class: "pulse" }), h("span", { dir: "auto" }, message));
          steps.append(h("li", { dir: "auto" }, message));
        },
      });
      show(response, performance.now() - begin);
      return response;
    } catch (error) {
      if (error.name === "AbortError") {
        replace(status, T.stopped);
        announce(T.stopped);
      } else {
        replace(status, T.failed);
        replace(answer, errorNote(error));
      }
      return null;
    } finally {
      element.removeAttribute("aria-busy");
    }
  }

  function show(response, took) {
    const toggle = h(
      "button",
      {
        type: "button",
        class: "textual",
        "aria-expanded": "false",
        onclick: () => {
          steps.hidden = !steps.hidden;
          toggle.setAttribute("aria-expanded", String(!steps.hidden));
        },
      },
      T.steps(steps.children.length),
    );
    replace(
      status,
      `${T.examined(response.documents_scanned)} · ${T.queries(response.queries_executed)} · ${seconds(took)} · `,
      toggle,
    );
    if (response.status === "clarification_needed") showQuestion(response.clarification_needed);
    else if (response.status === "failed") replace(answer, errorNote(response.error ?? { message: T.failed }));
    else showAnswer(response);
  }

  function showQuestion({ question: asked, options }) {
    replace(
      answer,
      h("p", { class: "lead", dir: "auto" }, asked),
      h(
        "div",
        { class: "options", role: "group", "aria-label": T.options },
        (options ?? []).map((option) =>
          h("button", { type: "button", class: "option", dir: "auto", onclick: () => answerWith(option) }, option),
        ),
      ),
      h("p", { class: "hint" }, T.orWrite),
    );
    announce(`${asked} ${(options ?? []).join(", ")}`);
  }

  function answerWith(option) {
    for (const other of answer.querySelectorAll(".option")) other.disabled = true;
    reply(option);
  }

  function showAnswer(response) {
    const found = response.results;
    const cite = (index) => citation(index, found);
    replace(answer, h("div", { class: found.length ? "prose" : "prose unanswered" }, answerText(response.synthesis, cite)), exports(response));
    if (found.length === 0) {
      append(answer, h("p", { class: "hint" }, T.nothingFoundHint));
    } else {
      const listId = `${turnId}-findings`;
      replace(
        findings,
        h("h3", { id: listId }, T.findings(found.length)),
        h("ol", { class: "cards", "aria-labelledby": listId }, found.map((result, index) => card(result, index + 1))),
      );
    }
    announce(`${T.answered} ${response.synthesis.replace(/\[\d+\]/g, "")}`);
  }

  const cardId = (index) => `${turnId}-finding-${index}`;

  function citation(index, found) {
    const title = found[index - 1] ? titleOf(found[index - 1].attributes, found[index - 1].id) : "";
    const light = (on) => document.getElementById(cardId(index))?.classList.toggle("lit", on);
    return h(
      "button",
      {
        type: "button",
        class: "citation",
        "aria-label": T.citation(index, title),
        title,
        onmouseenter: () => light(true),
        onmouseleave: () => light(false),
        onfocus: () => light(true),
        onblur: () => light(false),
        onclick: () => {
          const target = document.getElementById(cardId(index));
          target?.scrollIntoView({ block: "nearest" });
          target?.focus({ preventScroll: true });
        },
      },
      String(index),
    );
  }

  function card(result, index) {
    const { attributes, id, excerpts } = result;
    const title = titleOf(attributes, id);
    const date = dated(attributes, schema);
    // Findings may begin with the title, which stands above already.
    const said = result.finding.startsWith(`${title}: `) ? result.finding.slice(title.length + 2) : result.finding;
    const open = () => openDocument({ namespace: ask.namespace, id, excerpts, sought: said, schema });
    // What an excerpt shows is not said again.
    const details = facts(attributes, schema).filter(([, value]) => !excerpts.some((excerpt) => value.includes(excerpt)));
    return h(
      "li",
      { id: cardId(index), class: "card", tabindex: "-1" },
      h(
        "header",
        {},
        h("span", { class: "badge", "aria-hidden": "true" }, String(index)),
        h("h4", { dir: "auto" }, title),
        date && h("time", { class: "hint", datetime: String(attributes[date[0]]) }, date[1]),
      ),
      !excerpts.some((excerpt) => excerpt.includes(said)) && h("p", { class: "finding", dir: "auto" }, said),
      excerpts.filter((excerpt) => excerpt !== title).map((excerpt) => h("blockquote", { dir: "auto" }, emphasised(excerpt, said))),
      details.length > 0 &&
        h("dl", { class: "chips" }, details.slice(0, MOST_DETAILS).map(([name, value]) => h("div", {}, h("dt", {}, h("bdi", {}, name)), h("dd", { dir: "auto" }, value)))),
      button(T.openDocument, open, { mark: "document", kind: "plain", "aria-label": T.openDocumentOf(title) }),
    );
  }

  function exports(response) {
    const copy = (text, said) => async () => {
      await writeClipboard(text());
      toast(said);
    };
    return h(
      "div",
      { class: "row exports" },
      button(T.copyMarkdown, copy(() => asMarkdown(question, response, schema), T.copied), { mark: "copy", kind: "plain" }),
      button(T.copyJson, copy(() => JSON.stringify(response, null, 2), T.copied), { mark: "copy", kind: "plain" }),
      link && button(T.copyLink, copy(() => link, T.copiedLink), { mark: "link", kind: "plain" }),
    );
  }

  return { element, heading, run, stop: () => controller.abort() };
}

/** An excerpt, the words of its finding in it brought forward. */
function emphasised(excerpt, said) {
  const start = said ? excerpt.indexOf(said) : -1;
  if (start < 0) return excerpt;
  return [excerpt.slice(0, start), h("strong", {}, said), excerpt.slice(start + said.length)];
}

async function writeClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without TLS browsers offer no clipboard; a selection that is copied works there too.
    const area = h("textarea", { class: "off-screen", value: text });
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

