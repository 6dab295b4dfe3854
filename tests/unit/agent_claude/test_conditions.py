from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.agent.claude.conditions import MAX_CONDITIONS, MAX_VALUES, Condition, to_narrowing
from tests.unit.agent_claude.examples import CORPUS, SCHEMA

USABLE: list[tuple[str, str, list[str], dict[str, Any]]] = [
    ("newspaper", "any_of", ["Harbour Gazette"], {"newspaper": {"$in": ["Harbour Gazette"]}}),
    ("newspaper", "any_of", ["coastal times "], {"newspaper": {"$in": ["Coastal Times"]}}),
    ("newspaper", "none_of", ["Unheard Of"], {"newspaper": {"$not_in": ["Unheard Of"]}}),
    ("topics", "any_of", ["Cheese"], {"topics": {"$in": ["cheese"]}}),
    ("year", "at_least", ["1986"], {"year": {"$gte": 1986}}),
    ("year", "any_of", ["1986", "1987"], {"year": {"$in": [1986, 1987]}}),
    ("score", "at_most", ["0.5"], {"score": {"$lte": 0.5}}),
    ("printed", "any_of", ["True"], {"printed": {"$in": [True]}}),
    ("published", "at_least", ["1986-01-01"], {"published": {"$gte": "1986-01-01"}}),
]


@pytest.mark.parametrize(("attribute", "operator", "values", "narrowing"), USABLE)
def test_a_condition_becomes_filter_json_of_the_attributes_type(
    attribute: str, operator: Any, values: list[str], narrowing: dict[str, Any]
) -> None:
    assert to_narrowing([Condition(attribute, operator, tuple(values))], CORPUS) == (narrowing, ())


@pytest.mark.parametrize(
    ("attribute", "operator", "values"),
    [
        ("no_such", "any_of", ["x"]),
        ("secret", "any_of", ["x"]),
        ("$or", "any_of", ["x"]),
        ("namespace", "any_of", ["other"]),
        ("company_id", "any_of", ["2"]),
        ("newspaper", "any_of", []),
        ("year", "any_of", ["many"]),
        ("year", "at_least", ["1986", "1987"]),
        ("year", "at_least", ["1986.5"]),
        ("score", "at_most", ["nan"]),
        ("score", "at_most", ["inf"]),
        ("printed", "any_of", ["perhaps"]),
        ("published", "at_least", ["yesterday"]),
    ],
)
def test_a_condition_that_does_not_fit_the_schema_is_dropped(attribute: str, operator: Any, values: list[str]) -> None:
    narrowing, dropped = to_narrowing([Condition(attribute, operator, tuple(values))], CORPUS)
    assert narrowing is None
    assert len(dropped) == 1


def test_several_conditions_must_all_hold_and_an_equal_one_counts_once() -> None:
    papers = Condition("newspaper", "any_of", ("Harbour Gazette",))
    years = Condition("year", "at_least", ("1986",))
    assert to_narrowing([papers, years, papers], CORPUS)[0] == {
        "$and": [{"newspaper": {"$in": ["Harbour Gazette"]}}, {"year": {"$gte": 1986}}]
    }


ATTRIBUTES = st.sampled_from([*SCHEMA.attributes, "id", "$and", "$or", "$nor", "$not", "namespace", ""])
VALUES = st.one_of(st.text(max_size=5), st.sampled_from(["1986", "true", "1e9", "bridges"]))
CONDITIONS = st.builds(
    Condition,
    attribute=ATTRIBUTES,
    operator=st.sampled_from(["any_of", "none_of", "at_least", "at_most"]),
    values=st.lists(VALUES, max_size=30).map(tuple),
)


@given(st.lists(CONDITIONS, max_size=12))
def test_whatever_is_written_only_known_attributes_are_restricted(conditions: list[Condition]) -> None:
    narrowing, _ = to_narrowing(conditions, CORPUS)
    filters = [] if narrowing is None else narrowing.get("$and", [narrowing])
    assert len(filters) <= MAX_CONDITIONS
    for restriction in filters:
        ((attribute, condition),) = restriction.items()
        ((operator, operand),) = condition.items()
        assert attribute in SCHEMA.filterable()
        assert operator in ("$in", "$not_in", "$gte", "$lte")
        assert not isinstance(operand, list) or len(operand) <= MAX_VALUES
