"""The version of the data directory's layout, in the file ``FORMAT``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from engine.errors import CorruptData, UnsupportedFormat
from engine.storage.files import atomic_write, translated_os_errors

FORMAT = 1
FORMAT_FILE = "FORMAT"

UPGRADES: Mapping[int, Callable[[Path], None]] = {}
"""From a version to what makes a directory of it one of the next version. Each must survive being cut short and run
again."""


def ensure_format(directory: Path, *, upgrades: Mapping[int, Callable[[Path], None]] = UPGRADES) -> None:
    """Bring an existing directory up to `FORMAT`, or mark a new one. The directory must be locked.

    Raises:
        UnsupportedFormat: a newer version wrote it, or one so old that it cannot be upgraded.
        CorruptData: it holds data without a readable version.
    """
    version = read_format(directory)
    if version is None:
        version = FORMAT
        _write(directory, version)
    if version > FORMAT:
        raise UnsupportedFormat(
            f"The data directory has format {version}, written by a newer version; this one reads {FORMAT}."
        )
    while version < FORMAT:
        if version not in upgrades:
            raise UnsupportedFormat(f"The data directory has format {version}, which can no longer be upgraded.")
        upgrades[version](directory)
        version += 1
        _write(directory, version)


def read_format(directory: Path) -> int | None:
    """The version of the directory; None for a directory without data.

    Raises:
        CorruptData: there is data, but no readable version.
    """
    path = directory / FORMAT_FILE
    with translated_os_errors():
        if not path.exists():
            if (directory / "catalog.duckdb").exists():
                raise CorruptData(f"The data directory holds data but no file {FORMAT_FILE!r}.")
            return None
        content = path.read_bytes().strip()
    if not content.isdigit() or len(content) > 9:
        raise CorruptData(f"The file {FORMAT_FILE!r} of the data directory is damaged.")
    return int(content)


def _write(directory: Path, version: int) -> None:
    atomic_write(directory / FORMAT_FILE, f"{version}\n".encode())
