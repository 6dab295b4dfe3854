"""Hypothesis strategies for schemas, documents and filters: nasty on purpose, small so that they shrink well.

Values and operands are drawn from the same small pools, so that equalities, memberships and bounds often hold.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from engine.model.schema import Attribute, AttributeType, Schema

STRINGS = [
    "",
    "a",
    "A",
    "b",
    "ab",
    "a\nb",
    "é",
    "É",
    "ß",
    "ẞ",
    "ſ",
    "😀",
    "\uffff",
    "'",
    '"; --',
    "%_",
    "[*]",
    "a.b",
    "\0",
]
INTS = [0, 1, -1, 2, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
UINTS = [0, 1, 2, 2**53 + 1, 2**63, 2**64 - 1]
FLOATS = [0.0, -0.0, 0.5, 1.0, 2.0, -1.5, 2.0**53, 2.0**53 + 2, 2.0**63, 1e300, 5e-324]
UUIDS = [
    "00000000-0000-4000-8000-00000000000a",
    "00000000-0000-4000-8000-00000000000A",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
]
DATETIMES = [
    "1970-01-01",
    "1970-01-01T00:00:00Z",
    "1970-01-01T01:00:00+01:00",
    "2024-02-29T23:59:59.999999",
    "2024-02-29 23:59:59.999999Z",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59.999999-12:00",
]
BOOLS = [True, False]
NUMBERS = [*INTS, *UINTS, *FLOATS, -1, 1.5, 2**64, -(2**63) - 1, 10**400, -1e19, 1.8446744073709552e19]
GLOBS = [
    "",
    "*",
    "?",
    "a*",
    "*b",
    "??",
    "[a-z]*",
    "[!a]*",
    "[^é]",
    "{a,b}",
    "{,a{b,}}",
    "*{é,😀}*",
    "[",
    "{a",
    "}",
    "[]a]",
    "[z-a]",
    "\\*",
    "s",
    "É",
]

POOLS: dict[AttributeType, list[Any]] = {
    AttributeType.STRING: STRINGS,
    AttributeType.INT: INTS,
    AttributeType.UINT: UINTS,
    AttributeType.FLOAT: [*FLOATS, 1, 2**53 + 1],
    AttributeType.UUID: UUIDS,
    AttributeType.DATETIME: DATETIMES,
    AttributeType.BOOL: BOOLS,
}
"""What a document may hold, by element type."""

TYPES = [kind for kind in AttributeType if kind is not AttributeType.JSON]

EVERYTHING = Schema(
    {
        **{f"{kind.value} 'x\"": Attribute(kind, is_filterable=True) for kind in TYPES},
        "root_document_id": Attribute(AttributeType.STRING, is_filterable=True),
        "hidden": Attribute(AttributeType.STRING),
        "blob": Attribute(AttributeType.JSON),
    }
)
"""One filterable attribute of every type, with names that would break unquoted SQL, one that is not, and a ``json``."""

FILTERABLE = {name: a.type for name, a in EVERYTHING.attributes.items() if a.is_filterable}


def values(kind: AttributeType) -> st.SearchStrategy[Any]:
    """JSON values of a type, null among them."""
    element = st.sampled_from(POOLS[kind.element])
    held = st.lists(element, max_size=4) if kind.is_list else element
    return st.none() | held


def documents(schema: Schema = EVERYTHING) -> st.SearchStrategy[dict[str, Any]]:
    """Documents that fit `schema`, attributes often missing; ids are few, so that they repeat."""
    optional = {
        name: values(attribute.type) if attribute.type is not AttributeType.JSON else json_values()
        for name, attribute in schema.attributes.items()
    }
    return st.fixed_dictionaries({"id": st.sampled_from(["a", "b", "É", "0", "a/b"])}, optional=optional)


def json_values(*, finite: bool = True, max_leaves: int = 12) -> st.SearchStrategy[Any]:
    """Any JSON value."""
    leaves = (
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**64 - 1)
        | st.floats(allow_nan=not finite, allow_infinity=not finite)
        | st.text(max_size=5)
    )
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=max_leaves,
    )


def operands(kind: AttributeType) -> st.SearchStrategy[Any]:
    """Single operands that fit a type; for numbers of any numeric type."""
    element = kind.element
    if element in (AttributeType.INT, AttributeType.UINT, AttributeType.FLOAT):
        return st.sampled_from(NUMBERS)
    return st.sampled_from(POOLS[element])


def conditions(kind: AttributeType) -> st.SearchStrategy[Any]:
    """Conditions that fit an attribute of type `kind`."""
    one = operands(kind)
    some = st.lists(one, max_size=4)
    # Beyond the number of values that are compared one by one.
    many = st.lists(one, min_size=33, max_size=40)
    equal = st.none() | one | some if kind.is_list else st.none() | one
    operators: dict[str, st.SearchStrategy[Any]] = {
        "$eq": equal,
        "$neq": equal,
        "$ne": equal,
        "$in": some | many | st.lists(st.none() | one, max_size=3),
        "$not_in": some | many | st.lists(st.none() | one, max_size=3),
        "$nin": some,
        "$exists": st.booleans(),
    }
    if kind.element is not AttributeType.BOOL:
        operators |= dict.fromkeys(["$gt", "$gte", "$lt", "$lte"], one)
    if kind.is_list:
        operators |= dict.fromkeys(["$contains", "$not_contains"], one)
        operators |= dict.fromkeys(["$contains_any", "$contains_all", "$not_contains_any"], some | many)
    if kind.element is AttributeType.STRING:
        operators |= dict.fromkeys(["$glob", "$not_glob", "$iglob", "$not_iglob"], st.sampled_from(GLOBS))
    single = st.one_of([st.fixed_dictionaries({name: operand}) for name, operand in operators.items()])
    several = st.fixed_dictionaries({}, optional=operators).filter(bool)
    written = equal | single | several
    return written | st.fixed_dictionaries({"$not": written})


def filters(types: dict[str, AttributeType] | None = None, *, max_leaves: int = 8) -> st.SearchStrategy[dict[str, Any]]:
    """Filters that fit a schema: `types` of its filterable attributes, ``id`` always among them."""
    known = {**(FILTERABLE if types is None else types), "id": AttributeType.STRING}
    leaf = st.sampled_from(sorted(known)).flatmap(lambda name: st.fixed_dictionaries({name: conditions(known[name])}))

    def combine(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
        lists = st.lists(inner, min_size=1, max_size=3)
        return (
            st.fixed_dictionaries({"$and": lists})
            | st.fixed_dictionaries({"$or": lists})
            | st.fixed_dictionaries({"$nor": lists})
            | st.fixed_dictionaries({"$not": inner})
            | st.tuples(inner, inner).map(lambda pair: {**pair[0], **pair[1]})
        )

    return st.just({}) | st.recursive(leaf, combine, max_leaves=max_leaves)
