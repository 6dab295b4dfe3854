"""Markdown: a part for each section, front matter as attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from api.files.decoding import text_of
from api.files.front_matter import split_front_matter
from api.files.pieces import Part, Source
from api.files.sections import Block, sections

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NO_PARAGRAPH = re.compile(r" {0,3}([-*+>|]|\d+[.)])|\t| {4}")
"""Lines that a row of dashes does not turn into a heading."""


def read_markdown(source: Source) -> Iterator[Part]:
    """Sections under their headings; the title is that of the front matter, else the first heading, else the name."""
    matter, text = split_front_matter(text_of(source), source.note)
    blocks = list(_blocks(text))
    first = next((block.text for block in blocks if block.level), source.stem)
    attributes: dict[str, Any] = {"title": str(matter.pop("title", "") or first), **matter}
    yield from sections(blocks, attributes)


def _blocks(text: str) -> Iterator[Block]:
    """Headings and the text between them. A ``#`` inside a fence is code, not a heading."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        if fence:
            lines.append(line)
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if opening := _FENCE.match(line):
            fence = opening[1]
            lines.append(line)
        elif heading := _ATX.match(line):
            yield Block(0, "\n".join(lines))
            yield Block(len(heading[1]), heading[2] or "")
            lines = []
        elif (rule := _SETEXT.match(line)) and lines and lines[-1].strip() and not _NO_PARAGRAPH.match(lines[-1]):
            title = lines.pop()
            yield Block(0, "\n".join(lines))
            yield Block(1 if rule[1][0] == "=" else 2, title)
            lines = []
        else:
            lines.append(line)
    yield Block(0, "\n".join(lines))
