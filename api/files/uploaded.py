"""One file that was uploaded under a name, without a folder or a memory of earlier runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

from api.files.contents import Contents
from api.files.documents import document_id, readable_name
from api.files.engine_library import EngineLibrary
from api.files.foreign import ForeignReader
from api.files.kinds import Kind
from api.files.pieces import Options, SkippedFile, Source
from api.files.report import Report
from api.files.store import FileProgress, Store
from engine import Engine, FilterError

MOST_CHARACTERS = 64_000_000
"""Of the text of one file that people read: all of it is in memory before the first of it is stored."""

_PAGE = 1_000


def store_file(
    quarry: Engine, namespace: str, kind: Kind, name: str, file: BinaryIO, size: int, options: Options
) -> Report:
    """Read `file` into `namespace` and remove what an earlier version of it held beyond that.

    Documents are stored in batches, each as a whole; of a file that people read none before all of it was read.

    Args:
        name: what its ids begin with, as the path of a file does.
        file: at its beginning, seekable, with a descriptor.

    Raises:
        UnreadableFile: it cannot be read as what its name says.
        QuarryError: as `Engine.upsert`.
    """
    name = readable_name(name)
    report = Report()
    store = Store(EngineLibrary(quarry), namespace, None, None, report)
    progress = FileProgress(name, name, b"")
    foreign = ForeignReader()
    source = Source(name=name, size=size, file=file, options=options, note=report.note)
    try:
        waiting = Contents(store, report, foreign, {}, MOST_CHARACTERS).read(kind, source, name, progress, _ignore)
    except SkippedFile as error:
        report.skip(str(error))
        return report
    finally:
        foreign.close()
    for each in waiting:
        store.add(each)
    store.flush()
    if not progress.documents and not progress.refused:
        report.skip("empty or without text")
    if waiting and not progress.refused:
        _remove_others(quarry, namespace, name, {str(each.document["id"]) for each in waiting}, report)
    return report


def _ignore(_: int) -> None:
    pass


def _remove_others(quarry: Engine, namespace: str, name: str, kept: set[str], report: Report) -> None:
    """Remove the documents of the file `name` that are not among `kept`: sections and pages that it no longer has."""
    stale: list[str] = []
    cursor: str | None = None
    try:
        while True:
            page = quarry.documents(namespace, {"path": name}, _PAGE, cursor)
            stale += [str(each["id"]) for each in page.documents if each["id"] not in kept and _is_made(each, name)]
            cursor = page.next_cursor
            if cursor is None:
                break
    except FilterError:
        report.note("`path` is not filterable in this namespace: what an earlier version of the file held stays")
        return
    for start in range(0, len(stale), _PAGE):
        report.removed += quarry.delete(namespace, document_ids=stale[start : start + _PAGE])


def _is_made(document: Mapping[str, Any], name: str) -> bool:
    """Whether the document is one that a file called `name` was made into, and nobody's own with the same `path`."""
    root = document_id(name)
    return root in {document["id"], document.get("root_document_id")} or str(document["id"]).startswith(f"{name}#")
