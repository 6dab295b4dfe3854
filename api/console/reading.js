// Files of documents as they are, JSON and JSON lines, read in the browser. Every other file is read by the server.
// A reader is an async generator of `{line, document}`, or `{line, problem}` for what cannot be one.

import { parseExact } from "./exact.js";
import { T } from "./texts.js";

const MAX_ID = 64;

/** Whether the file holds documents as they are; the server makes documents of every other kind. */
export const holdsDocuments = (name) => /\.(json|jsonl|ndjson)$/i.test(name);

/** What a file is called, with the folders that it was chosen or dropped with. */
export const pathOf = (file) => file.pathBelow || file.webkitRelativePath || file.name;

/**
 * The documents of a file.
 *
 * @param onread called with the number of bytes that were read so far.
 * @throws Error a message for people: the file as a whole cannot be read.
 */
export async function* documentsOf(file, { fillIds, onread }) {
  const name = pathOf(file);
  const read = /\.json$/i.test(file.name) ? fromJson : fromLines;
  for await (const entry of read(file, onread)) {
    if (entry.problem) {
      yield entry;
      continue;
    }
    const { line } = entry;
    let { document } = entry;
    if (document === null || typeof document !== "object" || Array.isArray(document)) {
      yield { line, problem: T.notAnObject };
      continue;
    }
    if (document.id === undefined && fillIds) document = { id: idFrom(name, line), ...document };
    yield { line, document };
  }
}

/** An id of at most 64 characters out of a file's name and a line. */
export function idFrom(name, line) {
  const full = `${name}:${line}`;
  if (full.length <= MAX_ID) return full;
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(full)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return `${full.slice(-(MAX_ID - 17))}~${hash.toString(16).padStart(16, "0")}`;
}

async function* texts(file, onread) {
  // `fatal`: a file in another encoding is refused instead of stored with marks in place of its letters.
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const reader = file.stream().getReader();
  let bytes = 0;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (value) bytes += value.length;
      const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
      if (text) yield text;
      onread(bytes);
      if (done) return;
    }
  } catch (error) {
    throw new Error(error instanceof TypeError ? T.notUtf8 : T.unreadable);
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function whole(file, onread) {
  let all = "";
  for await (const text of texts(file, onread)) all += text;
  return all;
}

async function* fromJson(file, onread) {
  const text = await whole(file, onread);
  let found;
  try {
    found = parseExact(text);
  } catch (error) {
    throw new Error(T.notJson(error.message));
  }
  const documents = Array.isArray(found) ? found : Array.isArray(found?.documents) ? found.documents : [found];
  for (const [index, document] of documents.entries()) yield { line: index + 1, document };
}

async function* fromLines(file, onread) {
  let line = 0;
  for await (const text of linesOf(file, onread)) {
    line += 1;
    if (!text.trim()) continue;
    try {
      yield { line, document: parseExact(text) };
    } catch (error) {
      yield { line, problem: T.notJson(error.message) };
    }
  }
}

async function* linesOf(file, onread) {
  let rest = "";
  for await (const text of texts(file, onread)) {
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop();
    yield* lines;
  }
  if (rest) yield rest;
}
