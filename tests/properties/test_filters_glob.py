"""Globs against a direct matcher that knows nothing of regular expressions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.filters.glob import matcher

ITEMS = st.one_of(
    st.sampled_from("abAé\n.^-").map(lambda character: ("is", character)),
    st.just(("some", "")),
    st.just(("one", "")),
    st.tuples(st.sampled_from("ab.^é"), st.booleans()).map(lambda pair: ("not" if pair[1] else "of", pair[0] + "x")),
    st.sampled_from([("range", "ac"), ("range", "ca"), ("range", "Aé")]),
)
PATTERNS = st.recursive(
    st.lists(ITEMS, max_size=4),
    lambda inner: st.lists(
        ITEMS | st.lists(inner, min_size=1, max_size=3).map(lambda branches: ("any", branches)), max_size=3
    ),
    max_leaves=5,
)


def written(pattern: list) -> str:
    forms = {"is": "{}", "some": "*", "one": "?", "of": "[{}]", "not": "[!{}]"}
    parts = []
    for kind, what in pattern:
        if kind == "any":
            parts.append("{" + ",".join(written(branch) for branch in what) + "}")
        elif kind == "range":
            parts.append(f"[{what[0]}-{what[1]}]")
        else:
            # A caret that comes first would negate.
            parts.append(forms[kind].format(what[::-1] if what.startswith("^") and kind == "of" else what))
    return "".join(parts)


def ends(pattern: list, value: str, starts: set[int]) -> set[int]:
    """Where a match of `pattern` in `value` that begins at one of `starts` may end."""
    for kind, what in pattern:
        if kind == "some":
            starts = {end for start in starts for end in range(start, len(value) + 1)}
        elif kind == "any":
            starts = {end for branch in what for end in ends(branch, value, starts)}
        else:
            accepted = {
                "is": lambda c, what=what: c == what,
                "one": lambda c: True,
                "of": lambda c, what=what: c in what,
                "not": lambda c, what=what: c not in what,
                "range": lambda c, what=what: what[0] <= c <= what[1],
            }[kind]
            starts = {start + 1 for start in starts if start < len(value) and accepted(value[start])}
    return starts


def folded(pattern: list) -> list:
    return [(kind, [folded(b) for b in what] if kind == "any" else what.lower()) for kind, what in pattern]


def has_range(pattern: list) -> bool:
    return any(kind in ("range", "not") or (kind == "any" and any(map(has_range, what))) for kind, what in pattern)


values = st.text(st.sampled_from("abcxAé\n.^-"), max_size=5)


@given(pattern=PATTERNS, value=values)
def test_a_glob_matches_what_its_items_say(pattern: list, value: str) -> None:
    assert (matcher(written(pattern)).fullmatch(value) is not None) == (len(value) in ends(pattern, value, {0}))


@given(pattern=PATTERNS.filter(lambda pattern: not has_range(pattern)), value=values)
def test_ignoring_case_is_matching_after_folding_both(pattern: list, value: str) -> None:
    expected = len(value) in ends(folded(pattern), value.lower(), {0})
    assert (matcher(written(pattern), ignore_case=True).fullmatch(value) is not None) == expected
