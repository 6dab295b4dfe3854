"""The answerer: evidence in; findings and sentences with block ids out, or queries for what is missing. And repair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import msgspec

from engine.agent.claude.evidence_lines import NumberedLines
from engine.agent.claude.fence import one_line
from engine.agent.claude.hygiene import clean
from engine.agent.claude.queries import QueryReply, usable_queries
from engine.agent.claude.question import query_lines, question_block
from engine.agent.claude.turn import ModelTurn, Skipped, StepSpec
from engine.agent.claude.unread import readable
from engine.agent.drafts import AnswerDraft, Computed, ComputedKind, FindingDraft, Problem, SentenceDraft
from engine.agent.steps import Answerer, Evidence, Judgement, Outcome, Plan, Reader, SoFar
from engine.errors import ModelError
from engine.question.turn import Question

MAX_FINDINGS = 20
MAX_SENTENCES = 30
MAX_BLOCKS = 5
MAX_CAVEATS = 3
MAX_MISSING = 4
MAX_QUERIES = 6
MAX_EVIDENCE = 64
MAX_ROUNDS_SHOWN = 3
"""Blocks of evidence that are marked for caching; a service takes four marks, and the rules have one."""
_SENTENCE = 1_200
_CAVEAT = 300
_MISSING = 200
_CONTEXT = 8_000
_COMPUTED = 4

SPEC = StepSpec(step="answer", effort="medium", max_tokens=8_000, cap_s=30.0, keep_s=5.0, keep_tokens=10_000)
REPAIR = StepSpec(step="repair", max_tokens=4_000, cap_s=12.0, keep_s=2.0, keep_tokens=0)


class CoverageReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether a part of the question is answered by the evidence; parts count from 1."""

    sub_question: int
    covered: Literal["yes", "partly", "no"]


class FindingReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one document contributes; `sentences` are numbers as shown."""

    finding: str
    sentences: tuple[int, ...]


class ComputedReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A figure that stands in no document."""

    value: str
    kind: ComputedKind
    of: tuple[str, ...]


class SentenceReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sentence of the answer; `findings` count from 1."""

    text: str
    findings: tuple[int, ...]
    computed: tuple[ComputedReply, ...]


class CaveatReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A limit of the answer, and the findings that show it."""

    text: str
    findings: tuple[int, ...]


class AnswerReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reply of the answering and of the repairing call: one form, so that both match one cached prefix."""

    coverage: tuple[CoverageReply, ...]
    queries: tuple[QueryReply, ...]
    findings: tuple[FindingReply, ...]
    sentences: tuple[SentenceReply, ...]
    caveats: tuple[CaveatReply, ...]
    missing: tuple[str, ...]
    answerable: bool


class ClaudeAnswerer:
    """`Answerer` and `Repairer` on a model; its twin decides and writes when the model cannot.

    Args:
        twin_reader: reads for the twin what no reader has seen.
    """

    def __init__(self, turn: ModelTurn, twin: Answerer, twin_reader: Reader) -> None:
        self._turn = turn
        self._twin = twin
        self._twin_reader = twin_reader
        self._lines = NumberedLines(turn.fence)
        self._evidence: list[str] = []
        self._question = ""

    async def answer(self, question: Question, plan: Plan, evidence: Sequence[Evidence], so_far: SoFar) -> Outcome:
        if not evidence and not so_far.rounds_left:
            # Nothing to answer from, and nothing to ask for: no call.
            return Outcome(Judgement(sufficient=False, answerable=False))
        self._show(question, plan, evidence)
        user = (*self._prefix(), self._turn.fence.around("Search", self._search_lines(so_far)), _task(plan, so_far))
        try:
            reply = await self._turn.ask(SPEC, AnswerReply, user, marks=self._marks())
            return self._decided(reply, plan, so_far)
        except (ModelError, Skipped) as error:
            self._turn.fell_back(SPEC.step, error)
            return await self._by_twin(question, plan, evidence, so_far)

    async def repair(self, question: Question, draft: AnswerDraft, problems: Sequence[Problem]) -> AnswerDraft:
        """The draft with the failed sentences mended or emptied, or as it was when the model cannot."""
        if not problems or not self._evidence:
            return draft
        fence = self._turn.fence
        before = [f"Finding {n}: {fence.line(finding.finding)}" for n, finding in enumerate(draft.findings, 1)]
        before += [_shown_sentence(n, sentence, fence.line) for n, sentence in enumerate(draft.sentences, 1)]
        wrong = [f"Problem with sentence {p.index + 1}: {fence.line(p.reason, 400)}" for p in problems]
        user = (
            *self._prefix(),
            fence.around("Your answer", before),
            fence.around("Problems", wrong),
            "Step: repair",
        )
        try:
            reply = await self._turn.ask(REPAIR, AnswerReply, user, marks=self._marks())
        except (ModelError, Skipped) as error:
            self._turn.fell_back(REPAIR.step, error, silent=True)
            return draft
        return self._repaired(draft, reply, problems)

    def _show(self, question: Question, plan: Plan, evidence: Sequence[Evidence]) -> None:
        """Add what was not shown yet; what was shown stays as it is, so that it can be cached."""
        fence = self._turn.fence
        self._question = self._question or question_block(question, fence, context=_CONTEXT, plan=plan)
        lines = list(self._lines.evidence_lines(evidence[:MAX_EVIDENCE]))
        if lines or not self._evidence:
            title = "More evidence" if self._evidence else "Evidence"
            self._evidence.append(fence.around(title, lines or ["No evidence was found."]))

    def _prefix(self) -> tuple[str, ...]:
        return (self._question, *self._evidence)

    def _marks(self) -> tuple[int, ...]:
        last = len(self._evidence)
        return tuple(range(max(1, last - MAX_ROUNDS_SHOWN + 1), last + 1))

    def _search_lines(self, so_far: SoFar) -> Iterator[str]:
        fence = self._turn.fence
        yield from query_lines(so_far.executed, so_far.hits, fence)
        for dropped in dict.fromkeys((*self._turn.dropped(), *so_far.dropped)):
            yield f"Condition that could not be used: {fence.line(dropped, 200)}"
        for name in so_far.absent:
            yield f"Name that stands in no document: {fence.line(name, 100)}"
        if self._turn.corpus is not None and (names := self._turn.corpus.schema.filterable()):
            yield f"Attributes that conditions may name: {', '.join(fence.line(name, 128) for name in names)}"

    def _decided(self, reply: AnswerReply, plan: Plan, so_far: SoFar) -> Outcome:
        """Raises `Skipped` when the reply claims an answer and has none."""
        draft = self._draft(reply)
        queries, dropped = usable_queries(
            reply.queries if so_far.rounds_left else (),
            limit=MAX_QUERIES,
            sub_questions=len(plan.sub_questions),
            executed=so_far.executed,
            corpus=self._turn.corpus,
        )
        self._turn.drop(dropped)
        covered = {entry.covered for entry in reply.coverage}
        is_complete = not draft.missing and covered <= {"yes"}
        judgement = Judgement(
            sufficient=bool(draft.findings) and (is_complete or not queries) and not draft.missing,
            missing=draft.missing,
            queries=() if draft.findings and is_complete else queries,
        )
        if draft.findings:
            return Outcome(judgement, draft)
        if judgement.queries:
            return Outcome(judgement)
        if (reply.answerable or "yes" in covered) and self._lines.by_number:
            raise Skipped("empty")
        return Outcome(msgspec.structs.replace(judgement, sufficient=False, answerable=False))

    def _draft(self, reply: AnswerReply) -> AnswerDraft:
        """The draft with known numbers only: a finding has blocks of one document, a sentence has findings."""
        findings, place = self._findings(reply.findings, 0)
        sentences = self._sentences(reply.sentences, place)
        for caveat in reply.caveats[:MAX_CAVEATS]:
            cited = tuple(dict.fromkeys(place[n] for n in caveat.findings if n in place))
            text = clean(caveat.text)[:_CAVEAT].strip()
            if text and cited:
                sentences.append(SentenceDraft(text, cited))
            elif text:
                self._turn.remove("caveat", text, ("it cites nothing",))
        missing = (clean(text)[:_MISSING].strip() for text in reply.missing)
        return AnswerDraft(
            findings=tuple(findings),
            sentences=tuple(sentences[: MAX_SENTENCES + MAX_CAVEATS]),
            missing=tuple(dict.fromkeys(text for text in missing if text))[:MAX_MISSING],
            written=True,
        )

    def _findings(self, replies: Sequence[FindingReply], known: int) -> tuple[list[FindingDraft], dict[int, int]]:
        """Usable findings, and the place of each by the number that the reply gives it, from `known` + 1."""
        findings: list[FindingDraft] = []
        place: dict[int, int] = {n: n - 1 for n in range(1, known + 1)}
        for number, finding in enumerate(replies, known + 1):
            numbers = [n for n in dict.fromkeys(finding.sentences) if n in self._lines.by_number]
            shown = [self._lines.by_number[n] for n in numbers]
            own = [block for document_id, block in shown if document_id == shown[0][0]][:MAX_BLOCKS]
            text = clean(finding.finding)[:_SENTENCE].strip()
            if text and own and known + len(findings) < MAX_FINDINGS:
                place[number] = known + len(findings)
                findings.append(FindingDraft(text, shown[0][0], tuple(block.id for block in own)))
            elif text:
                self._turn.remove("finding", text, ("it cites no sentence that was shown",))
        return findings, place

    def _sentences(self, replies: Sequence[SentenceReply], place: dict[int, int]) -> list[SentenceDraft]:
        sentences: list[SentenceDraft] = []
        for sentence in replies[:MAX_SENTENCES]:
            if (made := _sentence(sentence, place)) is not None:
                sentences.append(made)
            elif sentence.text.strip():
                self._turn.remove("sentence", clean(sentence.text), ("it rests on no finding",))
        return sentences

    def _repaired(self, draft: AnswerDraft, reply: AnswerReply, problems: Sequence[Problem]) -> AnswerDraft:
        added, place = self._findings(reply.findings, len(draft.findings))
        sentences = list(draft.sentences)
        failed = list(dict.fromkeys(problem.index for problem in problems))
        for index, sentence in zip(failed, reply.sentences, strict=False):
            sentences[index] = _sentence(sentence, place) or SentenceDraft("", draft.sentences[index].findings)
        return msgspec.structs.replace(draft, findings=(*draft.findings, *added), sentences=tuple(sentences))

    async def _by_twin(self, question: Question, plan: Plan, evidence: Sequence[Evidence], so_far: SoFar) -> Outcome:
        read = await readable(question, plan, evidence, self._twin_reader)
        return await self._twin.answer(question, plan, read, msgspec.structs.replace(so_far, rounds_left=0))


def _sentence(reply: SentenceReply, place: dict[int, int]) -> SentenceDraft | None:
    cited = tuple(dict.fromkeys(place[n] for n in reply.findings if n in place))
    text = clean(reply.text)[:_SENTENCE].strip()
    computed = tuple(Computed(c.value[:80], c.kind, c.of[:20]) for c in reply.computed[:_COMPUTED])
    return SentenceDraft(text, cited, computed) if text and cited else None


def _shown_sentence(number: int, sentence: SentenceDraft, line: Callable[[str], str]) -> str:
    findings = ", ".join(str(index + 1) for index in sentence.findings)
    return f"Sentence {number} (findings {findings}): {line(sentence.text)}"


def _task(plan: Plan, so_far: SoFar) -> str:
    left = {0: "No further query can run: answer from what there is.", 1: "Further queries can run once."}
    runs = left.get(so_far.rounds_left, f"Further queries can run {so_far.rounds_left} times.")
    return f"The answer takes the form: {one_line(plan.shape)}. {runs} Step: answer"
