// Files to documents, in the browser: JSON, JSON lines, CSV, TSV, Markdown and text.
// A reader is an async generator of `{line, document}`, or `{line, problem}` for what cannot be one.

import { parseExact } from "./exact.js";
import { T } from "./texts.js";

const MAX_ID = 64;

/** What kind of file this is, or null when the console cannot read it. */
export function kindOf(name) {
  const ending = name.toLowerCase().split(".").pop();
  return (
    { json: "json", jsonl: "lines", ndjson: "lines", csv: "csv", tsv: "tsv", md: "text", markdown: "text", txt: "text" }[ending] ?? null
  );
}

/**
 * The documents of a file.
 *
 * @param schema types of attributes, by name: the texts of a table become values of these.
 * @param onread called with the number of bytes that were read so far.
 * @throws Error a message for people: the file as a whole cannot be read.
 */
export async function* documentsOf(file, { schema, fillIds, onread }) {
  const name = file.webkitRelativePath || file.name;
  for await (const entry of read(file, schema, onread)) {
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
    if (document.id === undefined && fillIds) document = { id: idFrom(name, entry.whole ? null : line), ...document };
    yield { line, document };
  }
}

function read(file, schema, onread) {
  switch (kindOf(file.name)) {
    case "json":
      return fromJson(file, onread);
    case "lines":
      return fromLines(file, onread);
    case "csv":
      return fromTable(file, null, schema, onread);
    case "tsv":
      return fromTable(file, "\t", schema, onread);
    default:
      return fromText(file, onread);
  }
}

/** An id of at most 64 characters out of a file's name and a line. */
export function idFrom(name, line) {
  const full = line === null ? name : `${name}:${line}`;
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

/** Rows of a table after RFC 4180; quoted cells may hold separators, quotes and line ends. */
async function* rowsOf(file, separator, onread) {
  let cells = [];
  let cell = "";
  let quoted = false;
  let afterQuote = false;
  let line = 1;
  let began = 1;
  let mark = separator;
  const end = () => {
    cells.push(cell);
    cell = "";
    afterQuote = false;
  };
  for await (const text of texts(file, onread)) {
    mark ??= likeliestSeparator(text);
    for (const character of text) {
      if (character === "\n") line += 1;
      if (quoted) {
        if (character !== '"') cell += character;
        else quoted = false;
        afterQuote = !quoted;
      } else if (character === '"' && (cell === "" || afterQuote)) {
        // A doubled quote inside quotes stands for one.
        if (afterQuote) cell += '"';
        quoted = true;
        afterQuote = false;
      } else if (character === mark) {
        end();
      } else if (character === "\n") {
        end();
        yield { line: began, cells };
        cells = [];
        began = line;
      } else if (character !== "\r") {
        cell += character;
      }
    }
  }
  if (quoted) yield { line: began, problem: T.openQuote };
  else if (cell || cells.length > 0) {
    end();
    yield { line: began, cells };
  }
}

function likeliestSeparator(text) {
  const first = text.slice(0, text.indexOf("\n") + 1 || text.length);
  const counts = [",", ";", "\t", "|"].map((mark) => [first.split(mark).length, mark]);
  return counts.sort((one, other) => other[0] - one[0])[0][1];
}

async function* fromTable(file, separator, schema, onread) {
  let names = null;
  for await (const { line, cells, problem } of rowsOf(file, separator, onread)) {
    if (problem) {
      yield { line, problem };
    } else if (cells.length === 1 && cells[0] === "") {
      continue;
    } else if (names === null) {
      names = cells.map((name) => name.replace(/^\uFEFF/, "").trim());
    } else if (cells.length !== names.length) {
      yield { line, problem: T.ragged(cells.length, names.length) };
    } else {
      yield { line, document: rowDocument(names, cells, schema) };
    }
  }
}

function rowDocument(names, cells, schema) {
  const document = {};
  names.forEach((name, index) => {
    if (name && cells[index] !== "") document[name] = cellValue(cells[index], schema[name]?.type);
  });
  return document;
}

function cellValue(text, type) {
  if ((type === "int" || type === "uint") && /^-?(0|[1-9]\d*)$/.test(text)) return parseExact(text);
  if (type === "float" && Number.isFinite(Number(text))) return Number(text);
  if (type === "bool" && /^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
  if (type?.startsWith("[]")) return text.split(/\s*[;|]\s*/).map((part) => cellValue(part, type.slice(2)));
  return text;
}

async function* fromText(file, onread) {
  const text = (await whole(file, onread)).replace(/^\uFEFF/, "");
  const heading = /^#{1,2}\s+(.+)$/m.exec(text)?.[1];
  const title = heading ?? file.name.replace(/\.[^.]+$/, "");
  yield { line: 1, whole: true, document: { title: title.trim(), body: text } };
}
