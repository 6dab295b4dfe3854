// A field that suggests an attribute's values with their counts while one types (ARIA: combobox with a listbox).

import * as client from "./client.js";
import { h, replace, uniqueId } from "./dom.js";
import { number, plain } from "./format.js";
import { T } from "./texts.js";

const PAUSE = 120;

/**
 * @param multiple chosen values become tokens, and `onchange` gets the list of them; else it gets the text.
 */
export function valuePicker({ namespace, attribute, label, chosen, multiple, onchange }) {
  const listId = uniqueId("values");
  const tokens = h("span", { class: "tokens" });
  const list = h("ul", { id: listId, role: "listbox", class: "suggestions", "aria-label": label, hidden: true });
  const input = h("input", {
    type: "text",
    role: "combobox",
    autocomplete: "off",
    spellcheck: "false",
    dir: "auto",
    "aria-label": label,
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": listId,
    placeholder: T.value,
    value: multiple ? "" : (chosen ?? ""),
  });
  let held = multiple ? [...(chosen ?? [])] : null;
  let options = [];
  let active = -1;
  let timer = 0;
  let asking = null;

  function tell() {
    onchange(multiple ? held : input.value);
  }

  function showTokens() {
    if (!multiple) return;
    replace(
      tokens,
      held.map((value) =>
        h(
          "button",
          {
            type: "button",
            class: "token",
            "aria-label": T.removeValue(plain(value)),
            onclick: () => {
              held = held.filter((other) => other !== value);
              showTokens();
              tell();
              input.focus();
            },
          },
          h("bdi", {}, plain(value)),
          " ×",
        ),
      ),
    );
  }

  function close() {
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function choose(value) {
    if (multiple) {
      if (!held.includes(value)) held.push(value);
      input.value = "";
      showTokens();
    } else {
      input.value = plain(value);
    }
    close();
    tell();
  }

  function highlight(next) {
    active = next;
    options.forEach((option, index) => option.setAttribute("aria-selected", String(index === active)));
    if (active < 0) return;
    input.setAttribute("aria-activedescendant", options[active].id);
    options[active].scrollIntoView({ block: "nearest" });
  }

  async function suggest() {
    asking?.abort();
    asking = new AbortController();
    let found;
    try {
      found = await client.values(namespace, attribute, input.value.trim(), asking.signal);
    } catch {
      // A field without suggestions still takes what is typed.
      return;
    }
    if (document.activeElement !== input) return;
    options = found
      .filter(({ value }) => !multiple || !held.includes(value))
      .map(({ value, document_count: count }) =>
        h(
          "li",
          {
            role: "option",
            id: uniqueId("value"),
            "aria-selected": "false",
            // mousedown: the field would lose the focus before a click.
            onmousedown: (event) => {
              event.preventDefault();
              choose(value);
            },
          },
          h("bdi", {}, plain(value)),
          h("span", { class: "count" }, number(count)),
        ),
      );
    replace(list, options);
    list.hidden = options.length === 0;
    input.setAttribute("aria-expanded", String(options.length > 0));
    active = -1;
  }

  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(suggest, PAUSE);
  };
  input.addEventListener("input", () => {
    if (!multiple) tell();
    soon();
  });
  input.addEventListener("focus", soon);
  input.addEventListener("blur", () => {
    clearTimeout(timer);
    close();
    if (multiple && input.value.trim()) choose(input.value.trim());
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) suggest();
      else highlight((active + (event.key === "ArrowDown" ? 1 : -1) + options.length) % options.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (active >= 0) options[active].dispatchEvent(new MouseEvent("mousedown", { cancelable: true }));
      else if (multiple && input.value.trim()) choose(input.value.trim());
      else close();
    } else if (event.key === "Escape" && !list.hidden) {
      event.stopPropagation();
      close();
    } else if (event.key === "Backspace" && multiple && !input.value && held.length > 0) {
      held.pop();
      showTokens();
      tell();
    }
  });
  showTokens();
  return h("div", { class: "picker" }, tokens, input, list);
}
