"""Serves the fake Messages API until interrupted, to try a search by hand::

python -m tests.fakes
ANTHROPIC_API_KEY=test-key ANTHROPIC_BASE_URL=http://127.0.0.1:PORT quarry search …
"""

from __future__ import annotations

import contextlib
import sys
import threading

from tests.fakes.messages_replies import Answer, Received
from tests.fakes.messages_server import FakeMessages
from tests.fakes.obedient import honest, step_of


def say(line: str) -> None:
    """A line on standard output, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def answer(received: Received) -> Answer:
    """Takes all it is shown; prints which step asked."""
    say(f"{step_of(received)}: {len(received.user)} characters to {received.body['model']}")
    return Answer(honest(step_of(received), received))


if __name__ == "__main__":
    with FakeMessages(answer) as server:
        say(f"ANTHROPIC_BASE_URL={server.url} ANTHROPIC_API_KEY={server.key}")
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
