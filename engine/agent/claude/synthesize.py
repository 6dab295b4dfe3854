"""The synthesizer: evidence in, findings and sentences with block ids out; and the repair of a draft."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from engine.agent.claude.hygiene import clean
from engine.agent.claude.question import NumberedBlocks, question_lines, sub_question_lines
from engine.agent.claude.turn import ModelTurn, Skipped, StepSpec
from engine.agent.steps import (
    AnswerDraft,
    Evidence,
    FindingDraft,
    Judgement,
    Plan,
    Problem,
    Question,
    SentenceDraft,
    Synthesizer,
)
from engine.errors import ModelError

MAX_FINDINGS = 12
MAX_SENTENCES = 30
MAX_BLOCKS = 5
MAX_CAVEATS = 3
MAX_EVIDENCE = 40
_SENTENCE = 1_200
_CAVEAT = 300
_CONTEXT = 8_000
_FIGURE = re.compile(r"\d[\d.,]*")

SPEC = StepSpec(
    step="synthesize", prompt="synthesize", effort="medium", max_tokens=8_000, cap_s=30.0, keep_s=1.0, keep_tokens=0
)
REPAIR = StepSpec(step="repair", prompt="repair", effort="low", max_tokens=8_000, cap_s=12.0, keep_s=1.0, keep_tokens=0)


class FindingReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one document contributes; `sentences` are numbers as shown."""

    finding: str
    sentences: tuple[int, ...]


class SentenceReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sentence of the answer; `findings` count from 1."""

    text: str
    findings: tuple[int, ...]


class SynthesisReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reply of the synthesizing and of the repairing call."""

    findings: tuple[FindingReply, ...]
    sentences: tuple[SentenceReply, ...]
    contradictions: tuple[SentenceReply, ...]
    caveats: tuple[str, ...]


class ClaudeSynthesizer:
    """`Synthesizer` and `Repairer` on a model; its twin writes when the model cannot."""

    def __init__(self, turn: ModelTurn, twin: Synthesizer) -> None:
        self._turn = turn
        self._twin = twin
        self._evidence: Sequence[Evidence] = ()
        self._plan = Plan((), ())

    async def synthesize(
        self, question: Question, plan: Plan, evidence: Sequence[Evidence], judgement: Judgement
    ) -> AnswerDraft:
        self._evidence, self._plan = evidence[:MAX_EVIDENCE], plan
        if not evidence:
            # Nothing to write from: no call.
            return self._with_notice(AnswerDraft((), (), _missing(judgement)))
        task = ["Answer from the evidence."]
        if not judgement.sufficient and judgement.missing:
            task.append("Not covered by the evidence, to be said in a caveat: " + "; ".join(judgement.missing) + ".")
        try:
            draft = await self._ask(SPEC, question, (), " ".join(task))
        except (ModelError, Skipped) as error:
            self._turn.fell_back(SPEC.step, error)
            return self._with_notice(await self._twin.synthesize(question, plan, evidence, judgement))
        if not draft.caveats:
            draft = msgspec.structs.replace(draft, caveats=_missing(judgement))
        return self._with_notice(draft)

    async def repair(self, question: Question, draft: AnswerDraft, problems: Sequence[Problem]) -> AnswerDraft:
        """The draft with its problems mended, or unchanged when the model cannot; the caveats stay."""
        if not problems or not self._evidence:
            return draft
        fence = self._turn.fence()
        before = [f"Finding {n}: {fence.line(finding.finding)}" for n, finding in enumerate(draft.findings, 1)]
        for n, sentence in enumerate(draft.sentences, 1):
            findings = ", ".join(str(index + 1) for index in sentence.findings)
            before.append(f"Sentence {n} (findings {findings}): {fence.line(sentence.text)}")
        wrong = [f"Problem with {p.part} {p.index + 1}: {fence.line(p.reason, 300)}" for p in problems]
        try:
            mended = await self._ask(
                REPAIR,
                question,
                (fence.around("Your answer", before), fence.around("Problems", wrong)),
                "Mend the answer.",
            )
        except (ModelError, Skipped) as error:
            self._turn.fell_back(REPAIR.step, error, silent=True)
            return draft
        return msgspec.structs.replace(mended, caveats=draft.caveats)

    async def _ask(self, spec: StepSpec, question: Question, more: tuple[str, ...], task: str) -> AnswerDraft:
        fence, blocks = self._turn.fence(), NumberedBlocks()
        asked = (*question_lines(question, fence, context=_CONTEXT), *sub_question_lines(self._plan, fence))
        shown = tuple(blocks.evidence_lines(self._evidence, fence))
        form = f"The answer takes the form: {self._plan.shape}. {fence.line(task)}"
        user = (fence.around("Question", asked), fence.around("Evidence", shown), *more, form)
        return _checked(await self._turn.ask(spec, SynthesisReply, user), blocks, question)

    def _with_notice(self, draft: AnswerDraft) -> AnswerDraft:
        notice = self._turn.notice()
        return msgspec.structs.replace(draft, caveats=(*draft.caveats, notice)) if notice else draft


def _missing(judgement: Judgement) -> tuple[str, ...]:
    if judgement.sufficient or not judgement.missing:
        return ()
    return (f"Not covered by what was found: {'; '.join(judgement.missing)}.",)


def _checked(reply: SynthesisReply, blocks: NumberedBlocks, question: Question) -> AnswerDraft:
    """The draft with known numbers only: no finding without blocks of one document, no sentence without a finding."""
    findings: list[FindingDraft] = []
    texts: list[tuple[str, ...]] = []
    place: dict[int, int] = {}
    for number, finding in enumerate(reply.findings, 1):
        known = [blocks.by_number[n] for n in dict.fromkeys(finding.sentences) if n in blocks.by_number]
        own = [block for document_id, block in known if document_id == known[0][0]][:MAX_BLOCKS]
        sources = tuple(block.text for block in own)
        text = clean(finding.finding, sources)[:_SENTENCE].strip()
        if text and own and len(findings) < MAX_FINDINGS:
            place[number] = len(findings)
            findings.append(FindingDraft(text, known[0][0], tuple(block.id for block in own)))
            texts.append(sources)
    sentences: list[SentenceDraft] = []
    for sentence in (*reply.sentences, *reply.contradictions):
        cited = tuple(dict.fromkeys(place[n] for n in sentence.findings if n in place))
        text = clean(sentence.text, tuple(source for index in cited for source in texts[index]))[:_SENTENCE].strip()
        if text and cited and len(sentences) < MAX_SENTENCES:
            sentences.append(SentenceDraft(text, cited))
    return AnswerDraft(tuple(findings), tuple(sentences), _caveats(reply, blocks, question))


def _caveats(reply: SynthesisReply, blocks: NumberedBlocks, question: Question) -> tuple[str, ...]:
    """Caveats cite nothing, so they may hold no address, and no figure that neither question nor evidence has."""
    given = [block.text for _, block in blocks.by_number.values()]
    given += [question.request.objective, question.request.context, question.message]
    figures = {figure.rstrip(".,") for text in given for figure in _FIGURE.findall(text)}
    kept: list[str] = []
    for caveat in reply.caveats:
        text = clean(caveat, ())[:_CAVEAT].strip()
        if text and {figure.rstrip(".,") for figure in _FIGURE.findall(text)} <= figures:
            kept.append(text)
    return tuple(dict.fromkeys(kept))[:MAX_CAVEATS]
