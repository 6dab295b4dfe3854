// The documents of a namespace: pages of them, narrowed by filters; one opens at the side.

import * as client from "./client.js";
import { button, errorNote, h, replace } from "./dom.js";
import { openDocument } from "./drawer.js";
import { filterBuilder } from "./filters.js";
import { dated, plain, titleOf } from "./format.js";
import { namespaceChoice } from "./namespaces.js";
import { may } from "./rights.js";
import { T } from "./texts.js";

const PAGE = 50;
const MOST_COLUMNS = 4;
const SHORT = 60;

export async function documentsPage(panel, query) {
  await namespaceChoice(panel, T.documentsTitle, query, showSpace);
}

function showSpace(place, space) {
  const schema = space.attributes_schema;
  const table = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": T.documentsTitle });
  const note = h("p", { class: "hint", role: "status" });
  // The cursors of the pages so far: cursors lead forward only, so going back takes the one before.
  let cursors = [null];
  let following = null;
  let filters = null;
  const previous = button(T.previousPage, () => go(-1), { disabled: true });
  const next = button(T.nextPage, () => go(1), { disabled: true });
  const builder = filterBuilder({ namespace: space.name, schema });
  const apply = button(T.applyFilters, () => {
    try {
      filters = builder.value();
    } catch (error) {
      replace(table, errorNote({ message: T.notJson(error.message) }));
      return;
    }
    cursors = [null];
    load();
  });

  function go(step) {
    if (step > 0) cursors.push(following);
    else cursors.pop();
    load();
  }

  async function load() {
    previous.disabled = true;
    next.disabled = true;
    note.textContent = T.loading;
    try {
      const body = { limit: PAGE };
      if (filters) body.filters = filters;
      if (cursors.at(-1)) body.cursor = cursors.at(-1);
      const page = await client.documents(space.name, body);
      following = page.next_cursor;
      show(page.documents);
      const first = (cursors.length - 1) * PAGE + 1;
      note.textContent = page.documents.length > 0 ? T.range(first, first + page.documents.length - 1) : "";
      previous.disabled = cursors.length === 1;
      next.disabled = !following;
    } catch (error) {
      note.textContent = "";
      replace(table, errorNote(error));
    }
  }

  function show(documents) {
    if (documents.length === 0) {
      replace(table, h("p", { class: "empty" }, filters ? T.noMatch : T.noDocuments));
      return;
    }
    const names = columns(documents, schema);
    const head = [T.document, ...names].map((name) => h("th", { scope: "col" }, h("bdi", {}, name)));
    replace(table, h("table", { class: "wide" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, documents.map((document) => row(document, names)))));
  }

  function row(document, names) {
    const title = titleOf(document, document.id);
    const open = h("button", { type: "button", class: "textual", dir: "auto", onclick: () => show(document.id) }, title);
    async function show(id) {
      const outcome = await openDocument({ namespace: space.name, id, canWrite: may("write"), schema });
      if (outcome) load();
      else open.focus();
    }
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, open, title !== document.id && h("div", { class: "hint" }, h("code", {}, document.id))),
      names.map((name) => h("td", { dir: "auto" }, short(plain(document[name])))),
    );
  }

  replace(
    place,
    h("details", { class: "more" }, h("summary", {}, T.filters), builder.element, h("div", { class: "row" }, apply)),
    table,
    h("div", { class: "row" }, previous, next, note),
  );
  load();
}

/** The attributes worth a column: those that filters name first, without titles and long texts. */
function columns(documents, schema) {
  const names = new Set([
    ...Object.keys(schema).filter((name) => schema[name].is_filterable),
    ...documents.flatMap((document) => Object.keys(document)),
  ]);
  const date = dated(documents[0], schema)?.[0];
  const isShort = (name) => documents.every((document) => plain(document[name]).length <= SHORT);
  const isTitle = (name) => documents.every((document) => titleOf(document, null) === document[name]);
  const found = [...names].filter((name) => name !== "id" && isShort(name) && !isTitle(name));
  const first = found.filter((name) => name === date);
  return [...first, ...found.filter((name) => name !== date)].slice(0, MOST_COLUMNS);
}

const short = (text) => (text.length > SHORT ? `${text.slice(0, SHORT)}…` : text);

