from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.agent.claude.answer import MAX_BLOCKS, MAX_FINDINGS, MAX_QUERIES, MAX_SENTENCES
from engine.agent.drafts import AnswerDraft, Computed, FindingDraft, Problem, SentenceDraft
from engine.agent.steps import Evidence, Outcome, Repairer, SoFar
from engine.errors import ModelMisconfigured, ModelRefused, ModelUnavailable
from engine.llm.scripted import ScriptedModel
from tests.fakes.obedient import EMPTY
from tests.unit.agent_claude.examples import EVIDENCE, LAST, MORE, PASSAGES, PLAN, QUESTION, Bench, passage

GAZETTE = {"finding": "The Gazette said 12 million.", "sentences": [2]}
TIMES = {"finding": "The Times said 14 million.", "sentences": [3, 5]}


def reply(findings: list[Any], sentences: list[tuple[str, list[int]]], **more: Any) -> dict[str, Any]:
    written = [{"text": text, "findings": cited, "computed": []} for text, cited in sentences]
    return {**EMPTY, "findings": findings, "sentences": written, **more}


def answer(*script: Any, so_far: SoFar = LAST, evidence: Any = EVIDENCE) -> tuple[Outcome, Bench, ScriptedModel]:
    model = ScriptedModel(script)
    bench = Bench(model)
    return asyncio.run(bench.steps.answerer.answer(QUESTION, PLAN, evidence, so_far)), bench, model


def draft_of(*script: Any) -> AnswerDraft:
    outcome, _, _ = answer(*script)
    assert outcome.draft is not None
    return outcome.draft


def query(text: str) -> dict[str, Any]:
    return {"text": text, "sub_question": 0, "mode": "hybrid", "conditions": []}


def test_findings_carry_the_blocks_and_the_document_that_the_numbers_name() -> None:
    assert draft_of(reply([GAZETTE, TIMES], [("They differ.", [1, 2])])) == AnswerDraft(
        (
            FindingDraft("The Gazette said 12 million.", "gazette-1", ("1.1",)),
            FindingDraft("The Times said 14 million.", "times-1", ("2.0", "2.2")),
        ),
        (SentenceDraft("They differ.", (0, 1)),),
        written=True,
    )


@pytest.mark.parametrize(
    "bad", [[], [0], [-1], [99], [6]], ids=["no sentences", "zero", "negative", "unknown", "one too far"]
)
def test_a_finding_without_known_sentences_is_dropped_with_what_rests_on_it(bad: list[int]) -> None:
    draft = draft_of(reply([{"finding": "Made up.", "sentences": bad}, GAZETTE], [("Made up.", [1]), ("Held.", [2])]))
    assert [finding.finding for finding in draft.findings] == ["The Gazette said 12 million."]
    assert draft.sentences == (SentenceDraft("Held.", (0,)),)


def test_a_finding_over_two_documents_keeps_the_first() -> None:
    draft = draft_of(reply([{"finding": "Both.", "sentences": [3, 2, 5]}], []))
    assert draft.findings == (FindingDraft("Both.", "times-1", ("2.0", "2.2")),)


def test_what_is_computed_is_kept_with_its_sentence() -> None:
    computed = {"value": "2 million", "kind": "difference", "of": ["14 million", "12 million"]}
    sentence = {"text": "They differ by 2 million.", "findings": [1, 2], "computed": [computed]}
    draft = draft_of({**EMPTY, "findings": [GAZETTE, TIMES], "sentences": [sentence]})
    assert draft.sentences[0].computed == (Computed("2 million", "difference", ("14 million", "12 million")),)


def test_a_caveat_is_a_cited_sentence_and_one_that_cites_nothing_is_no_part_of_the_answer() -> None:
    caveats = [{"text": "The mayor only said so.", "findings": [1]}, {"text": "Ask your bank.", "findings": []}]
    outcome, bench, _ = answer(reply([GAZETTE], [("A.", [1])], caveats=caveats))
    assert outcome.draft is not None
    assert outcome.draft.sentences[-1] == SentenceDraft("The mayor only said so.", (0,))
    assert outcome.draft.caveats == ()
    assert bench.steps.trace is not None
    assert [removal.text for removal in bench.steps.trace.removed()] == ["Ask your bank."]


def test_a_list_may_have_twenty_findings() -> None:
    assert len(draft_of(reply([GAZETTE] * 40, [])).findings) == MAX_FINDINGS == 20


def test_queries_are_asked_for_while_they_can_run() -> None:
    wanted = {**EMPTY, "queries": [query("bridge budget"), query("Pellam bridge cost")]}
    outcome, _, _ = answer(wanted, so_far=MORE)
    assert outcome.draft is None
    assert [planned.text for planned in outcome.judgement.queries] == ["bridge budget"]
    assert not outcome.judgement.sufficient


def test_in_the_last_round_queries_are_not_taken_and_the_model_knows() -> None:
    outcome, _, model = answer(reply([GAZETTE], [("A.", [1])], queries=[query("bridge budget")]))
    assert outcome.judgement.queries == ()
    assert outcome.draft is not None
    assert "No further query can run" in model.calls[0].user[-1]


def test_the_call_tells_hits_rounds_dropped_conditions_and_absent_names() -> None:
    so_far = SoFar(PLAN.queries, {0: 7}, 2, ("year any of many",), ("Zuse",))
    _, _, model = answer(reply([GAZETTE], []), so_far=so_far)
    shown = "\n".join(model.calls[0].user)
    for part in (
        "Query run: Pellam bridge cost: 7 passages",
        "Further queries can run 2 times",
        "Condition that could not be used: year any of many",
        "Name that stands in no document: Zuse",
        "relevance 9, bears on sub-question 1",
    ):
        assert part in shown


def test_not_found_is_said_only_where_the_model_says_so() -> None:
    no = {**EMPTY, "coverage": [{"sub_question": 1, "covered": "no"}], "answerable": False}
    outcome, bench, _ = answer(no)
    assert (outcome.draft, outcome.judgement.answerable) == (None, False)
    assert bench.twin.done == []


@pytest.mark.parametrize(
    "claimed",
    [
        {**EMPTY, "coverage": [{"sub_question": 1, "covered": "yes"}]},
        reply([{"finding": "Out of range.", "sentences": [99]}], [("Out of range.", [1])]),
        {**EMPTY, "coverage": [{"sub_question": 1, "covered": "yes"}], "answerable": False},
    ],
    ids=["no findings", "every citation out of range", "covered but not answerable"],
)
def test_an_answer_that_is_claimed_and_not_given_is_written_by_the_twin(claimed: Any) -> None:
    outcome, bench, _ = answer(claimed)
    assert bench.twin.done == ["answer"]
    assert outcome.draft is not None
    assert outcome.draft.findings
    assert bench.agent.fallbacks.snapshot() == {("answer", "empty"): 1}
    assert bench.steps.notice() is not None


def test_without_evidence_and_without_rounds_nothing_is_asked() -> None:
    outcome, _, model = answer(evidence=())
    assert (outcome.draft, outcome.judgement.answerable, model.calls) == (None, False, [])


def test_evidence_stands_in_the_order_of_the_text_with_what_comes_before_and_gaps_marked() -> None:
    long = passage(5, "d", [f"Sentence {n}." for n in range(6)])
    later = passage(4, "d", ["Other."])
    moved = msgspec.structs.replace(later.passage, start=900, end=906)
    block = msgspec.structs.replace(later.blocks[0], start=900)
    later = msgspec.structs.replace(later, passage=moved, blocks=(block,), before="He left.")
    evidence = [Evidence(later, ("4.0",), 9.0), Evidence(long, ("5.1", "5.4"), 8.0)]
    _, _, model = answer(reply([GAZETTE], []), evidence=evidence)
    assert model.calls[0].user[1].split("\n")[2:-1] == [
        "Document 1, relevance 9",
        "[1] Sentence 0.",
        "[2] Sentence 1.",
        "[…]",
        "[3] Sentence 3.",
        "[4] Sentence 4.",
        "(before it: He left.)",
        "[…]",
        "[5] Other.",
    ]


def test_a_second_round_only_adds_to_what_was_shown() -> None:
    model = ScriptedModel([{**EMPTY, "queries": [query("budget")]}, reply([GAZETTE], [("A.", [1])])])
    bench = Bench(model)

    async def turn() -> None:
        await bench.steps.answerer.answer(QUESTION, PLAN, EVIDENCE[:1], MORE)
        await bench.steps.answerer.answer(QUESTION, PLAN, EVIDENCE, LAST)

    asyncio.run(turn())
    first, second = model.calls
    assert second.system == first.system
    assert second.user[:2] == first.user[:2]
    assert second.user[2].startswith("More evidence:")
    assert (first.marks, second.marks) == ((1,), (1, 2))


FINDINGS = st.lists(
    st.fixed_dictionaries(
        {"finding": st.sampled_from(["", "a", "b\x00"]), "sentences": st.lists(st.integers(-1, 6), max_size=9)}
    ),
    max_size=30,
)
SENTENCES = st.lists(
    st.tuples(st.sampled_from(["", "x", "[1]"]), st.lists(st.integers(-1, 32), max_size=5)), max_size=40
)
QUERIES = st.lists(st.sampled_from(["", "pellam bridge COST", "a", "b"]).map(query), max_size=12)


@given(FINDINGS, SENTENCES, QUERIES, st.lists(st.text(max_size=9), max_size=9), st.booleans())
def test_every_reply_gives_an_outcome_that_rests_on_the_evidence(
    findings: Any, sentences: Any, queries: Any, missing: Any, answerable: bool
) -> None:
    outcome, bench, _ = answer(
        reply(findings, sentences, queries=queries, missing=missing, answerable=answerable), so_far=MORE
    )
    assert len(outcome.judgement.queries) <= MAX_QUERIES
    draft = outcome.draft
    if draft is None or bench.twin.done:
        return
    blocks = {"gazette-1": {"1.0", "1.1"}, "times-1": {"2.0", "2.1", "2.2"}}
    assert len(draft.findings) <= MAX_FINDINGS
    assert len(draft.sentences) <= MAX_SENTENCES
    for finding in draft.findings:
        assert finding.finding
        assert 1 <= len(finding.block_ids) <= MAX_BLOCKS
        assert set(finding.block_ids) <= blocks[finding.document_id]
    for sentence in draft.sentences:
        assert sentence.text
        assert sentence.findings
        assert set(sentence.findings) <= set(range(len(draft.findings)))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ModelUnavailable("x"), "was not available"),
        (ModelMisconfigured("x"), "was not available"),
        (ModelRefused("x"), "declined"),
    ],
)
def test_the_twin_answers_when_the_model_cannot_and_the_notice_is_one_sentence(error: Exception, words: str) -> None:
    outcome, bench, _ = answer(error)
    assert outcome.draft is not None
    assert outcome.draft.findings[0].finding == "By the twin."
    notice = bench.steps.notice()
    assert notice is not None
    assert words in notice
    assert notice.count(".") == 1
    assert bench.twin.done == ["answer"]


def test_what_no_reader_has_seen_is_read_for_the_twin() -> None:
    unread = Evidence(PASSAGES[1], ("2.0",), 0.0)
    _, bench, _ = answer(ModelUnavailable("x"), evidence=(EVIDENCE[0], unread))
    assert bench.twin.done == ["read", "answer"]


def repaired(second: Any) -> tuple[AnswerDraft, AnswerDraft, ScriptedModel]:
    model = ScriptedModel([reply([TIMES], [("It cost 15 million.", [1]), ("Costs ran high.", [1])]), second])
    answerer = Bench(model).steps.answerer
    assert isinstance(answerer, Repairer)

    async def turn() -> tuple[AnswerDraft, AnswerDraft]:
        outcome = await answerer.answer(QUESTION, PLAN, EVIDENCE, LAST)
        assert outcome.draft is not None
        problem = Problem("sentence", 0, "the number 15 stands in none of its sources")
        return outcome.draft, await answerer.repair(QUESTION, outcome.draft, [problem])

    return *asyncio.run(turn()), model


def test_a_repair_shows_numbered_sentences_and_problems_and_mends_only_what_failed() -> None:
    before, after, model = repaired(reply([], [("Costs ran to 14 million.", [1])]))
    shown = "\n".join(model.calls[1].user)
    assert "Sentence 1 (findings 1): It cost 15 million." in shown
    assert "Sentence 2 (findings 1): Costs ran high." in shown
    assert "Problem with sentence 1: the number 15 stands in none of its sources" in shown
    assert after.sentences == (SentenceDraft("Costs ran to 14 million.", (0,)), before.sentences[1])


def test_a_repair_matches_the_prefix_of_the_answer_and_its_form() -> None:
    _, _, model = repaired(reply([], [("Costs ran to 14 million.", [1])]))
    first, second = model.calls
    assert (second.system, second.user[:2], second.schema) == (first.system, first.user[:2], first.schema)
    assert 1 in first.marks
    assert 1 in second.marks


def test_a_repair_may_add_a_finding_for_a_mended_sentence() -> None:
    _, after, _ = repaired(reply([GAZETTE], [("It cost 12 million.", [2])]))
    assert [finding.document_id for finding in after.findings] == ["times-1", "gazette-1"]
    assert after.sentences[0] == SentenceDraft("It cost 12 million.", (1,))


def test_a_sentence_that_a_repair_leaves_out_is_empty() -> None:
    _, after, _ = repaired(reply([], [("", [])]))
    assert after.sentences[0].text == ""


def test_a_repair_that_fails_leaves_the_draft_as_it_was() -> None:
    before, after, _ = repaired(ModelUnavailable("x"))
    assert after == before
