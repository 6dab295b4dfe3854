"""Text under headings to parts, one a section: what Markdown, HTML, DOCX and EPUB have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from api.files.pieces import Part

TRAIL = " › "
"""Between the headings that a section stands under."""

_LONGEST_HEADING = 200
_NOT_WORD = re.compile(r"[^\w]+")


class Block(NamedTuple):
    """A heading of `level` 1 to 6, or running text of level 0."""

    level: int
    text: str


def sections(blocks: Iterable[Block], attributes: dict[str, Any], *, prefix: str = "") -> Iterator[Part]:
    """One part a heading that has text of its own; text before the first heading is a part without ``heading``.

    A part's ``heading`` is the trail of the headings that it stands under, outermost first. Its body never holds the
    heading itself: a heading answers nothing. Headings without text below them live on in the trails.

    Args:
        attributes: given to every part.
        prefix: put in front of the anchors, for files of several texts.
    """
    trail: list[Block] = []
    texts: list[str] = []
    used: dict[str, int] = {}
    for block in blocks:
        if block.level == 0:
            texts.append(block.text)
            continue
        yield from _part(trail, texts, attributes, used, prefix)
        texts = []
        heading = " ".join(block.text.split())[:_LONGEST_HEADING]
        trail = [outer for outer in trail if outer.level < block.level]
        if heading:
            trail.append(Block(block.level, heading))
    yield from _part(trail, texts, attributes, used, prefix)


def slug(text: str) -> str:
    """`text` in lower case with ``-`` for whatever is no letter or digit.

    >>> slug("How do I …? (Linux)")
    'how-do-i-linux'
    """
    return _NOT_WORD.sub("-", text.lower()).strip("-")


def _part(
    trail: list[Block], texts: list[str], attributes: dict[str, Any], used: dict[str, int], prefix: str
) -> Iterator[Part]:
    body = "\n\n".join(text.strip("\n") for text in texts if text.strip())
    if not body:
        return
    headings = [heading.text for heading in trail]
    anchor = prefix + slug(headings[-1] if headings else "")
    used[anchor] = used.get(anchor, 0) + 1
    if used[anchor] > 1:
        # Two sections of one name: the second takes a number, as web pages do.
        anchor = f"{anchor}-{used[anchor]}"
    shown = {"heading": TRAIL.join(headings)} if headings else {}
    yield Part(anchor=anchor, body=body, attributes=attributes | shown)
