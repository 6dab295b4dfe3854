"""A question into its parts: what it compares, joins or puts in order."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from engine.question.asked_language import question_language
from engine.question.terms import content_terms

MIN_WORDS = 3
"""Subject words that a part needs to be looked for by itself."""

# Where a question may fall apart, strongest first: sentence ends and semicolons, contrasts, commas, plain conjunctions.
_BOUNDARY = re.compile(
    r"(?P<hard>[.?!;](?=\s)|\n+)"
    r"|(?P<contrast>,?\s+(?=(?:while|whereas|whilst|although|but|versus|vs\.?|compared (?:to|with)|as opposed to)\s))"
    r"|(?P<comma>,(?=\s))"
    r"|(?P<conjunction>\s+(?=(?:and|or|as well as|both|which|who|that|after|before|with|to)\s))",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|(?<!\w)'[^']{2,60}'(?!\w)|‘[^’]*’(?!\w)|\([^)]*\)")


class Clause(msgspec.Struct, frozen=True):
    """A part of a question, ``[start, stop)`` in it."""

    start: int
    stop: int


def clauses(text: str, whole: Sequence[tuple[int, int]], names: Sequence[tuple[int, int]]) -> list[Clause]:
    """The parts of `text`, in order, without gaps; one part when it does not fall apart.

    A part has at least `MIN_WORDS` words of its own besides names and dates; a shorter one joins its neighbour, so that
    "as reported by A and B" stays with what was reported.

    Args:
        whole: stretches that are never cut: dates, titles, names.
        names: stretches that name where something is reported, such as a source; a plain conjunction cuts only before a
            part that has one of its own.
    """
    kept = [*whole, *((m.start(), m.end()) for m in _QUOTED.finditer(text))]
    cuts = [0]
    for match in _BOUNDARY.finditer(text):
        at = match.end() if match.lastgroup in ("hard", "comma") else match.start()
        if any(start < at < stop for start, stop in kept) or at >= len(text):
            continue
        if match.lastgroup == "conjunction" and not _opens_named(text, at, names):
            continue
        if at > cuts[-1]:
            cuts.append(at)
    pieces = [(start, stop) for start, stop in zip(cuts, [*cuts[1:], len(text)], strict=True)]
    return _merged(text, pieces, [*whole, *names])


def _opens_named(text: str, at: int, names: Sequence[tuple[int, int]]) -> bool:
    """Whether a name follows within four words: "… and the Times report …"."""
    return any(start > at and len(text[at:start].split()) <= 4 for start, _ in names)


def _merged(text: str, pieces: Sequence[tuple[int, int]], named: Sequence[tuple[int, int]]) -> list[Clause]:
    """Short pieces join the piece before them; a short first piece joins the one after."""
    out: list[Clause] = []
    for start, stop in pieces:
        own = len(set(_subject(without(text, start, stop, named))))
        if out and (own < MIN_WORDS or _own(text, out[-1], named) < MIN_WORDS):
            out[-1] = Clause(out[-1].start, stop)
        else:
            out.append(Clause(start, stop))
    if len(out) > 1 and _own(text, out[-1], named) < MIN_WORDS:
        last = out.pop()
        out[-1] = Clause(out[-1].start, last.stop)
    return out


def _own(text: str, clause: Clause, named: Sequence[tuple[int, int]]) -> int:
    return len(set(_subject(without(text, clause.start, clause.stop, named))))


def without(text: str, start: int, stop: int, spans: Sequence[tuple[int, int]]) -> str:
    """``text[start:stop]`` with `spans` blanked out."""
    out = text[start:stop]
    for first, last in spans:
        low, high = max(first, start) - start, min(last, stop) - start
        if low < high:
            out = out[:low] + " " * (high - low) + out[high:]
    return out


def _subject(text: str) -> list[str]:
    return content_terms(text, question_language(text))
