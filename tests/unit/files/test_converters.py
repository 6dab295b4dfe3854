"""One kind of file after the other: what becomes of its text, its structure and its properties."""

from __future__ import annotations

import sys
import zipfile
from io import BytesIO

import pytest

from api.files.documents import MAX_BODY, document_id, part_documents, readable_name
from api.files.pieces import Part, Record, Refusal, SkippedFile, UnreadableFile
from tests.unit.files import made_files as made
from tests.unit.files.reading import pieces


def test_markdown_sections_stand_under_their_headings_and_never_hold_them() -> None:
    text = "---\ntitle: Guide\ntags: [a, b]\ndate: 2024-05-01\n---\nBefore.\n\n# Use\n\n## Ask ##\n\nType `quarry`.\n"
    text += "\n```sh\n# no heading\n```\n\nShip it\n-------\n\nGone.\n"
    first, ask, ship = pieces("g.md", text)
    assert first == Part(
        anchor="", body="Before.", attributes={"title": "Guide", "tags": ["a", "b"], "date": "2024-05-01"}
    )
    assert (ask.anchor, ask.attributes["heading"]) == ("ask", "Use › Ask")
    assert ask.body == "Type `quarry`.\n\n```sh\n# no heading\n```"
    assert (ship.attributes["heading"], ship.body) == ("Use › Ship it", "Gone.")


def test_front_matter_that_cannot_be_read_stays_text_and_is_noted() -> None:
    bomb = "a: &a [x, x]\nb: &b [*a, *a]\n"
    for matter in (bomb, "a: [", "a: : b"):
        notes: list[str] = []
        (part,) = pieces("g.md", f"---\n{matter}\n---\ntext\n", notes=notes)
        assert part.attributes == {"title": "g"}
        assert "text" in part.body
        assert notes[0].startswith("front matter left as text")


def test_a_rule_under_a_list_is_no_heading() -> None:
    (part,) = pieces("g.md", "- one\n- two\n---\nafter\n")
    assert "heading" not in part.attributes


def test_html_gives_its_main_text_without_what_stands_around_it() -> None:
    page = (
        "<html><head><title>Ferry  times</title><meta name=author content='Ann Lee'></head><body>"
        "<header>Banner</header>"
        "<nav>Home</nav><main><h1>Ferry</h1><p>Sails <b>at nine</b> &amp; five.<p>Daily.<script>evil()</script>"
        "<h2>Fares</h2><table><tr><th>from<th>price</tr><tr><td>Ness<td>4</table><ul><li>dogs<li>bicycles</ul></main>"
        "<footer>Imprint</footer></body></html>"
    )
    ferry, fares = pieces("a.html", page)
    assert ferry.attributes == {"title": "Ferry times", "author": "Ann Lee", "heading": "Ferry"}
    assert ferry.body == "Sails at nine & five.\nDaily."
    assert fares.body == "from | price\nNess | 4\n- dogs\n- bicycles"


def test_rows_of_a_table_are_lines_however_the_page_is_laid_out() -> None:
    page = "<table>\n <tr>\n  <th>from</th>\n  <th>price</th>\n </tr>\n <tr>\n  <td>Ness</td>\n"
    page += "  <td>4</td>\n </tr>\n</table>"
    assert pieces("a.html", page)[0].body == "from | price\nNess | 4"


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.html", "a.xlsx"])
def test_without_the_extra_a_file_is_refused_with_the_remedy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Made first: the libraries that write the files are those that are then taken away.
    content = {"a.docx": made.word((0, "x")), "a.xlsx": made.sheet([["x"]])}.get(name, b"<p>x")
    for library in ("pypdf", "docx", "selectolax.lexbor", "openpyxl"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UnreadableFile, match=r"quarry-search\[files\]"):
        pieces(name, content)


def test_without_the_extra_front_matter_is_left_out_and_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    notes: list[str] = []
    (part,) = pieces("a.md", "---\ntitle: T\n---\nText.\n", notes=notes)
    assert (part.body, part.attributes) == ("Text.", {"title": "a"})
    assert "front matter left out" in notes[0]


def test_a_main_element_that_holds_little_of_the_page_is_not_believed() -> None:
    (part,) = pieces("a.html", f"<main>x</main><p>{'The harbour closed. ' * 20}</p>")
    assert "harbour" in part.body


@pytest.mark.parametrize(
    ("head", "encoding"),
    [('<meta charset="iso-8859-1">', "cp1252"), ('<meta content="text/html; charset=koi8-r">', "koi8-r")],
)
def test_html_is_read_in_the_encoding_that_it_names(head: str, encoding: str) -> None:
    word = "Größe" if encoding == "cp1252" else "гавань"
    (part,) = pieces("a.html", f"<head>{head}</head><p>{word}</p>".encode(encoding))
    assert part.body == word


def test_text_in_other_encodings_is_read_and_a_guess_is_noted() -> None:
    text = "Der Käfer läuft über die Straße. Größere Häfen schließen früh, weil die Fähre später fährt.\n" * 5
    for encoding, expected in (("utf-8", []), ("utf-8-sig", []), ("utf-16", [])):
        notes: list[str] = []
        assert pieces("a.txt", text.encode(encoding), notes=notes)[0].body == text
        assert notes == expected
    assert pieces("a.txt", text.encode("cp1252"), notes=notes)[0].body == text
    assert notes[0].startswith("read as ")
    assert pieces("a.txt", text.encode("cp1252"), encoding="cp1252")[0].body == text


@pytest.mark.parametrize(
    ("content", "options", "fault"),
    [
        (b"a\0b", {}, "zero bytes"),
        ("ä".encode("cp1252"), {"encoding": "ascii"}, "not ascii text at byte 0"),
        (b"a", {"encoding": "klingon"}, "unknown encoding"),
    ],
)
def test_what_is_no_text_is_refused(content: bytes, options: dict[str, str], fault: str) -> None:
    with pytest.raises(UnreadableFile, match=fault):
        pieces("a.txt", content, **options)


def test_source_code_is_titled_with_its_ending() -> None:
    assert pieces("src/a.py", "def f(): ...")[0].attributes == {"title": "a.py"}


def test_a_pdf_gives_its_pages_with_their_numbers() -> None:
    first, third = pieces("a.pdf", made.pdf("The harbour closed.", "", "The ferry sails.", title="Log"))
    assert (first.body, first.attributes["page"], first.attributes["title"]) == ("The harbour closed.", 1, "Log")
    assert first.attributes["created"].startswith("2024-05-01T12:00")
    assert (third.body, third.attributes["page"], third.anchor) == ("The ferry sails.", 3, "p3")


def test_pdfs_that_cannot_be_read_say_why() -> None:
    with pytest.raises(UnreadableFile, match="encrypted with a password"):
        pieces("a.pdf", made.encrypted_pdf("x", user_password="s"))
    with pytest.raises(UnreadableFile, match="damaged"):
        pieces("a.pdf", b"no pdf")
    with pytest.raises(UnreadableFile, match="damaged"):
        pieces("a.pdf", b"%PDF-1.4\nrubbish")
    with pytest.raises(SkippedFile, match="no text on its pages"):
        pieces("a.pdf", made.pdf("", ""))


def test_a_pdf_that_only_forbids_printing_is_read() -> None:
    assert pieces("a.pdf", made.encrypted_pdf("Open to all.", user_password=""))[0].body == "Open to all."


def test_word_headings_make_sections_and_tables_lines() -> None:
    raw = made.word(
        (0, "Intro."), (1, "Fares"), (0, "Cheap."), (2, "Dogs"), (0, "Free."), table=[["a", "b"], ["1", "2"]]
    )
    intro, fares, dogs = pieces("a.docx", raw)
    assert (intro.body, intro.attributes["author"]) == ("Intro.", "Ann Lee")
    assert (fares.body, fares.attributes["heading"]) == ("Cheap.", "Fares")
    assert (dogs.body, dogs.attributes["heading"]) == ("Free.\n\na | b\n1 | 2", "Fares › Dogs")


def test_slides_carry_number_title_and_notes() -> None:
    one, two = pieces("a.pptx", made.slides(("Plan", "Sail at nine", "say it slowly"), ("Cover", "", "")))
    assert (one.attributes["slide"], one.attributes["heading"]) == (1, "Plan")
    assert one.body == "Sail at nine\nsay it slowly"
    assert two.body == "Cover"


def test_rows_of_a_sheet_say_what_their_values_are() -> None:
    (part,) = pieces("a.xlsx", made.sheet([["item", "count"], ["rope", 7], [None, None], ["anchor", 2.5]]))
    assert part.body == "item: rope | count: 7\nitem: anchor | count: 2.5"
    assert (part.attributes["sheet"], part.attributes["row"]) == ("Stock", 2)


def test_long_sheets_are_cut_into_parts() -> None:
    parts = pieces("a.xlsx", made.sheet([["item", "count"], *([f"i{n}", n] for n in range(450))]))
    assert [part.attributes["row"] for part in parts] == [2, 202, 402]


def test_a_book_gives_its_chapters_in_order() -> None:
    one, two = pieces("a.epub", made.book("<h1>One</h1><p>Rain.</p>", "<h1>Two</h1><p>Sun.</p>"))
    assert (one.body, one.attributes["heading"], one.attributes["title"]) == ("Rain.", "One", "The Isle")
    assert (two.body, two.attributes["chapter"], two.attributes["author"]) == ("Sun.", 2, "Ann Lee")


def test_a_missing_chapter_costs_only_itself() -> None:
    raw = made.book("<p>Rain.</p>").replace(b"c0.xhtml", b"gone.xht")
    with zipfile.ZipFile(BytesIO(made.book("<p>Rain.</p>"))) as whole:
        members = {name: whole.read(name) for name in whole.namelist()}
    members["OEBPS/book.opf"] = members["OEBPS/book.opf"].replace(b"</manifest>", b'<item id="g" href="g.xhtml" '
        b'media-type="text/html"/></manifest>').replace(b"<spine>", b'<spine><itemref idref="g"/>')  # fmt: skip
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    missing, rain = pieces("a.epub", out.getvalue())
    assert missing == Refusal("OEBPS/g.xhtml", "the chapter is missing")
    assert rain.body == "Rain."
    assert raw


def test_a_protected_book_is_refused() -> None:
    with pytest.raises(UnreadableFile, match="rights management"):
        pieces("a.epub", made.book("<p>x</p>", extra={"META-INF/rights.xml": b"<r/>"}))


@pytest.mark.parametrize("name", ["a.docx", "a.pptx", "a.xlsx", "a.epub"])
def test_small_containers_that_unpack_into_much_are_refused(name: str) -> None:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"\0" * (8 * 2**20))
    assert len(out.getvalue()) < 10_000
    with pytest.raises(UnreadableFile, match="unpacks into too much"):
        pieces(name, out.getvalue())


@pytest.mark.parametrize("name", ["a.docx", "a.pptx", "a.xlsx", "a.epub"])
@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04 rubbish", made.word((0, "x"))[:-200], made.book("<p>x</p>")[200:]]
)
def test_damaged_containers_are_refused(name: str, content: bytes) -> None:
    with pytest.raises(UnreadableFile, match="damaged"):
        pieces(name, content)


def test_a_message_gives_people_date_and_thread() -> None:
    raw = made.message("Ferry", "It sails at nine.", message_id="2@x", reply_to="1@x")
    (part,) = pieces("a.eml", raw)
    assert part.body == "It sails at nine."
    assert part.attributes == {
        "title": "Ferry",
        "from": "Ann Lee <ann@example.org>",
        "to": ["Bo <bo@example.org>", "crew@example.org"],
        "date": "2024-05-01T10:00:00+00:00",
        "message_id": "2@x",
        "thread": "1@x",
        "attachments": ["plan.pdf"],
    }


def test_a_message_in_html_gives_its_text() -> None:
    raw = made.message("Ferry", "<p>It <b>sails</b>.</p><p>At nine.</p>", message_id="1@x", html=True)
    assert pieces("a.eml", raw)[0].body == "It sails.\nAt nine."


def test_messages_of_a_mailbox_keep_their_names_when_others_go() -> None:
    first = made.message("A", "One.", message_id="1@x")
    second = made.message("B", "Two.\n\nFrom here on it rains.", message_id="2@x")
    both = pieces("a.mbox", made.mailbox(first, second))
    assert [part.body for part in both] == ["One.", "Two.\n\nFrom here on it rains."]
    assert pieces("a.mbox", made.mailbox(second)) == both[1:]
    with pytest.raises(UnreadableFile, match="does not begin as a mailbox"):
        pieces("a.mbox", b"Subject: x\n\ny")


def test_json_lines_go_on_after_a_bad_line() -> None:
    found = pieces("a.jsonl", b'\xef\xbb\xbf{"id": "1"}\n\n{"id": \n[1]\n\xff\n{"id": "2"}')
    assert [(p.document["id"], p.line) for p in found if isinstance(p, Record)] == [("1", 1), ("2", 6)]
    assert [p.place for p in found if isinstance(p, Refusal)] == ["3", "4", "5"]


@pytest.mark.parametrize("text", ['[{"id": "1"}]', '{"documents": [{"id": "1"}]}', '{"id": "1"}'])
def test_json_files_hold_one_document_or_a_list(text: str) -> None:
    assert [piece.document for piece in pieces("a.json", text)] == [{"id": "1"}]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_told_by_the_rows(separator: str) -> None:
    rows = [["id", "name", "note"], ["1", "Ness. Isle", "a"], ["2", "", "b: c"]]
    found = pieces("a.csv", "\r\n".join(separator.join(row) for row in rows))
    assert [piece.document for piece in found] == [
        {"id": "1", "name": "Ness. Isle", "note": "a"},
        {"id": "2", "note": "b: c"},
    ]


def test_commas_inside_cells_do_not_hide_the_separator() -> None:
    text = 'id;text\n1;"one, two, three; four"\n2;five, six\n'
    assert [piece.document["text"] for piece in pieces("a.csv", text)] == ["one, two, three; four", "five, six"]


def test_ragged_rows_are_named_by_their_line_and_the_others_stay() -> None:
    found = pieces("a.csv", 'id,a\n1,"two\nlines"\n2\n3,4,5\n4,x\n')
    assert [p.line for p in found if isinstance(p, Record)] == [2, 6]
    assert [(p.place, p.reason) for p in found if isinstance(p, Refusal)] == [
        ("4", "1 cells, but 2 columns"),
        ("5", "3 cells, but 2 columns"),
    ]


def test_cells_may_be_as_large_as_documents() -> None:
    (record,) = pieces("a.csv", "id,a\n1," + "x" * 1_000_000)
    assert len(record.document["a"]) == 1_000_000


def test_a_header_with_one_name_twice_is_refused() -> None:
    with pytest.raises(UnreadableFile, match="'a' stands in the header twice"):
        pieces("a.csv", "a,a\n1,2\n")


def test_long_texts_are_cut_without_losing_a_character() -> None:
    body = "word word word.\n\n" * (MAX_BODY // 8)
    documents = [d for _, d in part_documents("a.txt", iter([Part(anchor="", body=body)]))]
    assert "".join(d["body"] for d in documents) == body
    assert [d.get("part") for d in documents] == [None, 2, 3]
    assert [d["id"] for d in documents] == ["a.txt", "a.txt#~2", "a.txt#~3"]
    assert {d.get("root_document_id") for d in documents[1:]} == {"a.txt"}


def test_names_that_are_not_utf8_become_ids_of_their_own() -> None:
    names = [readable_name(raw.decode(errors="surrogateescape")) for raw in (b"caf\xe9.md", b"caf\xe8.md", b"a\nb")]
    assert names == ["caf%E9.md", "caf%E8.md", "a%0Ab"]


def test_made_ids_are_never_too_long_and_stay_distinct() -> None:
    ids = {document_id("long/" * 30 + name) for name in ("a.md", "b.md")}
    assert len(ids) == 2
    assert all(len(each) == 64 for each in ids)
