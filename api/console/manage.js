// The pages that manage, and the menu between them.

import { Refused } from "./client.js";
import { documentsPage } from "./documents.js";
import { announce, errorNote, h, replace } from "./dom.js";
import { keysPage } from "./keys.js";
import { namespacesPage } from "./namespaces.js";
import { may } from "./rights.js";
import { schemaPage } from "./schema.js";
import { serverPage } from "./server.js";
import { T } from "./texts.js";
import { uploadPage } from "./upload.js";

const PAGES = [
  { name: "namespaces", label: T.namespacesTitle, show: namespacesPage },
  { name: "documents", label: T.documentsTitle, show: documentsPage },
  { name: "upload", label: T.upload, show: uploadPage, scope: "write" },
  { name: "schema", label: T.schemaTitle, show: schemaPage },
  { name: "keys", label: T.keysTitle, show: keysPage, scope: "admin" },
  { name: "server", label: T.serverTitle, show: serverPage },
];

export async function managePage(main, name, query) {
  const pages = PAGES.filter(({ scope }) => !scope || may(scope));
  const page = pages.find((one) => one.name === name) ?? pages[0];
  const panel = h("div", { class: "panel" }, h("h1", { tabindex: "-1" }, page.label), h("p", { class: "hint" }, T.loading));
  const links = pages.map((one) =>
    h("li", {}, h("a", { href: `#/manage/${one.name}`, "aria-current": one === page ? "page" : null }, one.label)),
  );
  replace(main, h("div", { class: "manage" }, h("nav", { "aria-label": T.manage }, h("ul", {}, links)), panel));
  try {
    await page.show(panel, query);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    replace(panel, h("h1", { tabindex: "-1" }, page.label), errorNote(error));
    announce(error.message);
  }
}
