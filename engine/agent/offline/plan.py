"""The plan without a model: the question, its parts, and what the namespace's own values narrow."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from datetime import date

import msgspec

from engine.agent.offline.mentions import Mention, ValueDictionary
from engine.agent.offline.narrowing import DateAttributes, Filter, either, joined, narrowing_of
from engine.agent.steps import AttributeValues, Constraint, Corpus, Plan, PlannedQuery, SubQuestion
from engine.analysis.language import language
from engine.question.asked_language import question_language
from engine.question.dates import DateMention, dates_in
from engine.question.followup import Asked
from engine.question.names import names_in
from engine.question.parts import clauses
from engine.question.shape import shape_of
from engine.question.terms import content_terms
from engine.question.turn import Question

MAX_QUERIES = 8
MAX_SUB_QUESTIONS = 5
MAX_NARROWINGS = 3
"""Different values, such as sources, that the whole question is asked under."""
WHOLE, PART = 1.0, 0.2
"""Weights of queries for the whole question and for a part of it."""
CONSTRAINING = 0.8
"""Strength from which a mention is what documents must satisfy, and no word of the subject."""
BACKGROUND = 0.3
"""Weight of the query that adds words of the context."""
BACKGROUND_STRENGTH = 0.8
"""Mentions in the context count from this strength on."""
_CONTEXT_WORDS = 40
_CONTEXT_READ = 4_000
_REMEMBERED = 16
_MARKS = "\"'“”‘’.,;:?!()"
_QUESTION = re.compile(r"[^.?!\n]{15,400}\?")


class Reading(msgspec.Struct, frozen=True):
    """What a text names.

    Attributes:
        code: the language of the text.
        places: values and dates that a text names beside its subject, as stretches.
    """

    text: str
    mentions: tuple[Mention, ...]
    dates: tuple[DateMention, ...]
    code: str

    @property
    def places(self) -> list[tuple[int, int]]:
        return [(m.start, m.stop) for m in (*self.mentions, *self.dates)]

    def subject(self, start: int = 0, stop: int | None = None) -> str:
        """The words of a stretch without what only says where and when it was reported."""
        stop = len(self.text) if stop is None else stop
        held = language(self.code)
        frame, light = frozenset(held.frame.split()), frozenset(f"{held.stop} {held.common}".split())
        kept: list[str] = []
        # Function words wait: those that lead to something left out go with it ("as reported by", "published on").
        waiting: list[str] = []
        after_gap = False
        for match in re.finditer(r"\S+", self.text[start:stop]):
            word = match.group()
            plain = word.strip(_MARKS).lower()
            left_out = plain in frame or any(
                first < start + match.end() and start + match.start() < last for first, last in self.places
            )
            if left_out:
                waiting, after_gap = [], True
            elif plain in light or not any(c.isalnum() for c in word):
                waiting.append(word)
            else:
                kept += [*([] if after_gap and len(waiting) > 2 else waiting), word]
                waiting, after_gap = [], False
        subject = " ".join(kept)
        return subject if content_terms(subject, self.code) else " ".join(self.text[start:stop].split())


class OfflinePlanner:
    """Deterministic; reads the question and the value dictionary only. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[AttributeValues, ...], tuple[ValueDictionary, DateAttributes]] = OrderedDict()

    async def plan(self, question: Question, corpus: Corpus) -> Plan:
        return self.plan_now(question, corpus)

    def plan_now(self, question: Question, corpus: Corpus) -> Plan:
        """As `plan`, for callers without an event loop."""
        asked = question.asked
        text = asked.text if asked.joined else lines_of(asked.text)
        values, dated = self._dictionary(corpus)
        now = date.fromisoformat(corpus.today)
        code = question_language(text, corpus.languages)
        # "Last month" of an archive is its own; what is still to come leaves today as it is.
        dates = dates_in(text, min(now, dated.latest or now), code, dated.latest)
        reading = Reading(text, tuple(values.mentions(text)), tuple(dates), code)
        context = lines_of(question.request.context[:_CONTEXT_READ])
        if " ".join(context.split()) in " ".join(text.split()):
            context = ""
        planning = _Planning(reading, dated, asked)
        planning.whole()
        planning.parts()
        planning.constrained()
        if context:
            planning.background(context, [m for m in values.mentions(context) if m.strength >= BACKGROUND_STRENGTH])
        return planning.plan()

    def _dictionary(self, corpus: Corpus) -> tuple[ValueDictionary, DateAttributes]:
        """Made once for each state of the namespace's values."""
        with self._lock:
            known = self._known.get(corpus.values)
            if known is None:
                known = ValueDictionary(corpus.values), DateAttributes(corpus)
                self._known[corpus.values] = known
                while len(self._known) > _REMEMBERED:
                    self._known.popitem(last=False)
            self._known.move_to_end(corpus.values)
            return known


def lines_of(text: str) -> str:
    """`text` with runs of white space folded; line ends stay, for they part what a question lists."""
    return "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip()) or text.strip()


class _Planning:
    """Collects queries, most useful first; the budget cuts the tail."""

    def __init__(self, reading: Reading, dated: DateAttributes, asked: Asked) -> None:
        self._reading = reading
        self._asked = asked
        self._dated = dated
        self._queries: list[tuple[int, PlannedQuery]] = []
        self._parts: list[SubQuestion] = []
        self._settled: list[Filter] = []
        self._constraints: list[Constraint] = []

    def whole(self) -> None:
        """The question as it is, then its subject under each value and date that it names."""
        reading = self._reading
        self._add(0, PlannedQuery(reading.text, weight=WHOLE))
        if self._asked.joined is not None:
            self._add(0, PlannedQuery(self._asked.now, weight=WHOLE))
        subject = reading.subject()
        for place, mentions in enumerate(_together(reading.mentions)[:MAX_NARROWINGS]):
            narrowing = narrowing_of(mentions)
            if narrowing is not None and narrowing not in self._settled:
                self._settled.append(narrowing)
                strength = max(m.strength for m in mentions)
                self._add(
                    1 + place, PlannedQuery(subject, narrowing=narrowing, weight=WHOLE * min(1.0, strength + 0.2))
                )

    def parts(self) -> None:
        """Each part of the question, under the values and dates that it names itself."""
        reading = self._reading
        whole = [*reading.places, *([self._asked.joined] if self._asked.joined else [])]
        parts = clauses(reading.text, whole, reading.code)[:MAX_SUB_QUESTIONS]
        for number, part in enumerate(parts):
            subject = reading.subject(part.start, part.stop) if len(parts) > 1 else reading.subject()
            inside = _inside(reading.places, part.start, part.stop)
            entities = names_in(reading.text[part.start : part.stop], inside, reading.code)
            mentions = [m for m in reading.mentions if part.start <= m.start < part.stop]
            named = tuple(dict.fromkeys(reading.text[m.start : m.stop] for m in mentions))
            self._parts.append(
                SubQuestion(_readable(reading.text[part.start : part.stop], reading.code), tuple(entities), named)
            )
            dates = [d for d in reading.dates if part.start <= d.start < part.stop]
            narrowings = [n for group in _together(mentions) if (n := narrowing_of(group)) is not None]
            for day in dates:
                period = self._dated.narrowing(day, reading.text)
                if period is not None:
                    # A source and a day together name one document or a few.
                    place = narrowing_of(_before(mentions, day))
                    self._add(4, PlannedQuery(subject, number, joined([place, period]), WHOLE))
            if len(parts) > 1:
                self._add(5, PlannedQuery(subject, number, weight=PART))
                for narrowing in narrowings:
                    self._add(6, PlannedQuery(subject, number, narrowing, PART))

    def constrained(self) -> None:
        """The subject under all that the question names at once, and what that is."""
        reading = self._reading
        by_attributes: dict[tuple[str, ...], list[Mention]] = {}
        stretches: dict[tuple[int, int], list[Mention]] = {}
        for mention in reading.mentions:
            if mention.strength >= CONSTRAINING and not self._is_carried(mention.start):
                stretches.setdefault((mention.start, mention.stop), []).append(mention)
        for mentions in stretches.values():
            by_attributes.setdefault(tuple(m.attribute for m in mentions), []).extend(mentions)
        for attributes, mentions in by_attributes.items():
            words = tuple(dict.fromkeys(reading.text[m.start : m.stop] for m in mentions))
            filters = tuple({m.attribute: value} for m in mentions for value in m.values)
            self._constraints.append(Constraint(words, filters, attributes))
        for day in reading.dates:
            if not self._is_carried(day.start) and (period := self._dated.narrowing(day, reading.text)) is not None:
                names = tuple(next(iter(part)) for part in period.get("$or", [period]))
                words = (reading.text[day.lead : day.stop],)
                self._constraints.append(Constraint(words, (period,), names, is_date=True))
        together = [either(constraint.narrowings) for constraint in self._constraints]
        if len(together) > 1 or any(constraint.is_date for constraint in self._constraints):
            self._add(1, PlannedQuery(reading.subject(), narrowing=joined(together)))

    def _is_carried(self, start: int) -> bool:
        """Whether a message that asks by itself only takes along what stands at a place."""
        joined = self._asked.joined
        return joined is not None and 0 < joined[0] < start

    def background(self, context: str, mentions: Sequence[Mention]) -> None:
        """What the context adds: its own questions, values that it names, and its first words."""
        subject = self._reading.subject()
        for match in list(_QUESTION.finditer(context))[:2]:
            text = " ".join(match.group().split())
            if len(self._parts) < MAX_SUB_QUESTIONS and content_terms(text, self._reading.code):
                self._parts.append(SubQuestion(text))
                self._add(3, PlannedQuery(text, len(self._parts) - 1, weight=PART))
        for group in _together(mentions)[:2]:
            narrowing = narrowing_of(group)
            if narrowing is not None and narrowing not in self._settled:
                self._settled.append(narrowing)
                self._add(5, PlannedQuery(subject, narrowing=narrowing, weight=PART))
        words = " ".join(context.split()[:_CONTEXT_WORDS])
        self._add(5, PlannedQuery(f"{self._reading.text} {words}", weight=BACKGROUND))

    def plan(self) -> Plan:
        """The `MAX_QUERIES` most useful queries."""
        queries = [query for _, query in sorted(self._queries, key=lambda held: held[0])]
        shape = shape_of(self._asked.form, self._reading.code)
        return Plan(tuple(self._parts), tuple(queries[:MAX_QUERIES]), shape, tuple(self._constraints))

    def _add(self, rank: int, query: PlannedQuery) -> None:
        if not any(held.text == query.text and held.narrowing == query.narrowing for _, held in self._queries):
            self._queries.append((rank, query))


def _together(mentions: Sequence[Mention]) -> list[list[Mention]]:
    """Mentions by stretch: one name that is a value of two attributes narrows by either, each on its own."""
    return [[mention] for mention in dict.fromkeys(mentions)]


def _before(mentions: Sequence[Mention], day: DateMention) -> list[Mention]:
    """The mention that a date belongs to: the last before it, else the first after it."""
    return [m for m in mentions if m.stop <= day.start][-1:] or list(mentions[:1])


def _readable(part: str, code: str) -> str:
    """A part of a question without the joints and marks that lead to it."""
    part = part.strip(" ,;，、،")
    joint = language(code).pattern("joints", "contrast").match(part)
    while joint is not None and joint.end() < len(part):
        part = part[joint.end() :].lstrip(" ,;，、،")
        joint = language(code).pattern("joints", "contrast").match(part)
    return part


def _inside(places: Sequence[tuple[int, int]], start: int, stop: int) -> list[tuple[int, int]]:
    """`places` within a stretch, counted from its start."""
    return [(first - start, last - start) for first, last in places if start <= first < stop]
