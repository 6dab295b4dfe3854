"""Drafts by a model that lies, held by the gate and by a reader that believes, doubts, or is away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.agent.answer.verify import Verified, verified
from engine.agent.drafts import AnswerDraft, FindingDraft, Problem, SentenceDraft, Statement, Verdict
from engine.question.turn import Question
from tests.unit.agent_claude.examples import EVIDENCE, PASSAGES, QUESTION

DOCUMENTS: dict[str, dict[str, Any]] = {
    p.passage.document_id: {"id": p.passage.document_id, "text": p.passage.text} for p in PASSAGES
}
TRUE = SentenceDraft("The cost was 12 million crowns.", (0,))
FINDING = FindingDraft("It cost 12 million crowns, the mayor said.", "gazette-1", ("1.1",))
LIES = [
    "It cost 99 million crowns.",
    "Tim Cook paid for it.",
    "See evil.example for more.",
    "The mayor said 'never again'.",
    "Write to mayor@evil.example.",
    "Run `curl x | sh` first.",
    "It opened on 3 April 1999.",
]
DOUBTFUL = ["It did not cost 12 million crowns.", "It cost thirteen million crowns.", "It was paid by Smith."]


class Reader:
    """A checker that gives one verdict to all, or none."""

    def __init__(self, verdict: Verdict | None) -> None:
        self.verdict = verdict
        self.asked: list[Statement] = []

    async def check(
        self, question: Question, statements: Sequence[Statement], decided: Callable[[int, Verdict, str], None]
    ) -> None:
        self.asked += statements
        if self.verdict is not None:
            for index in range(len(statements)):
                decided(index, self.verdict, "so it was decided")


class Mending:
    """A repairer that puts `text` in the place of whatever failed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.problems: list[Problem] = []

    async def repair(self, question: Question, draft: AnswerDraft, problems: Sequence[Problem]) -> AnswerDraft:
        self.problems += problems
        failed = {problem.index for problem in problems}
        sentences = tuple(
            SentenceDraft(self.text, sentence.findings) if index in failed else sentence
            for index, sentence in enumerate(draft.sentences)
        )
        return AnswerDraft(draft.findings, sentences, draft.caveats, draft.missing, written=True)


def answer(
    *sentences: SentenceDraft, verdict: Verdict | None = "supported", repairer: Any = None, **more: Any
) -> tuple[Verified, Reader, list[str]]:
    async def fetch(_: Sequence[str]) -> dict[str, dict[str, Any]]:
        return DOCUMENTS

    reader, told = Reader(verdict), list[str]()
    draft = AnswerDraft((FINDING,), sentences, written=True, **more)
    work = verified(draft, EVIDENCE, QUESTION, fetch, checker=reader, repairer=repairer, passed=told.append)
    return asyncio.run(work), reader, told


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("verdict", ["supported", None])
def test_what_stands_in_no_source_does_not_leave_whatever_the_reader_says(lie: str, verdict: Verdict | None) -> None:
    done, _, told = answer(TRUE, SentenceDraft(lie, (0,)), verdict=verdict)
    assert lie not in done.synthesis
    assert lie not in told
    assert TRUE.text in done.synthesis
    assert [(removal.part, removal.text) for removal in done.removed] == [("sentence", lie)]


@pytest.mark.parametrize("doubt", DOUBTFUL)
def test_a_doubt_is_settled_by_reading_and_by_the_mechanical_check_where_nobody_reads(doubt: str) -> None:
    said = SentenceDraft(doubt, (0,))
    believed, reader, _ = answer(said)
    assert doubt in believed.synthesis
    assert any(statement.hints for statement in reader.asked if statement.text == doubt)
    assert doubt not in answer(said, verdict="no")[0].synthesis
    assert doubt not in answer(said, verdict=None)[0].synthesis


def test_a_statement_that_its_sources_do_not_say_is_removed_and_the_removal_is_told() -> None:
    false = SentenceDraft("The mayor paid 12 million crowns himself.", (0,))
    done, _, _ = answer(false, verdict="partly")
    assert false.text not in done.synthesis
    assert ("sentence", false.text, ("so it was decided",)) in [(r.part, r.text, r.reasons) for r in done.removed]


def test_words_of_an_excerpt_need_no_reader() -> None:
    _, reader, told = answer(SentenceDraft("It cost 12 million crowns, the mayor said.", (0,)), verdict=None)
    assert reader.asked == []
    assert told == ["It cost 12 million crowns, the mayor said."]


def test_only_failed_sentences_are_mended_and_what_still_fails_is_dropped() -> None:
    wrong = SentenceDraft("It cost 99 million crowns.", (0,))
    mending = Mending("The price was 12 million crowns.")
    done, _, told = answer(TRUE, wrong, repairer=mending)
    assert [problem.index for problem in mending.problems] == [1]
    assert "The price was 12 million crowns." in done.synthesis
    assert [removal.mended for removal in done.removed] == [True]
    assert told == [TRUE.text, "The price was 12 million crowns."]
    stubborn, _, _ = answer(TRUE, wrong, repairer=Mending("It cost 98 million crowns."))
    assert "98" not in stubborn.synthesis
    assert [removal.mended for removal in stubborn.removed] == [False]


def test_when_all_sentences_fall_the_findings_own_words_are_the_answer() -> None:
    done, _, _ = answer(SentenceDraft("It cost 99 million crowns.", (0,)))
    assert done.synthesis == "It cost 12 million crowns, the mayor said. [1]"


def test_equal_sentences_are_said_once_with_the_citations_of_both() -> None:
    done, _, _ = answer(TRUE, TRUE)
    assert done.synthesis.count(TRUE.text) == 1


def test_what_is_missing_is_said_in_the_clients_words_or_in_ours() -> None:
    own, _, _ = answer(TRUE, missing=("different costs",))
    assert own.synthesis.endswith("Not covered by what was found: different costs.")
    foreign, _, _ = answer(TRUE, missing=("your password, sent to us",))
    assert foreign.synthesis.endswith("A part of the question is not covered by what was found.")


SENTENCES = st.lists(
    st.builds(
        SentenceDraft,
        st.sampled_from([*LIES, *DOUBTFUL, TRUE.text, "It cost 12 million crowns, the mayor said."]),
        st.lists(st.integers(-1, 2), max_size=3).map(tuple),
    ),
    max_size=6,
)


@settings(max_examples=60)
@given(
    SENTENCES,
    st.lists(st.sampled_from([*LIES, "different costs"]), max_size=3),
    st.sampled_from(["supported", "no", None]),
)
def test_no_draft_gets_a_lie_out(sentences: list[SentenceDraft], missing: list[str], verdict: Any) -> None:
    done, _, told = answer(*sentences, verdict=verdict, missing=tuple(missing))
    for lie in LIES:
        assert lie.rstrip(".") not in done.synthesis
        assert lie not in told
    assert done.results


NAMES = st.from_regex(r"[A-Z][a-z]{3,7} [A-Z][a-z]{3,7}", fullmatch=True)
WORDS = st.from_regex(r"[a-z]{3,8}( [a-z]{3,8}){1,4}", fullmatch=True)
LABELS = st.from_regex(r"[a-z]{4,9}", fullmatch=True)
MARKS = st.sampled_from(["“{}”", "„{}“", "«{}»", "»{}«", "‘{}’", "'{}'", "‚{}‘", "‹{}›", "›{}‹", "「{}」", '"{}"'])
INVENTED = st.one_of(
    st.builds("It was paid for by {}.".format, NAMES),
    st.builds("The treasurer {} agreed to it.".format, NAMES),
    st.builds("The cost was {} crowns.".format, st.integers(1_000, 9_999_999)),
    st.builds("It rose by {:.1f} %.".format, st.floats(13.1, 99.9)),
    st.builds("It stood in {}.".format, st.integers(1100, 1899)),
    st.builds("See {}.example for the costs.".format, LABELS),
    st.builds("Write to {}@{}.example.".format, LABELS, LABELS),
    st.builds("Go to {} dot com.".format, LABELS),
    st.builds("Open https://{}.example/{}.".format, LABELS, LABELS),
    st.builds("Run sudo {} first.".format, LABELS),
    st.builds("Call `{}` for it.".format, LABELS),
    st.builds(lambda marks, words: f"The mayor said {marks.format(words)}.", MARKS, WORDS),
)
"""Statements that no source makes, of every kind that the gate is sure of."""


@settings(max_examples=80, deadline=None)
@given(st.lists(INVENTED, min_size=1, max_size=4), INVENTED, st.sampled_from(["supported", None]))
def test_nothing_invented_gets_out_by_any_part_of_a_draft(lies: list[str], again: str, verdict: Any) -> None:
    """The model lies in sentences, findings and what is missing; its reader believes it, and its repair lies again."""
    reader, told = Reader(verdict), list[str]()

    async def fetch(_: Sequence[str]) -> dict[str, dict[str, Any]]:
        return DOCUMENTS

    draft = AnswerDraft(
        (FINDING, *(FindingDraft(lie, "gazette-1", ("1.1",)) for lie in lies)),
        (TRUE, *(SentenceDraft(f"The cost was 12 million crowns. {lie}", (0, 1)) for lie in lies)),
        caveats=tuple(lies),
        missing=tuple(lies),
        written=True,
    )
    work = verified(draft, EVIDENCE, QUESTION, fetch, checker=reader, repairer=Mending(again), passed=told.append)
    done = asyncio.run(work)
    said = [done.synthesis, *told, *(result.finding for result in done.results)]
    for lie in (*lies, again):
        assert not any(lie.rstrip(".") in text for text in said)
    assert TRUE.text in done.synthesis
