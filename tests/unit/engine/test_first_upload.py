"""A namespace that comes into being, or goes, while others ask for it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import engine
from engine.backend.embedded import backend as embedded
from engine.backend.embedded.backend import EmbeddedBackend

NOTE = {"id": "1", "text": "The ferry leaves at noon."}


def test_readers_do_not_disturb_the_first_upload(tmp_path: Path) -> None:
    wrong: list[BaseException] = []
    ended = threading.Event()
    with engine.open(tmp_path, agent="offline") as quarry:

        def read(number: int) -> None:
            while not ended.is_set():
                try:
                    quarry.get(f"n{number % 12}", "1")
                except engine.NotFound as error:
                    if error.code not in ("namespace_not_found", "document_not_found"):
                        wrong.append(error)
                except engine.QuarryError as error:
                    wrong.append(error)
                number += 1

        readers = [threading.Thread(target=read, args=(n,)) for n in range(3)]
        for reader in readers:
            reader.start()
        try:
            for number in range(12):
                assert quarry.upsert(f"n{number}", [NOTE]) == 1
        finally:
            ended.set()
            for reader in readers:
                reader.join()
    assert wrong == []


def test_a_namespace_that_could_not_be_made_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise engine.StorageFull("The disk is full.")

    with engine.open(tmp_path, agent="offline") as quarry:
        with monkeypatch.context() as patched:
            patched.setattr(embedded, "create_store", refused)
            with pytest.raises(engine.StorageFull):
                quarry.upsert("n", [NOTE])
        assert list(quarry.namespaces()) == []
        assert quarry.upsert("n", [NOTE]) == 1


def test_a_thread_uses_again_what_another_waits_to_replace(tmp_path: Path) -> None:
    with engine.open(tmp_path, agent="offline") as quarry:
        quarry.upsert("n", [NOTE])
        number = quarry.namespace("n").id
        held: EmbeddedBackend = quarry._core.backend
        waits = threading.Thread(target=lambda: held._pool.replace(number, lambda: None))
        with held.reading(number):
            waits.start()
            waits.join(0.1)
            assert waits.is_alive()
            assert held.count(number) == 1
        waits.join(10)
        assert not waits.is_alive()
