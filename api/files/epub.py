"""EPUB: the chapters in reading order, a part for each heading."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from api.files.archives import member, opened_archive
from api.files.extras import library
from api.files.html import html_blocks, markup_text
from api.files.pieces import Part, Refusal, Source, UnreadableFile
from api.files.sections import sections

_CHAPTERS = ("application/xhtml+xml", "text/html")


def read_epub(source: Source) -> Iterator[Part | Refusal]:
    """Sections of every chapter of the spine; title, author and date as the package names them.

    Raises:
        UnreadableFile: no EPUB, damaged, or protected by rights management.
    """
    archive = opened_archive(source)
    names = set(archive.namelist())
    if "META-INF/rights.xml" in names:
        raise UnreadableFile("encrypted by rights management")
    package_name = _package_name(archive)
    package = _xml(archive, package_name)
    attributes = {"title": source.stem} | _properties(package)
    for number, name in enumerate(_spine(package, posixpath.dirname(package_name)), 1):
        if name not in names:
            yield Refusal(name, "the chapter is missing")
            continue
        try:
            tree = _parsed(markup_text(member(archive, name), source))
        except UnreadableFile as error:
            yield Refusal(name, str(error))
            continue
        yield from sections(html_blocks(tree), attributes | {"chapter": number}, prefix=f"c{number}-")


def _package_name(archive: zipfile.ZipFile) -> str:
    root = _xml(archive, "META-INF/container.xml").css_first("rootfile")
    name = (root.attributes.get("full-path") or "") if root else ""
    if not name:
        raise UnreadableFile("damaged: it names no package")
    return name


def _xml(archive: zipfile.ZipFile, name: str) -> Any:
    """A small XML file, read by the HTML parser, which expands no entity and fetches nothing."""
    return _parsed(member(archive, name).decode(errors="replace"))


def _parsed(markup: str) -> Any:
    return library("selectolax.lexbor").LexborHTMLParser(markup)


def _spine(package: Any, folder: str) -> Iterator[str]:
    """Names of the chapters' files in reading order."""
    manifest = {
        item.attributes.get("id"): item.attributes.get("href") or ""
        for item in package.css("item")
        if item.attributes.get("media-type") in _CHAPTERS
    }
    for reference in package.css("itemref"):
        href = manifest.get(reference.attributes.get("idref"))
        if href:
            yield posixpath.normpath(posixpath.join(folder, unquote(href.partition("#")[0])))


def _properties(package: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for node in package.css("metadata *"):
        name = {"dc:title": "title", "dc:creator": "author", "dc:date": "date"}.get(str(node.tag).lower())
        text = " ".join(str(node.text()).split()) if name else ""
        if name and text:
            found.setdefault(name, text)
    return found
