"""One JSON value to its typed value: what the typed columns hold and filters compare.

No coercion but int → float, ISO 8601 text → UTC microseconds, and text → lower-case uuid.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from engine.model.document import JsonValue
from engine.model.schema import AttributeType, TypedScalar, TypedValue

INT_MIN, INT_MAX = -(2**63), 2**63 - 1
UINT_MAX = 2**64 - 1

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# A calendar date, alone or with a time. Anything looser that `fromisoformat` takes differs between Python versions.
_DATETIME = re.compile(
    r"\d{4}-\d\d-\d\d(?:[Tt ](?!24)\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:[Zz]|[+-]\d\d(?::?\d\d)?)?)?"
    r"|\d{8}(?:[Tt ](?!24)\d{4}(?:\d\d(?:[.,]\d{1,9})?)?(?:[Zz]|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)


class ValueMismatch(ValueError):
    """A value does not fit a type.

    Attributes:
        expected, got: what was wanted and found, in words; never the value itself.
        at: where inside the value, such as ``[3]``; empty for the value itself.
    """

    def __init__(self, expected: str, got: str, at: str = "") -> None:
        super().__init__(f"expected {expected}, got {got}")
        self.expected = expected
        self.got = got
        self.at = at


def parse_datetime(text: str) -> int:
    """Microseconds since 1970 in UTC of an ISO 8601 date or time.

    A date alone is midnight, a time without offset is UTC, digits beyond microseconds are cut off.

    Raises:
        ValueError: the text is no calendar date or time.

    >>> parse_datetime("1970-01-01T01:00:00.5+01:00")
    500000
    """
    if not _DATETIME.fullmatch(text):
        raise ValueError("not an ISO 8601 date or time")
    moment = datetime.fromisoformat(text.replace(",", ".").upper())
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MICROSECOND


def parse_uuid(text: str) -> str:
    """The uuid in lower case.

    Raises:
        ValueError: the text is not of the form 8-4-4-4-12 hexadecimal digits.
    """
    lowered = text.lower()
    if len(text) != 36 or not _UUID.fullmatch(lowered):
        raise ValueError("not a uuid")
    return lowered


def typed_value(kind: AttributeType, value: object) -> TypedValue | None:
    """`value` as the typed column of `kind` holds it; None where missing: null, ``json``, ``[]`` of a scalar `kind`.

    An attribute whose type was inferred late may have documents with ``[]`` from before, so ``[]`` never fails here.

    Raises:
        ValueMismatch: the value is of another type, or out of range.
    """
    if value is None or kind is AttributeType.JSON or (is_empty_list(value) and not kind.is_list):
        return None
    return COERCIONS[kind](value)


def shown_value(kind: AttributeType, value: JsonValue) -> JsonValue:
    """One value of a typed column, of a list one element, as a reader writes it: a datetime in ISO 8601, in UTC."""
    if kind in (AttributeType.DATETIME, AttributeType.DATETIMES) and isinstance(value, int):
        return (_EPOCH + value * _MICROSECOND).isoformat().replace("+00:00", "Z")
    return value


def is_empty_list(value: object) -> bool:
    """Whether `value` is ``[]``; safe for any object, where ``==`` may give an array."""
    return type(value) is list and not value


def describe(value: object) -> str:
    """What a value is, in the words of the schema or, for what is not JSON, the name of the Python type."""
    return _NAMES.get(type(value)) or f"the Python type {type(value).__name__}"


_NAMES: dict[type, str] = {
    str: "string",
    int: "int",
    float: "float",
    bool: "bool",
    list: "list",
    dict: "object",
    type(None): "null",
}


def _string(value: object) -> str:
    if type(value) is str:
        return value
    raise ValueMismatch("string", describe(value))


def _bool(value: object) -> bool:
    if type(value) is bool:
        return value
    raise ValueMismatch("bool", describe(value))


def _int(value: object) -> int:
    if type(value) is not int:
        raise ValueMismatch("int", describe(value))
    if INT_MIN <= value <= INT_MAX:
        return value
    raise ValueMismatch("int (-2**63 to 2**63-1)", "an int out of that range")


def _uint(value: object) -> int:
    if type(value) is not int:
        raise ValueMismatch("uint", describe(value))
    if 0 <= value <= UINT_MAX:
        return value
    raise ValueMismatch("uint (0 to 2**64-1)", "an int out of that range")


def _float(value: object) -> float:
    if type(value) is float:
        if math.isfinite(value):
            return value
        raise ValueMismatch("float", "NaN or an infinity")
    if type(value) is int:
        if INT_MIN <= value <= UINT_MAX:
            return float(value)
        raise ValueMismatch("float", "an int beyond 64 bits")
    raise ValueMismatch("float", describe(value))


def _datetime(value: object) -> int:
    if type(value) is not str:
        raise ValueMismatch("datetime (ISO 8601 text)", describe(value))
    try:
        return parse_datetime(value)
    except ValueError:
        raise ValueMismatch("datetime (ISO 8601 text)", "text of another form") from None


def _uuid(value: object) -> str:
    if type(value) is not str:
        raise ValueMismatch("uuid", describe(value))
    try:
        return parse_uuid(value)
    except ValueError:
        raise ValueMismatch("uuid", "text of another form") from None


def _list_of(kind: AttributeType, element: Callable[[object], TypedScalar]) -> Callable[[object], TypedValue]:
    def coerce(value: object) -> TypedValue:
        if type(value) is not list:
            raise ValueMismatch(kind.value, describe(value))
        elements = cast("list[object]", value)
        try:
            return cast("TypedValue", [element(each) for each in elements])
        except ValueMismatch:
            _raise_at_element(elements, element)
            raise

    return coerce


def _raise_at_element(elements: list[object], element: Callable[[object], TypedScalar]) -> None:
    for index, each in enumerate(elements):
        try:
            element(each)
        except ValueMismatch as fault:
            raise ValueMismatch(fault.expected, fault.got, f"[{index}]") from None


_SCALARS: dict[AttributeType, Callable[[object], TypedScalar]] = {
    AttributeType.STRING: _string,
    AttributeType.INT: _int,
    AttributeType.UINT: _uint,
    AttributeType.FLOAT: _float,
    AttributeType.UUID: _uuid,
    AttributeType.DATETIME: _datetime,
    AttributeType.BOOL: _bool,
}

COERCIONS: dict[AttributeType, Callable[[object], TypedValue]] = {
    **_SCALARS,
    **{kind: _list_of(kind, _SCALARS[kind.element]) for kind in AttributeType if kind.is_list},
}
"""Type to the function from a JSON value, not null, to its typed value; it raises `ValueMismatch`."""


class _Place:
    """Where a value stands inside another, as a chain; spelled out only for an error, as keys may be long and many."""

    __slots__ = ("key", "parent")

    def __init__(self, parent: _Place | None, key: object) -> None:
        self.parent = parent
        self.key = key

    def __str__(self) -> str:
        steps: list[str] = []
        place: _Place | None = self
        while place is not None:
            steps.append(f"[{place.key}]" if type(place.key) is int else f".{str(place.key)[:128]}")
            place = place.parent
        return "".join(reversed(steps))


def check_json(value: object, *, max_depth: int) -> None:
    """Check that `value` is JSON: known types, string keys, finite floats, ints of 64 bits, bounded nesting.

    Raises:
        ValueMismatch: `at` names the place.
    """
    pending: list[tuple[Any, _Place | None, int]] = [(value, None, 1)]
    while pending:
        container, place, depth = pending.pop()
        if depth > max_depth and type(container) in (list, dict):
            raise ValueMismatch(f"at most {max_depth} levels of nesting", "more", str(place or ""))
        if type(container) is list:
            entries: Iterable[tuple[object, object]] = enumerate(cast("list[object]", container))
        elif type(container) is dict:
            entries = cast("dict[object, object]", container).items()
            if any(type(key) is not str for key in cast("dict[object, object]", container)):
                raise ValueMismatch("string keys", "a key of another type", str(place or ""))
        else:
            _check_scalar(container, place)
            continue
        for key, each in entries:
            if type(each) in (list, dict):
                pending.append((each, _Place(place, key), depth + 1))
            elif type(each) is not str:
                _check_scalar(each, place, key)


def _check_scalar(value: object, place: _Place | None, key: object = None) -> None:
    if value is None or type(value) in (str, bool):
        return
    fault = ValueMismatch("a JSON value", describe(value))
    if type(value) in (int, float):
        try:
            _float(value)
        except ValueMismatch as found:
            fault = ValueMismatch("a number of 64 bits", found.got)
        else:
            return
    where = place if key is None else _Place(place, key)
    raise ValueMismatch(fault.expected, fault.got, str(where or ""))
