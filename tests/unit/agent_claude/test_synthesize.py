from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.agent.claude.synthesize import MAX_BLOCKS, MAX_CAVEATS, MAX_FINDINGS
from engine.agent.steps import AnswerDraft, FindingDraft, Judgement, Problem, Repairer, SentenceDraft
from engine.errors import ModelMisconfigured, ModelRefused, ModelUnavailable
from engine.llm.scripted import ScriptedModel
from tests.unit.agent_claude.examples import EVIDENCE, LACKING, PLAN, QUESTION, SUFFICIENT, Bench

GAZETTE = {"finding": "The Gazette said 12 million.", "sentences": [2]}
TIMES = {"finding": "The Times said 14 million.", "sentences": [3, 4]}


def answer(
    findings: list[Any], sentences: list[tuple[str, list[int]]], *, contradictions: Any = (), caveats: Any = ()
) -> dict[str, Any]:
    return {
        "findings": findings,
        "sentences": [{"text": text, "findings": cited} for text, cited in sentences],
        "contradictions": [{"text": text, "findings": cited} for text, cited in contradictions],
        "caveats": list(caveats),
    }


def write(*script: Any, judgement: Judgement = SUFFICIENT) -> tuple[AnswerDraft, Bench, ScriptedModel]:
    model = ScriptedModel(script)
    bench = Bench(model)
    return asyncio.run(bench.steps.synthesizer.synthesize(QUESTION, PLAN, EVIDENCE, judgement)), bench, model


def test_findings_carry_the_blocks_and_the_document_that_the_numbers_name() -> None:
    draft, _, _ = write(answer([GAZETTE, TIMES], [("They differ.", [1, 2])]))
    assert draft == AnswerDraft(
        (
            FindingDraft("The Gazette said 12 million.", "gazette-1", ("1.1",)),
            FindingDraft("The Times said 14 million.", "times-1", ("2.0", "2.2")),
        ),
        (SentenceDraft("They differ.", (0, 1)),),
    )


def test_contradictions_are_cited_sentences_at_the_end() -> None:
    draft, _, _ = write(answer([GAZETTE, TIMES], [("A.", [1])], contradictions=[("Papers disagree.", [2, 1])]))
    assert draft.sentences[-1] == SentenceDraft("Papers disagree.", (1, 0))


@pytest.mark.parametrize(
    "bad", [[], [0], [-1], [99], [5]], ids=["no sentences", "zero", "negative", "unknown", "one too far"]
)
def test_a_finding_without_known_sentences_is_dropped_with_the_sentences_that_rest_on_it(bad: list[int]) -> None:
    draft, _, _ = write(answer([{"finding": "Made up.", "sentences": bad}], [("Made up.", [1])]))
    assert draft == AnswerDraft((), ())


def test_numbers_of_findings_are_kept_when_one_before_them_is_dropped() -> None:
    draft, _, _ = write(answer([{"finding": "x", "sentences": [77]}, TIMES], [("T.", [2]), ("Both.", [1, 2])]))
    assert [finding.document_id for finding in draft.findings] == ["times-1"]
    assert draft.sentences == (SentenceDraft("T.", (0,)), SentenceDraft("Both.", (0,)))


def test_a_finding_over_two_documents_keeps_the_first() -> None:
    draft, _, _ = write(answer([{"finding": "Both.", "sentences": [3, 2, 4]}], []))
    assert draft.findings == (FindingDraft("Both.", "times-1", ("2.0", "2.2")),)


def test_a_sentence_that_rests_on_nothing_is_dropped() -> None:
    draft, _, _ = write(answer([GAZETTE], [("Free.", []), ("Also free.", [0, 2, -1]), ("Held.", [1])]))
    assert draft.sentences == (SentenceDraft("Held.", (0,)),)


def test_addresses_stay_only_where_the_cited_sentences_have_them() -> None:
    url = "https://times.example/bridge"
    draft, _, _ = write(answer([GAZETTE, TIMES], [(f"Says {url}.", [2]), (f"Not {url}.", [1])]))
    assert [sentence.text for sentence in draft.sentences] == [f"Says {url}.", "Not."]


def test_markers_and_citation_tags_of_the_model_are_removed() -> None:
    draft, _, _ = write(answer([GAZETTE], [('<cite index="0">It cost 12 million</cite> [1].', [1])]))
    assert draft.sentences[0].text == "It cost 12 million."


def test_caveats_hold_no_address_and_no_figure_of_their_own() -> None:
    caveats = [
        "Call 555 now.",
        "Visit https://evil.example/x soon.",
        "Only papers of the 1980s.",
        "12 million is unsure.",
    ]
    draft, _, _ = write(answer([GAZETTE], [("A.", [1])], caveats=caveats))
    assert draft.caveats == ("Visit soon.", "Only papers of the 1980s.", "12 million is unsure.")


def test_what_is_missing_becomes_a_caveat_unless_the_model_says_it() -> None:
    silent, _, model = write(answer([GAZETTE], [("A.", [1])]), judgement=LACKING)
    spoken, _, _ = write(answer([GAZETTE], [("A.", [1])], caveats=["Nothing on later years."]), judgement=LACKING)
    assert silent.caveats == ("Not covered by what was found: the cost in 1986.",)
    assert spoken.caveats == ("Nothing on later years.",)
    assert "the cost in 1986" in model.calls[0].user[-1]


def test_without_evidence_nothing_is_asked_and_nothing_is_found() -> None:
    model = ScriptedModel([])
    draft = asyncio.run(Bench(model).steps.synthesizer.synthesize(QUESTION, PLAN, (), LACKING))
    assert draft == AnswerDraft((), (), ("Not covered by what was found: the cost in 1986.",))
    assert model.calls == []


def test_no_findings_means_not_found() -> None:
    assert write(answer([], [("I know this by heart.", [1])]))[0] == AnswerDraft((), ())


FINDINGS = st.lists(
    st.fixed_dictionaries(
        {"finding": st.sampled_from(["", "a", "b\x00"]), "sentences": st.lists(st.integers(-1, 6), max_size=9)}
    ),
    max_size=20,
)
SENTENCES = st.lists(
    st.tuples(st.sampled_from(["", "x", "[1]"]), st.lists(st.integers(-1, 22), max_size=5)), max_size=40
)


@given(FINDINGS, SENTENCES, SENTENCES, st.lists(st.text(max_size=9), max_size=9))
def test_every_reply_gives_a_draft_that_rests_on_the_evidence(
    findings: Any, sentences: Any, contradictions: Any, caveats: Any
) -> None:
    draft, bench, _ = write(answer(findings, sentences, contradictions=contradictions, caveats=caveats))
    assert bench.twin.done == []
    blocks = {"gazette-1": {"1.0", "1.1"}, "times-1": {"2.0", "2.2"}}
    assert len(draft.findings) <= MAX_FINDINGS
    assert len(draft.caveats) <= MAX_CAVEATS
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
def test_the_twin_writes_when_the_model_cannot_and_the_answer_says_so_in_one_sentence(
    error: Exception, words: str
) -> None:
    draft, bench, _ = write(error)
    assert draft.findings[0].finding == "By the twin."
    assert draft.caveats[0] == "The twin's caveat."
    assert len(draft.caveats) == 2
    assert words in draft.caveats[1]
    assert draft.caveats[1].count(".") == 1
    assert bench.twin.done == ["synthesize"]


def test_a_repair_shows_the_draft_and_its_problems_and_keeps_the_caveats() -> None:
    mended = answer([TIMES], [("Costs ran to 14 million.", [1])], caveats=["Changed."])
    model = ScriptedModel([answer([TIMES], [("It cost 15 million.", [1])], caveats=["Kept."]), mended])
    synthesizer = Bench(model).steps.synthesizer
    assert isinstance(synthesizer, Repairer)

    async def turn() -> AnswerDraft:
        draft = await synthesizer.synthesize(QUESTION, PLAN, EVIDENCE, SUFFICIENT)
        problem = Problem("sentence", 0, "the number 15 stands in none of its excerpts")
        return await synthesizer.repair(QUESTION, draft, [problem])

    draft = asyncio.run(turn())
    shown = "\n".join(model.calls[1].user)
    assert "Sentence 1 (findings 1): It cost 15 million." in shown
    assert "Problem with sentence 1: the number 15 stands in none of its excerpts" in shown
    assert draft.sentences == (SentenceDraft("Costs ran to 14 million.", (0,)),)
    assert draft.caveats == ("Kept.",)


def test_a_repair_that_fails_leaves_the_draft_as_it_was() -> None:
    model = ScriptedModel([answer([TIMES], [("A.", [1])]), ModelUnavailable("x")])
    synthesizer = Bench(model).steps.synthesizer

    async def turn() -> tuple[AnswerDraft, AnswerDraft]:
        assert isinstance(synthesizer, Repairer)
        draft = await synthesizer.synthesize(QUESTION, PLAN, EVIDENCE, SUFFICIENT)
        return draft, await synthesizer.repair(QUESTION, draft, [Problem("sentence", 0, "x")])

    before, after = asyncio.run(turn())
    assert after == before
