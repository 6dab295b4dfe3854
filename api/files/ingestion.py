"""Files into a namespace: what changed is stored, what left its file is removed, what is wrong is reported."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from api.files.contents import Contents
from api.files.documents import document_id, readable_name
from api.files.foreign import ForeignReader
from api.files.ledger import Ledger
from api.files.opening import content_hash, opened_file
from api.files.pieces import Options, SkippedFile, Source, UnreadableFile
from api.files.report import Report
from api.files.store import FileProgress, Store, Waiting
from api.files.walk import Found, Left, Selection, walk

READERS_VERSION = 1
"""Grows when converters give other documents for the same file, so that unchanged files are read again."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a command asks for.

    Attributes:
        prefix: put in front of every made id, to keep two folders apart.
        names: old name of an attribute to its new one.
        prune: documents go whose file is no longer among those that `paths` name.
        force: read unchanged files too.
    """

    paths: Sequence[Path]
    selection: Selection = Selection()
    options: Options = Options()
    prefix: str = ""
    names: Mapping[str, str] = {}
    prune: bool = False
    force: bool = False


class Ingestion:
    """One run over the files of a plan."""

    def __init__(self, plan: Plan, store: Store, report: Report, advance: Callable[[int], None]) -> None:
        self._plan = plan
        self._store = store
        self._report = report
        self._advance = advance
        self._foreign = ForeignReader()
        self._contents = Contents(store, report, self._foreign, plan.names)
        self._seen: dict[str, str] = {}
        self._faulty: list[str] = []

    def run(self, found: Sequence[Found | Left]) -> None:
        """Store the files of `found`, as `walk` gave them, then prune."""
        try:
            for entry in found:
                if isinstance(entry, Left):
                    self._leave(entry)
                else:
                    self._file(entry)
            self._store.flush()
        finally:
            self._foreign.close()
        if self._plan.prune:
            self._prune(found)

    def _leave(self, left: Left) -> None:
        if left.is_fault:
            self._faulty.append(left.path)
            self._report.refuse(left.path, left.reason)
        else:
            self._report.skip(left.reason)

    def _file(self, found: Found) -> None:
        read = 0

        def advance_to(position: int) -> None:
            nonlocal read
            self._advance(max(0, position - read))
            read = max(read, position)

        try:
            self._read(found, advance_to)
        except UnreadableFile as error:
            self._faulty.append(found.path)
            self._report.refuse(found.name, str(error))
        except SkippedFile as error:
            self._report.skip(str(error))
        advance_to(found.size)

    def _read(self, found: Found, advance_to: Callable[[int], None]) -> None:
        with opened_file(found) as file:
            fingerprint = self._fingerprint(found, content_hash(file))
            ledger = self._store.ledger
            if not self._plan.force and ledger and self._is_stored(ledger, found, fingerprint):
                self._report.unchanged += 1
                return
            name = self._name(found)
            progress = FileProgress(found.path, name, fingerprint)
            source = Source(
                name=name,
                size=found.size,
                file=file,
                options=self._plan.options,
                note=lambda text: self._report.note(f"{found.name}: {text}"),
            )
            waiting: list[Waiting] = []
            nothing = "empty or without text"
            try:
                waiting = self._contents.read(found.kind, source, found.name, progress, advance_to)
            except SkippedFile as error:
                nothing = str(error)
        for each in waiting:
            self._store.add(each)
        if not progress.documents and not progress.refused:
            self._report.skip(nothing)
        self._store.ends(progress)

    def _fingerprint(self, found: Found, content: bytes) -> bytes:
        plan = self._plan
        asked = (READERS_VERSION, found.kind.name, plan.prefix, sorted(plan.names.items()), self._store.types())
        options = (plan.options.encoding, plan.options.separator)
        return hashlib.sha256(content + repr((asked, options)).encode()).digest()

    def _is_stored(self, ledger: Ledger, found: Found, fingerprint: bytes) -> bool:
        if ledger.fingerprint(found.path) != fingerprint:
            return False
        document = ledger.any_id(found.path)
        return document is not None and self._store.has(document)

    def _name(self, found: Found) -> str:
        """What the file's ids begin with: the name of an earlier run or, new, its path below the folder.

        Raises:
            UnreadableFile: another file has this name, as in two folders of the same layout.
        """
        ledger = self._store.ledger
        fresh = readable_name(self._plan.prefix + found.name)
        name = (ledger.name_of(found.path) if ledger and not self._plan.prefix else None) or fresh
        other = self._seen.setdefault(name, found.path)
        if other == found.path and ledger:
            owner = ledger.owner(document_id(name))
            other = owner if owner is not None and os.path.lexists(owner) else found.path
        if other != found.path:
            raise UnreadableFile(f"{other} has the same id; give --prefix to keep the folders apart")
        return name

    def _prune(self, found: Sequence[Found | Left]) -> None:
        ledger = self._store.ledger
        if ledger is None:
            return
        kept = {entry.path for entry in found if isinstance(entry, Found)}
        for folder in sorted({os.path.realpath(path) for path in self._plan.paths if path.is_dir()}):
            if not any(path.startswith(folder + os.sep) for path in kept):
                self._report.note(f"{folder}: no file was found, so nothing is pruned; is the folder mounted?")
                continue
            for path in ledger.below(folder):
                if path not in kept and not self._may_be_there(path):
                    self._store.forget(path)

    def _may_be_there(self, path: str) -> bool:
        """Whether a fault hides if the file is gone: its own, or one of a folder that it was in."""
        return any(path == faulty or path.startswith(faulty.rstrip(os.sep) + os.sep) for faulty in self._faulty)


def find(plan: Plan) -> list[Found | Left]:
    """Everything that the plan's paths name, each file once."""
    found: dict[str, Found | Left] = {}
    for entry in walk(plan.paths, plan.selection):
        found.setdefault(entry.path, entry)
    return list(found.values())
