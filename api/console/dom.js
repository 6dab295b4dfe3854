// Builds the page's elements. Text only ever becomes text nodes and attributes: nothing here reads a string as HTML.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element. Properties beginning with "on" are listeners; `class`, `data` and attributes are set as they are named;
 * true sets an empty attribute, false, null and undefined set none. Children: nodes, strings, lists; null is skipped.
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

export function append(parent, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : String(child));
  }
  return parent;
}

export function replace(parent, ...children) {
  parent.replaceChildren();
  return append(parent, ...children);
}

const ICONS = {
  search: "M11 4a7 7 0 1 0 4.2 12.6l4.6 4.6 1.4-1.4-4.6-4.6A7 7 0 0 0 11 4Zm0 2a5 5 0 1 1 0 10 5 5 0 0 1 0-10Z",
  send: "M12 4 5 11l1.4 1.4L11 7.8V20h2V7.8l4.6 4.6L19 11z",
  stop: "M7 7h10v10H7z",
  close: "m6.4 5 5.6 5.6L17.6 5 19 6.4 13.4 12l5.6 5.6-1.4 1.4-5.6-5.6L6.4 19 5 17.6l5.6-5.6L5 6.4z",
  plus: "M11 5h2v6h6v2h-6v6h-2v-6H5v-2h6z",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8Zm-1-6h2v4h-2zm0 16h2v4h-2zM2 11h4v2H2zm16 0h4v2h-4zM4.2 5.6l1.4-1.4 2.9 2.9-1.4 1.4zm11.3 11.3 1.4-1.4 2.9 2.9-1.4 1.4zM4.2 18.4l2.9-2.9 1.4 1.4-2.9 2.9zM15.5 7.1l2.9-2.9 1.4 1.4-2.9 2.9z",
  moon: "M13 3a9 9 0 1 0 8 12.9A8 8 0 0 1 13 3Z",
  copy: "M8 4h12v12h-4v4H4V8h4zm2 2v2h6v6h2V6zm-4 4v8h8v-8z",
  link: "M10.6 13.4a4 4 0 0 0 5.7 0l3-3a4 4 0 0 0-5.7-5.7l-1 1L14 7.1l1-1a2 2 0 0 1 2.9 2.9l-3 3a2 2 0 0 1-2.9 0zm2.8-2.8a4 4 0 0 0-5.7 0l-3 3a4 4 0 0 0 5.7 5.7l1-1L10 16.9l-1 1a2 2 0 0 1-2.9-2.9l3-3a2 2 0 0 1 2.9 0z",
  document: "M6 3h8l5 5v13H6zm2 2v14h9V9h-4V5zm2 7h5v2h-5zm0 3h5v2h-5z",
  up: "m12 8 7 7-1.4 1.4L12 10.8l-5.6 5.6L5 15z",
  down: "m12 16-7-7 1.4-1.4 5.6 5.6 5.6-5.6L19 9z",
  upload: "M11 16V7.8L7.4 11.4 6 10l6-6 6 6-1.4 1.4L13 7.8V16zM4 18h16v2H4z",
  trash: "M9 3h6v2h5v2H4V5h5zM6 8h12l-1 13H7zm2.2 2 .6 9h6.4l.6-9z",
  filter: "M4 6h16v2H4zm3 5h10v2H7zm3 5h4v2h-4z",
};

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** A button. `label` is its text; with `quiet` the text is for screen readers and tooltips only. */
export function button(label, onclick, { kind = "", mark = null, quiet = false, ...properties } = {}) {
  return h(
    "button",
    {
      type: "button",
      class: `button ${kind} ${quiet ? "quiet" : ""}`.trim(),
      onclick,
      "aria-label": quiet ? label : null,
      title: quiet ? label : null,
      ...properties,
    },
    mark && icon(mark),
    !quiet && h("span", {}, label),
  );
}

let count = 0;

export function uniqueId(prefix) {
  count += 1;
  return `${prefix}-${count}`;
}

/** A control under its label. `make` gets the id that the label points at. */
export function field(label, make, { hint = null, wide = false } = {}) {
  const id = uniqueId("field");
  const hintId = hint && `${id}-hint`;
  const control = make(id);
  if (hintId) control.setAttribute("aria-describedby", hintId);
  return h(
    "div",
    { class: wide ? "field wide" : "field" },
    h("label", { for: id }, label),
    control,
    hint && h("p", { class: "hint", id: hintId }, hint),
  );
}

export function select(id, options, chosen, onchange) {
  const element = h("select", { id, onchange: () => onchange?.(element.value) });
  for (const [value, label] of options) {
    element.append(h("option", { value, selected: value === chosen }, label));
  }
  if (chosen !== undefined) element.value = chosen;
  return element;
}

/** Say something to screen readers without showing it. */
export function announce(text) {
  const region = document.getElementById("announcer");
  region.textContent = "";
  // Two texts that are alike are read twice only when the region was empty between them.
  requestAnimationFrame(() => {
    region.textContent = text;
  });
}

/** A short message at the edge of the window, read by screen readers too. */
export function toast(text) {
  const note = h("div", { class: "toast" }, text);
  document.getElementById("toasts").append(note);
  announce(text);
  setTimeout(() => note.remove(), 4000);
}

/**
 * A modal dialog with a heading. `fill` gets a function that closes it and gives the content; Esc and the backdrop
 * close it too. The promise resolves with what it was closed with, or null.
 */
export function openDialog(title, fill, { kind = "" } = {}) {
  return new Promise((resolve) => {
    const headingId = uniqueId("heading");
    const dialog = h("dialog", { class: `dialog ${kind}`.trim(), "aria-labelledby": headingId });
    let result = null;
    const close = (value = null) => {
      result = value;
      dialog.close();
    };
    append(dialog, h("h2", { id: headingId, tabindex: "-1" }, title), fill(close));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(result);
    });
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) close();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

export function errorNote(error) {
  return h(
    "div",
    { class: "note bad", role: "alert" },
    h("p", {}, error.message),
    error.details?.length > 0 &&
      h("ul", {}, error.details.map((detail) => h("li", {}, h("code", {}, detail.path), " ", detail.message))),
    error.requestId && h("p", { class: "hint" }, error.code, " · ", error.requestId),
  );
}
