// API keys of the company: made, shown once, revoked.

import * as client from "./client.js";
import { button, errorNote, field, h, openDialog, replace, toast } from "./dom.js";
import { moment } from "./format.js";
import { T } from "./texts.js";

const SCOPES = ["read", "search", "write", "admin"];

export async function keysPage(panel) {
  const keys = await client.keys();
  const head = [T.name, T.key, T.scopes, T.created, T.lastUsed, T.expires, ""].map((name) =>
    name ? h("th", { scope: "col" }, name) : h("td", {}),
  );
  replace(
    panel,
    h(
      "div",
      { class: "row" },
      h("h1", { tabindex: "-1" }, T.keysTitle),
      h("span", { class: "spacer" }),
      button(T.newKey, make, { kind: "primary", mark: "plus" }),
    ),
    keys.length === 0
      ? h("p", { class: "empty" }, T.noKeys)
      : h(
          "div",
          { class: "scroll", tabindex: "0", role: "region", "aria-label": T.keysTitle },
          h("table", { class: "wide" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, keys.map(row))),
        ),
  );

  function row(key) {
    return h(
      "tr",
      {},
      h("th", { scope: "row", dir: "auto" }, key.name),
      h("td", {}, h("code", {}, `${key.key_prefix}…${key.key_suffix}`)),
      h("td", {}, key.scopes.map((scope) => h("span", { class: "tag" }, scope))),
      h("td", {}, moment(key.created_at)),
      h("td", {}, moment(key.last_used_at) || T.never),
      h("td", {}, moment(key.expires_at) || T.never),
      h("td", { class: "actions" }, button(T.revoke, () => revoke(key), { kind: "plain danger", "aria-label": T.revokeOf(key.name) })),
    );
  }

  async function make() {
    const body = await openDialog(T.newKey, (close) => {
      const name = h("input", { type: "text", required: true, maxlength: "100", autocomplete: "off" });
      const expires = h("input", { type: "date" });
      const boxes = SCOPES.map((scope) => h("input", { type: "checkbox", value: scope, checked: scope !== "admin" }));
      return h(
        "form",
        {
          class: "stack",
          onsubmit: (event) => {
            event.preventDefault();
            const scopes = boxes.filter((box) => box.checked).map((box) => box.value);
            if (scopes.length === 0) return;
            close({ name: name.value, scopes, ...(expires.value ? { expires_at: `${expires.value}T00:00:00Z` } : {}) });
          },
        },
        field(T.name, (id) => Object.assign(name, { id })),
        h(
          "fieldset",
          {},
          h("legend", {}, T.scopes),
          boxes.map((box) => h("label", { class: "check" }, box, " ", h("strong", {}, box.value), " ", T.scope(box.value))),
        ),
        field(T.expires, (id) => Object.assign(expires, { id }), { hint: T.expiresHint }),
        h("div", { class: "row end" }, button(T.cancel, () => close(), { kind: "plain" }), h("button", { class: "button primary", type: "submit" }, T.newKey)),
      );
    });
    if (!body) return;
    try {
      const { raw_key: raw } = await client.createKey(body);
      await openDialog(T.keyMade, (close) => {
        const shown = h("input", { class: "code", type: "text", readonly: true, value: raw, "aria-label": T.key });
        return [
          h("p", {}, T.keyOnce),
          shown,
          h(
            "div",
            { class: "row end" },
            button(T.copy, async () => {
              shown.select();
              try {
                await navigator.clipboard.writeText(raw);
              } catch {
                document.execCommand("copy");
              }
              toast(T.copied);
            }, { mark: "copy" }),
            button(T.close, () => close(), { kind: "primary" }),
          ),
        ];
      });
      await keysPage(panel);
    } catch (error) {
      panel.prepend(errorNote(error));
    }
  }

  async function revoke(key) {
    const sure = await openDialog(T.revokeTitle, (close) => [
      h("p", {}, T.revokeWhat(key.name)),
      h("div", { class: "row end" }, button(T.cancel, () => close(), { kind: "plain" }), button(T.revoke, () => close(true), { kind: "danger" })),
    ]);
    if (!sure) return;
    try {
      await client.revokeKey(key.id);
      toast(T.revoked(key.name));
      await keysPage(panel);
    } catch (error) {
      panel.prepend(errorNote(error));
    }
  }
}
