import asyncio

import pytest

from engine.agent.offline.coverage import Coverage, coverage_of
from engine.agent.offline.judge import ANSWERABLE, OfflineJudge, log_odds, values_of
from engine.agent.steps import Judgement
from tests.unit.agent.made import evidence, passage, plan, question

BRIDGE = (
    "The Humber Bridge was opened in the summer of 1981. It was the longest suspension bridge of its time by far. "
    "Tolls are paid online, before the crossing or within two days of it."
)
GARDEN = "Roses need sun and a soil that drains well. Cut them back in March. Water the roots, not the leaves."
ASKED = "When was the Humber Bridge opened?"


def judge(objective: str, *texts: str, parts: tuple[str, ...] = ()) -> Judgement:
    found = [evidence(passage(n, text)) for n, text in enumerate(texts, 1)]
    return asyncio.run(OfflineJudge().judge(question(objective), plan(*(parts or (objective,))), found, ()))


def test_a_passage_that_holds_the_question_answers_it() -> None:
    assert judge(ASKED, GARDEN, BRIDGE) == Judgement(sufficient=True)


def test_passages_about_something_else_do_not_answer() -> None:
    assert not judge(ASKED, GARDEN).answerable


def test_no_evidence_does_not_answer() -> None:
    assert not judge(ASKED).answerable


def test_a_name_that_no_passage_holds_is_reported_missing() -> None:
    judgement = judge("Was the Humber Bridge opened in 1981 before the bridge of Zwickau?", BRIDGE)
    assert judgement.answerable
    assert "Zwickau" in judgement.missing


def test_a_part_that_nothing_covers_is_reported_missing() -> None:
    parts = ("When was the Humber Bridge opened", "which composer conducted the overture")
    judgement = judge("When was the longest suspension bridge, the Humber Bridge, opened?", BRIDGE, parts=parts)
    assert parts[1] in judgement.missing


def test_an_unknown_rare_word_counts_more_than_a_common_one() -> None:
    passages = [passage(1, BRIDGE)]
    rarity = {"humber": 6.0, "bridg": 1.0, "open": 1.0, "zeppelin": 6.0, "tunnel": 1.0}
    rare = coverage_of("Humber Bridge opened zeppelin", passages, rarity)
    common = coverage_of("Humber Bridge opened tunnel", passages, rarity)
    assert rare.passage < common.passage


def test_a_sentence_is_covered_less_than_its_passage() -> None:
    coverage = coverage_of("Humber Bridge tolls paid online", [passage(1, BRIDGE)], {})
    assert coverage.sentence < coverage.passage == 1.0


def test_attributes_and_title_count_as_text() -> None:
    shown = passage(1, GARDEN, header="Gardening in Kent", attributes={"author": "Ada Byron"})
    assert coverage_of("roses Kent Byron", [shown], {}).passage == 1.0


@pytest.mark.parametrize("field", ["passage", "sentence", "names"])
def test_more_coverage_never_makes_an_answer_less_likely(field: str) -> None:
    low = {"passage": 0.5, "sentence": 0.5, "names": 0.5} | {field: 0.4}
    high = low | {field: 0.6}
    assert log_odds(values_of(Coverage(8, **low, absent=()))) < log_odds(values_of(Coverage(8, **high, absent=())))


def test_full_coverage_of_a_question_of_two_words_is_enough() -> None:
    assert log_odds(values_of(coverage_of("Humber Bridge", [passage(1, BRIDGE)], {}))) >= ANSWERABLE
