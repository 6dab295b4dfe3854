// Upload of files: chosen or dropped, one after the other, with progress and a report of what was refused.

import * as client from "./client.js";
import { announce, append, button, errorNote, field, h, replace, uniqueId } from "./dom.js";
import { bytes, number } from "./format.js";
import { documentsOf, holdsDocuments, pathOf } from "./reading.js";
import { sendAll, sendFile } from "./sending.js";
import { lastNamespace } from "./session.js";
import { T } from "./texts.js";

const SHOWN = 200;
const NAME = "[A-Za-z0-9_.\\-]{1,128}";

export async function uploadPage(panel, query) {
  const spaces = await client.namespaces();
  const names = uniqueId("names");
  const target = h("input", {
    type: "text",
    list: names,
    required: true,
    pattern: NAME,
    maxlength: "128",
    spellcheck: "false",
    autocomplete: "off",
    value: query.get("ns") ?? lastNamespace.get() ?? "",
  });
  const fillIds = h("input", { type: "checkbox", checked: true });
  const list = h("ul", { class: "uploads" });
  const picker = h("input", { type: "file", multiple: true, class: "off-screen", tabindex: "-1", "aria-label": T.chooseFiles, onchange: () => take([...picker.files]) });
  let queue = Promise.resolve();

  function take(chosen) {
    picker.value = "";
    if (!target.reportValidity()) return;
    const namespace = target.value;
    lastNamespace.set(namespace);
    for (const file of chosen) {
      const job = makeJob(file, namespace, fillIds.checked);
      list.prepend(job.element);
      // One file after the other: the report stays readable, and the server has one upload of ours at a time.
      queue = queue.then(job.run);
    }
  }

  const zone = h(
    "div",
    {
      class: "drop",
      ondragover: (event) => {
        event.preventDefault();
        zone.classList.add("over");
      },
      ondragleave: () => zone.classList.remove("over"),
      ondrop: async (event) => {
        event.preventDefault();
        zone.classList.remove("over");
        take(await dropped(event.dataTransfer));
      },
    },
    h("p", { class: "lead" }, T.dropHere),
    button(T.chooseFiles, () => picker.click(), { kind: "primary", mark: "upload" }),
    picker,
    h("p", { class: "hint" }, T.kinds),
  );

  replace(
    panel,
    h("h1", { tabindex: "-1" }, T.upload),
    field(T.namespace, (id) => Object.assign(target, { id }), { hint: T.namespaceHint }),
    h("datalist", { id: names }, spaces.map(({ name }) => h("option", { value: name }))),
    h("label", { class: "check" }, fillIds, " ", T.fillIds),
    zone,
    list,
  );
}

/** The files of a drop, those in folders included. */
async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (entries.length === 0) return [...transfer.files];
  return (await Promise.all(entries.map(filesOf))).flat();
}

async function filesOf(entry) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [Object.assign(file, { pathBelow: entry.fullPath.replace(/^\//, "") })];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    // A folder is given in portions, until an empty one.
    const portion = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (portion.length === 0) return found;
    found.push(...(await Promise.all(portion.map(filesOf))).flat());
  }
}

function makeJob(file, namespace, fillIds) {
  const controller = new AbortController();
  const bar = h("progress", { max: String(file.size || 1), value: "0", "aria-label": T.progressOf(file.name) });
  const state = h("p", { class: "hint" }, T.waiting);
  const report = h("div", {});
  const stop = button(T.stop, () => controller.abort(), { kind: "plain" });
  const refused = [];
  const asides = [];
  let stored = 0;
  const element = h(
    "li",
    { class: "upload" },
    h("div", { class: "row" }, h("strong", { dir: "auto" }, file.name), h("span", { class: "hint" }, bytes(file.size)), h("span", { class: "spacer" }), stop),
    bar,
    state,
    report,
  );

  function showState(word) {
    const counts = [T.stored(stored), refused.length > 0 && T.refusedCount(refused.length), ...asides].filter(Boolean);
    replace(state, [word, ...counts].filter(Boolean).join(" · "));
  }

  function showReport() {
    if (refused.length === 0) return;
    const rows = refused.slice(0, SHOWN).map(([place, message]) =>
      h("tr", {}, h("td", { class: "number" }, typeof place === "number" ? number(place) : place), h("td", { dir: "auto" }, message)),
    );
    replace(
      report,
      h(
        "details",
        { open: true },
        h("summary", {}, T.refusedLines),
        h(
          "div",
          { class: "scroll", tabindex: "0", role: "region", "aria-label": T.refusedLines },
          h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, T.place), h("th", { scope: "col" }, T.reason))), h("tbody", {}, rows)),
        ),
        refused.length > SHOWN && h("p", { class: "hint" }, T.andMore(refused.length - SHOWN)),
      ),
    );
  }

  async function run() {
    if (controller.signal.aborted) return;
    try {
      const sink = {
        namespace,
        signal: controller.signal,
        onstored: (count) => {
          stored += count;
          showState(T.uploading);
        },
        onrefused: (place, message) => {
          refused.push([place, message]);
          showState(T.uploading);
        },
      };
      if (holdsDocuments(file.name)) {
        showState(T.uploading);
        const onread = (count) => {
          bar.value = count;
        };
        await sendAll(documentsOf(file, { fillIds, onread }), sink);
      } else {
        showState(T.reading);
        bar.removeAttribute("value");
        const { documents_deleted: removed, skipped, notes } = await sendFile(file, pathOf(file), sink);
        asides.push(removed > 0 && T.removed(removed), skipped, ...notes);
      }
      bar.value = bar.max;
      showState(T.done);
      if (stored > 0) append(state, " · ", h("a", { href: `#/ask?ns=${encodeURIComponent(namespace)}` }, T.askIt));
    } catch (error) {
      if (error.name === "AbortError") showState(T.stopped);
      else {
        showState(T.failed);
        replace(report, errorNote(error));
      }
    } finally {
      stop.remove();
      announce(`${file.name}: ${state.textContent}`);
      if (!report.hasChildNodes()) showReport();
    }
  }

  return { element, run };
}
