// Sends documents in batches; what the server refuses is taken out, named with its line, and the rest goes on.

import * as client from "./client.js";
import { T } from "./texts.js";

const MOST_DOCUMENTS = 1_000;
const MOST_CHARACTERS = 4_000_000;
const MOST_TRIES = 6;

/**
 * Upload what `entries` gives.
 *
 * @param entries async iterable of `{line, document}` or `{line, problem}`.
 * @param onstored called with the number of documents of each batch that was stored.
 * @param onrefused called with a line and why.
 */
export async function sendAll(entries, { namespace, signal, onstored, onrefused }) {
  let batch = [];
  let size = 0;
  const flush = async () => {
    await sendBatch(batch, { namespace, signal, onstored, onrefused });
    batch = [];
    size = 0;
  };
  for await (const { line, document, problem } of entries) {
    signal.throwIfAborted();
    if (problem) {
      onrefused(line, problem);
      continue;
    }
    const text = JSON.stringify(document);
    if (batch.length > 0 && (batch.length >= MOST_DOCUMENTS || size + text.length > MOST_CHARACTERS)) await flush();
    batch.push({ line, text });
    size += text.length;
  }
  if (batch.length > 0) await flush();
}

async function sendBatch(batch, options) {
  const { namespace, signal, onstored, onrefused } = options;
  if (batch.length === 0) return;
  const body = `{"documents":[${batch.map(({ text }) => text).join(",")}]}`;
  try {
    const { documents_upserted: count } = await patiently(() => client.upload(namespace, body, signal), signal);
    onstored(count);
  } catch (error) {
    const isAboutDocuments = error.status === 400 || error.status === 413;
    if (!isAboutDocuments || error.code === "invalid_schema") throw error;
    const faults = faultsOf(error, batch.length);
    if (faults.size > 0) {
      for (const [index, message] of faults) onrefused(batch[index].line, message);
      await sendBatch(batch.filter((_, index) => !faults.has(index)), options);
    } else if (batch.length === 1) {
      onrefused(batch[0].line, error.message);
    } else {
      // The fault names no document: halves show which it is.
      const middle = batch.length >> 1;
      await sendBatch(batch.slice(0, middle), options);
      await sendBatch(batch.slice(middle), options);
    }
  }
}

/** Which documents of the batch are at fault, by their place in it. */
function faultsOf(error, length) {
  const faults = new Map();
  for (const { path, message } of error.details) {
    const found = /^documents\[(\d+)\]\.?(.*)$/.exec(path ?? "");
    if (!found || Number(found[1]) >= length) continue;
    faults.set(Number(found[1]), found[2] ? `${found[2]}: ${message}` : message);
  }
  return faults;
}

/** Have the server make documents of a file that it reads itself. */
export async function sendFile(file, path, { namespace, signal, onstored, onrefused }) {
  const answer = await patiently(() => client.uploadFile(namespace, file, path, signal), signal);
  onstored(answer.documents_upserted);
  for (const { place, reason } of answer.refused) onrefused(place.slice(path.length + 1) || place, reason);
  return answer;
}

/** Come back when the server asks for it, or is not there: what was stored already is stored again under its ids. */
async function patiently(call, signal) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      const passes = error.status === 429 || error.status === 503 || error.code === "unreachable";
      if (!passes || tries >= MOST_TRIES) throw error;
      await pause((error.retryAfter ?? tries) * 1000, signal);
    }
  }
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException(T.stopped, "AbortError"));
    });
  });
}
