"""Glob syntax by example, its borders, and the limits of both engines."""

from __future__ import annotations

import random
import re
from collections import defaultdict

import duckdb
import pytest

from engine.filters import glob
from engine.filters.glob import MAX_TRANSLATED, GlobTooComplex, matcher, translate


def matches(pattern: str, value: str, *, ignore_case: bool = False) -> bool:
    return matcher(pattern, ignore_case=ignore_case).fullmatch(value) is not None


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("", [""], ["a"]),
        ("*", ["", "a", "a\nb"], []),
        ("?", ["a", "😀", "\n"], ["", "ab"]),
        ("a*c", ["ac", "abc", "a\nc"], ["abcd", "xac"]),
        ("**", ["", "abc"], []),
        ("[abc]", ["a", "c"], ["d", "", "ab"]),
        ("[a-c]x", ["ax", "cx"], ["dx"]),
        ("[!a-c]", ["d", "\n"], ["a", ""]),
        ("[^a]", ["b", "^"], ["a"]),
        ("[a^]", ["a", "^"], ["b"]),
        ("[]a]", ["]", "a"], ["[]a]"]),
        ("[!]]", ["a"], ["]"]),
        ("[a-]", ["a", "-"], ["b"]),
        ("[-a]", ["a", "-"], ["b"]),
        ("[*]", ["*"], ["a"]),
        ("[?]", ["?"], ["a"]),
        ("[[]", ["["], ["a"]),
        ("[{]", ["{"], ["a"]),
        ("[a,b]", ["a", ",", "b"], ["c"]),
        ("[c-a]", [], ["a", "b", "c", "-", ""]),
        ("[!c-a]", ["a", "\n"], [""]),
        ("[-&&~~||]", ["&", "~", "|", "-"], ["a"]),
        ("[[:alpha:]]", ["a]", ":]"], ["a", "x"]),
        ("[\\d]", ["\\", "d"], ["1"]),
        ("[", ["["], [""]),
        ("[]", ["[]"], [""]),
        ("[!]", ["[!]"], ["a"]),
        ("a[b", ["a[b"], ["ab"]),
        ("{a,b}c", ["ac", "bc"], ["c", "abc"]),
        ("{a}", ["a"], ["{a}"]),
        ("{}", [""], ["{}"]),
        ("{,s}", ["", "s"], ["ss"]),
        ("a{b,{c,d}e}", ["ab", "ace", "ade"], ["ae", "abe"]),
        ("{*.md,?}", ["x.md", "y"], ["md"]),
        ("{a,b", ["{a,b"], ["a", "b"]),
        ("{a,{b,c}", ["{a,b", "{a,c"], ["a", "b"]),
        ("a}", ["a}"], ["a"]),
        ("a,b", ["a,b"], ["a", "b"]),
        ("\\*", ["\\", "\\x"], ["*"]),
        (".+$^()|", [".+$^()|"], ["a"]),
        ("a b#c", ["a b#c"], ["abc"]),
        ("\0\n", ["\0\n"], [""]),
    ],
)
def test_what_a_pattern_matches(pattern: str, yes: list[str], no: list[str]) -> None:
    assert [value for value in yes if not matches(pattern, value)] == []
    assert [value for value in no if matches(pattern, value)] == []


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("éTÉ*", ["ÉTÉ", "été 2024"], ["ete"]),
        ("straße", ["STRAẞE", "Straße"], ["STRASSE"]),
        ("σ", ["Σ", "ς"], ["s"]),
        ("[a-z]", ["A", "ſ", "\u212a"], ["É"]),
        ("[!a-z]", ["É", "1"], ["A", "K"]),
        ("[\0-\U0010ffff]", ["A", "😀"], [""]),
        ("İ", ["İ"], ["i", "I"]),
    ],
)
def test_what_a_pattern_matches_without_case(pattern: str, yes: list[str], no: list[str]) -> None:
    assert [value for value in yes if not matches(pattern, value, ignore_case=True)] == []
    assert [value for value in no if matches(pattern, value, ignore_case=True)] == []


def test_the_table_of_cases_is_that_of_all_of_unicode() -> None:
    groups: dict[str, list[str]] = defaultdict(list)
    for character in map(chr, range(0x110000)):
        groups[character.casefold()].append(character)
    assert glob._same_but_case() == {each: "".join(same) for same in groups.values() if len(same) > 1 for each in same}


def test_braces_nest_sixteen_deep() -> None:
    assert matches("{" * 16 + "a" + "}" * 16, "a")
    with pytest.raises(GlobTooComplex):
        translate("{" * 17 + "a" + "}" * 17)


def test_braces_that_never_close_are_no_nesting() -> None:
    assert matches("{" * 4000, "{" * 4000)


def test_a_pattern_that_would_become_huge_is_refused() -> None:
    with pytest.raises(GlobTooComplex):
        translate("é" * MAX_TRANSLATED, ignore_case=True)


def test_nested_braces_grow_no_faster_than_the_pattern() -> None:
    pattern = "{a,b}" * 800
    assert len(translate(pattern)) < 3 * len(pattern)


WIDEST = [
    "?" * 4096,
    "😀" * 1024,
    "é" * 2048,
    "*?" * 2048,
    "{é,😀}" * 450,
    "[!é😀]" * 400,
    "[ -\U0010fffe]" * 450,
    "[a😀é-ÿ]" * 370,
    "{" * 16 + "a" + ",b}" * 16,
    "[a-\u1fff]" * 500,
]


@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize("pattern", WIDEST, ids=range(len(WIDEST)))
def test_the_longest_patterns_either_compile_in_both_engines_or_are_refused(pattern: str, ignore_case: bool) -> None:
    try:
        expression = translate(pattern, ignore_case=ignore_case)
    except GlobTooComplex:
        return
    re.compile(expression)
    with duckdb.connect() as connection:
        connection.execute("SELECT regexp_full_match(?, ?, 's')", ["aé😀", expression]).fetchall()


def test_random_patterns_of_four_kilobytes_compile_in_both_engines() -> None:
    chosen = random.Random(7)
    with duckdb.connect() as connection:
        for round_ in range(20):
            pattern = "".join(chosen.choices("aé😀*?[]!-{},Z", k=1500))
            try:
                expression = translate(pattern, ignore_case=round_ % 2 == 0)
            except GlobTooComplex:
                continue
            re.compile(expression)
            connection.execute("SELECT regexp_full_match(?, ?, 's')", ["a", expression]).fetchall()
