"""Which attribute values a question names: sources, authors, categories, titles, whatever the attributes are called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from engine.agent.steps import AttributeValues
from engine.analysis.language import DEFAULT_LANGUAGE, language
from engine.analysis.words import folded
from engine.model.document import JsonValue

MAX_WORDS = 12
"""Longest value that is looked for, in words."""
MANY = 20
TITLE_WORDS = 3
"""Words that a part of a value needs to stand for it, where nearly every document has a value of its own: a title's
first word names no title."""
FUNCTION_WORDS = frozenset(language(DEFAULT_LANGUAGE).stop.split())
MIN_STRENGTH = 0.3
"""A weaker mention narrows nothing."""
_TOKEN = re.compile(r"[^\W_]+")
_SUBTITLE = re.compile(r"\s+[|–—·»>-]+\s+|:\s|\s\(|,\s")
_DOMAIN = re.compile(r"\.(?:com|org|net|io|gov|edu|co\.uk|[a-z]{2})$", re.IGNORECASE)
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


class Mention(msgspec.Struct, frozen=True):
    """A stretch of a question that names values of one attribute.

    Attributes:
        values: those it may stand for; several when they share the part that is named.
        start, stop: ``[start, stop)`` in the question.
        strength: how surely the attribute is meant, in (0, 1].
        documents: how many documents have one of the values.
    """

    attribute: str
    values: tuple[JsonValue, ...]
    start: int
    stop: int
    strength: float
    documents: int


class _Entry(msgspec.Struct):
    attribute: str
    values: dict[JsonValue, int]
    kind: float
    is_name: bool
    is_long: bool


class ValueDictionary:
    """Finds values by name, or its first part ("BBC News" of "BBC News | World"), without punctuation and spaces."""

    def __init__(self, attributes: Sequence[AttributeValues]) -> None:
        self._entries: dict[str, dict[str, _Entry]] = {}
        self._unspaced: dict[str, list[tuple[str, JsonValue, int]]] = {}
        self._numbers: dict[str, dict[float, tuple[JsonValue, int]]] = {}
        self._cues: dict[str, tuple[str, ...]] = {}
        for held in attributes:
            self._cues[held.attribute] = tuple(_cue(token) for token in _tokens(held.attribute))
            kind = held.type.removeprefix("[]")
            is_unique = len(held.values) >= MANY and sum(n for _, n in held.values) < 1.5 * len(held.values)
            for value, documents in held.values:
                if kind == "string" and isinstance(value, str):
                    self._add(held.attribute, value, documents, is_unique=is_unique)
                elif kind in ("int", "uint", "float") and isinstance(value, (int, float)):
                    self._numbers.setdefault(held.attribute, {})[float(value)] = (value, documents)

    def mentions(self, text: str) -> list[Mention]:
        """Every mention of at least `MIN_STRENGTH`, in order; the longest wins where those of one attribute overlap."""
        tokens = [(match.start(), match.end(), folded(match.group())) for match in _TOKEN.finditer(text)]
        found = [*self._names(text, tokens), *self._unspaced_names(text), *self._cued_numbers(tokens)]
        found.sort(key=lambda m: (-(m.stop - m.start), -m.strength, m.attribute))
        kept: list[Mention] = []
        for mention in found:
            if mention.strength >= MIN_STRENGTH and not any(
                other.start < mention.stop
                and mention.start < other.stop
                # A longer name of any attribute holds the shorter: "New York Times" is not the city.
                and (other.attribute == mention.attribute or (other.start, other.stop) != (mention.start, mention.stop))
                for other in kept
            ):
                kept.append(mention)
        return sorted(kept, key=lambda m: (m.start, m.attribute))

    def _add(self, attribute: str, value: str, documents: int, *, is_unique: bool) -> None:
        if _UNSPACED.search(value):
            self._unspaced.setdefault(folded(value), []).append((attribute, value, documents))
            return
        tokens = _tokens(value)
        if not 1 <= len(tokens) <= MAX_WORDS:
            return
        is_name = any(c.isupper() or c.isdigit() for c in value)
        for alias, kind in _aliases(value, tokens):
            key = "".join(alias)
            if len(key) < 2 or all(word in FUNCTION_WORDS for word in alias):
                continue
            if is_unique and alias is not tokens and len(alias) < TITLE_WORDS:
                continue
            is_long = sum(word not in FUNCTION_WORDS for word in alias) > 1
            entries = self._entries.setdefault(key, {})
            entry = entries.get(attribute)
            if entry is None or kind > entry.kind:
                entries[attribute] = entry = _Entry(attribute, {}, kind, is_name, is_long)
            elif kind < entry.kind:
                continue
            entry.values[value] = documents

    def _names(self, text: str, tokens: Sequence[tuple[int, int, str]]) -> Iterator[Mention]:
        for first in range(len(tokens)):
            key = ""
            for last in range(first, min(first + MAX_WORDS, len(tokens))):
                key += tokens[last][2]
                for entry in self._entries.get(key, {}).values():
                    start, stop = tokens[first][0], tokens[last][1]
                    strength = self._strength(entry, text, start, stop, tokens, first, last)
                    yield Mention(
                        entry.attribute, tuple(entry.values), start, stop, strength, sum(entry.values.values())
                    )

    def _strength(
        self,
        entry: _Entry,
        text: str,
        start: int,
        stop: int,
        tokens: Sequence[tuple[int, int, str]],
        first: int,
        last: int,
    ) -> float:
        """How surely a name stands for the attribute's value and not for a common word."""
        if self._is_cued(entry.attribute, tokens, first, last):
            return 1.0
        written = text[start:stop]
        inner = any(c.isupper() for c in written[1:])
        if not entry.is_name:
            # The value is an ordinary word or phrase: "business", "climate change".
            return 0.7 * entry.kind if entry.is_long else (0.2 if written.islower() else 0.3)
        if written.islower():
            return entry.kind * (0.8 if entry.is_long or any(c.isdigit() for c in written) else 0.2)
        if entry.is_long or inner or any(c.isdigit() for c in written):
            return entry.kind
        # The first word of a question is a capital whatever it means.
        return entry.kind * (0.5 if start == 0 else 0.8)

    def _is_cued(self, attribute: str, tokens: Sequence[tuple[int, int, str]], first: int, last: int) -> bool:
        """Whether the attribute's own name stands beside: "in the business category", "season 3"."""
        cues = self._cues.get(attribute, ())
        near = [_cue(tokens[n][2]) for n in (first - 2, first - 1, last + 1, last + 2) if 0 <= n < len(tokens)]
        return bool(cues) and cues[-1] in near

    def _unspaced_names(self, text: str) -> Iterator[Mention]:
        if not self._unspaced or not _UNSPACED.search(text):
            return
        plain = folded(text)
        if len(plain) != len(text):
            plain = text
        for key, held in self._unspaced.items():
            start = plain.find(key)
            if start >= 0 and len(key) > 1:
                for attribute, value, documents in held:
                    yield Mention(attribute, (value,), start, start + len(key), 0.9, documents)

    def _cued_numbers(self, tokens: Sequence[tuple[int, int, str]]) -> Iterator[Mention]:
        for number, (start, stop, token) in enumerate(tokens):
            if not token.isdecimal() or len(token) > 15:
                continue
            for attribute, values in self._numbers.items():
                held = values.get(float(token))
                if held is None:
                    continue
                if self._is_cued(attribute, tokens, number, number):
                    yield Mention(attribute, (held[0],), start, stop, 1.0, held[1])


def _aliases(value: str, tokens: list[str]) -> Iterator[tuple[list[str], float]]:
    """Names of a value with how far each may be trusted, best first."""
    yield tokens, 1.0
    without_domain = _tokens(_DOMAIN.sub("", value.strip()))
    if without_domain != tokens:
        yield without_domain, 0.95
    head = _tokens(_SUBTITLE.split(value, maxsplit=1)[0])
    if head and head != tokens:
        yield head, 0.9
    for alias in (tokens, head):
        if len(alias) > 1 and alias[0] in ("the", "a", "an"):
            yield alias[1:], 0.6


def _tokens(text: str) -> list[str]:
    return [folded(token) for token in _TOKEN.findall(text)]


def _cue(token: str) -> str:
    """A word of an attribute's name, plural and singular alike."""
    token = folded(token)
    if token.endswith("ies"):
        return token[:-3] + "y"
    return token.removesuffix("s")
