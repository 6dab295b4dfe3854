"""The small files of a data directory: format, manifest, and how they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import CorruptData, StorageError, StorageFull, UnsupportedFormat
from engine.storage.files import atomic_write, require_free_space, translated_os_errors
from engine.storage.format import FORMAT, FORMAT_FILE, ensure_format, read_format
from engine.storage.manifest import Manifest


def test_a_written_file_replaces_the_old_one_and_leaves_no_other(tmp_path: Path) -> None:
    for content in (b"old and longer", b"new"):
        atomic_write(tmp_path / "f", content)
    assert (tmp_path / "f").read_bytes() == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_a_leftover_of_a_crash_is_written_over(tmp_path: Path) -> None:
    (tmp_path / ".f.tmp").write_bytes(b"half a fi")
    atomic_write(tmp_path / "f", b"whole")
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_a_disk_that_fails_is_a_storage_error_and_the_old_content_stands(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "child").touch()
    with pytest.raises(StorageError):
        atomic_write(tmp_path / "f", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
    with pytest.raises(StorageError):
        atomic_write(tmp_path / "missing" / "f", b"x")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_told_apart() -> None:
    with Path("/dev/full").open("wb", buffering=0) as device, pytest.raises(StorageFull), translated_os_errors():
        device.write(b"x")


def test_too_little_free_space_refuses_before_the_write(tmp_path: Path) -> None:
    require_free_space(tmp_path, 0)
    with pytest.raises(StorageFull, match="free"):
        require_free_space(tmp_path, 1 << 62)


def test_a_new_directory_gets_the_present_format(tmp_path: Path) -> None:
    ensure_format(tmp_path)
    assert read_format(tmp_path) == FORMAT
    ensure_format(tmp_path)


def test_a_newer_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / FORMAT_FILE).write_text(f"{FORMAT + 1}\n")
    with pytest.raises(UnsupportedFormat, match="newer"):
        ensure_format(tmp_path)
    assert read_format(tmp_path) == FORMAT + 1


def test_an_older_format_is_upgraded_step_by_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / FORMAT_FILE).write_text("1\n")
    monkeypatch.setattr("engine.storage.format.FORMAT", 3)
    ran: list[int] = []
    ensure_format(tmp_path, upgrades={1: lambda _: ran.append(1), 2: lambda _: ran.append(2)})
    assert ran == [1, 2]
    assert read_format(tmp_path) == 3


def test_an_upgrade_that_fails_is_run_again_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / FORMAT_FILE).write_text("1\n")
    monkeypatch.setattr("engine.storage.format.FORMAT", 3)
    ran: list[int] = []
    with pytest.raises(ZeroDivisionError):
        ensure_format(tmp_path, upgrades={1: lambda _: ran.append(1), 2: lambda _: 1 // 0})
    assert read_format(tmp_path) == 2
    ensure_format(tmp_path, upgrades={2: lambda _: ran.append(2)})
    assert ran == [1, 2]


def test_a_format_without_an_upgrade_is_refused(tmp_path: Path) -> None:
    (tmp_path / FORMAT_FILE).write_text("0\n")
    with pytest.raises(UnsupportedFormat):
        ensure_format(tmp_path, upgrades={})


@pytest.mark.parametrize("content", [b"", b"one", b"-1", b"1.0", b"\xff\xfe", b"1" * 5000])
def test_a_damaged_format_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FORMAT_FILE).write_bytes(content)
    with pytest.raises(CorruptData):
        ensure_format(tmp_path)


def test_data_without_a_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "catalog.duckdb").touch()
    with pytest.raises(CorruptData):
        ensure_format(tmp_path)


def test_a_database_at_or_ahead_of_its_manifest_is_fine(tmp_path: Path) -> None:
    manifest = Manifest(tmp_path / "m")
    manifest.check(0)
    manifest.record(5)
    manifest.check(5)
    manifest.check(6)


def test_a_database_behind_its_manifest_has_lost_writes(tmp_path: Path) -> None:
    manifest = Manifest(tmp_path / "m")
    manifest.record(5)
    with pytest.raises(CorruptData, match="generation 4, but 5"):
        manifest.check(4)


def test_a_loss_can_be_accepted_once(tmp_path: Path) -> None:
    manifest = Manifest(tmp_path / "m")
    manifest.record(5)
    manifest.check(4, accept_loss=True)
    manifest.check(4)
    assert manifest.read() == 4


@pytest.mark.parametrize("content", [b"", b"{", b"5", b'{"generation":"5"}', b'{"generation":5', b"\xff"])
def test_a_damaged_manifest_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(CorruptData):
        Manifest(tmp_path / "m").check(10)
