"""Which values of a document become passages, and what stands in the header."""

from __future__ import annotations

import pytest

from engine.settings import PassageSettings
from engine.text.headers import kind_of
from engine.text.passages import passages

BODY = "The harbour was busy on that day and the ships came in one after another, as they had always done. " * 3
SETTINGS = PassageSettings()


def drafts(document: dict[str, object], *searchable: str) -> list[tuple[str, str, str]]:
    names = searchable or tuple(document)
    return [(p.attribute, p.text, p.header) for p in passages(document, names, SETTINGS)]


def test_a_title_is_the_header_of_the_text_and_no_passage() -> None:
    assert drafts({"title": "Harbour life", "body": BODY}) == [("body", BODY.strip(), "Harbour life")]


def test_titles_are_found_whatever_their_attributes_are_called() -> None:
    [(_, _, header)] = drafts({"x7": "Harbour life", "q": BODY, "zz": "The Age"})
    assert header == "Harbour life · The Age"


def test_a_document_of_a_title_alone_is_a_passage_without_header() -> None:
    assert drafts({"title": "Harbour life"}) == [("title", "Harbour life", "")]


def test_without_running_text_the_long_titles_are_passages_and_the_others_their_header() -> None:
    found = drafts(
        {"name": "Alice Smith", "does": "Runs the harbour office", "also": "Keeps the harbour logs", "n": "A1 x"}
    )
    assert found == [
        ("does", "Runs the harbour office", "Alice Smith · Keeps the harbour logs"),
        ("also", "Keeps the harbour logs", "Alice Smith · Runs the harbour office"),
        ("n", "A1 x", ""),
    ]


def test_elements_of_a_list_are_passages_of_their_own() -> None:
    found = drafts({"notes": [BODY, "", 7, None, f"Later: {BODY}"]})
    assert [(attribute, text) for attribute, text, _ in found] == [
        ("notes[0]", BODY.strip()),
        ("notes[4]", f"Later: {BODY}".strip()),
    ]


def test_short_elements_of_a_list_join_the_header_after_the_scalars() -> None:
    [(_, _, header)] = drafts({"tags": ["ships", "trade"], "body": BODY, "title": "Harbour life"})
    assert header == "Harbour life · ships · trade"


def test_titles_that_do_not_fit_into_the_header_are_passages() -> None:
    tags = [f"keyword of several words {letter * 3}" for letter in "abcdefghijklmnop"]
    found = drafts({"body": BODY, "tags": tags})
    header = found[0][2]
    assert [text for attribute, text, _ in found if attribute != "body"] == [tag for tag in tags if tag not in header]
    assert all(tag in header or (f"tags[{i}]", tag, header) in found for i, tag in enumerate(tags))


def test_opaque_values_are_passages_without_header() -> None:
    found = drafts({"title": "Harbour life", "body": BODY, "url": "https://example.org/harbour-life"})
    assert found[1] == ("url", "https://example.org/harbour-life", "")


def test_a_title_said_twice_stands_in_the_header_once() -> None:
    [(_, _, header)] = drafts({"title": "Harbour life", "name": "Harbour life", "body": BODY})
    assert header == "Harbour life"


def test_attributes_that_are_not_searchable_stay_out_of_the_header() -> None:
    [(_, _, header)] = drafts({"title": "Harbour life", "secret": "Smugglers", "body": BODY}, "title", "body")
    assert header == "Harbour life"


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"a": ""},
        {"a": " \n"},
        {"a": None},
        {"a": 5},
        {"a": []},
        {"a": ["", " "]},
        {"a": {"b": "text"}},
        {"b": BODY},
    ],
)
def test_a_document_without_text_has_no_passage(document: dict[str, object]) -> None:
    assert drafts(document, "a") == []


def test_a_long_text_is_cut_and_each_passage_has_the_header() -> None:
    found = drafts({"title": "Harbour life", "body": BODY * 5})
    assert len(found) > 1
    assert {header for _, _, header in found} == {"Harbour life"}
    assert " ".join(text for _, text, _ in found) == (BODY * 5).strip()


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("Annual report", "title"),
        ("TechCrunch", "title"),
        ("C", "opaque"),
        ("北", "title"),
        ("iPhone 15 Pro", "title"),
        ("What is a quarry?", "title"),
        ("ships-and-harbours/index.md", "title"),
        ("2001: A Space Odyssey", "title"),
        ("A first line\nand a second", "text"),
        (BODY, "text"),
        ("https://example.org/a/b?c=d", "opaque"),
        ("https://example.org/" + "a" * 150, "opaque"),
        ("www.example.org", "opaque"),
        ("jane@example.org", "opaque"),
        ("3f2504e0-4f89-11d3-9a0c-0305e82c3301", "opaque"),
        ("d41d8cd98f00b204e9800998ecf8427e", "opaque"),
        ("QmFzZTY0IGVuY29kZWQ0", "opaque"),
        ("2023-09-28T12:00:00+00:00", "opaque"),
        ("2023-09-28", "opaque"),
        ("3.14", "opaque"),
        ("+49 30 123456", "opaque"),
    ],
)
def test_a_value_is_judged_by_what_it_looks_like(value: str, kind: str) -> None:
    assert kind_of(value, 120).value == kind
