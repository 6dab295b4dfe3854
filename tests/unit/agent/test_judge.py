import asyncio

import msgspec
import pytest

from engine.agent.offline.judge import OfflineJudge, Values, log_odds
from engine.agent.steps import Judgement, ReadingPassage
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


def values(objective: str, *passages: ReadingPassage) -> Values:
    asked, offline = question(objective), OfflineJudge()
    return offline.values(asked, offline.table(asked, [evidence(p) for p in passages]))


def test_where_rarity_is_not_known_a_long_word_counts_more_than_a_short_one() -> None:
    long = values("the Humber Bridge opened by zeppelin", passage(1, BRIDGE))
    short = values("the Humber Bridge opened by tram", passage(1, BRIDGE))
    assert long.around < short.around


def test_what_stands_far_apart_in_a_passage_covers_less_than_what_stands_together() -> None:
    apart = passage(1, f"{BRIDGE} {GARDEN} Payment is due in Hull.")
    assert values("Humber Bridge due in Hull", apart).around < values("Payment is due in Hull", apart).around


def test_passages_that_a_name_joins_are_covered_together() -> None:
    asked, offline = question("Humber Bridge opened roses sun"), OfflineJudge()
    table = offline.table(asked, [evidence(passage(1, BRIDGE)), evidence(passage(2, GARDEN))])
    ids = [p.document_id for p in table.passages]
    apart, joined = offline.values(asked, table), offline.values(asked, table, [ids])
    assert apart.around < joined.around
    assert apart.nats < joined.nats


def test_attributes_and_title_count_as_text() -> None:
    shown = passage(1, GARDEN, header="Gardening in Kent", attributes={"author": "Ada Byron"})
    assert values("roses Kent Byron", shown).around == pytest.approx(1.0)


@pytest.mark.parametrize("field", ["nats", "names", "around", "similarity"])
def test_more_evidence_never_makes_an_answer_less_likely(field: str) -> None:
    held = values(ASKED, passage(1, BRIDGE))
    more = msgspec.structs.replace(held, **{field: getattr(held, field) + 0.1})
    assert log_odds(held) < log_odds(more)


def test_a_ticket_is_looked_for_whole() -> None:
    tickets = (
        "Ticket AB-1417 was closed: the lift works again.",
        "Ticket AB-1418 is open: the door of the lift sticks.",
    )
    assert judge("What is the state of ticket AB-1418?", *tickets).answerable
    assert not judge("What is the state of ticket AB-1419?", *tickets).answerable
