// The namespaces of the company, and the choice of one for the pages that show one.

import * as client from "./client.js";
import { button, errorNote, field, h, openDialog, replace, select, toast } from "./dom.js";
import { bytes, moment, number } from "./format.js";
import { may } from "./rights.js";
import { lastNamespace } from "./session.js";
import { T } from "./texts.js";

/** A page about one namespace: its heading, a list to choose from, and what `show(place, namespace)` puts below. */
export async function namespaceChoice(panel, title, query, show) {
  const spaces = await client.namespaces();
  const heading = h("h1", { tabindex: "-1" }, title);
  if (spaces.length === 0) {
    replace(panel, heading, h("p", { class: "empty" }, T.noNamespaces));
    return;
  }
  const named = (name) => spaces.find((space) => space.name === name);
  const chosen = named(query.get("ns")) ?? named(lastNamespace.get()) ?? spaces[0];
  const place = h("div", { class: "stack" });
  const choose = (name) => {
    lastNamespace.set(name);
    show(place, named(name));
  };
  const names = spaces.map(({ name }) => [name, name]);
  replace(panel, heading, field(T.namespace, (id) => select(id, names, chosen.name, choose)), place);
  choose(chosen.name);
}

export async function namespacesPage(panel) {
  const [spaces, sizes] = await Promise.all([client.namespaces(), client.sizes()]);
  const size = new Map(sizes.results.map((entry) => [entry.name, entry]));
  const rows = spaces.map((space) => row(space, size.get(space.name)));
  const head = [T.name, T.documentsTitle, T.passages, T.size, T.updated, ""].map((name) =>
    name ? h("th", { scope: "col" }, name) : h("td", {}),
  );
  replace(
    panel,
    h(
      "div",
      { class: "row" },
      h("h1", { tabindex: "-1" }, T.namespacesTitle),
      h("span", { class: "spacer" }),
      may("write") && button(T.newNamespace, make, { kind: "primary", mark: "plus" }),
    ),
    spaces.length === 0
      ? h("p", { class: "empty" }, T.noNamespaces)
      : h(
          "div",
          { class: "scroll", tabindex: "0", role: "region", "aria-label": T.namespacesTitle },
          h("table", { class: "wide" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows)),
        ),
    spaces.length > 0 && h("p", { class: "hint" }, T.total(sizes.document_count), " · ", bytes(sizes.storage_bytes)),
  );

  function row(space, measured) {
    const to = (page) => `#/${page}?ns=${encodeURIComponent(space.name)}`;
    const isBroken = sizes.unavailable?.includes(space.name);
    return h(
      "tr",
      {},
      h(
        "th",
        { scope: "row" },
        h("a", { href: to("manage/documents") }, space.name),
        isBroken && h("span", { class: "tag" }, T.unavailable),
      ),
      h("td", { class: "number" }, measured ? number(measured.document_count) : "–"),
      h("td", { class: "number" }, measured ? number(measured.passage_count) : "–"),
      h("td", { class: "number" }, measured ? bytes(measured.storage_bytes) : "–"),
      h("td", {}, moment(space.updated_at)),
      h(
        "td",
        { class: "actions" },
        h("a", { class: "button plain", href: to("ask"), "aria-label": T.askOf(space.name) }, T.ask),
        may("write") && button(T.drop, () => drop(space), { kind: "plain danger", "aria-label": T.dropOf(space.name) }),
      ),
    );
  }

  async function make() {
    const name = await openDialog(T.newNamespace, (close) => {
      const input = h("input", { type: "text", required: true, pattern: "[A-Za-z0-9_.\\-]{1,128}", maxlength: "128", spellcheck: "false", autocomplete: "off" });
      return h(
        "form",
        {
          class: "stack",
          onsubmit: (event) => {
            event.preventDefault();
            close(input.value);
          },
        },
        h("p", {}, T.newNamespaceHow),
        field(T.name, (id) => Object.assign(input, { id }), { hint: T.nameRule }),
        h("div", { class: "row end" }, button(T.cancel, () => close(), { kind: "plain" }), h("button", { class: "button primary", type: "submit" }, T.goOn)),
      );
    });
    if (name) location.hash = `#/manage/upload?ns=${encodeURIComponent(name)}`;
  }

  async function drop(space) {
    const sure = await openDialog(T.dropTitle, (close) => {
      const input = h("input", { type: "text", spellcheck: "false", autocomplete: "off" });
      const confirm = h("button", { class: "button danger", type: "submit", disabled: true }, T.drop);
      input.addEventListener("input", () => {
        confirm.disabled = input.value !== space.name;
      });
      return h(
        "form",
        {
          class: "stack",
          onsubmit: (event) => {
            event.preventDefault();
            if (input.value === space.name) close(true);
          },
        },
        h("p", {}, T.dropWhat(space.name)),
        field(T.typeName, (id) => Object.assign(input, { id })),
        h("div", { class: "row end" }, button(T.cancel, () => close(), { kind: "plain" }), confirm),
      );
    });
    if (!sure) return;
    try {
      await client.dropNamespace(space.name);
      toast(T.dropped(space.name));
      await namespacesPage(panel);
    } catch (error) {
      panel.prepend(errorNote(error));
    }
  }
}
