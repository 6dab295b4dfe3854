// Builds a filter from a namespace's schema: one row a condition, or the filter language as JSON.

import { append, button, h, replace, select } from "./dom.js";
import { parseExact } from "./exact.js";
import { plain } from "./format.js";
import { valuePicker } from "./picker.js";
import { T } from "./texts.js";

const SCALAR = ["$eq", "$neq", "$in", "$not_in"];
const ORDERED = ["$gte", "$lte", "$gt", "$lt"];
const PRESENCE = ["present", "missing"];
const LIST = ["$contains", "$contains_any", "$contains_all", "$not_contains_any"];
const MANY = new Set(["$in", "$not_in", "$contains_any", "$contains_all", "$not_contains_any"]);

/** The operators that an attribute of `type` takes, the most useful first. */
export function operatorsOf(type) {
  if (type.startsWith("[]")) return [...LIST, ...PRESENCE];
  if (type === "bool") return ["$eq", ...PRESENCE];
  if (type === "string") return ["$eq", "$neq", "$in", "$not_in", "$iglob", ...PRESENCE];
  if (type === "uuid") return [...SCALAR, ...PRESENCE];
  return [...(type === "datetime" ? ORDERED : ["$eq", ...ORDERED]), "$in", "$neq", ...PRESENCE];
}

/** A text as a value of `type`, or undefined when it is none. */
export function typed(type, raw) {
  const text = plain(raw).trim();
  const base = type.replace("[]", "");
  if (base === "int" || base === "uint") return /^-?(0|[1-9]\d*)$/.test(text) ? parseExact(text) : undefined;
  if (base === "float") return text !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined;
  if (base === "bool") return text === "true" ? true : text === "false" ? false : undefined;
  return text === "" ? undefined : text;
}

/** The attributes of a schema that filters may name. */
export const filterable = (schema) =>
  Object.entries(schema).filter(([name, { is_filterable: is }]) => is || name === "root_document_id");

function conditionOf(row, schema) {
  const { attribute, operator } = row;
  if (operator === "present") return { [attribute]: { $exists: true } };
  if (operator === "missing") return { [attribute]: { $exists: false } };
  const type = schema[attribute]?.type ?? "string";
  if (MANY.has(operator)) {
    const values = (row.value ?? []).map((value) => typed(type, value)).filter((value) => value !== undefined);
    return values.length > 0 ? { [attribute]: { [operator]: values } } : null;
  }
  const value = typed(type, row.value ?? "");
  if (value === undefined) return null;
  if (operator === "$eq") return { [attribute]: value };
  return { [attribute]: { [operator]: operator === "$iglob" && !/[*?[{]/.test(value) ? `*${value}*` : value } };
}

/** The rows as one filter, or null where they say nothing yet. */
export function filterOf(rows, schema) {
  const conditions = rows.map((row) => conditionOf(row, schema)).filter(Boolean);
  if (conditions.length === 0) return null;
  return conditions.length === 1 ? conditions[0] : { $and: conditions };
}

/**
 * The builder. `value()` gives the filter, null for none, and throws a `SyntaxError` for JSON that is none.
 */
export function filterBuilder({ namespace, schema, initial = null, onchange = () => {} }) {
  const attributes = filterable(schema);
  const rowsElement = h("div", { class: "filter-rows" });
  const jsonElement = h("textarea", {
    class: "code",
    rows: "4",
    spellcheck: "false",
    "aria-label": T.filterJson,
    placeholder: '{"year": {"$gte": 2020}}',
    oninput: () => onchange(),
  });
  const element = h("div", { class: "filters" });
  let rows = [];
  let asJson = initial !== null;
  if (asJson) jsonElement.value = JSON.stringify(initial, null, 2);

  function add() {
    const [name, { type }] = attributes[0];
    rows.push({ attribute: name, operator: operatorsOf(type)[0], value: null });
    show();
    rowsElement.lastElementChild?.querySelector("select")?.focus();
  }

  function rowElement(row) {
    const type = schema[row.attribute]?.type ?? "string";
    const change = () => {
      show();
      onchange();
    };
    const names = attributes.map(([name]) => [name, name]);
    const attribute = select(null, names, row.attribute, (name) => {
      Object.assign(row, { attribute: name, operator: operatorsOf(schema[name].type)[0], value: null });
      change();
    });
    attribute.setAttribute("aria-label", T.attribute);
    const words = operatorsOf(type).map((operator) => [operator, T.operator(operator, type)]);
    const operator = select(null, words, row.operator, (chosen) => {
      if (MANY.has(chosen) !== MANY.has(row.operator)) row.value = null;
      row.operator = chosen;
      change();
    });
    operator.setAttribute("aria-label", T.condition);
    const remove = button(T.removeFilter, () => {
      rows = rows.filter((other) => other !== row);
      change();
    }, { mark: "close", quiet: true, kind: "plain" });
    return h("div", { class: "filter-row" }, attribute, operator, valueElement(row, type), remove);
  }

  function valueElement(row, type) {
    if (PRESENCE.includes(row.operator)) return h("span", { class: "picker" });
    const set = (value) => {
      row.value = value;
      onchange();
    };
    const base = type.replace("[]", "");
    if (base === "bool" && !MANY.has(row.operator)) {
      row.value ??= "true";
      const element = select(null, [["true", T.yes], ["false", T.no]], row.value, set);
      element.setAttribute("aria-label", T.value);
      return element;
    }
    const label = T.valueOf(row.attribute);
    const multiple = MANY.has(row.operator);
    return valuePicker({ namespace, attribute: row.attribute, label, chosen: row.value, multiple, onchange: set });
  }

  function show() {
    replace(rowsElement, rows.map(rowElement));
    const canBuild = attributes.length > 0;
    replace(
      element,
      asJson ? jsonElement : rowsElement,
      !asJson && !canBuild && h("p", { class: "hint" }, T.nothingFilterable),
      h(
        "div",
        { class: "row" },
        !asJson && canBuild && button(T.addFilter, add, { mark: "plus", kind: "plain" }),
        button(asJson ? T.filterByRows : T.filterByJson, toggle, { kind: "plain" }),
      ),
    );
  }

  function toggle() {
    if (!asJson) {
      const built = filterOf(rows, schema);
      jsonElement.value = built ? JSON.stringify(built, null, 2) : "";
    }
    asJson = !asJson;
    show();
    onchange();
  }

  function value() {
    if (!asJson) return filterOf(rows, schema);
    return jsonElement.value.trim() ? parseExact(jsonElement.value) : null;
  }

  show();
  return { element: append(element), value, isEmpty: () => !asJson && rows.length === 0 };
}
