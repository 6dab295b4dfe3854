"""A question into its parts: what it compares, joins or puts in order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import msgspec

from engine.analysis.language import DEFAULT_LANGUAGE, language
from engine.question.terms import content_terms

MIN_WORDS = 3
"""Subject words that a part needs to be looked for by itself."""

_QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|(?<!\w)'[^']{2,60}'(?!\w)|‘[^’]*’(?!\w)|\([^)]*\)")


_HARD, _COMMA = r"[.?!;。？！؟।](?=\s|$)|\n+", r"[,，、،](?=\s|[^\x00-\x7f])"


class Clause(msgspec.Struct, frozen=True):
    """A part of a question, ``[start, stop)`` in it."""

    start: int
    stop: int


def clauses(
    text: str, whole: Sequence[tuple[int, int]], names: Sequence[tuple[int, int]], code: str = DEFAULT_LANGUAGE
) -> list[Clause]:
    """The parts of `text`, in order, without gaps; one part when it does not fall apart.

    It falls apart at sentence ends and semicolons, before contrasts, at commas, and before plain joints. A part has at
    least `MIN_WORDS` words of its own besides names and dates, unless it asks by itself; a shorter one joins its
    neighbour, so that "as reported by A and B" stays with what was reported.

    Args:
        whole: stretches that are never cut: dates, titles, names.
        names: stretches that name where something is reported, such as a source; a plain joint cuts only before a part
            that has one of its own, or that asks: "… and how …".
        code: the language of the text.
    """
    kept = [*whole, *((m.start(), m.end()) for m in _QUOTED.finditer(text))]
    cuts = [0]
    for match in _boundary(code).finditer(text):
        at = match.end() if match.lastgroup in ("hard", "comma") else match.start()
        if any(start < at < stop for start, stop in kept) or at >= len(text):
            continue
        if match.lastgroup == "joint" and not (_opens_named(text, at, names) or _asks(text, match.end(), code)):
            continue
        if at > cuts[-1]:
            cuts.append(at)
    pieces = [(start, stop) for start, stop in zip(cuts, [*cuts[1:], len(text)], strict=True)]
    return _merged(text, pieces, [*whole, *names], code)


@cache
def _boundary(code: str) -> re.Pattern[str]:
    """Where a question may fall apart, strongest first."""
    held = language(code)
    contrast, joint = held.pattern("contrast").pattern, held.pattern("joints").pattern
    return re.compile(
        rf"(?P<hard>{_HARD})|(?P<contrast>,?\s*(?=(?:{contrast})))|(?P<comma>{_COMMA})|(?P<joint>(?<!\s)\s*(?:{joint})(?!\S*[-–]))",
        re.IGNORECASE,
    )


def _asks(text: str, at: int, code: str) -> bool:
    """Whether what follows a place asks by itself."""
    asking = language(code).pattern("which", "amount", "time", "person", "place")
    found = asking.search(text, at)
    return found is not None and len(text[at : found.start()].split()) <= 1


def _opens_named(text: str, at: int, names: Sequence[tuple[int, int]]) -> bool:
    """Whether a name follows within four words: "… and the Times report …"."""
    return any(start > at and len(text[at:start].split()) <= 4 for start, _ in names)


def _merged(text: str, pieces: Sequence[tuple[int, int]], named: Sequence[tuple[int, int]], code: str) -> list[Clause]:
    """Short pieces join the piece before them; a short first piece joins the one after."""
    # Behind the first part "who" and "which" are joints as well, and mostly lead to more of the same.
    asking = {start for start, _ in pieces if _asks(text, _behind_joint(text, start, code) if start > 0 else 0, code)}
    if len(pieces) > 1 and pieces[1][0] not in asking:
        asking.discard(0)

    def is_short(start: int, stop: int) -> bool:
        own = len(set(content_terms(without(text, start, stop, named), code)))
        return own < (1 if start in asking else MIN_WORDS)

    out: list[Clause] = []
    for start, stop in pieces:
        if out and (is_short(start, stop) or is_short(out[-1].start, out[-1].stop)):
            out[-1] = Clause(out[-1].start, stop)
        else:
            out.append(Clause(start, stop))
    if len(out) > 1 and is_short(out[-1].start, out[-1].stop):
        last = out.pop()
        out[-1] = Clause(out[-1].start, last.stop)
    return out


def _behind_joint(text: str, start: int, code: str) -> int:
    joint = (
        language(code)
        .pattern("joints", "contrast")
        .match(text, start + len(text[start:]) - len(text[start:].lstrip(" ,，、،")))
    )
    return joint.end() if joint else start


def without(text: str, start: int, stop: int, spans: Sequence[tuple[int, int]]) -> str:
    """``text[start:stop]`` with `spans` blanked out."""
    out = text[start:stop]
    for first, last in spans:
        low, high = max(first, start) - start, min(last, stop) - start
        if low < high:
            out = out[:low] + " " * (high - low) + out[high:]
    return out
