// Speaks `/v1`: JSON requests, and searches as streams of server-sent events.

import { parseExact } from "./exact.js";
import * as session from "./session.js";
import { T } from "./texts.js";

/** An answer that is no success, or none at all. `status` is 0 when the server could not be reached. */
export class Refused extends Error {
  constructor({ status, code, message, details = [], requestId = "", retryAfter = null }) {
    super(message);
    Object.assign(this, { status, code, details, requestId, retryAfter });
  }
}

let onUnauthenticated = () => {};

export function whenUnauthenticated(callback) {
  onUnauthenticated = callback;
}

const at = (...segments) => `/v1/${segments.map((segment) => encodeURIComponent(segment)).join("/")}`;

async function send(method, path, { body, signal, key = session.key.get() } = {}) {
  const headers = { Authorization: `Bearer ${key}` };
  const isFile = body instanceof Blob;
  if (body !== undefined) headers["Content-Type"] = isFile ? "application/octet-stream" : "application/json";
  const content = body === undefined || isFile || typeof body === "string" ? body : JSON.stringify(body);
  let answer;
  try {
    answer = await fetch(path, { method, headers, body: content, signal, cache: "no-store", credentials: "omit" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused({ status: 0, code: "unreachable", message: T.unreachable });
  }
  if (answer.ok) return answer;
  const refused = await refusal(answer);
  if (answer.status === 401) onUnauthenticated(refused);
  throw refused;
}

async function refusal(answer) {
  const retryAfter = Number(answer.headers.get("Retry-After")) || null;
  try {
    const { error } = await answer.json();
    const { code, message, details } = error;
    return new Refused({ status: answer.status, code, message, details, requestId: error.request_id, retryAfter });
  } catch {
    return new Refused({ status: answer.status, code: "", message: T.oddAnswer(answer.status), retryAfter });
  }
}

const json = async (...request) => parseExact(await (await send(...request)).text());

/** Whether `key` is one: what it may do, else a thrown `Refused`. */
export const about = (key) => json("GET", at("server"), { key });

export const namespaces = async () => (await json("GET", at("namespaces"))).results;
export const namespace = async (name) => (await namespaces()).find((found) => found.name === name) ?? null;
export const sizes = () => json("GET", at("namespaces", "stats"));
export const dropNamespace = (name) => json("DELETE", at("namespaces", name));

export const values = async (name, attribute, containing, signal) =>
  (
    await json("GET", `${at("namespaces", name, "attributes", attribute, "values")}?${new URLSearchParams({ limit: 30, containing })}`, {
      signal,
    })
  ).values;

export const documents = (name, body) => json("POST", at("namespaces", name, "documents", "list"), { body });
export const documentOf = (name, id) => json("GET", at("namespaces", name, "documents", id));
export const upload = (name, body, signal) => json("POST", at("namespaces", name, "documents"), { body, signal });
export const uploadFile = (name, file, path, signal) =>
  json("POST", `${at("namespaces", name, "files")}?${new URLSearchParams({ name: path })}`, { body: file, signal });
export const remove = (name, body) => json("POST", at("namespaces", name, "documents", "delete"), { body });

export const keys = async () => (await json("GET", at("api_keys"))).api_keys;
export const createKey = (body) => json("POST", at("api_keys"), { body });
export const revokeKey = (id) => json("DELETE", at("api_keys", id));

/** Status and body of a health route; both are outside `/v1` and need no key. */
export async function health(path) {
  try {
    const answer = await fetch(path, { cache: "no-store", credentials: "omit" });
    const body = await answer.json();
    return { ok: answer.ok, body };
  } catch {
    return { ok: false, body: null };
  }
}

/**
 * Search, or continue the session `sessionId`. Calls `onStatus` with each status and resolves with the last event's
 * session object.
 */
export async function search(name, { sessionId = null, body, signal, onStatus }) {
  const path = sessionId ? at("namespaces", name, "search", sessionId) : at("namespaces", name, "search");
  const answer = await send("POST", path, { body: { ...body, stream: true }, signal });
  for await (const { event, data } of events(answer.body)) {
    if (event === "status") onStatus(data);
    else if (event === "session_result") return data;
    else if (event === "error") throw new Refused({ status: 200, ...data, requestId: data.request_id });
  }
  throw new Refused({ status: 0, code: "stream_ended", message: T.streamEnded });
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const frames = (rest + value).split("\n\n");
      rest = frames.pop();
      for (const frame of frames) {
        const found = /^event: (.*)\ndata: (.*)$/.exec(frame);
        if (found) yield { event: found[1], data: JSON.parse(found[2]) };
      }
    }
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused({ status: 0, code: "stream_ended", message: T.streamEnded });
  } finally {
    reader.cancel().catch(() => {});
  }
}
