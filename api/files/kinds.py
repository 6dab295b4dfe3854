"""Which converter reads which file: by the ending of its name, or the whole name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from api.files import docx, epub, html, mail, markdown, pdf, plain, pptx, records, tables, xlsx
from api.files.pieces import Converter, Piece, Record, Source, UnreadableFile
from engine import InvalidRequest, parquet_rows

KindName: TypeAlias = Literal[
    "code", "csv", "docx", "epub", "html", "json", "jsonl", "mail", "mailbox", "markdown", "parquet", "pdf", "pptx",
    "text", "xlsx",
]  # fmt: skip


class Kind(msgspec.Struct, frozen=True):
    """A kind of file.

    Attributes:
        is_foreign: its parser is not ours and meets files that were made to harm; it runs in a process of its own.
    """

    name: KindName
    read: Converter
    is_foreign: bool = False


def read_parquet(source: Source) -> Iterator[Piece]:
    """A document a row."""
    try:
        # The database opens the file by name; this one is the file that is open already.
        for number, row in enumerate(parquet_rows(f"/dev/fd/{source.file.fileno()}"), 1):
            yield Record(row, number)
    except InvalidRequest as error:
        raise UnreadableFile("damaged: it is no Parquet file") from error


_CODE = """
    .py .pyi .js .mjs .cjs .ts .tsx .jsx .java .kt .scala .c .h .cc .cpp .hpp .cs .go .rs .rb .php .swift .m .lua .pl .r
    .jl .ex .exs .erl .hs .ml .clj .dart .sh .bash .zsh .ps1 .sql .proto .graphql .css .scss .vue .svelte .toml .yaml
    .yml .ini .cfg .conf .tf .nix .gradle .cmake .xml .diff .patch Makefile Dockerfile Jenkinsfile
"""

_KINDS: tuple[tuple[Kind, str], ...] = (
    (Kind("jsonl", records.read_json_lines), ".jsonl .ndjson"),
    (Kind("json", records.read_json), ".json"),
    (Kind("csv", tables.read_table), ".csv .tsv .tab"),
    (Kind("parquet", read_parquet), ".parquet"),
    (Kind("markdown", markdown.read_markdown), ".md .markdown .mdx"),
    (Kind("text", plain.read_text), ".txt .text .rst .adoc .org .log .tex README LICENSE NOTICE CHANGELOG AUTHORS"),
    (Kind("html", html.read_html, is_foreign=True), ".html .htm .xhtml"),
    (Kind("mail", mail.read_message, is_foreign=True), ".eml"),
    (Kind("mailbox", mail.read_mailbox, is_foreign=True), ".mbox"),
    (Kind("pdf", pdf.read_pdf, is_foreign=True), ".pdf"),
    (Kind("docx", docx.read_docx, is_foreign=True), ".docx"),
    (Kind("pptx", pptx.read_pptx, is_foreign=True), ".pptx"),
    (Kind("xlsx", xlsx.read_xlsx, is_foreign=True), ".xlsx .xlsm"),
    (Kind("epub", epub.read_epub, is_foreign=True), ".epub"),
    (Kind("code", plain.read_code), _CODE),
)

BY_NAME = {kind.name: kind for kind, _ in _KINDS}
_BY_ENDING = {ending.lower(): kind for kind, endings in _KINDS for ending in endings.split()}


def kind_of(name: str) -> Kind | None:
    """The kind of a file called `name`, folders left out; None for a kind that is not read."""
    ending = ending_of(name)
    return _BY_ENDING.get(ending or name.lower())


def ending_of(name: str) -> str:
    """The ending in lower case, with its dot; empty for none.

    >>> [ending_of(n) for n in ("A.TXT", "Makefile", ".hidden")]
    ['.txt', '', '']
    """
    stem, dot, ending = name.rpartition(".")
    return (dot + ending).lower() if stem and dot else ""


def known_endings() -> str:
    """Every ending that is read, for messages: records first."""
    return " ".join(ending for kind, endings in _KINDS if kind.name != "code" for ending in endings.split())
