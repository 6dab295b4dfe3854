"""``kill -9`` of a real server under mixed load, and what its clients saw, in any order that explains it."""

from __future__ import annotations

import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import engine
from tests.api.serving import Api, ProcessServer, wait_until
from tests.faults.extent import runs
from tests.faults.histories import NEVER, Op, is_linearizable
from tests.faults.tally import Tally
from tests.faults.traffic import Observer, Writer, histories, seen

ENVIRONMENT = {"QUARRY_RATE_LIMIT": "0", "QUARRY_USAGE_DAYS": "0"}


def wait_for(writers: list[Writer], more: int) -> None:
    """Until so many more calls were acknowledged."""
    enough = sum(writer.acknowledged for writer in writers) + more
    wait_until(lambda: sum(writer.acknowledged for writer in writers) >= enough, 60)


def test_a_server_killed_under_mixed_load_shows_what_it_acknowledged(tmp_path: Path, tally: Tally) -> None:
    draw = random.Random(20261122)
    server = ProcessServer(tmp_path, **ENVIRONMENT)
    writers = [Writer(f"n{n}", random.Random(n)) for n in range(4)]
    for _ in range(runs(3, 60)):
        with tally.trial("`kill -9` of a server under uploads, deletes, drops, schema changes") as trial:
            with trial.recovering():
                server.start()
            try:
                with Api(server.url) as api:
                    for writer in writers:
                        writer.settle(seen(api, writer.name))
                with ThreadPoolExecutor(len(writers)) as pool:
                    done = [pool.submit(writer.run, server.url) for writer in writers]
                    wait_for(writers, draw.randint(1, 40))
                    time.sleep(draw.uniform(0, 0.05))
                    server.stop(signal.SIGKILL)
                    for writer in done:
                        writer.result()
            finally:
                server.stop(signal.SIGKILL)
    with server, Api(server.url) as api:
        for writer in writers:
            writer.settle(seen(api, writer.name))
    with engine.open(tmp_path / "data", agent="offline") as quarry:
        assert quarry.check() == []


def test_what_seventeen_clients_see_of_each_document_has_an_order(tmp_path: Path, tally: Tally) -> None:
    names = [f"d{n}" for n in range(5)]
    clients = [Observer(n, names) for n in range(17)]
    server = ProcessServer(tmp_path, **ENVIRONMENT)
    for turn in range(runs(2, 12)):
        with server, Api(server.url) as api, ThreadPoolExecutor(len(clients)) as pool:
            api.upload("n", {"id": "always", "value": "there"})
            done = [pool.submit(client.run, [api], runs(8, 40)) for client in clients]
            if turn % 2 == 0:
                # The first turns end in a kill, whose calls may have taken effect or not.
                threading.Timer(runs(1, 3), server.process.kill).start()
            for client in done:
                client.result()
            server.process.kill()
    history = histories(clients)
    assert sum(map(len, history.values())) > 100
    for name in names:
        with tally.trial("a document that 17 clients write, delete and read, through kills"):
            assert is_linearizable(history[name]), sorted(history[name])


def test_a_history_that_has_no_order_is_noticed() -> None:
    """The control: a write that was acknowledged and then not seen, and a value that comes back."""
    a, b = Op(0, 1, False, "a"), Op(2, 3, False, "b")
    unanswered = Op(2, NEVER, False, "b")
    assert is_linearizable([a, b, Op(2, 3, True, "a"), Op(4, 5, True, "b")])
    assert is_linearizable([a, unanswered, Op(4, 5, True, "a"), Op(9, 10, True, "b")])
    assert is_linearizable([a, Op(0, 1, False, "b"), Op(2, 3, True, "a")])
    assert not is_linearizable([a, b, Op(4, 5, True, "a")])
    assert not is_linearizable([a, unanswered, Op(4, 5, True, "b"), Op(6, 7, True, "a")])
    assert not is_linearizable([a, Op(2, 3, True, None)])


def test_many_kills_leave_a_history_that_can_still_be_checked() -> None:
    """Of 60 writes without an answer half were seen; the others may have taken effect at any time, or never."""
    history: list[Op] = []
    for n in range(60):
        history += [Op(10 * n, NEVER, False, f"lost{n}"), Op(10 * n, 10 * n + 1, False, f"kept{n}")]
        history.append(Op(10 * n + 4, 10 * n + 5, True, f"{'lost' if n % 2 else 'kept'}{n}"))
    late, later = Op(700, 701, True, "lost2"), Op(702, 703, True, "lost0")
    assert is_linearizable([*history, late, later])
    assert not is_linearizable([*history, late, later, Op(704, 705, True, "lost2")])
    assert not is_linearizable([*history, Op(700, 701, True, "lost1")])
