"""Documents of files to the engine: in batches, each fault kept to its own document, the ledger told afterwards."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from api.files.cells import CellMismatch, typed_cells
from api.files.documents import FILE_SCHEMA
from api.files.ledger import Ledger
from api.files.report import Report
from engine import AttributeType, InvalidDocument

BATCH_DOCUMENTS = 1_000
BATCH_CHARACTERS = 8_000_000
"""A batch ends at whichever comes first: small enough that the bar moves, large enough that commits cost little."""

MOST_REFUSED = 1_000
"""Documents of one file that the engine may refuse before the rest of the file is given up: it is another kind of file
than it says, and each refusal checks its batch anew."""

_PATH = re.compile(r"documents\[(\d+)\](?:\.(.*))?", re.DOTALL)
_DELETED_AT_ONCE = 10_000
_OURS = frozenset({"id", "body", "path", "root_document_id"})


class Known(NamedTuple):
    """A namespace as an ingestion needs it.

    Attributes:
        identity: no other namespace ever has it, one of the same name that is made later included.
        types: of its attributes.
    """

    identity: int
    types: dict[str, AttributeType]


class Library(Protocol):
    """Where documents go: an engine of this process, or a server."""

    def described(self, namespace: str) -> Known | None:
        """None where there is no such namespace yet."""
        ...

    def has(self, namespace: str, document_id: str) -> bool: ...

    def upsert(self, namespace: str, documents: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> int:
        """Distinct ids written. Raises `InvalidDocument` with the path of the document; nothing is written then."""
        ...

    def delete(self, namespace: str, ids: Sequence[str], *, roots: bool) -> int:
        """How many documents went, of at most 10,000 ids."""
        ...


class FileProgress(msgspec.Struct, eq=False):
    """How far one file is.

    Attributes:
        documents: found in it so far.
        waiting: found and not stored yet.
        refused: lines, pages or documents that could not be used.
        is_read: it was read to its end.
    """

    path: str
    name: str
    fingerprint: bytes
    documents: int = 0
    waiting: int = 0
    refused: int = 0
    is_read: bool = False


class Waiting(msgspec.Struct, eq=False):
    """A document to store.

    Attributes:
        place: where it stands, for reports.
        is_part: it was made of a readable file; an attribute that does not fit is left out, and the text stays.
        is_cells: its values are text of a table, to be typed.
    """

    document: dict[str, Any]
    place: str
    progress: FileProgress
    is_part: bool = False
    is_cells: bool = False


class Store:
    """One namespace, seen by an ingestion.

    Args:
        memory: folder of the ledger; None for no ledger.

    Attributes:
        ledger: None until the namespace exists, and where there is no memory.
    """

    def __init__(
        self, library: Library, namespace: str, schema: Mapping[str, Any] | None, memory: Path | None, report: Report
    ) -> None:
        self._library = library
        self._namespace = namespace
        self._schema = schema or {}
        self._memory = memory
        self._report = report
        self._batch: list[Waiting] = []
        self._characters = 0
        self._ended: list[FileProgress] = []
        self._known: dict[str, AttributeType] = {}
        self.ledger: Ledger | None = None
        self._learn()

    def types(self) -> list[tuple[str, str]]:
        """The types that the caller's schema gives, for fingerprints."""
        return sorted((name, str(_type_of(definition))) for name, definition in self._schema.items())

    def has(self, document_id: str) -> bool:
        """Whether the namespace holds the document."""
        return self._library.has(self._namespace, document_id)

    def add(self, waiting: Waiting) -> None:
        """Take a document; it is stored with its batch."""
        progress = waiting.progress
        progress.documents += 1
        if waiting.is_cells:
            try:
                waiting.document = typed_cells(waiting.document, self._cell_types())
            except CellMismatch as error:
                self._refuse(waiting, str(error))
                return
        progress.waiting += 1
        self._batch.append(waiting)
        self._characters += sum(len(v) for v in waiting.document.values() if isinstance(v, str))
        if len(self._batch) >= BATCH_DOCUMENTS or self._characters >= BATCH_CHARACTERS:
            self.flush()

    def ends(self, progress: FileProgress) -> None:
        """The file was read to its end; what it held before and no longer holds goes once all of it is stored."""
        progress.is_read = True
        self._ended.append(progress)

    def flush(self) -> None:
        """Store everything that waits."""
        batch, self._batch, self._characters = self._batch, [], 0
        while batch:
            try:
                documents = [each.document for each in batch]
                self._report.documents += self._library.upsert(self._namespace, documents, self._patch(batch))
                break
            except InvalidDocument as error:
                batch = self._without_fault(batch, error)
        if batch:
            self._learn()
            self._stored(batch)
        ended = [progress for progress in self._ended if not progress.waiting]
        self._ended = [progress for progress in self._ended if progress.waiting]
        for progress in ended:
            self._finish(progress)

    def forget(self, path: str) -> None:
        """Remove every document of a file."""
        if self.ledger:
            self._remove(self.ledger.documents(path))
            self.ledger.forget(path)

    def close(self) -> None:
        """Close the ledger."""
        if self.ledger:
            self.ledger.close()

    def _learn(self) -> None:
        """Look at the namespace: its types, and its ledger when it is there for the first time."""
        known = self._library.described(self._namespace)
        if known is not None:
            self._known = known.types
            if self.ledger is None and self._memory is not None:
                self.ledger = Ledger.open(self._memory, known.identity)

    def _cell_types(self) -> dict[str, AttributeType]:
        given = {name: _type_of(definition) for name, definition in self._schema.items()}
        return self._known | {name: kind for name, kind in given.items() if kind is not None}

    def _patch(self, batch: list[Waiting]) -> dict[str, Any] | None:
        """The caller's schema and, for readable files, what their own attributes are, where nothing else is said."""
        used = {name for each in batch if each.is_part for name in each.document}
        ours = {
            name: dict(definition)
            for name, definition in FILE_SCHEMA.items()
            if name in used and name not in self._known
        }
        return {**ours, **self._schema} or None

    def _without_fault(self, batch: list[Waiting], error: InvalidDocument) -> list[Waiting]:
        """`batch` without what `error` speaks of: an attribute of a readable file, else the whole document."""
        found = _PATH.fullmatch(error.path or "")
        if found is None or int(found[1]) >= len(batch):
            raise error
        at = int(found[1])
        faulty = batch[at]
        attribute = _attribute(faulty.document, found[2] or "")
        message = error.message.removeprefix(f"documents[{at}].")
        if faulty.is_part and attribute and attribute not in _OURS:
            self._report.note(f"{faulty.place}: attribute left out: {message}")
            del faulty.document[attribute]
            return batch
        self._refuse(faulty, message)
        faulty.progress.waiting -= 1
        del batch[at]
        if faulty.progress.refused > MOST_REFUSED:
            rest = [each for each in batch if each.progress is faulty.progress]
            self._report.refuse(faulty.place, f"and {len(rest):,} more that follow: too many faults")
            faulty.progress.refused += len(rest)
            faulty.progress.waiting -= len(rest)
            return [each for each in batch if each.progress is not faulty.progress]
        return batch

    def _refuse(self, waiting: Waiting, reason: str) -> None:
        waiting.progress.refused += 1
        self._report.refuse(waiting.place, reason)

    def _stored(self, batch: list[Waiting]) -> None:
        by_file: dict[str, list[Waiting]] = {}
        for each in batch:
            by_file.setdefault(each.progress.path, []).append(each)
            each.progress.waiting -= 1
        for path, waiting in by_file.items():
            if self.ledger:
                self.ledger.wrote(path, waiting[0].progress.name, [str(each.document["id"]) for each in waiting])

    def _finish(self, progress: FileProgress) -> None:
        if progress.documents > progress.refused:
            self._report.files += 1
        # Where something was refused, nobody knows what the file meant to say of it: nothing is taken away.
        if self.ledger and not progress.refused:
            self._remove(self.ledger.stale(progress.path))
            self.ledger.finished(progress.path, progress.fingerprint)

    def _remove(self, ids: list[str]) -> None:
        for start in range(0, len(ids), _DELETED_AT_ONCE):
            some = ids[start : start + _DELETED_AT_ONCE]
            self._report.removed += self._library.delete(self._namespace, some, roots=False)
            if self.ledger:
                self.ledger.removed(some)


def _type_of(definition: object) -> AttributeType | None:
    """The type in one definition of a schema; None where it is missing or wrong, which the engine says better."""
    try:
        return AttributeType(msgspec.convert(definition, dict[str, Any]).get("type", ""))
    except (msgspec.ValidationError, ValueError):
        return None


def _attribute(document: Mapping[str, Any], path: str) -> str:
    """The attribute that the end of an error's path names; attributes may hold dots and brackets themselves."""
    fitting = [name for name in document if path == name or path.startswith((f"{name}.", f"{name}["))]
    return max(fitting, key=len, default="")
