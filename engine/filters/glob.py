"""Glob patterns, translated to regular expressions that RE2 and Python's `re` read alike.

Pattern := Item*
Item    := ``*``                       any characters, also none
         | ``?``                       one character
         | ``[abc]`` ``[a-z]``         one of these characters
         | ``[!abc]`` ``[^abc]``       one character, none of these
         | ``{a,b}``                   one of these patterns; braces may nest
         | any other character         itself

The whole value must match; ``*`` and ``?`` cross line ends. As in a shell, ``]`` first in brackets and ``-`` first or
last stand for themselves, and a ``[`` or ``{`` that is never closed and a ``}`` that closes nothing are ordinary
characters. A range that runs backwards is empty. There is no escape character: ``[*]`` is a literal asterisk.

Ignoring case compares one character with one character: those whose Unicode case folding is the same are equal (``É``
and ``é``, ``ſ`` and ``s``), but ``ß`` is not ``ss``. Classes are written out, as engines have case tables of their own.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable
from functools import cache, lru_cache

MAX_BRACE_DEPTH = 16
MAX_TRANSLATED = 64 * 1024
"""Longest regular expression, in characters; keeps both engines far from their limits."""

_LAST = 0x10FFFF
_NOTHING = "[^\x00-\U0010ffff]"
# Every character with case lies below; scanning all of Unicode would take ten times as long.
_CASED_END = 0x20000

_Ranges = list[tuple[int, int]]


class GlobTooComplex(ValueError):
    """The pattern nests too deeply or would become too long."""


@lru_cache(maxsize=1024)
def translate(pattern: str, *, ignore_case: bool = False) -> str:
    r"""A regular expression that matches whole values as `pattern` does; dot must match line ends, case must count.

    Raises:
        GlobTooComplex: braces nest deeper than 16, or the expression is longer than 64 Ki characters.

    >>> translate("*.{md,txt}")
    '.*\\.(?:md|txt)'
    """
    items = _items(pattern)
    roles = _brace_roles(items)
    parts: list[str] = []
    size = 0
    for index, item in enumerate(items):
        if item == "*":
            part = "" if parts and parts[-1] == ".*" else ".*"
        elif item == "?":
            part = "."
        elif index in roles:
            part = roles[index]
        elif len(item) > 1:
            part, effort = _bracket(item, ignore_case=ignore_case)
            size += effort
        else:
            part = _character(item, ignore_case=ignore_case)
        size += len(part)
        if size > MAX_TRANSLATED:
            raise GlobTooComplex("the pattern is too complex")
        if part:
            parts.append(part)
    return "".join(parts)


@lru_cache(maxsize=1024)
def matcher(pattern: str, *, ignore_case: bool = False) -> re.Pattern[str]:
    """The pattern for Python, to be used with `fullmatch`. It backtracks: many ``*`` in a long text are slow."""
    return re.compile(translate(pattern, ignore_case=ignore_case), re.DOTALL)


def _items(pattern: str) -> list[str]:
    """Single characters, and whole brackets with their ``[`` and ``]``."""
    items: list[str] = []
    at = 0
    closable = True
    while at < len(pattern):
        if pattern[at] == "[" and closable:
            first = at + 2 if pattern[at + 1 : at + 2] in ("!", "^") else at + 1
            # A bracket that closes nothing is a member when it comes first, so the search starts behind it.
            close = pattern.find("]", first + 1)
            if close >= 0:
                items.append(pattern[at : close + 1])
                at = close + 1
                continue
            closable = False  # Nor is any later one: its search would start further on.
        items.append(pattern[at])
        at += 1
    return items


def _brace_roles(items: list[str]) -> dict[int, str]:
    """What the braces that pair up, and the commas directly inside them, become; by index."""
    roles: dict[int, str] = {}
    open_at: list[int] = []
    commas: dict[int, list[int]] = defaultdict(list)
    heights: list[int] = []
    for index, item in enumerate(items):
        if item == "{":
            open_at.append(index)
            heights.append(0)
        elif item == "," and open_at:
            commas[open_at[-1]].append(index)
        elif item == "}" and open_at:
            start = open_at.pop()
            height = heights.pop() + 1
            if height > MAX_BRACE_DEPTH:
                raise GlobTooComplex(f"braces nest deeper than {MAX_BRACE_DEPTH}")
            if heights:
                heights[-1] = max(heights[-1], height)
            roles[start] = "(?:"
            roles[index] = ")"
            roles.update(dict.fromkeys(commas.pop(start, ()), "|"))
    return roles


def _character(character: str, *, ignore_case: bool) -> str:
    if ignore_case and (same := _same_but_case().get(character)):
        return _write_class([(ord(each), ord(each)) for each in same])
    return re.escape(character)


def _bracket(item: str, *, ignore_case: bool) -> tuple[str, int]:
    """The class, and how many characters had to be looked up for it, which counts against the limit as well."""
    negated = item[1] in "!^"
    members = item[2 if negated else 1 : -1]
    ranges: _Ranges = []
    at = 0
    while at < len(members):
        if members[at + 1 : at + 2] == "-" and at + 2 < len(members):
            low, high = ord(members[at]), ord(members[at + 2])
            if low <= high:
                ranges.append((low, high))
            at += 3
        else:
            ranges.append((ord(members[at]), ord(members[at])))
            at += 1
    effort = 0
    if ignore_case:
        both = _both_cases(_united(ranges))
        ranges, effort = ranges + both, len(both)
    if not ranges:
        return ("." if negated else _NOTHING), effort
    return _write_class(ranges, negated=negated), effort


def _write_class(ranges: Iterable[tuple[int, int]], *, negated: bool = False) -> str:
    merged = _united(ranges)
    if merged == [(0, _LAST)]:
        return _NOTHING if negated else "."
    written = "".join(_member(low) if low == high else f"{_member(low)}-{_member(high)}" for low, high in merged)
    return f"[{'^' if negated else ''}{written}]"


def _member(code: int) -> str:
    # Both engines take a backslash before ASCII punctuation in a class, and need it before these.
    character = chr(code)
    return f"\\{character}" if character in "\\]^-[&~|" else character


def _united(ranges: Iterable[tuple[int, int]]) -> _Ranges:
    """The same characters as ascending ranges that neither overlap nor touch."""
    united: _Ranges = []
    for low, high in sorted(ranges):
        if united and low <= united[-1][1] + 1:
            united[-1] = (united[-1][0], max(high, united[-1][1]))
        else:
            united.append((low, high))
    return united


def _both_cases(ranges: _Ranges) -> _Ranges:
    """The characters that differ from some in `ranges` in case only."""
    table, cased = _same_but_case(), _cased()
    return [
        (ord(each), ord(each))
        for low, high in ranges
        for code in cased[bisect_left(cased, low) : bisect_right(cased, high)]
        for each in table[chr(code)]
    ]


@cache
def _cased() -> list[int]:
    """Code points of the characters of `_same_but_case`, ascending."""
    return sorted(map(ord, _same_but_case()))


@cache
def _same_but_case() -> dict[str, str]:
    """Character to all characters that differ from it in case only, itself included; those without any are left out."""
    groups: dict[str, list[str]] = defaultdict(list)
    for character in map(chr, range(_CASED_END)):
        if character.lower() != character or character.upper() != character:
            groups[character.casefold()].append(character)
    return {each: "".join(same) for same in groups.values() if len(same) > 1 for each in same}
