"""What a notebook shows of hits and responses, hostile documents included."""

from __future__ import annotations

from html.parser import HTMLParser

from markdown_it import MarkdownIt

from engine import Clarification, Failure, Hit, Result, SearchResponse

HOSTILE = (
    "<script>x</script><img src=x onerror=y> ![a](http://evil/b.png) [c](javascript:d) https://evil\n# forged\n```"
)
HIT = Hit(document_id="<b>1", attribute="body", start=3, end=9, text=HOSTILE, score=0.5)


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def response(**fields: object) -> SearchResponse:
    return SearchResponse(session_id="sess_1", status="completed", **fields)


ANSWER = response(synthesis=f"{HOSTILE} [1]", results=(Result(finding=HOSTILE, id="<b>1", excerpts=(HOSTILE,)),))


def test_html_holds_every_text_and_no_markup_of_a_document() -> None:
    for html in (HIT._repr_html_(), ANSWER._repr_html_()):
        shown = Tags(html)
        assert shown.tags <= {"div", "b", "small", "blockquote"}
        assert shown.names <= {"style", "dir"}
        for line in HOSTILE.split("\n"):
            assert line in shown.text


def test_markdown_holds_every_text_and_no_markup_of_a_document() -> None:
    for markdown in (HIT._repr_markdown_(), ANSWER._repr_markdown_()):
        shown = Tags(MarkdownIt("gfm-like", {"linkify": False}).render(markdown))
        assert shown.tags <= {"p", "strong", "blockquote"}
        for line in HOSTILE.split("\n"):
            assert line in shown.text


def test_questions_back_and_failures_show_themselves() -> None:
    asked = response(clarification_needed=Clarification("Which year?", ("2023", "2024")))
    assert "Which year?" in asked._repr_html_()
    assert "2024" in asked._repr_markdown_()
    failed = response(error=Failure("search_timeout", "Too slow."))
    assert "search_timeout: Too slow." in failed._repr_html_()
