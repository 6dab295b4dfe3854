// The server: whether it is well, its version, who writes the answers, its limits, and what this key may do.

import * as client from "./client.js";
import { h, replace } from "./dom.js";
import { bytes, number } from "./format.js";
import { T } from "./texts.js";

export async function serverPage(panel) {
  const [about, live, ready] = await Promise.all([client.about(), client.health("/healthz"), client.health("/readyz")]);
  const { limits, key } = about;
  const none = (value, shown) => (value === 0 ? T.noLimit : shown);
  const state = (ok) => h("span", { class: ok ? "state good" : "state bad" }, ok ? T.well : T.unwell);
  const notices = ready.body?.notices ?? [];
  replace(
    panel,
    h("h1", { tabindex: "-1" }, T.serverTitle),
    group(T.health, [
      [T.process, state(live.ok)],
      [T.storage, state(ready.ok)],
      ...notices.map((notice) => [T.notice, notice]),
      [T.version, about.version],
    ]),
    group(T.answers, [
      [T.agent, about.agent === "offline" ? T.offline : T.byModel],
      ...about.models.map((model, index) => [index === 0 ? T.writes : T.reads, h("code", {}, model)]),
      [T.embedder, h("code", {}, about.embedder)],
    ]),
    group(T.limits, [
      [T.uploadSize, bytes(limits.upload_bytes)],
      [T.uploadDocuments, number(limits.documents_per_upload)],
      [T.bodySize, bytes(limits.body_bytes)],
      [T.searchTime, T.searchTimes(limits.soft_seconds, limits.hard_seconds)],
      [T.rate, none(limits.requests_per_minute, number(limits.requests_per_minute))],
      [T.atOnce, none(limits.searches_at_once, number(limits.searches_at_once))],
    ]),
    group(T.thisKey, [
      [T.name, h("span", { dir: "auto" }, key.name)],
      [T.company, h("span", { dir: "auto" }, key.company_name)],
      [T.scopes, key.scopes.map((scope) => h("span", { class: "tag" }, scope))],
    ]),
    h("p", { class: "hint" }, h("a", { href: "/docs" }, T.httpDocs)),
  );
}

function group(title, rows) {
  return h(
    "section",
    { class: "group" },
    h("h2", { class: "small" }, title),
    h("dl", { class: "facts" }, rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
  );
}
