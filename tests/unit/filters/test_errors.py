"""Every way a filter can be refused, with its code and its path."""

from __future__ import annotations

from typing import Any

import pytest

from engine.errors import FilterError
from engine.filters.check import parse_filter
from engine.model.schema import Attribute, AttributeType, Schema

A = AttributeType
SCHEMA = Schema(
    {
        "title": Attribute(A.STRING, is_filterable=True),
        "year": Attribute(A.INT, is_filterable=True),
        "at": Attribute(A.DATETIME, is_filterable=True),
        "key": Attribute(A.UUID, is_filterable=True),
        "open": Attribute(A.BOOL, is_filterable=True),
        "tags": Attribute(A.STRINGS, is_filterable=True),
        "years": Attribute(A.INTS, is_filterable=True),
        "body": Attribute(A.STRING, is_searchable=True),
        "blob": Attribute(A.JSON),
    }
)


def nested(levels: int) -> dict[str, Any]:
    raw: dict[str, Any] = {"year": 1}
    for _ in range(levels):
        raw = {"$not": raw}
    return raw


def chained(levels: int) -> dict[str, Any]:
    raw: dict[str, Any] = {"$eq": 1}
    for _ in range(levels):
        raw = {"$not": raw}
    return {"year": raw}


@pytest.mark.parametrize(
    ("raw", "code", "path"),
    [
        # malformed
        ([], "invalid_filter", "filters"),
        ("year = 1", "invalid_filter", "filters"),
        (7, "invalid_filter", "filters"),
        ({"$and": []}, "invalid_filter", "filters.$and"),
        ({"$or": []}, "invalid_filter", "filters.$or"),
        ({"$nor": []}, "invalid_filter", "filters.$nor"),
        ({"$and": {"year": 1}}, "invalid_filter", "filters.$and"),
        ({"$and": [{"year": 1}, 5]}, "invalid_filter", "filters.$and[1]"),
        ({"$and": [None]}, "invalid_filter", "filters.$and[0]"),
        ({"$not": [{"year": 1}]}, "invalid_filter", "filters.$not"),
        ({"$xor": [{"year": 1}]}, "invalid_filter", "filters.$xor"),
        ({"$eq": 1}, "invalid_filter", "filters.$eq"),
        ({1: 2}, "invalid_filter", "filters"),
        ({"year": {}}, "invalid_filter", "filters.year"),
        ({"year": {"$between": [1, 2]}}, "invalid_filter", "filters.year.$between"),
        ({"year": {"gte": 1}}, "invalid_filter", "filters.year.gte"),
        ({"year": {1: 1}}, "invalid_filter", "filters.year.1"),
        ({"year": {"$eq": {"a": 1}}}, "invalid_filter", "filters.year.$eq"),
        ({"year": {"$in": 5}}, "invalid_filter", "filters.year.$in"),
        ({"year": {"$in": None}}, "invalid_filter", "filters.year.$in"),
        ({"year": {"$in": [1, [2]]}}, "invalid_filter", "filters.year.$in[1]"),
        ({"year": {"$gt": None}}, "invalid_filter", "filters.year.$gt"),
        ({"year": {"$gt": [1]}}, "invalid_filter", "filters.year.$gt"),
        ({"year": float("nan")}, "invalid_filter", "filters.year"),
        ({"year": {"$lt": float("inf")}}, "invalid_filter", "filters.year.$lt"),
        ({"year": {"$exists": 1}}, "invalid_filter", "filters.year.$exists"),
        ({"year": {"$not": {}}}, "invalid_filter", "filters.year.$not"),
        ({"year": b"1"}, "invalid_filter", "filters.year"),
        ({"tags": ["a", None]}, "invalid_filter", "filters.tags[1]"),
        ({"tags": {"$contains": ["a"]}}, "invalid_filter", "filters.tags.$contains"),
        ({"tags": {"$contains_any": "a"}}, "invalid_filter", "filters.tags.$contains_any"),
        ({"tags": {"$contains_all": [{}]}}, "invalid_filter", "filters.tags.$contains_all[0]"),
        ({"title": {"$contains": None}}, "filter_type_mismatch", "filters.title.$contains"),
        ({"title": {"$contains_any": [None]}}, "filter_type_mismatch", "filters.title.$contains_any"),
        ({"title": {"$glob": 5}}, "invalid_filter", "filters.title.$glob"),
        ({"title": {"$glob": ["*"]}}, "invalid_filter", "filters.title.$glob"),
        ({"title": {"$not_contains_all": ["a"]}}, "invalid_filter", "filters.title.$not_contains_all"),
        ({"title": "\ud800"}, "invalid_filter", "filters.title"),
        # limits
        (nested(17), "invalid_filter", "filters" + ".$not" * 17),
        (chained(17), "invalid_filter", "filters.year" + ".$not" * 17),
        (nested(10_000), "invalid_filter", "filters" + ".$not" * 17),
        (chained(10_000), "invalid_filter", "filters.year" + ".$not" * 17),
        ({"$or": [{"title": {"$glob": "a*"}}] * 51}, "invalid_filter", "filters.$or[50].title.$glob"),
        ({"$or": [{"title": {"$iglob": "a" * 4_000}}] * 5}, "invalid_filter", "filters.$or[4].title.$iglob"),
        ({"$or": [{"year": 1}] * 1000}, "invalid_filter", "filters.$or[999].year"),
        ({"year": {"$in": [1] * 10_001}}, "invalid_filter", "filters.year.$in"),
        ({"title": "é" * 2049}, "invalid_filter", "filters.title"),
        ({"title": {"$in": ["a", "x" * 4097]}}, "invalid_filter", "filters.title.$in[1]"),
        ({"title": {"$glob": "{" * 17 + "}" * 17}}, "invalid_filter", "filters.title.$glob"),
        # attributes
        ({"yaer": {"$gte": 1}}, "unknown_attribute", "filters.yaer"),
        ({"$and": [{"year": 1}, {"x": 1}]}, "unknown_attribute", "filters.$and[1].x"),
        ({"$nor": [{"x": {"$not": {"$gt": 1}}}]}, "unknown_attribute", "filters.$nor[0].x"),
        ({"": 1}, "unknown_attribute", "filters."),
        ({"body": "a"}, "attribute_not_filterable", "filters.body"),
        ({"body": {"$exists": True}}, "attribute_not_filterable", "filters.body"),
        ({"blob": {"$exists": True}}, "attribute_not_filterable", "filters.blob"),
        # types
        ({"year": "2020"}, "filter_type_mismatch", "filters.year"),
        ({"year": True}, "filter_type_mismatch", "filters.year"),
        ({"year": {"$gte": "2020"}}, "filter_type_mismatch", "filters.year.$gte"),
        ({"year": {"$in": [1, "2"]}}, "filter_type_mismatch", "filters.year.$in[1]"),
        ({"year": [1]}, "filter_type_mismatch", "filters.year"),
        ({"year": {"$neq": [1]}}, "filter_type_mismatch", "filters.year.$neq"),
        ({"year": {"$contains": 1}}, "filter_type_mismatch", "filters.year.$contains"),
        ({"title": {"$contains": "a"}}, "filter_type_mismatch", "filters.title.$contains"),
        ({"title": {"$not_contains_any": ["a"]}}, "filter_type_mismatch", "filters.title.$not_contains_any"),
        ({"year": {"$glob": "2*"}}, "filter_type_mismatch", "filters.year.$glob"),
        ({"key": {"$iglob": "2*"}}, "filter_type_mismatch", "filters.key.$iglob"),
        ({"title": 5}, "filter_type_mismatch", "filters.title"),
        ({"title": False}, "filter_type_mismatch", "filters.title"),
        ({"open": 1}, "filter_type_mismatch", "filters.open"),
        ({"open": {"$gt": False}}, "filter_type_mismatch", "filters.open.$gt"),
        ({"at": 5}, "filter_type_mismatch", "filters.at"),
        ({"at": {"$gt": "yesterday"}}, "filter_type_mismatch", "filters.at.$gt"),
        ({"key": "abc"}, "filter_type_mismatch", "filters.key"),
        ({"tags": 5}, "filter_type_mismatch", "filters.tags"),
        ({"tags": ["a", 5]}, "filter_type_mismatch", "filters.tags[1]"),
        ({"tags": {"$contains_any": ["a", 5]}}, "filter_type_mismatch", "filters.tags.$contains_any[1]"),
        ({"years": {"$contains": "1"}}, "filter_type_mismatch", "filters.years.$contains"),
        ({"id": 5}, "filter_type_mismatch", "filters.id"),
        ({"root_document_id": {"$contains": "a"}}, "filter_type_mismatch", "filters.root_document_id.$contains"),
        (
            {"$and": [{"$or": [{"year": {"$not": {"$gte": "x"}}}]}]},
            "filter_type_mismatch",
            "filters.$and[0].$or[0].year.$not.$gte",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 60 else "",
)
def test_refused(raw: Any, code: str, path: str) -> None:
    with pytest.raises(FilterError) as refused:
        parse_filter(raw, SCHEMA)
    assert (refused.value.code, refused.value.path) == (code, path)
    assert refused.value.details[0].path == path


@pytest.mark.parametrize(
    "raw",
    [
        nested(16),
        chained(16),
        {"$or": [{"year": 1}] * 999},
        {"year": {"$in": [1] * 10_000}},
        {"title": "é" * 2048},
        {"year": 10**400},
        {"year": {"$in": (1, 2)}},
    ],
    ids=range(7),
)
def test_the_limits_themselves_are_allowed(raw: Any) -> None:
    assert parse_filter(raw, SCHEMA) is not None


def test_a_long_key_is_shortened_in_the_error() -> None:
    with pytest.raises(FilterError) as refused:
        parse_filter({"x" * 100_000: 1}, SCHEMA)
    assert len(refused.value.path) + len(refused.value.message) < 500
