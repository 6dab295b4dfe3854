"""Making a damaged data directory usable again from what can still be read, after a copy of what was there."""

from __future__ import annotations

from pathlib import Path

from engine.backend.embedded.backend import NAMESPACES_FOLDER, EmbeddedBackend
from engine.errors import CorruptData, StorageError
from engine.settings import EngineSettings
from engine.storage.catalog import Catalog
from engine.storage.catalog_file import CATALOG_FILE, MANIFEST_FILE, CatalogFile
from engine.storage.files import PRIVATE, copy_file, sync_tree, translated_os_errors
from engine.storage.format import ensure_format
from engine.storage.lock import DirectoryLock
from engine.store.protocol import RepairReport

COPIES_FOLDER = "damaged"


def repair_directory(directory: Path, settings: EngineSettings) -> RepairReport:
    """Repair what is damaged in a data directory that nobody has open.

    Only a log or side file whose database is older than what was acknowledged can be repaired: the database goes on
    from what it holds. Before anything is changed, its files are copied into ``damaged/``. Nothing is deleted; a
    database that cannot be read at all stays as it is, and the report says so.

    Raises:
        DataDirectoryLocked: an engine has it open.
        CorruptData: the catalog cannot be read at all: restore a backup.
    """
    lock = DirectoryLock.acquire(directory)
    try:
        ensure_format(directory)
        report: list[str] = []
        failed: list[str] = []
        file = _catalog(directory, report)
        try:
            catalog = Catalog(file)
            backend = EmbeddedBackend(directory / NAMESPACES_FOLDER, settings)
            backend.recover(catalog.namespace_ids())
            for number in sorted(catalog.namespace_ids()):
                line, is_usable = _repaired(directory, catalog, backend, number)
                report += line
                failed += [] if is_usable else line
            unknown = backend.unknown(catalog.namespace_ids())
            report += [f"folder {name!r} belongs to no namespace of the catalog; it is left alone" for name in unknown]
            catalog.flush()
        finally:
            file.close()
    finally:
        lock.release()
    return RepairReport(tuple(report), tuple(failed))


def _catalog(directory: Path, report: list[str]) -> CatalogFile:
    try:
        return CatalogFile.open(directory)
    except CorruptData as error:
        log = f"{CATALOG_FILE}.wal"
        files = [directory / name for name in (CATALOG_FILE, log, MANIFEST_FILE)]
        kept = _keep(directory, "catalog", [path for path in files if path.exists()])
        opened = CatalogFile.open(directory, accept_loss=True)
        report.append(f"catalog: {error.message} It goes on from what it holds; the files as they were: {kept}")
        return opened


def _repaired(directory: Path, catalog: Catalog, backend: EmbeddedBackend, number: int) -> tuple[list[str], bool]:
    """What was done about a namespace, and whether it can be used now."""
    record = catalog.of_id(number)
    name = str(number) if record is None else record.name
    problem = _problem(backend, number)
    if not problem:
        return [], True
    folder = directory / NAMESPACES_FOLDER / str(number)
    if not folder.exists():
        return [f"{name}: its folder is missing; restore it from a backup, or drop the namespace"], False
    kept = _keep(directory, str(number), [path for path in sorted(folder.iterdir()) if path.is_file()])
    try:
        state = catalog.record(number, backend.read_state(number, accept_loss=True))
    except StorageError as error:
        return [f"{name}: {error.message} It cannot be repaired; restore it from a backup. A copy is in {kept}"], False
    return [f"{name}: {problem} It goes on with {state.documents:,} documents; the files as they were: {kept}"], True


def _problem(backend: EmbeddedBackend, number: int) -> str:
    try:
        backend.read_state(number)
    except StorageError as error:
        return error.message
    return ""


def _keep(directory: Path, name: str, files: list[Path]) -> str:
    """Copy `files` into a new folder of ``damaged/``; its name."""
    with translated_os_errors():
        (directory / COPIES_FOLDER).mkdir(mode=PRIVATE, exist_ok=True)
        number = 1
        while (kept := directory / COPIES_FOLDER / f"{name}-{number}").exists():
            number += 1
        kept.mkdir(mode=PRIVATE)
    for path in files:
        copy_file(path, kept / path.name)
    sync_tree(directory / COPIES_FOLDER)
    return f"{COPIES_FOLDER}/{kept.name}"
