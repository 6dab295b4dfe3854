// The text of an answer: paragraphs, lists and citations out of plain text. And an answer as Markdown.

import { append, h } from "./dom.js";
import { dated, titleOf } from "./format.js";
import { T } from "./texts.js";

const CITATION = /\[(\d{1,2})\]/g;

/**
 * The answer as elements. Lines that begin with a dash, a star or a number become lists; everything else paragraphs.
 *
 * @param cite gets the number of a citation and gives its element.
 */
export function answerText(text, cite) {
  const blocks = [];
  let list = null;
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    if (!line) {
      list = null;
      continue;
    }
    const item = /^(?:[-*•]|(\d{1,2})[.)])\s+(.*)$/.exec(line);
    if (item) {
      const tag = item[1] ? "ol" : "ul";
      if (list?.tagName.toLowerCase() !== tag) {
        list = h(tag, { dir: "auto" });
        blocks.push(list);
      }
      list.append(append(h("li", { dir: "auto" }), cited(item[2], cite)));
    } else {
      list = null;
      blocks.push(append(h("p", { dir: "auto" }), cited(line, cite)));
    }
  }
  return blocks;
}

function cited(text, cite) {
  const parts = [];
  let position = 0;
  for (const match of text.matchAll(CITATION)) {
    parts.push(text.slice(position, match.index), cite(Number(match[1])));
    position = match.index + match[0].length;
  }
  parts.push(text.slice(position));
  return parts;
}

/** An answer with its findings, to be pasted elsewhere. */
export function asMarkdown(question, response, schema) {
  const lines = [`# ${question}`, "", response.synthesis, ""];
  response.results.forEach((result, index) => {
    const date = dated(result.attributes, schema)?.[1];
    lines.push(`${index + 1}. **${titleOf(result.attributes, result.id)}**${date ? `, ${date}` : ""} (\`${result.id}\`)`);
    if (result.finding) lines.push("", `   ${result.finding}`);
    for (const excerpt of result.excerpts) {
      lines.push("", ...excerpt.split("\n").map((line) => `   > ${line}`));
    }
    lines.push("");
  });
  if (response.results.length === 0) lines.push(T.noFindings, "");
  return lines.join("\n");
}
