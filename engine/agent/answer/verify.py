"""From a draft to what the client gets: checked word by word, failed sentences mended once, cited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from engine.agent.answer.addresses import folded
from engine.agent.answer.cite import cite, clean
from engine.agent.answer.gate import problems_of
from engine.agent.answer.support import Supported, support
from engine.agent.drafts import AnswerDraft, Problem, Statement, Verdict
from engine.agent.steps import Block, Checker, Evidence, ReadingPassage, Repairer
from engine.model.document import JsonValue
from engine.model.explain import Removal
from engine.model.search import Result
from engine.question.turn import Question

Documents = Mapping[str, dict[str, JsonValue]]
Fetch = Callable[[Sequence[str]], Awaitable[Documents]]
Place: TypeAlias = tuple[str, int]
"""Part of a draft and index in it, as in `Problem`."""
_UNSAID = "A part of the question is not covered by what was found."


@dataclass(slots=True)
class Verified:
    """What is left of a draft.

    Attributes:
        synthesis: empty when no finding is left.
        removed: what did not leave, and why.
        checked: statements that a reader decided on.
    """

    synthesis: str = ""
    results: tuple[Result, ...] = ()
    removed: tuple[Removal, ...] = ()
    checked: int = 0


async def verified(
    draft: AnswerDraft,
    evidence: Sequence[Evidence],
    question: Question,
    fetch: Fetch,
    *,
    checker: Checker | None = None,
    repairer: object = None,
    caveats: Sequence[str] = (),
    passed: Callable[[str], None] = lambda _: None,
) -> Verified:
    """Synthesis and results of which every excerpt stands in its document now, and every word in its sources.

    Args:
        fetch: documents by id as they are now; a missing one takes its findings with it.
        checker: reads the statements of a written draft; what it does not decide, the mechanical gate decides.
        repairer: mends failed sentences if it is a `Repairer`.
        caveats: sentences of the loop's own, put behind the answer.
        passed: is told of each sentence of the answer, in order, once nothing can remove it.
    """
    return await _Verification(evidence, question, fetch, checker, passed).run(draft, repairer, caveats)


@dataclass(slots=True)
class _Verification:
    evidence: Sequence[Evidence]
    question: Question
    fetch: Fetch
    checker: Checker | None
    passed: Callable[[str], None]
    verdicts: dict[str, tuple[Verdict, str]] = field(default_factory=dict[str, "tuple[Verdict, str]"])
    """Of statements that were decided, by their text and excerpts."""
    said: set[str] = field(default_factory=set[str])

    async def run(self, draft: AnswerDraft, repairer: object, caveats: Sequence[str]) -> Verified:
        documents = await self._documents(draft)
        supported = support(draft, blocks_of(self.evidence), documents)
        failures = await self._failures(draft, supported)
        removed = {place: _removal(draft, place, reasons) for place, reasons in failures.items()}
        failed = [
            Problem("sentence", index, "; ".join(reasons))
            for (part, index), reasons in failures.items()
            if part == "sentence"
        ]
        if failed and draft.written and isinstance(repairer, Repairer):
            mended = await repairer.repair(self.question, draft, failed)
            draft, changed = _merged(draft, mended, {problem.index for problem in failed})
            if changed:
                documents = await self._documents(draft)
                supported = support(draft, blocks_of(self.evidence), documents)
                failures = await self._failures(draft, supported)
                for place in [("sentence", index) for index in changed]:
                    is_said = place not in failures and bool(draft.sentences[place[1]].text)
                    removed[place] = msgspec.structs.replace(removed[place], mended=is_said)
        failed_findings = {index for part, index in failures if part == "finding"}
        synthesis, results = cite(
            draft,
            [_mended(held, is_failed=index in failed_findings) for index, held in enumerate(supported)],
            failed_sentences={index for part, index in failures if part == "sentence"},
            documents=documents if self.question.request.include_attributes else None,
        )
        result = Verified(removed=tuple(removed.values()), checked=len(self.verdicts))
        if results:
            behind = [*_own_caveats(draft, failures), *(clean(caveat) for caveat in caveats if caveat)]
            result.synthesis, result.results = " ".join([synthesis, *behind]).strip(), results
        return result

    async def _documents(self, draft: AnswerDraft) -> Documents:
        return await self.fetch(list(dict.fromkeys(finding.document_id for finding in draft.findings)))

    async def _failures(self, draft: AnswerDraft, supported: Sequence[Supported | None]) -> dict[Place, list[str]]:
        """What is wrong with each part that may not leave as it is."""
        problems = problems_of(draft, supported, _asked(self.question))
        sure: dict[Place, list[str]] = {}
        unsure: dict[Place, list[str]] = {}
        for problem in problems:
            kind = sure if problem.is_sure else unsure
            kind.setdefault((problem.part, problem.index), []).append(problem.reason)
        if self.checker is None or not draft.written:
            failures = _together(sure, unsure)
            _Telling(draft, failures, self._pass).finish(failures)
            return failures
        return await self._read(draft, supported, sure, unsure)

    async def _read(
        self,
        draft: AnswerDraft,
        supported: Sequence[Supported | None],
        sure: dict[Place, list[str]],
        unsure: dict[Place, list[str]],
    ) -> dict[Place, list[str]]:
        """As the mechanical check has it, with its doubts settled by reading."""
        places: list[Place] = []
        statements: list[Statement] = []
        told = _Telling(draft, sure, self._pass)
        for place, statement in _statements(draft, supported, unsure):
            if place in sure:
                continue
            verdict = "supported" if _is_verbatim(statement) else self.verdicts.get(_key(statement), (None, ""))[0]
            if verdict is None:
                places.append(place)
                statements.append(statement)
            else:
                told.settle(place, is_failed=verdict != "supported")

        def decided(index: int, verdict: Verdict, reason: str) -> None:
            self.verdicts[_key(statements[index])] = verdict, reason
            told.settle(places[index], is_failed=verdict != "supported")

        if statements and self.checker is not None:
            await self.checker.check(self.question, statements, decided)
        failures = dict(sure)
        for place, statement in _statements(draft, supported, unsure):
            if place in sure or _is_verbatim(statement):
                continue
            verdict, reason = self.verdicts.get(_key(statement), (None, ""))
            if verdict is None:
                # Nobody read it: the doubts of the mechanical check decide.
                reasons = unsure.get(place, [])
            else:
                reasons = [] if verdict == "supported" else [reason or f"its sources say this: {verdict}"]
            if reasons:
                failures[place] = reasons
        told.finish(failures)
        return failures

    def _pass(self, text: str) -> None:
        """Tell of a sentence, once."""
        if text and text not in self.said:
            self.said.add(text)
            self.passed(text)


def blocks_of(evidence: Sequence[Evidence]) -> dict[str, tuple[ReadingPassage, Block]]:
    """Every block of the passages that were read, their documents' facts included, by id."""
    return {block.id: (e.passage, block) for e in evidence for block in (*e.passage.blocks, *e.passage.facts)}


class _Telling:
    """Tells the sentences of an answer in order, each once it is settled."""

    def __init__(self, draft: AnswerDraft, failed: Mapping[Place, object], tell: Callable[[str], None]) -> None:
        self._draft = draft
        self._tell = tell
        self._next = 0
        self._failed = {place for place in failed if place[0] == "sentence"}
        self._settled = set(self._failed)

    def settle(self, place: Place, *, is_failed: bool) -> None:
        """Note what became of a part, and tell what that lets out."""
        self._settled.add(place)
        if is_failed:
            self._failed.add(place)
        while self._next < len(self._draft.sentences) and ("sentence", self._next) in self._settled:
            if ("sentence", self._next) not in self._failed:
                self._tell(clean(self._draft.sentences[self._next].text))
            self._next += 1

    def finish(self, failures: Mapping[Place, object]) -> None:
        """Everything is settled: what is not in `failures` passed."""
        for index in range(len(self._draft.sentences)):
            self.settle(("sentence", index), is_failed=("sentence", index) in failures)


def _statements(
    draft: AnswerDraft, supported: Sequence[Supported | None], unsure: Mapping[Place, Sequence[str]]
) -> list[tuple[Place, Statement]]:
    """The sentences and findings with what they cite; equal ones come with equal keys."""
    found: list[tuple[Place, Statement]] = []
    for index, sentence in enumerate(draft.sentences):
        cited = [held for n in sentence.findings if 0 <= n < len(supported) and (held := supported[n]) is not None]
        if cited:
            place = ("sentence", index)
            found.append((place, _statement(sentence.text, cited, unsure.get(place, ()))))
    for index, held in enumerate(supported):
        if held is not None:
            place = ("finding", index)
            found.append((place, _statement(held.finding, [held], unsure.get(place, ()))))
    return found


def _statement(text: str, cited: Sequence[Supported], hints: Sequence[str]) -> Statement:
    return Statement(
        text,
        tuple(dict.fromkeys(excerpt for held in cited for excerpt in held.excerpts)),
        tuple(dict.fromkeys(value for held in cited for value in held.values if value)),
        tuple(hints),
    )


def _key(statement: Statement) -> str:
    return "\x1f".join((statement.text, *statement.excerpts))


def _is_verbatim(statement: Statement) -> bool:
    """A text that stands in its excerpt needs no reader."""
    text = folded(statement.text).rstrip(".")
    return bool(text) and any(text in folded(excerpt) for excerpt in statement.excerpts)


def _together(*lists: Mapping[Place, list[str]]) -> dict[Place, list[str]]:
    joined: dict[Place, list[str]] = {}
    for held in lists:
        for place, reasons in held.items():
            joined.setdefault(place, []).extend(reasons)
    return joined


def _asked(question: Question) -> tuple[str, ...]:
    """The client's own words of all turns."""
    request = question.request
    return (request.objective, request.context, question.message, *(turn.message for turn in question.turns))


def _merged(draft: AnswerDraft, mended: AnswerDraft, failed: set[int]) -> tuple[AnswerDraft, set[int]]:
    """The draft with failed sentences as the repair has them; everything else stays as it was."""
    if mended is draft or len(mended.sentences) != len(draft.sentences):
        return draft, set()
    sentences = [
        mended.sentences[index] if index in failed else sentence for index, sentence in enumerate(draft.sentences)
    ]
    changed = {index for index in failed if sentences[index] != draft.sentences[index]}
    return msgspec.structs.replace(draft, sentences=tuple(sentences), findings=mended.findings), changed


def _removal(draft: AnswerDraft, place: Place, reasons: Sequence[str]) -> Removal:
    part, index = place
    texts: Mapping[str, Sequence[str]] = {
        "sentence": [sentence.text for sentence in draft.sentences],
        "finding": [finding.finding for finding in draft.findings],
        "caveat": draft.caveats,
        "missing": draft.missing,
    }
    return Removal(part, texts[part][index], tuple(reasons))


def _mended(held: Supported | None, *, is_failed: bool) -> Supported | None:
    """A finding whose words say more than its excerpts keeps the excerpts and speaks with the first of them."""
    if held is None or not is_failed:
        return held
    return Supported(held.excerpts[0], held.document_id, held.excerpts)


def _own_caveats(draft: AnswerDraft, failures: Mapping[Place, object]) -> list[str]:
    """Caveats and what is missing, as far as they passed."""
    said = [clean(text) for n, text in enumerate(draft.caveats) if ("caveat", n) not in failures]
    missing = [clean(text).rstrip(".") for n, text in enumerate(draft.missing) if ("missing", n) not in failures]
    if missing:
        said.append(f"Not covered by what was found: {'; '.join(missing)}.")
    elif draft.missing:
        said.append(_UNSAID)
    return [text for text in said if text]
