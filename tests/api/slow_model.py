"""A model that takes its time, so that a search can be met while it runs."""

from __future__ import annotations

import dataclasses

from tests.fakes.messages_replies import Act, Answer, Hang, Received
from tests.fakes.messages_server import FakeMessages
from tests.fakes.obedient import honest, step_of


class SlowModel:
    """Answers honestly after `delay_s`, or never while `hangs`."""

    def __init__(self) -> None:
        self.delay_s = 0.0
        self.hangs = False
        self.replies: dict[str, object] = {}

    def __call__(self, received: Received) -> Act:
        if self.hangs:
            return Hang()
        step = step_of(received)
        answer = Answer(self.replies.get(step) or honest(step, received))
        return dataclasses.replace(answer, delay_s=self.delay_s)

    @staticmethod
    def plans(fake: FakeMessages) -> int:
        """How many searches have come to it; the calls by which a server checks its models do not count."""
        return sum(step_of(received) == "plan" for received in list(fake.requests))

    def served(self) -> FakeMessages:
        """A server of this model; a context manager."""
        return FakeMessages(self)
