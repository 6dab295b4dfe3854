"""The answer without a model: sentences of the documents in the order of the sub-questions, each with its citation."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date

import msgspec

from engine.agent.drafts import AnswerDraft, FindingDraft, SentenceDraft
from engine.agent.evidence.likeness import Likeness
from engine.agent.offline.constraints import day_of
from engine.agent.offline.contrast import disputes, relation, verdict
from engine.agent.offline.statements import Shares, Statement, Statements
from engine.agent.offline.wording import label_of, labelled, tidy, written_title
from engine.agent.steps import Evidence, Judgement, Plan
from engine.agent.workers import InThread
from engine.analysis.analyzer import query_terms
from engine.analysis.language import Phrases, language
from engine.model.search import MAX_EXCERPTS, MAX_RESULTS
from engine.question.dates import dates_in
from engine.question.names import names_in
from engine.question.turn import Question

SENTENCES = 6
PER_PART = 2
"""Sentences for one of several sub-questions."""
ALONE = 3
"""Sentences where the question has one part only."""
WORTH = 0.3
"""Share of the best document's relevance below which a document is no result."""
TELLS = 0.6
"""Share of the best sentence's score from which another one is said beside it."""
FURTHER = 5
"""Documents that no sentence uses, at most; twice as many where the question has several parts."""
_ANY_DAY = date(2000, 1, 1)
"""Only where dates stand matters here, not which days they mean."""


class Source(msgspec.Struct, frozen=True):
    """One document that may become a result.

    Attributes:
        passages: indexes of its passages, the most relevant first.
        block_ids: its excerpts to be, but for what is said.
        text: of those passages, for what a label may say.
        title: as the document has it, however it is tidied in the label.
    """

    document_id: str
    label: str
    passages: frozenset[int]
    block_ids: tuple[str, ...]
    text: str
    title: str


class OfflineSynthesizer:
    """Says nothing that does not stand in a document.

    Args:
        likeness: of words; None counts the same words only.
    """

    def __init__(self, run: InThread = asyncio.to_thread, likeness: Likeness | None = None) -> None:
        self._run = run
        self._likeness = likeness

    async def synthesize(
        self, question: Question, plan: Plan, evidence: Sequence[Evidence], judgement: Judgement
    ) -> AnswerDraft:
        return await self._run(written, question, plan, evidence, judgement, self._likeness)


def written(
    question: Question,
    plan: Plan,
    evidence: Sequence[Evidence],
    judgement: Judgement,
    likeness: Likeness | None = None,
) -> AnswerDraft:
    """The draft; `evidence` is the most relevant first."""
    best = max((e.relevance for e in evidence), default=0.0)
    evidence = [e for e in evidence if e.relevance >= WORTH * best]
    statements = Statements(question, [e.passage for e in evidence], likeness)
    says = language(question.terms.code).says
    answer = _Answer(question, statements, sources(question, evidence), says)
    parts = plan.sub_questions if len(plan.sub_questions) > 1 else ()
    for followed in plan.followed:
        # What is asked of a document by name says more than the question that only describes it.
        named = Statements(question, statements.passages, likeness, question.terms_of(followed))
        answer.say(named.weights(), 1, named)
    for part in parts:
        answer.say(statements.weights(frozenset(query_terms(part.text, question.terms.languages))), PER_PART)
    if not parts or not answer.sentences:
        answer.say(statements.weights(), ALONE)
    if plan.shape in ("yes_no", "comparison"):
        dates = [(mention.start, mention.stop) for mention in dates_in(question.text, _ANY_DAY, question.terms.code)]
        answer.say_of_each(names_in(question.text, dates, question.terms.code))
    findings, sentences = answer.drafts(FURTHER * (2 if parts else 1), plan.leads)
    caveats: list[str] = []
    if judgement.missing and says is not None:
        caveats.append(says.missing.format(missing="; ".join(judgement.missing)))
    if plan.shape in ("yes_no", "comparison") and sentences and says is not None:
        if plan.shape == "yes_no" and (decided := answer.verdict()) is not None:
            opening = f"{says.yes if decided else says.no} — {sentences[0].text}"
            sentences = (msgspec.structs.replace(sentences[0], text=opening), *sentences[1:])
        else:
            caveats.append(says.verdict)
    return AnswerDraft(findings, sentences, tuple(caveats))


def sources(question: Question, evidence: Sequence[Evidence]) -> list[Source]:
    """The documents of the evidence, most relevant first."""
    by_document: dict[str, list[int]] = {}
    for number, held in enumerate(evidence):
        by_document.setdefault(held.passage.passage.document_id, []).append(number)
    return [
        Source(
            document_id,
            label_of(evidence[numbers[0]].passage, question, question.text),
            frozenset(numbers),
            excerpt_blocks([evidence[n] for n in numbers]),
            " ".join(evidence[n].passage.passage.text for n in numbers),
            written_title(evidence[numbers[0]].passage),
        )
        for document_id, numbers in by_document.items()
    ]


def excerpt_blocks(evidence: Sequence[Evidence], first: Sequence[str] = ()) -> tuple[str, ...]:
    """Blocks of a document's passages, best passages first, as many as make `MAX_EXCERPTS` excerpts.

    Blocks that follow each other in one passage become one excerpt.

    Args:
        first: blocks that come before all others.
    """
    chosen: list[str] = list(first)
    excerpts = 1 if first else 0
    for held in evidence:
        place = {block.id: number for number, block in enumerate(held.passage.blocks)}
        last = -2
        for block_id in sorted((b for b in held.block_ids if b in place), key=place.__getitem__):
            excerpts += place[block_id] != last + 1
            if excerpts > MAX_EXCERPTS:
                return tuple(chosen)
            last = place[block_id]
            chosen.append(block_id)
    return tuple(chosen)


class _Answer:
    """Sentences as they come; none twice, and none from a document that had its say on a part."""

    def __init__(
        self, question: Question, statements: Statements, documents: Sequence[Source], says: Phrases | None
    ) -> None:
        self.sentences: list[SentenceDraft] = []
        self._question = question
        self._statements = statements
        self._documents = documents
        self._says = says
        self._of = {passage: n for n, document in enumerate(documents) for passage in document.passages}
        self._told: list[tuple[Statement, int]] = []

    def say(self, weights: Shares, room: int, statements: Statements | None = None) -> None:
        """Up to `room` sentences for one part, best first; of other `statements` where they are given."""
        best = 0.0
        told = 0
        for statement, number in self._ranked(weights, statements):
            if told == room or len(self.sentences) == SENTENCES:
                break
            if statement.score < TELLS * best:
                continue
            fact = (statements or self._statements).fact(statement) if not self._told else None
            told += self._say(fact or statement, number)
            best = max(best, statement.score)

    def say_of_each(self, names: Sequence[str]) -> None:
        """A sentence of each thing that is set against another and that none of the sentences is about."""
        asked = self._statements.table.asked
        for name in names:
            terms = frozenset(query_terms(name, asked.languages))
            columns = frozenset(n for n, term in enumerate(asked.terms) if term.forms & terms)
            if len(self.sentences) == SENTENCES or not columns or any(columns <= s.about for s, _ in self._told):
                continue
            for statement, number in self._ranked(self._statements.weights()):
                if columns <= statement.about:
                    self._say(statement, number)
                    break

    def verdict(self) -> bool | None:
        """What the first sentence answers to a question for yes or no, where no document disputes it."""
        asked, code = self._question.asked.form, self._question.terms.code
        decided = verdict(asked, self._told[0][0].text, code) if self._told else None
        if decided is None or any(
            disputes(asked, statement.text, decided, code)
            for statement, _ in [*self._told, *self._ranked(self._statements.weights())]
        ):
            return None
        return decided

    def drafts(
        self, further: int, leads: Sequence[tuple[str, str]] = ()
    ) -> tuple[tuple[FindingDraft, ...], tuple[SentenceDraft, ...]]:
        """Findings and sentences; what the answer says first is the first finding, what it does not say follows.

        Args:
            leads: documents that name others; what one that was said names comes before all that was not said.
        """
        used = list(dict.fromkeys(n for s in self.sentences for n in s.findings))
        best = {n: s for s, n in reversed(self._ranked(self._statements.weights()))}
        rest = [n for n in best if n not in used] if self._says is not None else []
        known = {"", *(self._documents[n].document_id for n in used)}
        named = [other for document, other in leads if document in known]
        turn = {other: position for position, other in reversed(list(enumerate(named)))}
        rest.sort(key=lambda n: (turn.get(self._documents[n].document_id, len(turn)), -best[n].score))
        rest = rest[:further]
        order = [*used, *rest][:MAX_RESULTS]
        place = {n: position for position, n in enumerate(order)}
        said = {n: s for s, n in reversed(self._told)}
        findings = [self._finding(self._documents[n], said.get(n) or best[n]) for n in order]
        sentences = [
            msgspec.structs.replace(s, findings=tuple(place[n] for n in s.findings if n in place))
            for s in self.sentences
        ]
        return tuple(findings), (*sentences, *self._further([n for n in rest if n in place], place))

    def _finding(self, document: Source, statement: Statement) -> FindingDraft:
        blocks = list(dict.fromkeys((*statement.block_ids, *document.block_ids)))
        return FindingDraft(
            labelled(document.label, statement.text, document.text), document.document_id, tuple(blocks)
        )

    def _further(self, rest: Sequence[int], place: dict[int, int]) -> list[SentenceDraft]:
        """The documents that no sentence cites, grouped by the value that the question names them by."""
        groups: dict[str, list[int]] = {}
        for number in rest:
            label = self._documents[number].label
            named = label and label in self._question.text and not any(c.isdigit() for c in label)
            groups.setdefault(label if named else "", []).append(place[number])
        if self._says is None:
            return []
        return [
            SentenceDraft(self._says.more.format(label=label) if label else self._says.further, tuple(numbers))
            for label, numbers in sorted(groups.items(), key=lambda held: (not held[0], held[1]))
        ]

    def _ranked(self, weights: Shares, statements: Statements | None = None) -> list[tuple[Statement, int]]:
        """The best statement of each document."""
        best: dict[int, Statement] = {}
        for statement in (statements or self._statements).towards(weights):
            best.setdefault(self._of[statement.passage], statement)
        return sorted(((s, n) for n, s in best.items()), key=lambda held: (-held[0].score, held[1]))

    def _say(self, statement: Statement, number: int) -> bool:
        """Whether it was said; what another document has said is cited beside it instead."""
        code = self._question.terms.code
        if any(set(statement.block_ids) & set(before.block_ids) for before, _ in self._told):
            return False
        related = [
            (relation(before.text, statement.text, self._question.rarity, code), place)
            for place, (before, _) in enumerate(self._told)
        ]
        repeats = next((place for how, place in related if how == "repeated"), None)
        if repeats is not None:
            self._cite_beside(repeats, number)
            return False
        aside = ""
        if related and self._told[-1][1] != number and self._says is not None:
            aside = {"same": self._says.same, "other": self._says.other}.get(related[-1][0], "")
        against = next((place for how, place in related if how == "other" and self._told[place][1] != number), None)
        day, first = self._day(number), "" if against is None else self._day(self._told[against][1])
        if against is None or not day or not first or day == first:
            self._put(len(self._told), statement, number, aside=aside)
            return True
        # Of contradicting statements each shows its day, and the newest comes first.
        earlier, other = self._told.pop(against)
        self.sentences.pop(against)
        if day > first:
            self._put(against, statement, number, day)
            self._put(against + 1, earlier, other, first, aside)
        else:
            self._put(against, earlier, other, first)
            self._put(len(self._told), statement, number, day, aside)
        return True

    def _put(self, place: int, statement: Statement, number: int, day: str = "", aside: str = "") -> None:
        """Say a statement in a place, with what names its document; what the label says is cited too."""
        document = self._documents[number]
        facts = [fact for n in document.passages for fact in self._statements.passages[n].facts]
        cited = [
            fact for fact in facts if fact.text and (fact.text == document.title or (day and fact.text[:10] == day))
        ]
        known = " ".join([document.text, *(fact.text for fact in cited)])
        for parts in ((document.label, day, statement.heading), (day, statement.heading), (statement.heading,), ()):
            label = ", ".join(dict.fromkeys(part for part in parts if part))
            text = labelled(label, statement.text, known, aside)
            if text != labelled("", statement.text, known, aside):
                break
        # A title without a figure needs no source beside it.
        is_held = text == labelled(label, statement.text, document.text, aside)
        ids = () if is_held else tuple(fact.id for fact in cited if fact.text[:10] in text)
        statement = msgspec.structs.replace(statement, block_ids=tuple(dict.fromkeys((*statement.block_ids, *ids))))
        self.sentences.insert(place, SentenceDraft(tidy(text), (number,)))
        self._told.insert(place, (statement, number))

    def _day(self, number: int) -> str:
        """The day of a document, ISO 8601; empty without one."""
        passages = self._statements.passages
        day = day_of([fact.text for n in self._documents[number].passages for fact in passages[n].facts])
        return day.isoformat() if day else ""

    def _cite_beside(self, place: int, number: int) -> None:
        """Cite another document for a sentence that was said; under one's label it would be that one's alone."""
        said, (statement, first) = self.sentences[place], self._told[place]
        if number in said.findings:
            return
        text = said.text if self._documents[number].label == self._documents[first].label else statement.text
        self.sentences[place] = SentenceDraft(text, (*said.findings, number))
