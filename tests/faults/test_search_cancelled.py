"""A search that nobody waits for any more stops the statement that it waits for."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import duckdb
import pytest

import engine
from tests.embedders import HashingEmbedder

SCHEMA = {"body": {"type": "string", "is_searchable": True}, "year": {"type": "int", "is_filterable": True}}
ENDLESS = "SELECT count(*) FROM range(10_000_000_000) a, range(1_000) b WHERE a.range % 7 = b.range"


def test_closing_a_stream_ends_its_running_statement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began, ended = threading.Event(), threading.Event()
    stopped_by: list[type[BaseException]] = []

    def endless(cursor: Any, *args: Any) -> Any:
        began.set()
        try:
            return cursor.execute(ENDLESS).fetchall()
        except BaseException as error:
            stopped_by.append(type(error))
            raise
        finally:
            ended.set()

    with engine.open(tmp_path / "data", embedder=HashingEmbedder(), agent="offline") as quarry:
        quarry.upsert("n", [{"id": "a", "body": "ferry", "year": 1}], SCHEMA)
        monkeypatch.setattr("engine.backend.embedded.legs.matching_keys", endless)

        async def leave() -> None:
            events = await quarry.stream("n", objective="ferry", context="ferry", filters={"year": 1})

            async def read() -> None:
                async for _ in events:
                    pass

            reading = asyncio.create_task(read())
            assert await asyncio.to_thread(began.wait, 30)
            assert not ended.is_set()
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
            await events.aclose()

        asyncio.run(leave())
        # Without the interruption the statement would run for days; this only bounds the wait of a broken run.
        assert ended.wait(60), "the statement still runs"
        assert stopped_by == [duckdb.InterruptException]
