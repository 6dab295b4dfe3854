// One document at the side of the page: to read with its excerpts marked, to edit as JSON, to delete.

import * as client from "./client.js";
import { announce, append, button, errorNote, h, openDialog, replace, toast, uniqueId } from "./dom.js";
import { parseExact } from "./exact.js";
import { plain, titleOf } from "./format.js";
import { marked } from "./highlight.js";
import { T } from "./texts.js";

const SHORT = 200;

/**
 * Show a document. Resolves when it is closed: with "saved" or "deleted" where that happened, else null.
 *
 * @param excerpts texts to mark.
 * @param sought the marked text that holds this is scrolled to, else the first.
 * @param canWrite whether to offer editing and deleting.
 */
export function openDocument({ namespace, id, excerpts = [], sought = null, canWrite = false, schema = {} }) {
  return new Promise((resolve) => {
    const headingId = uniqueId("document");
    const heading = h("h2", { id: headingId, dir: "auto", tabindex: "-1" }, id);
    const tools = h("div", { class: "row" });
    const body = h("div", { class: "drawer-body", tabindex: "0", role: "region", "aria-labelledby": headingId });
    const dialog = h("dialog", { class: "drawer", "aria-labelledby": headingId });
    let outcome = null;
    let marks = [];
    let current = 0;

    const place = h("span", { class: "hint", "aria-live": "polite" });
    const go = (step) => {
      if (marks.length === 0) return;
      marks[current].classList.remove("current");
      current = (current + step + marks.length) % marks.length;
      marks[current].classList.add("current");
      const block = marks[current].offsetHeight > body.clientHeight / 2 ? "start" : "center";
      marks[current].scrollIntoView({ block, behavior: step === 0 || reducedMotion() ? "instant" : "smooth" });
      place.textContent = T.excerptOf(current + 1, marks.length);
    };

    function read(found) {
      const title = titleOf(found, id);
      heading.textContent = title;
      const short = h("dl", { class: "facts" });
      const long = [];
      for (const [name, value] of Object.entries(found)) {
        const text = plain(value);
        if (name === "id" || text === title || text === "") continue;
        const isLong = text.length > SHORT || text.includes("\n");
        const content = h(isLong ? "div" : "dd", { dir: "auto", class: isLong ? "text" : "" }, marked(text, excerpts));
        if (isLong) long.push(h("section", {}, h("h3", {}, h("bdi", {}, name)), content));
        else append(short, h("div", {}, h("dt", {}, h("bdi", {}, name)), content));
      }
      replace(body, short.hasChildNodes() && short, long);
      marks = [...body.querySelectorAll("mark")];
      replace(
        tools,
        marks.length > 0 && [
          button(T.previousExcerpt, () => go(-1), { mark: "up", quiet: true, kind: "plain" }),
          button(T.nextExcerpt, () => go(1), { mark: "down", quiet: true, kind: "plain" }),
          place,
        ],
        h("span", { class: "spacer" }),
        canWrite && [
          button(T.editJson, () => edit(found), { kind: "plain" }),
          button(T.remove, () => erase(), { kind: "plain danger", mark: "trash" }),
        ],
      );
      current = Math.max(0, marks.findIndex((mark) => sought && mark.textContent.includes(sought)));
      requestAnimationFrame(() => go(0));
    }

    function edit(found) {
      const text = h("textarea", { class: "code", spellcheck: "false", "aria-label": T.documentJson, value: JSON.stringify(found, null, 2) });
      const problem = h("div", {});
      const save = button(T.save, async () => {
        replace(problem);
        let changed;
        try {
          changed = parseExact(text.value);
        } catch (error) {
          replace(problem, errorNote({ message: T.notJson(error.message) }));
          return;
        }
        if (changed?.id !== id) {
          replace(problem, errorNote({ message: T.idChanged(id) }));
          return;
        }
        save.disabled = true;
        try {
          await client.upload(namespace, { documents: [changed] });
          outcome = "saved";
          toast(T.saved);
          read(changed);
        } catch (error) {
          replace(problem, errorNote(error));
        } finally {
          save.disabled = false;
        }
      }, { kind: "primary" });
      replace(tools, button(T.cancel, () => read(found), { kind: "plain" }), h("span", { class: "spacer" }), save);
      replace(body, problem, text);
      text.focus();
    }

    async function erase() {
      const how = await openDialog(T.deleteDocument, (close) => [
        h("p", {}, T.deleteWhat(id)),
        h(
          "div",
          { class: "row end" },
          button(T.cancel, () => close(), { kind: "plain" }),
          button(T.deleteWithChildren, () => close("root_document_ids"), { kind: "danger" }),
          button(T.deleteOne, () => close("document_ids"), { kind: "danger" }),
        ),
      ]);
      if (!how) return;
      try {
        const { documents_deleted: count } = await client.remove(namespace, { [how]: [id] });
        outcome = "deleted";
        toast(T.deleted(count));
        dialog.close();
      } catch (error) {
        body.prepend(errorNote(error));
      }
    }

    append(
      dialog,
      h(
        "header",
        {},
        h("div", { class: "row" }, heading, button(T.close, () => dialog.close(), { mark: "close", quiet: true, kind: "plain" })),
        h("p", { class: "hint" }, h("code", {}, id)),
        tools,
      ),
      body,
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(outcome);
    });
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    document.body.append(dialog);
    replace(body, h("p", { class: "hint" }, T.loading));
    dialog.showModal();
    client.documentOf(namespace, id).then(read, (error) => {
      replace(body, errorNote(error));
      announce(error.message);
    });
  });
}

function reducedMotion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
