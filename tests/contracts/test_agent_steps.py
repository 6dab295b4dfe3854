from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from engine.agent.claude.agent import ClaudeAgent
from engine.agent.offline.agent import OfflineAgent
from engine.agent.steps import Steps
from engine.embedding.registry import load_embedder
from engine.errors import ModelRefused, ModelUnavailable
from engine.llm.claude import ClaudeModel
from engine.llm.scripted import ScriptedModel
from engine.settings import ModelSettings
from tests.contracts.agent_steps import StepsContract
from tests.fakes.messages_replies import Answer, Received
from tests.fakes.messages_server import FakeMessages
from tests.fakes.obedient import WORST, honest, step_of
from tests.unit.agent_claude.examples import Budget

OFFLINE = OfflineAgent(load_embedder("wordllama"))


class TestOffline(StepsContract):
    @contextmanager
    def opened(self) -> Iterator[Steps]:
        yield OFFLINE.steps()


class _OnClaude(StepsContract):
    answer: Callable[[Received], Answer]

    @contextmanager
    def opened(self) -> Iterator[Steps]:
        with FakeMessages(type(self).answer) as server:
            model = ClaudeModel(ModelSettings(api_key=server.key, base_url=server.url))
            yield ClaudeAgent(model, OFFLINE.steps).steps(Budget())
            model.close()


class TestClaudeHonest(_OnClaude):
    @staticmethod
    def answer(received: Received) -> Answer:
        return Answer(honest(step_of(received), received))


class TestClaudeAtItsWorst(_OnClaude):
    @staticmethod
    def answer(received: Received) -> Answer:
        return Answer(WORST[step_of(received)])


class TestClaudeRefusing(StepsContract):
    @contextmanager
    def opened(self) -> Iterator[Steps]:
        yield ClaudeAgent(ScriptedModel(lambda _: ModelRefused("No.")), OFFLINE.steps).steps(Budget())


class TestClaudeAway(StepsContract):
    @contextmanager
    def opened(self) -> Iterator[Steps]:
        yield ClaudeAgent(ScriptedModel(lambda _: ModelUnavailable("Away.")), OFFLINE.steps).steps(Budget())
