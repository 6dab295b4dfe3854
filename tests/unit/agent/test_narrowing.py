from __future__ import annotations

from datetime import date

import pytest

from engine.agent.offline.mentions import Mention
from engine.agent.offline.narrowing import DateAttributes, joined, narrowing_of
from engine.filters.check import parse_filter
from engine.question.dates import DateMention
from tests.unit.agent.examples_offline import corpus, papers

MAY = DateMention(date(2023, 5, 3), date(2023, 5, 4), 0, 1)
SINCE = DateMention(date(2023, 5, 3), None, 0, 1)


def test_dates_go_to_the_datetime_attribute_whatever_its_name() -> None:
    held = papers()
    narrowing = DateAttributes(held).narrowing(MAY, "")
    assert narrowing == {"printed": {"$gte": "2023-05-03", "$lt": "2023-05-04"}}
    parse_filter(narrowing, held.schema)


def test_an_open_range_has_one_bound() -> None:
    assert DateAttributes(papers()).narrowing(SINCE, "") == {"printed": {"$gte": "2023-05-03"}}


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("string", {"2023-05-01": 1, "2023-06-01": 1}, {"$gte": "2023-05-03", "$lt": "2023-05-04"}),
        ("string", {"2023-05": 1}, {"$gte": "2023-05", "$lt": "2023-06"}),
        ("int", {2022: 3, 2023: 4}, {"$gte": 2023, "$lte": 2023}),
    ],
)
def test_texts_and_numbers_that_are_dates_are_narrowed_too(
    kind: str, values: dict[object, int], expected: object
) -> None:
    held = corpus(when=(kind, values))
    narrowing = DateAttributes(held).narrowing(MAY, "")
    assert narrowing == {"when": expected}
    parse_filter(narrowing, held.schema)


def test_without_an_attribute_that_holds_dates_nothing_is_narrowed() -> None:
    assert DateAttributes(corpus(rooms=("int", {3: 1}), name=("string", {"x": 1}))).narrowing(MAY, "") is None


def test_of_several_dates_the_one_that_the_question_speaks_of_is_taken() -> None:
    held = corpus(created_at=("datetime", {0: 1}), published_at=("datetime", {0: 1}))
    assert list(DateAttributes(held).narrowing(MAY, "published on May 3") or {}) == ["published_at"]
    assert list(DateAttributes(held).narrowing(MAY, "on May 3") or {}) == ["$or"]


def test_the_latest_known_date_stands_for_today() -> None:
    assert DateAttributes(papers()).latest == date(2023, 10, 31)


def test_values_of_one_attribute_are_alternatives_and_attributes_are_joined() -> None:
    one = Mention("a", ("x",), 0, 1, 1.0, 1)
    two = Mention("a", ("y",), 2, 3, 1.0, 1)
    other = Mention("b", ("z",), 4, 5, 1.0, 1)
    assert narrowing_of([one, two, other]) == {"$and": [{"a": {"$in": ["x", "y"]}}, {"b": "z"}]}
    assert joined([None, {"a": 1}]) == {"a": 1}
    assert joined([]) is None
