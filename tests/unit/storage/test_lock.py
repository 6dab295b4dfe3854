from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import DataDirectoryLocked, StorageError
from engine.storage.lock import LOCK_FILE, DirectoryLock

HOLDER = """
import sys, time
from pathlib import Path
from engine.storage.lock import DirectoryLock
lock = DirectoryLock.acquire(Path(sys.argv[1]))
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path):
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "locked\n"
    yield child
    child.kill()
    child.communicate()


def test_another_process_is_refused_with_one_line_that_names_the_owner(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    with pytest.raises(DataDirectoryLocked) as caught:
        DirectoryLock.acquire(tmp_path)
    assert f"process {holder.pid} on " in caught.value.message
    assert "\n" not in caught.value.message
    assert str(tmp_path) not in caught.value.message


def test_being_refused_does_not_harm_the_owner(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    for _ in range(2):
        with pytest.raises(DataDirectoryLocked, match=f"process {holder.pid}"):
            DirectoryLock.acquire(tmp_path)


def test_a_killed_owner_leaves_nothing_in_the_way(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    holder.kill()
    holder.wait()
    assert (tmp_path / LOCK_FILE).read_text().startswith(f'{{"pid":{holder.pid}')
    DirectoryLock.acquire(tmp_path).release()


def test_the_same_process_is_refused_too_however_it_spells_the_path(tmp_path: Path) -> None:
    lock = DirectoryLock.acquire(tmp_path / "data")
    (tmp_path / "link").symlink_to(tmp_path / "data")
    for same in (tmp_path / "data", tmp_path / "link", tmp_path / "data" / ".." / "data"):
        with pytest.raises(DataDirectoryLocked, match="this process"):
            DirectoryLock.acquire(same)
    lock.release()


def test_a_directory_whose_lock_could_not_be_written_can_be_locked_later(tmp_path: Path) -> None:
    """As on a full disk: no file may grow for the moment."""
    least, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, most))
    try:
        with pytest.raises(StorageError):
            DirectoryLock.acquire(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (least, most))
    DirectoryLock.acquire(tmp_path).release()


def test_a_released_directory_can_be_locked_again(tmp_path: Path) -> None:
    for _ in range(3):
        lock = DirectoryLock.acquire(tmp_path)
        lock.release()
        lock.release()


def test_releasing_twice_does_not_release_the_next_owner(tmp_path: Path) -> None:
    first = DirectoryLock.acquire(tmp_path)
    first.release()
    second = DirectoryLock.acquire(tmp_path)
    first.release()
    with pytest.raises(DataDirectoryLocked):
        DirectoryLock.acquire(tmp_path)
    second.release()


@pytest.mark.parametrize("text", ["", "not json", '{"pid": "x"}', "\x00" * 100])
def test_an_unreadable_lock_file_still_gives_a_message(tmp_path: Path, text: str, holder) -> None:
    (tmp_path / LOCK_FILE).write_text(text)
    with pytest.raises(DataDirectoryLocked, match="another process"):
        DirectoryLock.acquire(tmp_path)


def test_the_file_names_this_process(tmp_path: Path, clock) -> None:
    (tmp_path / LOCK_FILE).write_text("a much longer text that an earlier owner may have left behind " * 10)
    lock = DirectoryLock.acquire(tmp_path, clock)
    text = (tmp_path / LOCK_FILE).read_text()
    lock.release()
    assert f'"pid":{os.getpid()}' in text
    assert text.endswith('"since":"2026-03-01T12:00:00+00:00"}\n')
