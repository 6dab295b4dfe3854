"""A question into its parts: what it compares, lists or joins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import msgspec

from engine.analysis.language import DEFAULT_LANGUAGE, language
from engine.question.terms import content_terms

MIN_WORDS = 4
"""Subject words that a part needs to be looked for by itself. More means fewer parts; of 3 to 8, 4 and 5 rank
MultiHop-RAG best."""
_QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|(?<!\w)'[^']{2,60}'(?!\w)|‘[^’]*’(?!\w)|\([^)]*\)")
_END = r"[.?!;。？！؟।](?=\s|$)|\n+|[,，、،](?=\s|[^\x00-\x7f])"


class Clause(msgspec.Struct, frozen=True):
    """A part of a question, ``[start, stop)`` in it."""

    start: int
    stop: int


def clauses(text: str, whole: Sequence[tuple[int, int]], code: str = DEFAULT_LANGUAGE) -> list[Clause]:
    """The parts of `text`, in order, without gaps; one part when it does not fall apart.

    It falls apart behind sentence ends, semicolons and commas, before contrasts, and before a joint behind which
    something else is asked: "… and how …". A part has at least `MIN_WORDS` words of its own besides names and dates,
    one word where it stands beside such a joint; a shorter one joins its neighbour, so that "as reported by A and B"
    stays with what was reported.

    Args:
        whole: stretches that are never cut, and that say nothing of the subject: dates, titles, names.
        code: the language of the text.
    """
    kept = [*whole, *(match.span() for match in _QUOTED.finditer(text))]
    cuts, asking = [0], set[int]()
    for match in _boundary(code).finditer(text):
        at = match.end() if match.lastgroup == "end" else match.start()
        if cuts[-1] < at < len(text) and not any(start < at < stop for start, stop in kept):
            cuts.append(at)
            if match.lastgroup == "joint":
                asking.add(at)

    def is_short(part: Clause) -> bool:
        own = set(content_terms(without(text, part.start, part.stop, whole), code))
        return len(own) < (1 if asking.intersection((part.start, part.stop)) else MIN_WORDS)

    parts: list[Clause] = []
    for part in map(Clause, cuts, [*cuts[1:], len(text)]):
        if parts and (is_short(part) or is_short(parts[-1])):
            parts[-1] = Clause(parts[-1].start, part.stop)
        else:
            parts.append(part)
    return parts


@cache
def _boundary(code: str) -> re.Pattern[str]:
    held = language(code)
    contrast, joint = held.pattern("contrast").pattern, held.pattern("joints").pattern
    asking = held.pattern("which", "amount", "time", "person", "place").pattern
    leads = rf"(?P<contrast>{contrast})|(?P<joint>(?:{joint})\s*(?:\w+\s+)?(?:{asking}))"
    return re.compile(rf",?\s*(?:{leads})|(?P<end>{_END})", re.IGNORECASE)


def without(text: str, start: int, stop: int, spans: Sequence[tuple[int, int]]) -> str:
    """``text[start:stop]`` with `spans` blanked out."""
    out = text[start:stop]
    for first, last in spans:
        low, high = max(first, start) - start, min(last, stop) - start
        if low < high:
            out = out[:low] + " " * (high - low) + out[high:]
    return out
