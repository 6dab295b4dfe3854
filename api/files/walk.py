"""Which files a command names: files, folders with their ignore files, patterns.

A walk stays in its folder: links are passed over, as is what is no regular file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pathspec import GitIgnoreSpec

from api.files.kinds import Kind, ending_of, kind_of

IGNORE_FILES = (".gitignore", ".quarryignore")
"""Patterns of files to leave out, as git reads them, for the folder that they stand in and below."""

NEVER = frozenset({"__pycache__", "node_modules"})
"""Folders of what programs made, which nobody means."""


class Found(NamedTuple):
    """A file to read.

    Attributes:
        path: absolute, without links in its folders.
        name: its path below the folder that was given, with ``/``; may hold bytes that are not UTF-8 as surrogates.
        folder: the folder that was given, absolute; for a file that was given, the folder that its name counts from.
    """

    path: str
    name: str
    folder: str
    kind: Kind
    size: int
    modified_ns: int


class Left(NamedTuple):
    """Something that is not read, and why.

    Attributes:
        is_fault: it should have been readable.
    """

    path: str
    reason: str
    is_fault: bool = False


class Selection(NamedTuple):
    """Which names a walk keeps: all of `include` (none: everything), without those of `exclude`; patterns as in git."""

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()

    def specs(self) -> tuple[GitIgnoreSpec | None, GitIgnoreSpec]:
        """Compiled; the first is None where everything is included."""
        include = GitIgnoreSpec.from_lines(self.include) if self.include else None
        return include, GitIgnoreSpec.from_lines(self.exclude)


def walk(paths: Sequence[Path], selection: Selection) -> Iterator[Found | Left]:
    """Every file that `paths` name, folders walked in order of name.

    Args:
        paths: exist. The names of single files count from the folder that all of them share.
    """
    files = [path for path in paths if not path.is_dir()]
    if files:
        folder = os.path.commonpath([os.path.realpath(path.parent) for path in files])
        for path in files:
            yield _named(path, folder)
    for path in paths:
        if path.is_dir():
            yield from _Walk(os.path.realpath(path), selection).below("", [])


def _named(path: Path, folder: str) -> Found | Left:
    """A file that was given by name; it may be a link, for whoever names it means what it leads to."""
    real = os.path.realpath(path)
    kind = kind_of(path.name) or kind_of(Path(real).name)
    if kind is None:
        return Left(str(path), _unknown(path.name), is_fault=True)
    try:
        status = os.stat(real)  # noqa: PTH116 - paths are strings here: names may hold bytes that are not UTF-8
    except OSError as error:
        return Left(str(path), error.strerror or "cannot be read", is_fault=True)
    if not stat.S_ISREG(status.st_mode):
        return Left(str(path), "no regular file", is_fault=True)
    name = os.path.relpath(os.path.join(os.path.realpath(path.parent), path.name), folder)  # noqa: PTH118
    return Found(real, name.replace(os.sep, "/"), folder, kind, status.st_size, status.st_mtime_ns)


def _unknown(name: str) -> str:
    return f"unknown kind {ending_of(name) or 'without an ending'}"


class _Walk:
    def __init__(self, folder: str, selection: Selection) -> None:
        self._folder = folder
        self._include, self._exclude = selection.specs()

    def below(self, name: str, ignoring: list[tuple[str, GitIgnoreSpec]]) -> Iterator[Found | Left]:
        """What stands in the folder `name` (relative, empty for the first) and below it."""
        path = os.path.join(self._folder, name) if name else self._folder  # noqa: PTH118
        try:
            with os.scandir(path) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError as error:
            yield Left(path, error.strerror or "cannot be read", is_fault=True)
            return
        patterns = _patterns(entries, name)
        ignoring = [*ignoring, patterns] if patterns else ignoring
        for entry in entries:
            relative = f"{name}/{entry.name}" if name else entry.name
            try:
                yield from self._entry(entry, relative, ignoring)
            except OSError as error:
                yield Left(entry.path, error.strerror or "cannot be read", is_fault=True)

    def _entry(
        self, entry: os.DirEntry[str], name: str, ignoring: list[tuple[str, GitIgnoreSpec]]
    ) -> Iterator[Found | Left]:
        if entry.name.startswith("."):
            if entry.name not in IGNORE_FILES:
                yield Left(entry.path, "hidden")
        elif entry.is_symlink():
            yield Left(entry.path, "a link")
        elif entry.is_dir(follow_symlinks=False):
            if entry.name in NEVER or self._is_out(name + "/", ignoring):
                yield Left(entry.path, "ignored")
            else:
                yield from self.below(name, ignoring)
        elif not entry.is_file(follow_symlinks=False):
            yield Left(entry.path, "no regular file")
        elif self._is_out(name, ignoring) or (self._include and not self._include.match_file(name)):
            yield Left(entry.path, "ignored")
        elif (kind := kind_of(entry.name)) is None:
            yield Left(entry.path, _unknown(entry.name))
        else:
            status = entry.stat(follow_symlinks=False)
            yield Found(entry.path, name, self._folder, kind, status.st_size, status.st_mtime_ns)

    def _is_out(self, name: str, ignoring: list[tuple[str, GitIgnoreSpec]]) -> bool:
        """Whether the option or an ignore file excludes `name`; the innermost ignore file that speaks of it decides."""
        if self._exclude.match_file(name):
            return True
        for folder, spec in reversed(ignoring):
            verdict = spec.check_file(name.removeprefix(folder)).include
            if verdict is not None:
                return verdict
        return False


def _patterns(entries: Sequence[os.DirEntry[str]], name: str) -> tuple[str, GitIgnoreSpec] | None:
    """What the ignore files among `entries` say, with the folder that their patterns count from."""
    lines: list[str] = []
    for entry in entries:
        if entry.name in IGNORE_FILES and entry.is_file(follow_symlinks=False):
            with open(entry.path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
                lines += file.read(2**20).splitlines()
    return (f"{name}/" if name else "", GitIgnoreSpec.from_lines(lines)) if lines else None
