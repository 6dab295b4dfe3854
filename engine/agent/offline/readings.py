"""Groups of passages that read one question in different ways.

Passages are grouped by the value of an attribute, or by title. Groups are readings of the question when each of them
covers it as well as the others, each says something else, and what tells them apart is what they are about: the value
stands in their text or title, or their texts are alike but for it (two manuals, two yearly reports). Two newspapers on
one event are no readings: their names do not stand in their texts, and the texts are not alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import msgspec

from engine.agent.evidence.analysed import terms_of
from engine.agent.offline.wording import title_of
from engine.agent.steps import ReadingPassage
from engine.analysis.language import DEFAULT_LANGUAGE
from engine.model.document import JsonValue
from engine.question.terms import read_in

BEST = 0.6
"""Share of the question's rarity that the best passage must hold; below, nothing answers and nothing is ambiguous."""
TIED = 0.9
"""Share of the best group's coverage, by its best passage and by its best sentence, that a reading reaches."""
ABOUT = 0.6
"""Share of a reading's passages in whose text or title its value stands."""
ALIKE = 0.5
"""Shared terms, as a share of all, of two passages that are alike (Jaccard)."""
_TIMESTAMP = re.compile(r"^\d{4}-\d\d-\d\dT")


class Held(msgspec.Struct, frozen=True):
    """A passage against the question.

    Attributes:
        coverage: share of the question's rarity in header and text.
        sentence: the same of its best sentence with the header.
        best: terms of that sentence.
    """

    passage: ReadingPassage
    coverage: float
    sentence: float
    best: frozenset[str]
    terms: frozenset[str]


class Reading(msgspec.Struct, frozen=True):
    """One way to read the question.

    Attributes:
        value: of the attribute, or the title.
        held: its passages, best covered first.
    """

    value: JsonValue
    held: tuple[Held, ...]


def held_against(weights: Mapping[str, float], passages: Sequence[ReadingPassage]) -> list[Held]:
    """Each passage with its coverage of `weights`."""
    total = sum(weights.values()) or 1.0

    def covered(terms: frozenset[str]) -> float:
        return sum(weight for term, weight in weights.items() if term in terms) / total

    out: list[Held] = []
    for passage in passages:
        header = terms_in(passage.passage.header)
        blocks = [terms_in(block.text) for block in passage.blocks] or [frozenset[str]()]
        best = max(blocks, key=lambda terms: covered(terms | header))
        terms = terms_in(passage.passage.text) | header
        out.append(Held(passage, covered(terms), covered(best | header), best, terms))
    return out


def readings_by_attribute(
    name: str, held: Sequence[Held], asked: frozenset[str], said: frozenset[str]
) -> list[Reading]:
    """Readings that the values of one attribute tell apart; empty when they do not.

    Args:
        asked: terms with content of the question.
        said: all terms of the question and its context.
    """
    groups: dict[JsonValue, list[Held]] = {}
    for one in held:
        value = one.passage.attributes.get(name)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and not _TIMESTAMP.match(str(value)):
            groups.setdefault(value, []).append(one)
    readings = tied(groups, asked)
    if len(readings) < 2 or any(value_terms(reading.value) <= said for reading in readings):
        return []
    return readings if are_about(readings) or are_alike(readings) else []


def readings_by_title(held: Sequence[Held], asked: frozenset[str], said: frozenset[str]) -> list[Reading]:
    """Readings that titles tell apart: what the question asks for stands in each of them, or the texts are alike."""
    groups: dict[JsonValue, list[Held]] = {}
    for one in held:
        if title := title_of(one.passage):
            groups.setdefault(title, []).append(one)
    readings = tied(groups, asked)
    if len(readings) < 2:
        return []
    titles = [value_terms(reading.value) for reading in readings]
    common = frozenset(term for term in titles[0] if all(term in title for title in titles))
    if any((title - common) & said for title in titles):
        # Something in the question or its context tells the titles apart.
        return []
    return readings if common & asked or are_alike(readings) else []


def tied(groups: Mapping[JsonValue, Sequence[Held]], asked: frozenset[str]) -> list[Reading]:
    """The groups that cover the question as well as the best one, best first, those that say the same left out."""
    ranked = {value: sorted(held, key=lambda h: (-h.sentence, -h.coverage)) for value, held in groups.items()}
    whole = max((h.coverage for held in ranked.values() for h in held), default=0.0)
    sentence = max((held[0].sentence for held in ranked.values()), default=0.0)
    if whole < BEST:
        return []
    found: list[Reading] = []
    for value, held in ranked.items():
        top = held[0]
        if top.sentence < TIED * sentence or max(h.coverage for h in held) < TIED * whole:
            continue
        if all(differs(top, value, other.held[0], other.value, asked) for other in found):
            found.append(Reading(value, tuple(held)))
    return sorted(found, key=lambda r: (-r.held[0].sentence, -r.held[0].passage.score))


def differs(a: Held, a_value: JsonValue, b: Held, b_value: JsonValue, asked: frozenset[str]) -> bool:
    """Whether the best sentences say different things beside naming different values.

    Where the question asks for nothing but the values ("Who is Mercury?"), the whole passages decide.
    """
    mine, other = a.best - value_terms(a_value), b.best - value_terms(b_value)
    if not asked & (mine | other):
        mine, other = a.terms - value_terms(a_value), b.terms - value_terms(b_value)
    return mine != other


def is_unsettled(reading: Reading, asked: frozenset[str]) -> bool:
    """Whether another document of a reading covers the question as well as its best and says something else."""
    top = reading.held[0]
    return any(
        one.passage.passage.document_id != top.passage.passage.document_id
        and one.sentence >= TIED * top.sentence
        and differs(top, reading.value, one, reading.value, asked)
        for one in reading.held[1:]
    )


def are_about(readings: Iterable[Reading]) -> bool:
    """Whether each value stands in most texts or titles of its reading."""
    return all(
        sum(value_terms(reading.value) <= one.terms for one in reading.held) >= ABOUT * len(reading.held)
        for reading in readings
    )


def are_alike(readings: Sequence[Reading]) -> bool:
    """Whether the texts of the readings follow one pattern."""
    pairs = list(combinations(readings[:4], 2))
    return all(_jaccard(a.held[0].terms, b.held[0].terms) >= ALIKE for a, b in pairs)


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / max(1, len(a | b))


def value_terms(value: JsonValue) -> frozenset[str]:
    """The index's terms of a value."""
    return terms_in(str(value).replace("_", " "))


def terms_in(text: str, code: str = DEFAULT_LANGUAGE) -> frozenset[str]:
    """The terms of a text as a question in the language `code` reads it."""
    return terms_of(text, read_in(code))
