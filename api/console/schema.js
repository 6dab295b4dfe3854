// The attributes of a namespace with their types and flags; flags are switched here, attributes added.

import * as client from "./client.js";
import { button, errorNote, field, h, openDialog, replace, select, toast } from "./dom.js";
import { namespaceChoice } from "./namespaces.js";
import { may } from "./rights.js";
import { T } from "./texts.js";

const TYPES = ["string", "int", "uint", "float", "uuid", "datetime", "bool"];
const ALL_TYPES = [...TYPES, ...TYPES.map((type) => `[]${type}`), "json"];

const canSearch = (type) => type === "string" || type === "[]string";

export async function schemaPage(panel, query) {
  await namespaceChoice(panel, T.schemaTitle, query, showSpace);
}

function showSpace(place, space) {
  const problem = h("div", {});

  async function change(name, definition) {
    replace(problem);
    try {
      await client.upload(space.name, { documents: [], schema: { [name]: definition } });
      toast(T.changed(name));
    } catch (error) {
      replace(problem, errorNote(error));
    }
    showSpace(place, await client.namespace(space.name));
  }

  function flag(name, definition, which, label, possible) {
    const box = h("input", {
      type: "checkbox",
      checked: definition[which],
      disabled: !possible || !may("write"),
      "aria-label": `${label}: ${name}`,
      onchange: () => {
        box.disabled = true;
        change(name, { type: definition.type, [which]: box.checked });
      },
    });
    return h("td", {}, box);
  }

  const rows = Object.entries(space.attributes_schema).map(([name, definition]) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("bdi", {}, name)),
      h("td", {}, h("code", {}, definition.type), definition.inferred && h("span", { class: "tag" }, T.inferred)),
      flag(name, definition, "is_searchable", T.searchable, canSearch(definition.type)),
      flag(name, definition, "is_filterable", T.filterableFlag, definition.type !== "json" && name !== "root_document_id"),
    ),
  );
  const head = [T.attribute, T.type, T.searchable, T.filterableFlag].map((name) => h("th", { scope: "col" }, name));
  replace(
    place,
    problem,
    h("p", { class: "hint" }, T.schemaHint),
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": T.schemaTitle },
      h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows)),
    ),
    may("write") && h("div", { class: "row" }, button(T.addAttribute, add, { mark: "plus" })),
  );

  async function add() {
    const added = await openDialog(T.addAttribute, (close) => {
      const name = h("input", { type: "text", required: true, maxlength: "128", pattern: "[^$].*", spellcheck: "false", autocomplete: "off" });
      const searched = h("input", { type: "checkbox" });
      const filtered = h("input", { type: "checkbox" });
      let type = "string";
      const types = field(T.type, (id) =>
        select(id, ALL_TYPES.map((one) => [one, one]), type, (chosen) => {
          type = chosen;
          searched.disabled = !canSearch(type);
          filtered.disabled = type === "json";
        }),
      );
      return h(
        "form",
        {
          class: "stack",
          onsubmit: (event) => {
            event.preventDefault();
            close({
              name: name.value,
              definition: {
                type,
                is_searchable: searched.checked && canSearch(type),
                is_filterable: filtered.checked && type !== "json",
              },
            });
          },
        },
        field(T.name, (id) => Object.assign(name, { id })),
        types,
        h("label", { class: "check" }, searched, " ", T.searchableLong),
        h("label", { class: "check" }, filtered, " ", T.filterableLong),
        h("div", { class: "row end" }, button(T.cancel, () => close(), { kind: "plain" }), h("button", { class: "button primary", type: "submit" }, T.addAttribute)),
      );
    });
    if (added) change(added.name, added.definition);
  }
}
