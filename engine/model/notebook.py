"""How hits and responses show themselves in a notebook: as HTML, and as Markdown where that is not shown.

Text of documents is data. It is escaped, so that no document can load a picture, run a script or forge a heading.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Protocol

_MARKED = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&$^=:@])")
_QUOTE = 'style="margin:.3em 0 .3em 1em;padding-left:.8em;border-left:3px solid #8886;white-space:pre-wrap" dir="auto"'


class ShownHit(Protocol):
    """What is shown of a hit."""

    @property
    def document_id(self) -> str: ...
    @property
    def attribute(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def score(self) -> float: ...
    @property
    def text(self) -> str: ...


class ShownResult(Protocol):
    """What is shown of a result."""

    @property
    def id(self) -> str: ...
    @property
    def finding(self) -> str: ...
    @property
    def excerpts(self) -> Sequence[str]: ...


def hit_html(hit: ShownHit) -> str:
    """The passage under the document and attribute that it stands in."""
    return (
        f"<div><b>{escape(hit.document_id)}</b> <small>{escape(hit.attribute)} {hit.start}–{hit.end}, "
        f"score {hit.score:.3f}</small><blockquote {_QUOTE}>{escape(hit.text)}</blockquote></div>"
    )


def hit_markdown(hit: ShownHit) -> str:
    """As `hit_html`, as Markdown."""
    where = f"**{_escaped(hit.document_id)}** {_escaped(hit.attribute)} {hit.start}–{hit.end}, score {hit.score:.3f}"
    return f"{where}\n\n{_quoted(hit.text)}"


def response_html(lines: Sequence[str], results: Sequence[ShownResult]) -> str:
    """`lines` of an answer, a question back or a fault, then each finding with its excerpts."""
    parts = [f'<div dir="auto">{escape(line)}</div>' for line in lines]
    parts += [_result_html(number, result) for number, result in enumerate(results, 1)]
    return f"<div>{''.join(parts)}</div>"


def response_markdown(lines: Sequence[str], results: Sequence[ShownResult]) -> str:
    """As `response_html`, as Markdown."""
    parts = [_escaped(line) for line in lines]
    for number, result in enumerate(results, 1):
        parts.append(f"**\\[{number}\\]** {_escaped(result.finding)} ({_escaped(result.id)})")
        parts += [_quoted(excerpt) for excerpt in result.excerpts]
    return "\n\n".join(parts)


def _result_html(number: int, result: ShownResult) -> str:
    excerpts = "".join(f"<blockquote {_QUOTE}>{escape(excerpt)}</blockquote>" for excerpt in result.excerpts)
    return (
        f'<div style="margin-top:.6em" dir="auto"><b>[{number}]</b> {escape(result.finding)} '
        f"<small>{escape(result.id)}</small>{excerpts}</div>"
    )


def _quoted(text: str) -> str:
    return "\n".join(f"> {_escaped(line)}".rstrip() for line in text.split("\n"))


def _escaped(text: str) -> str:
    r"""`text` as Markdown shows it, character by character.

    >>> _escaped("![x](http://y) <b>")
    '\\!\\[x\\]\\(http\\://y\\) \\<b\\>'
    """
    return _MARKED.sub(r"\\\1", text)
