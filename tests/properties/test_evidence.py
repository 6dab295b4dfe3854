"""Laws of what leaves a search, whatever a draft says."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.agent.answer.cite import clean, markers
from engine.agent.answer.gate import Sources, faults_of, unsupported
from engine.agent.answer.support import attribute_value
from engine.agent.answer.verify import verified
from engine.agent.drafts import AnswerDraft, FindingDraft, SentenceDraft
from engine.agent.steps import Block, Evidence, ReadingPassage
from engine.model.document import Passage
from engine.model.search import MAX_EXCERPT, MAX_EXCERPTS, MAX_RESULTS, Result, SearchRequest
from engine.question.turn import Question

QUESTION = Question(SearchRequest(objective="What is 12?", context="ab"))
TEXTS = st.text(alphabet='ab 1.,\n“”"[]()é√文', max_size=60)
PROSE = st.lists(
    st.sampled_from(["Acme", "rose", "by 12 %.", "It “fell”", "(in 1999)", "é√文"]), min_size=3, max_size=30
).map(" ".join)
LONG = st.text(alphabet="word. 12", min_size=900, max_size=1300)
WORDS = st.one_of(
    TEXTS, LONG, st.sampled_from(["", " ", "[1]", "See [2][1].", "It rose by 12 %.", "“quoted words”", "[1, 3]"])
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "id": draw(st.sampled_from(["a", "b", "c", "d", "e"])),
        "body": draw(st.one_of(PROSE, PROSE, TEXTS, LONG)),
        "tags": draw(st.lists(TEXTS, max_size=2)),
    }


@st.composite
def passages(draw: st.DrawFn, label: int, document: dict[str, Any]) -> ReadingPassage:
    attribute = draw(st.sampled_from(["body", "body", "body", "tags[0]", "gone"]))
    value = attribute_value(document, attribute) or "nothing here"
    cut = sorted(draw(st.lists(st.integers(0, len(value)), min_size=2, max_size=2)))
    blocks: list[Block] = []
    for number in range(draw(st.integers(1, 8))):
        first = draw(st.integers(0, max(0, len(value) - 1)))
        last = min(len(value), first + draw(st.sampled_from([1, 5, 20, 400, 1200])))
        shift = draw(st.sampled_from([0] * 8 + [1, -3]))
        text = value[first:last] if draw(st.integers(0, 9)) else draw(TEXTS)
        blocks.append(Block(f"{label}.{number}", first + shift, text))
    held = Passage(
        label=label,
        document_id=document["id"],
        attribute=attribute,
        start=cut[0],
        end=cut[1],
        text=value[cut[0] : cut[1]],
        header=draw(TEXTS),
    )
    return ReadingPassage(held, tuple(blocks), 1.0)


def _findings(about: ReadingPassage) -> st.SearchStrategy[FindingDraft]:
    """Findings of one passage, some of them with blocks or a document that are not its own."""
    own = [block.id for block in about.blocks] or ["0.0"]
    return st.builds(
        FindingDraft,
        finding=WORDS,
        document_id=st.sampled_from([about.passage.document_id] * 8 + ["a", "unknown"]),
        block_ids=st.lists(st.sampled_from([*own, *own, "0.0", "1.1", "", "99.0"]), max_size=9).map(tuple),
    )


@st.composite
def turns(draw: st.DrawFn) -> tuple[AnswerDraft, list[Evidence], dict[str, dict[str, Any]]]:
    held = draw(st.lists(documents(), min_size=1, max_size=5))
    read = [draw(passages(n, document)) for n, document in enumerate(held)]
    evidence = [Evidence(p, tuple(b.id for b in p.blocks[:5]), 5.0) for p in read]
    findings = draw(st.lists(st.sampled_from(read).flatmap(_findings), max_size=25))
    sentences = draw(
        st.lists(
            st.builds(SentenceDraft, text=WORDS, findings=st.lists(st.integers(-2, 27), max_size=4).map(tuple)),
            max_size=6,
        )
    )
    caveats = draw(st.lists(WORDS, max_size=2))
    # Some documents were deleted, and others replaced, since they were read.
    live = {d["id"]: d for d in held if draw(st.integers(0, 7))}
    return AnswerDraft(tuple(findings), tuple(sentences), tuple(caveats)), evidence, live


def answer(
    turn: tuple[AnswerDraft, list[Evidence], dict[str, dict[str, Any]]],
) -> tuple[str, tuple[Result, ...], dict[str, dict[str, Any]]]:
    draft, evidence, live = turn

    async def fetch(ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        return {i: live[i] for i in ids if i in live}

    done = asyncio.run(verified(draft, evidence, QUESTION, fetch))
    return done.synthesis, done.results, live


@given(turns())
def test_every_excerpt_stands_in_one_text_of_its_live_document(turn: Any) -> None:
    _, results, live = answer(turn)
    for result in results:
        document = live[result.id]
        texts = [document["body"], *document["tags"]]
        assert all(any(excerpt in text for text in texts) for excerpt in result.excerpts)


@given(turns())
def test_excerpts_are_one_to_five_not_blank_and_short_enough(turn: Any) -> None:
    _, results, _ = answer(turn)
    assert len(results) <= MAX_RESULTS
    for result in results:
        assert 1 <= len(result.excerpts) <= MAX_EXCERPTS
        assert all(e.strip() and len(e) <= MAX_EXCERPT for e in result.excerpts)


@given(turns())
def test_markers_name_every_result_and_nothing_else(turn: Any) -> None:
    synthesis, results, _ = answer(turn)
    assert set(markers(synthesis)) == set(range(1, len(results) + 1))


@given(turns())
def test_an_answer_without_results_says_nothing(turn: Any) -> None:
    synthesis, results, _ = answer(turn)
    assert bool(synthesis) == bool(results)


@given(turns())
def test_figures_and_quotations_of_a_finding_stand_in_what_was_shown_of_its_document(turn: Any) -> None:
    _, evidence, _ = turn
    _, results, _ = answer(turn)
    for result in results:
        read = [e.passage.passage for e in evidence if e.passage.passage.document_id == result.id]
        around = tuple(text for p in read for text in (p.text, p.header))
        assert faults_of(result.finding, Sources(result.excerpts, around, ("What is 12?", "ab"))) == []


@given(WORDS, st.lists(WORDS, max_size=3))
def test_a_text_is_supported_by_itself(text: str, others: list[str]) -> None:
    assert unsupported(text, [text, *others]) == ""


@given(WORDS)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(WORDS)
def test_a_cleaned_text_has_no_marker(text: str) -> None:
    assert markers(clean(text)) == []
