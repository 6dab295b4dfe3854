from __future__ import annotations

import pytest

from engine.agent.gathering import distinct
from engine.agent.offline.plan import MAX_QUERIES, OfflinePlanner
from engine.agent.steps import Plan
from engine.filters.check import parse_filter
from engine.question.turn import Turn
from tests.unit.agent.examples_offline import asked, corpus, papers

COMPARISON = (
    "Does the Harbour Gazette article claim that the northern tunnel leaks badly, "
    "while The Beacon article says that the southern tunnel stays perfectly dry?"
)


def plan_of(objective: str, context: str = "", message: str = "", turns: tuple[Turn, ...] = ()) -> Plan:
    return OfflinePlanner().plan_now(asked(objective, context, message, turns), papers())


def test_the_first_query_is_the_question_itself_without_a_narrowing() -> None:
    first = plan_of(COMPARISON).queries[0]
    assert (first.text, first.narrowing, first.sub_question) == (COMPARISON, None, -1)


def test_each_named_value_narrows_a_query_of_its_own_beside_it() -> None:
    narrowings = [q.narrowing for q in plan_of(COMPARISON).queries if q.sub_question == -1]
    assert narrowings == [None, {"newspaper": "Harbour Gazette"}, {"newspaper": "The Beacon"}]


def test_a_part_is_asked_under_the_value_that_it_names_itself() -> None:
    plan = plan_of(COMPARISON)
    assert len(plan.sub_questions) == 2
    own = {q.sub_question: q.narrowing for q in plan.queries if q.sub_question >= 0 and q.narrowing}
    assert own == {0: {"newspaper": "Harbour Gazette"}, 1: {"newspaper": "The Beacon"}}


def test_a_narrowed_query_says_what_is_sought_and_not_where() -> None:
    narrowed = [q.text for q in plan_of(COMPARISON).queries if q.narrowing]
    assert narrowed
    assert not any(word in text for text in narrowed for word in ("Gazette", "Beacon", "article", "claim"))


def test_a_part_says_which_of_its_words_only_say_where_to_look() -> None:
    assert [part.places for part in plan_of(COMPARISON).sub_questions] == [("Harbour Gazette",), ("The Beacon",)]


def test_a_date_and_the_value_beside_it_narrow_together() -> None:
    plan = plan_of("What did The Beacon report on October 4, 2023 about the flooded tunnel?")
    day = {"printed": {"$gte": "2023-10-04", "$lt": "2023-10-05"}}
    assert {"$and": [{"newspaper": "The Beacon"}, day]} in [q.narrowing for q in plan.queries]


def test_a_question_that_names_nothing_is_one_query() -> None:
    assert [q.narrowing for q in plan_of("Who built the bridge?").queries] == [None]


def test_sub_questions_are_readable_and_name_what_evidence_must_show() -> None:
    parts = plan_of(COMPARISON + " Did the engineer Cora Lind inspect the third tunnel before winter?").sub_questions
    assert parts[1].text.startswith("The Beacon article says")
    assert [part.entities for part in parts] == [(), (), ("Cora Lind",)]


def test_the_context_adds_values_and_questions_but_no_more_than_that() -> None:
    plan = plan_of(
        "What is wrong with the tunnel?",
        context="We read the Harbour Gazette every morning. Which engineer inspected the northern tunnel in spring?",
    )
    assert {"newspaper": "Harbour Gazette"} in [q.narrowing for q in plan.queries]
    assert "Which engineer inspected the northern tunnel in spring?" in [part.text for part in plan.sub_questions]
    assert plan.queries[0].weight > max(q.weight for q in plan.queries[1:] if q.sub_question >= 0)


def test_a_short_message_is_read_with_the_objective() -> None:
    plan = plan_of(
        "Who inspected the northern tunnel?", message="and the southern one?", turns=(Turn("Who …?", "Ada Marsh. [1]"),)
    )
    assert "tunnel" in plan.queries[0].text
    assert "southern" in plan.queries[0].text


def test_a_message_with_a_subject_of_its_own_stands_alone() -> None:
    message = "Which harbours froze completely during the winter storms?"
    assert plan_of("Who inspected the tunnel?", message=message).queries[0].text == message


@pytest.mark.parametrize("objective", [COMPARISON, COMPARISON * 4, "?", "東京の天気は?", "a" * 2_000, "The Beacon"])
def test_every_plan_has_parts_and_distinct_queries_within_the_limit_that_the_schema_accepts(objective: str) -> None:
    plan = plan_of(objective)
    assert plan.sub_questions
    assert 1 <= len(plan.queries) <= MAX_QUERIES
    assert distinct(plan.queries) == list(plan.queries)
    for query in plan.queries:
        assert query.weight > 0
        assert query.text.strip()
        parse_filter(query.narrowing, papers().schema)


def test_the_same_question_is_planned_the_same_way_twice() -> None:
    planner = OfflinePlanner()
    assert planner.plan_now(asked(COMPARISON), papers()) == planner.plan_now(asked(COMPARISON), papers())


def test_a_namespace_without_attributes_is_planned_too() -> None:
    assert OfflinePlanner().plan_now(asked(COMPARISON), corpus()).queries[0].text == COMPARISON
