"""Laws of the text layer: offsets are exact, nothing is lost, nothing is too long, whatever the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.analysis.detection import detect_language
from engine.model.document import Span
from engine.settings import PassageSettings
from engine.text.blocks import MAX_BLOCK, blocks
from engine.text.graphemes import safe_cut
from engine.text.headers import HEADER_TOKENS, headline, kind_of
from engine.text.long_spans import split_long
from engine.text.packing import pack
from engine.text.passages import passages
from engine.text.sentences import MAX_SENTENCE, sentences
from engine.text.tokens import count_tokens, encoding

PARTS = [
    "The trial ended. ", "Dr. No", "U.S. ", "e.g. ", "3.5 ", "1. ", "... ", ".", "?!", ") ", '."',
    "[12]", "’s", "iPhone", "\n", "\n\n", "\r\n", "- item\n", "# Head\n", "====", " ", "  ", "\t",
    "\u3000", "\u200b", "\xa0", "\x1c", "\u2028", "\0", "。", "我们去北京", "「はい」", "। ",
    "यह वाक्य है", "क्ष", "؟ ", "مرحبا بكم", "สวัสดีครับ", "Ελλάδα; ", "։", "።", "។", "한국어",
    "e\u0301", "👨\u200d👩\u200d👧", "🇩🇪", "👍🏽", "ß", "\U0001f600" * 9, "<|endoftext|>", "1234567",
    "a" * 60, "x" * 1200, "字" * 300,
]  # fmt: skip

texts = st.one_of(
    st.text(max_size=80), st.lists(st.sampled_from(PARTS) | st.text(max_size=6), max_size=60).map("".join)
)
values = st.one_of(texts, st.lists(texts | st.integers(), max_size=4), st.none(), st.integers(), st.just("A title"))
documents = st.dictionaries(st.sampled_from(["title", "body", "tags", "note", "source"]), values)


def assert_partition(text: str, spans: list[Span] | list[tuple[int, int]], longest: int) -> None:
    """`spans` are trimmed, not empty, in order, apart, within `longest`, and hold all of `text` but white space."""
    pairs = [(s.start, s.end) if isinstance(s, Span) else s for s in spans]
    position = 0
    for start, end in pairs:
        assert position <= start < end <= len(text)
        assert text[position:start].strip() == ""
        assert text[start:end] == text[start:end].strip()
        assert end - start <= longest
        position = end
    assert text[position:].strip() == ""


@given(texts)
def test_sentences_hold_the_whole_text_in_order(text: str) -> None:
    assert_partition(text, sentences(text), MAX_SENTENCE)


@given(texts)
def test_blocks_hold_the_whole_text_in_order(text: str) -> None:
    assert_partition(text, blocks(text), MAX_BLOCK)


@given(texts, st.integers(1, 50))
def test_a_long_span_is_split_within_its_limit(text: str, limit: int) -> None:
    assert_partition(text, split_long(text, 0, len(text), limit), limit)


@given(texts)
def test_the_word_table_counts_as_the_encoding_does(text: str) -> None:
    expected = len(encoding().encode_ordinary(text))
    assert count_tokens(text) == expected
    assert count_tokens(text) == expected  # from the table, this time


@given(texts, texts)
def test_counts_add_up_over_a_cut_in_front_of_a_space(left: str, right: str) -> None:
    left = left.rstrip(" ")
    assert count_tokens(f"{left} {right}") == count_tokens(left) + count_tokens(f" {right}")


@given(texts, st.integers(16, 80))
def test_stretches_fit_the_limit_and_hold_the_whole_text(text: str, max_tokens: int) -> None:
    packed = pack(text, max_tokens)
    assert_partition(text, packed, len(text))
    assert all(count_tokens(text[start:end]) <= max_tokens for start, end in packed)


@given(texts, st.integers(16, 80), st.integers(1, 40))
def test_overlapping_stretches_fit_the_limit_and_leave_no_gap(text: str, max_tokens: int, overlap: int) -> None:
    packed = pack(text, max_tokens, overlap)
    reached = 0
    for start, end in packed:
        assert count_tokens(text[start:end]) <= max_tokens
        assert text[reached:start].strip() == ""
        assert end > reached
        reached = end
    assert text[reached:].strip() == ""


@given(documents)
def test_a_passage_is_word_for_word_at_its_offsets(document: dict[str, object]) -> None:
    for draft in passages(document, sorted(document), PassageSettings(max_tokens=32)):
        assert draft.text == _value(document, draft.attribute)[draft.start : draft.end]
        assert draft.text == draft.text.strip() != ""
        assert count_tokens(draft.text) <= 32


@given(documents)
def test_every_searchable_text_is_in_passages_or_in_a_header(document: dict[str, object]) -> None:
    drafts = passages(document, sorted(document), PassageSettings(max_tokens=32))
    cut = {draft.attribute for draft in drafts}
    said = {_value(document, attribute).strip() for attribute in cut}
    for attribute, text in _strings(document):
        if attribute in cut:
            own = [(draft.start, draft.end) for draft in drafts if draft.attribute == attribute]
            assert_partition(text, own, len(text))
        elif text.strip() not in said | {""}:
            assert any(text.strip() in draft.header for draft in drafts)


@given(documents)
def test_passages_come_by_attribute_and_then_by_position(document: dict[str, object]) -> None:
    names = sorted(document)
    places = [
        (names.index(draft.attribute.partition("[")[0]), _index(draft.attribute), draft.start)
        for draft in passages(document, names, PassageSettings(max_tokens=32))
    ]
    assert places == sorted(set(places))


@given(documents, st.sampled_from(["title", "body", "tags"]))
def test_attributes_that_are_not_searchable_are_never_read(document: dict[str, object], hidden: str) -> None:
    names = [name for name in sorted(document) if name != hidden]
    without = {name: value for name, value in document.items() if name != hidden}
    assert passages(document, names, PassageSettings()) == passages(without, names, PassageSettings())


@given(st.lists(texts, max_size=20))
def test_a_header_stays_within_its_tokens(titles: list[str]) -> None:
    document = {f"a{i}": title for i, title in enumerate(titles)}
    for draft in passages(document, list(document), PassageSettings()):
        assert count_tokens(draft.header) <= HEADER_TOKENS + 1


@given(texts, st.data())
def test_a_safe_cut_stays_in_its_window(text: str, data: st.DataObject) -> None:
    if not text:
        return
    floor = data.draw(st.integers(0, len(text) - 1))
    at = data.draw(st.integers(floor + 1, len(text)))
    assert floor < safe_cut(text, at, floor) <= at


@given(texts)
def test_every_text_has_a_language_code(text: str) -> None:
    assert detect_language(text) == "und" or len(detect_language(text)) == 2


@given(texts)
def test_the_kind_of_a_value_does_not_depend_on_the_space_around_it(text: str) -> None:
    assert kind_of(f" {text} ", 120) is kind_of(text.strip(), 120) or len(text) > 400


def test_no_titles_make_no_header() -> None:
    assert headline([]) == []


N = 100_000
HOSTILE = {
    "one letter": "a" * N,
    "words": "ab " * (N // 3),
    "spaces": " " * N,
    "spaces inside": "a" + " " * N + "b",
    "line feeds": "\n" * N,
    "trailing spaces on lines": " \n" * (N // 2),
    "tabs": "a" + "\t" * N + "b",
    "stops": "." * N,
    "stops and spaces": ". " * (N // 2),
    "a stop and brackets": "." + ")" * N,
    "stops and quotes": '."' * (N // 2),
    "footnotes": "." + "[1]" * (N // 3),
    "openers": "." + " " + "(" * N,
    "initials": "A. " * (N // 3),
    "lines of a letter": "a\n" * (N // 2),
    "one long line, then breaks": "word " * (N // 10) + "x\n" * (N // 4),
    "bullets": "- " * (N // 2),
    "ideographs": "字" * N,
    "ideographic stops": "。" * N,
    "thai": "ก" * N,
    "thai with spaces": "กข " * (N // 3),
    "one letter and its accents": "e" + "\u0301" * N,
    "flags": "🇩🇪" * (N // 2),
    "joined emoji": "👩\u200d" * (N // 2),
    "separators": "a\x1c" * (N // 2),
    "zero-width spaces": "\u200b" * N,
    "question marks and ideographs": "?字" * (N // 2),
    "mixed stops": ".。" * (N // 2),
    "base64": "QmFzZTY0IGlzIGZ1bg" * (N // 18),
    "digits": "0123456789" * (N // 10),
    "NUL": "\0" * N,
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_takes_more_than_linear_time(name: str) -> None:
    # Each takes about a second; with a quadratic step it would be minutes.
    text = HOSTILE[name]
    drafts = passages({"body": text}, ["body"], PassageSettings())
    assert_partition(text, [(draft.start, draft.end) for draft in drafts], len(text))
    assert all(count_tokens(draft.text) <= 256 for draft in drafts)
    assert_partition(text, blocks(text), MAX_BLOCK)
    detect_language(text)


def _strings(document: dict[str, object]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in document.items():
        elements = [(f"{name}[{i}]", e) for i, e in enumerate(value)] if isinstance(value, list) else [(name, value)]
        found += [(attribute, text) for attribute, text in elements if isinstance(text, str)]
    return found


def _value(document: dict[str, object], attribute: str) -> str:
    name, _, rest = attribute.partition("[")
    value = document[name]
    if isinstance(value, list):
        value = value[int(rest.rstrip("]"))]
    assert isinstance(value, str)
    return value


def _index(attribute: str) -> int:
    return int(attribute.partition("[")[2].rstrip("]") or 0)
