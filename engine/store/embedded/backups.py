"""Backups of a data directory that is in use, and a data directory from a backup."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from engine.backend.embedded.backend import NAMESPACES_FOLDER, EmbeddedBackend
from engine.errors import CorruptData, InvalidRequest, NamespaceNotFound, StorageError
from engine.settings import EngineSettings
from engine.storage.catalog import Catalog
from engine.storage.catalog_file import CATALOG_FILE, CatalogFile
from engine.storage.files import PRIVATE, copy_file, sync_directory, sync_tree, translated_os_errors
from engine.storage.format import ensure_format, read_format
from engine.store.protocol import BackupReport


def write_backup(file: CatalogFile, catalog: Catalog, backend: EmbeddedBackend, target: Path) -> BackupReport:
    """Copy everything that is not derived into the new folder `target`, each namespace as of one commit.

    On disk when it returns. Searches and writes go on; a namespace that is made meanwhile is not in it.

    Raises:
        InvalidRequest: `target` exists.
        StorageError: the disk refused it; nothing is left at `target`.
    """
    building = _begin(target)
    ensure_format(building)
    catalog.flush()
    size = file.copy_to(building)
    # The copy says what belongs to the backup; what was dropped since then leaves it again.
    copied_file = CatalogFile.open(building)
    try:
        copied = Catalog(copied_file)
        problems: list[str] = []
        for number in sorted(copied.namespace_ids()):
            folder = building / NAMESPACES_FOLDER / str(number)
            try:
                size += backend.copy_to(number, folder)
            except NamespaceNotFound:
                copied.drop_namespace(number)
            except CorruptData as error:
                size += backend.copy_damaged(number, folder)
                problems.append(f"{_name(copied, number)}: {error.message}")
        namespaces = len(copied.namespace_ids())
        documents = sum(record.documents for n in copied.namespace_ids() if (record := copied.of_id(n)))
    finally:
        copied_file.close()
    _finish(building, target)
    return BackupReport(path=target, bytes=size, namespaces=namespaces, documents=documents, problems=tuple(problems))


def restore_backup(source: Path, target: Path, settings: EngineSettings) -> BackupReport:
    """Make a data directory at `target` out of the backup `source`, which stays as it is.

    Every database is opened once, and its documents are counted.

    Raises:
        InvalidRequest: `source` is no backup, or `target` holds something already.
        CorruptData: the backup is damaged; nothing is left at `target`.
        UnsupportedFormat: a newer version wrote it.
        StorageError: the disk refused it.
    """
    if not (source / CATALOG_FILE).is_file() or read_format(source) is None:
        raise InvalidRequest("This folder is no backup: it has no catalog.", path="source")
    with translated_os_errors():
        if target.is_dir() and not any(target.iterdir()):
            target.rmdir()
    building = _begin(target)
    try:
        size = sum(_copied(path, building / path.relative_to(source)) for path in _files(source))
        ensure_format(building)
        file = CatalogFile.open(building)
        try:
            catalog = Catalog(file)
            backend = EmbeddedBackend(building / NAMESPACES_FOLDER, settings)
            documents = 0
            for number in sorted(catalog.namespace_ids()):
                try:
                    documents += catalog.record(number, backend.read_state(number)).documents
                except StorageError as error:
                    raise CorruptData(f"{_name(catalog, number)}: {error.message}") from error
            catalog.flush()
            namespaces = len(catalog.namespace_ids())
        finally:
            file.close()
        _finish(building, target)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    return BackupReport(path=target, bytes=size, namespaces=namespaces, documents=documents)


def _begin(target: Path) -> Path:
    with translated_os_errors():
        if target.exists():
            raise InvalidRequest("The folder exists already.", path="path")
        building = target.with_name(target.name + ".partial")
        shutil.rmtree(building, ignore_errors=True)
        (building / NAMESPACES_FOLDER).mkdir(parents=True, mode=PRIVATE)
        building.chmod(PRIVATE)
    return building


def _finish(building: Path, target: Path) -> None:
    """Rename what was built once all of it is on disk."""
    sync_tree(building)
    with translated_os_errors():
        building.rename(target)
        sync_directory(target.parent)


def _files(source: Path) -> Iterable[Path]:
    """The files of a backup that are not derived."""
    for path in sorted(source.rglob("*")):
        depth = len(path.relative_to(source).parts)
        if path.is_file() and (depth == 1 or (depth == 3 and path.parent.parent.name == NAMESPACES_FOLDER)):
            yield path


def _copied(path: Path, target: Path) -> int:
    with translated_os_errors():
        target.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
    return copy_file(path, target)


def _name(catalog: Catalog, number: int) -> str:
    record = catalog.of_id(number)
    return str(number) if record is None else record.name
