"""One JSON value to its typed value."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.schema import AttributeType
from engine.model.values import ValueMismatch, check_json, parse_datetime, parse_uuid, typed_value

A = AttributeType
DAY = 86_400_000_000


@pytest.mark.parametrize(
    ("kind", "value", "typed"),
    [
        (A.STRING, "", ""),
        (A.INT, -(2**63), -(2**63)),
        (A.INT, 2**63 - 1, 2**63 - 1),
        (A.UINT, 2**64 - 1, 2**64 - 1),
        (A.FLOAT, 3, 3.0),
        (A.FLOAT, 2**64 - 1, float(2**64)),
        (A.BOOL, False, False),
        (A.UUID, "ABCDEF00-0000-4000-8000-00000000000F", "abcdef00-0000-4000-8000-00000000000f"),
        (A.DATETIME, "1970-01-02", DAY),
        (A.STRINGS, [], []),
        (A.INTS, [1, 2], [1, 2]),
        (A.FLOATS, [1, 2.5], [1.0, 2.5]),
        (A.DATETIMES, ["1970-01-02", "1970-01-01T00:00:01Z"], [DAY, 1_000_000]),
        (A.UUIDS, ["ABCDEF00-0000-4000-8000-00000000000F"], ["abcdef00-0000-4000-8000-00000000000f"]),
        (A.BOOLS, [True], [True]),
        # missing
        (A.STRING, None, None),
        (A.INTS, None, None),
        (A.INT, [], None),
        (A.JSON, {"a": 1}, None),
    ],
)
def test_typed(kind: AttributeType, value: Any, typed: Any) -> None:
    found = typed_value(kind, value)
    assert found == typed
    assert type(found) is type(typed)


@pytest.mark.parametrize(
    ("kind", "value", "expected", "got", "at"),
    [
        (A.STRING, 5, "string", "int", ""),
        (A.STRING, b"x", "string", "the Python type bytes", ""),
        (A.INT, "5", "int", "string", ""),
        (A.INT, 5.0, "int", "float", ""),
        (A.INT, True, "int", "bool", ""),
        (A.INT, 2**63, "int (-2**63 to 2**63-1)", "an int out of that range", ""),
        (A.UINT, -1, "uint (0 to 2**64-1)", "an int out of that range", ""),
        (A.UINT, 2**64, "uint (0 to 2**64-1)", "an int out of that range", ""),
        (A.FLOAT, "1", "float", "string", ""),
        (A.FLOAT, False, "float", "bool", ""),
        (A.FLOAT, float("nan"), "float", "NaN or an infinity", ""),
        (A.FLOAT, float("-inf"), "float", "NaN or an infinity", ""),
        (A.FLOAT, 2**64, "float", "an int beyond 64 bits", ""),
        (A.BOOL, 1, "bool", "int", ""),
        (A.BOOL, "true", "bool", "string", ""),
        (A.UUID, "abc", "uuid", "text of another form", ""),
        (A.UUID, 5, "uuid", "int", ""),
        (A.DATETIME, "soon", "datetime (ISO 8601 text)", "text of another form", ""),
        (A.DATETIME, 0, "datetime (ISO 8601 text)", "int", ""),
        (A.INTS, 5, "[]int", "int", ""),
        (A.STRINGS, {"a": 1}, "[]string", "object", ""),
        (A.STRINGS, ["a", 5], "string", "int", "[1]"),
        (A.STRINGS, ["a", None], "string", "null", "[1]"),
        (A.FLOATS, [1.0, float("nan")], "float", "NaN or an infinity", "[1]"),
        (A.INT, [1], "int", "list", ""),
    ],
)
def test_misfits_say_what_was_wanted_found_and_where(
    kind: AttributeType, value: Any, expected: str, got: str, at: str
) -> None:
    with pytest.raises(ValueMismatch) as refused:
        typed_value(kind, value)
    assert (refused.value.expected, refused.value.got, refused.value.at) == (expected, got, at)


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("1970-01-01", 0),
        ("19700102", DAY),
        ("1970-01-01T00:00", 0),
        ("1970-01-01 00:00:01", 1_000_000),
        ("1970-01-01t00:00:01z", 1_000_000),
        ("19700101T000001Z", 1_000_000),
        ("1970-01-01T00:00:00.1", 100_000),
        ("1970-01-01T00:00:00,123456", 123_456),
        ("1970-01-01T00:00:00.123456789Z", 123_456),
        ("1970-01-01T02:00+02:00", 0),
        ("1970-01-01T02:00+0200", 0),
        ("1970-01-01T02:00+02", 0),
        ("1969-12-31T23:59:59.999999-00:00", -1),
        ("0001-01-01T00:00:00+14:00", -62_135_596_800_000_000 - 14 * 3_600_000_000),
        ("9999-12-31T23:59:59.999999-12:00", 253_402_300_799_999_999 + 12 * 3_600_000_000),
    ],
)
def test_times_that_are_read(text: str, microseconds: int) -> None:
    assert parse_datetime(text) == microseconds


@pytest.mark.parametrize(
    "text",
    [
        "", "2024", "2024-05", "2024-W05-1", "2024-13-01", "2023-02-29", "2024-01-01T", "2024-01-01x10:00",
        "2024-01-01T24:00", "2024-01-01T10:60", "2024-01-01T10:00:60", "2024-01-01T10", "2024-01-01T10:00+25:00",
        " 2024-01-01", "2024-01-01\n", "2024-01-01T10:00 UTC", "1714557600", "٢٠٢٤-٠١-٠١", "2024-1-1", "0000-01-01",
        "2024-01-01T10:00:00.", "20240101T10:00", "2024-001",
    ],
)  # fmt: skip
def test_times_that_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_datetime(text)


zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(moment=st.datetimes(timezones=zones))
def test_a_time_in_any_zone_is_its_instant(moment: datetime) -> None:
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    assert parse_datetime(moment.isoformat()) == since // timedelta(microseconds=1)


@given(first=st.datetimes(timezones=zones), second=st.datetimes(timezones=zones))
def test_times_order_as_instants(first: datetime, second: datetime) -> None:
    assert (parse_datetime(first.isoformat()) < parse_datetime(second.isoformat())) == (first < second)


@given(value=st.uuids(), upper=st.booleans())
def test_uuids_are_canonical_without_case(value: Any, upper: bool) -> None:
    text = str(value)
    assert parse_uuid(text.upper() if upper else text) == text


@pytest.mark.parametrize("text", ["", "0" * 32, "{00000000-0000-4000-8000-000000000000}", "K" * 36, "0" * 36])
def test_other_spellings_of_uuids_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_uuid(text)


def deep(levels: int) -> Any:
    value: Any = []
    for level in range(levels - 1):
        value = {"a": value} if level % 2 else [value]
    return value


def test_json_may_nest_as_deep_as_allowed() -> None:
    check_json(deep(64), max_depth=64)


@pytest.mark.parametrize(
    ("value", "at"),
    [
        (deep(65), ".a[0]" * 32),
        ({"a": [1, float("nan")]}, ".a[1]"),
        ({"a": {"b": 2**64}}, ".a.b"),
        ([{"a": (1,)}], "[0].a"),
        ({"a": {1: 2}}, ".a"),
        (object(), ""),
        (float("inf"), ""),
    ],
    ids=range(7),
)
def test_what_is_no_json_is_named_by_its_place(value: Any, at: str) -> None:
    with pytest.raises(ValueMismatch) as refused:
        check_json(value, max_depth=64)
    assert refused.value.at == at
