// Begins the page: asks for a key, then shows what the address names. The address's part behind `#` is the route.

import { askPage, leaveAsk } from "./ask.js";
import * as client from "./client.js";
import { announce, button, errorNote, field, h, openDialog, replace } from "./dom.js";
import { forget, learn, may, server } from "./rights.js";
import * as session from "./session.js";
import { T } from "./texts.js";

const main = document.getElementById("main");
const tools = document.getElementById("tools");
const nav = document.getElementById("nav");

function route() {
  const [path, search] = location.hash.replace(/^#\/?/, "").split("?");
  const [page, part] = path.split("/");
  return { page: page || "ask", part, query: new URLSearchParams(search ?? "") };
}

// The pages that manage are fetched when they are wanted, or when there is nothing else to do.
const loadManage = () => import("./manage.js");

async function show() {
  leaveAsk();
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  if (!server()) {
    signIn();
    return;
  }
  const { page, part, query } = route();
  const isManage = page === "manage";
  document.title = isManage ? T.titleManage : T.titleAsk;
  for (const link of nav.querySelectorAll("a")) {
    const isCurrent = (link.dataset.page === "manage") === isManage;
    if (isCurrent) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.className = isManage ? "managing" : "asking";
  // A page of its own: one that is late to load fills an element that is no longer shown.
  const place = h("div", { class: "place" });
  replace(main, place);
  if (isManage) {
    // A module that cannot be fetched: the server is away.
    const module = await loadManage().catch(() => null);
    if (module) await module.managePage(place, part, query);
    else replace(place, h("div", { class: "start" }, errorNote({ message: T.unreachable })));
    place.querySelector("h1")?.focus({ preventScroll: true });
  } else {
    await askPage(place, query);
  }
  scrollTo(0, 0);
  announce(document.title);
}

function signIn(problem = null) {
  nav.hidden = true;
  document.title = T.titleSignIn;
  main.className = "signing-in";
  const input = h("input", { type: "password", required: true, autocomplete: "off", spellcheck: "false" });
  const note = h("div", {}, problem && errorNote(problem));
  const submit = h("button", { class: "button primary", type: "submit" }, T.signIn);
  replace(
    main,
    h(
      "form",
      {
        class: "sign-in stack",
        onsubmit: async (event) => {
          event.preventDefault();
          submit.disabled = true;
          await enter(input.value.trim(), (error) => replace(note, errorNote(error)));
          submit.disabled = false;
        },
      },
      h("h1", { tabindex: "-1" }, T.signInTitle),
      h("p", { class: "hint" }, T.signInHint),
      field(T.key, (id) => Object.assign(input, { id })),
      note,
      submit,
    ),
  );
  showTools();
  input.focus();
}

/** Use `key` where the server takes it. */
async function enter(key, refuse) {
  try {
    learn(await client.about(key));
  } catch (error) {
    refuse(error);
    return;
  }
  session.key.set(key);
  nav.hidden = false;
  showTools();
  await show();
}

function leave(problem = null) {
  session.key.set(null);
  forget();
  signIn(problem);
}

function showTools() {
  const isDark = () => (session.theme.get() ?? system()) === "dark";
  const toggle = button(T.theme, () => {
    const next = isDark() ? "light" : "dark";
    session.theme.set(next === system() ? null : next);
    showTools();
  }, { mark: isDark() ? "sun" : "moon", quiet: true, kind: "plain" });
  replace(
    tools,
    server() && h("button", { type: "button", class: "button plain help", onclick: keysHelp }, T.help),
    toggle,
    server() && button(T.signOut, () => leave(), { kind: "plain" }),
  );
}

const system = () => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

function keysHelp() {
  openDialog(T.help, (close) => [
    h("dl", { class: "facts" }, T.shortcuts.map(([keys, what]) => h("div", {}, h("dt", {}, h("kbd", {}, keys)), h("dd", {}, what)))),
    h("p", { class: "hint" }, T.helpMore, " ", h("a", { href: "/docs" }, T.httpDocs)),
    h("div", { class: "row end" }, button(T.close, () => close(), { kind: "primary" })),
  ]);
}

document.addEventListener("keydown", (event) => {
  if (!event.altKey || event.ctrlKey || event.metaKey || !server()) return;
  const to = { KeyQ: "#/ask", KeyM: "#/manage/namespaces", KeyU: "#/manage/upload" }[event.code];
  if (!to || (event.code === "KeyU" && !may("write"))) return;
  event.preventDefault();
  if (location.hash === to) show();
  else location.hash = to;
});
client.whenUnauthenticated((problem) => {
  if (server()) leave(problem);
});
addEventListener("hashchange", () => show());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTools);

const held = session.key.get();
if (held) await enter(held, (error) => signIn(error));
else signIn();
(globalThis.requestIdleCallback ?? setTimeout)(() => loadManage().catch(() => {}));
