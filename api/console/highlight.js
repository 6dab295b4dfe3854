// Marks excerpts inside a text.

/** The places of `excerpts` in `text` as `[start, end]`, in order; those that touch become one. */
export function places(text, excerpts) {
  const found = excerpts
    .filter((excerpt) => excerpt.length > 0)
    .map((excerpt) => [text.indexOf(excerpt), excerpt.length])
    .filter(([start]) => start >= 0)
    .map(([start, length]) => [start, start + length])
    .sort((first, second) => first[0] - second[0]);
  const merged = [];
  for (const [start, end] of found) {
    const last = merged.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

/** `text` as nodes, each excerpt in a `mark`. */
export function marked(text, excerpts) {
  const nodes = [];
  let position = 0;
  for (const [start, end] of places(text, excerpts)) {
    nodes.push(document.createTextNode(text.slice(position, start)));
    const mark = document.createElement("mark");
    mark.textContent = text.slice(start, end);
    nodes.push(mark);
    position = end;
  }
  nodes.push(document.createTextNode(text.slice(position)));
  return nodes;
}
