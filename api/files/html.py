"""HTML: the main text without navigation, a part for each heading."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Any

from api.files.decoding import encoding_of
from api.files.extras import library
from api.files.pieces import Part, Source
from api.files.sections import Block, sections

MAX_HTML = 64 * 2**20
"""Bytes. The parsed tree takes about fifteen times as many in memory."""

_AROUND = (
    "script,style,noscript,template,iframe,object,svg,canvas,nav,footer,aside,form,button,select,dialog,[hidden],"
    '[aria-hidden="true"],[role="navigation"],[role="banner"],[role="contentinfo"],[role="search"],[role="menu"]'
)
"""What stands around the text."""

_LEAST_SHARE = 0.25
"""Share of the page's text that its main element must hold to stand for the page: some pages misuse it."""

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BREAK_NAMES = """
    address article blockquote body br caption dd details div dl dt fieldset figcaption figure header hr html legend li
    main ol p pre section summary table tbody td tfoot th thead title tr ul
"""
_BREAKS = frozenset(_BREAK_NAMES.split())
_CELLS = ("td", "th")
_MOST_INLINE = 64
"""Inline elements around a text that are climbed to find its block: hostile pages nest without end."""

_CHARSET = re.compile(
    rb"""<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:\-]{2,40})""", re.IGNORECASE
)
_SPACE = re.compile(r"[ \t\r\n\f]+")
_DATES = (
    'meta[property="article:published_time"]',
    'meta[name="date"]',
    'meta[name="dcterms.date"]',
    'meta[itemprop="datePublished"]',
)


def read_html(source: Source) -> Iterator[Part]:
    """Sections under their headings; title, author, date and address as the head of the page names them."""
    raw = source.content(MAX_HTML)
    tree = library("selectolax.lexbor").LexborHTMLParser(markup_text(raw, source))
    attributes = {"title": source.stem} | _head(tree)
    yield from sections(html_blocks(tree), attributes)


def markup_text(raw: bytes, source: Source) -> str:
    """Markup as text: UTF-8, else what the page says of itself, else what its bytes look like."""
    declared = _CHARSET.search(raw[:4096])
    if not source.options.encoding:
        try:
            return raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            pass
        if declared:
            try:
                # Browsers read what calls itself Latin-1 as its superset.
                name = codecs.lookup(declared[1].decode()).name
                return raw.decode({"iso8859-1": "cp1252", "utf-16": "utf-8"}.get(name, name), errors="replace")
            except LookupError:
                source.note(f"unknown encoding {declared[1].decode()!r}")
    return raw.decode(encoding_of(source), errors="replace")


def html_blocks(tree: Any) -> Iterator[Block]:
    """Headings and running text of a parsed page, in order; what stands around the text is removed from `tree`."""
    body = tree.body
    if body is None:
        return
    for node in tree.css(_AROUND):
        node.decompose()
    lines: list[str] = []
    for level, text, starts_line in _texts(_main(tree, body)):
        if level:
            yield Block(0, _joined(lines))
            yield Block(level, text)
            lines = []
        elif starts_line or not lines:
            lines.append(text)
        else:
            lines[-1] += text
    yield Block(0, _joined(lines))


def _main(tree: Any, body: Any) -> Any:
    """The element that holds the text."""
    whole = len(body.text())
    for selector in ("main", '[role="main"]', "article"):
        found = tree.css(selector)
        if len(found) == 1 and len(found[0].text()) >= _LEAST_SHARE * whole:
            return found[0]
    for header in body.css("header"):
        # At the top of a page a banner; inside an article its title.
        if header.parent is not None and header.parent.tag == "body":
            header.decompose()
    return body


def _texts(root: Any) -> Iterator[tuple[int, str, bool]]:
    """Headings as (level, text, True), other text as (0, text, whether it begins a line)."""
    block_before: int | None = None
    heading: tuple[int, int, list[str]] | None = None
    breaks = False
    for node in root.traverse(include_text=True):
        if node.tag != "-text":
            breaks = breaks or node.tag in _BREAKS
            continue
        block, level, is_verbatim = _block_of(node)
        raw: str = node.text_content or ""
        if heading and heading[0] != block.mem_id:
            yield heading[1], "".join(heading[2]), True
            heading = None
        if level:
            heading = heading or (block.mem_id, level, [])
            heading[2].append(raw)
        elif raw.strip() or (raw and not breaks and block.mem_id == block_before):
            starts = breaks or block.mem_id != block_before
            text = raw if is_verbatim else _SPACE.sub(" ", raw)
            if block.mem_id != block_before and _is_later_cell(block):
                # Cells of a row stay on its line.
                yield 0, " | " + text.strip(), False
            else:
                yield 0, _bullet(block, block_before) + text if starts else text, starts
        else:
            continue
        block_before, breaks = block.mem_id, False
    if heading:
        yield heading[1], "".join(heading[2]), True


def _is_later_cell(block: Any) -> bool:
    """Whether `block` is a cell of a table with another one in front of it in its row."""
    before = block.prev if block.tag in _CELLS else None
    while before is not None and before.tag not in _CELLS:
        before = before.prev
    return before is not None


def _bullet(block: Any, before: int | None) -> str:
    return "- " if block.tag == "li" and block.mem_id != before else ""


def _block_of(text: Any) -> tuple[Any, int, bool]:
    """The nearest element around a text that breaks lines, its level as a heading, and whether its text is verbatim."""
    node = text.parent
    is_verbatim = False
    for _ in range(_MOST_INLINE):
        is_verbatim = is_verbatim or node.tag == "pre"
        if node.tag in _HEADINGS:
            return node, _HEADINGS[node.tag], False
        if node.tag in _BREAKS or node.parent is None:
            break
        node = node.parent
    return node, 0, is_verbatim


def _joined(lines: list[str]) -> str:
    return "\n".join(line.strip(" ") for line in lines).strip()


def _head(tree: Any) -> dict[str, Any]:
    found = {"author": _content(tree, 'meta[name="author"]')}
    found["date"] = next((value for value in (_content(tree, selector) for selector in _DATES) if value), "")
    title = tree.css_first("head title") or tree.css_first("h1")
    found["title"] = " ".join(title.text().split()) if title else ""
    link = tree.css_first('link[rel="canonical"]')
    found["url"] = ((link.attributes.get("href") or "") if link else "").strip()
    return {name: value for name, value in found.items() if value}


def _content(tree: Any, selector: str) -> str:
    node = tree.css_first(selector)
    return (node.attributes.get("content") or "").strip() if node else ""
