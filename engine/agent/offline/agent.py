"""The offline set of steps."""

from __future__ import annotations

from engine.agent.offline.clarify import OfflineClarifier
from engine.agent.offline.judge import OfflineJudge
from engine.agent.offline.plan import OfflinePlanner
from engine.agent.offline.read import OfflineReader
from engine.agent.offline.synthesize import OfflineSynthesizer
from engine.agent.steps import Steps, TurnBudget
from engine.embedding.protocol import Embedder


class OfflineAgent:
    """Steps that need no model; they keep nothing between turns. `steps` is a `StepsFactory`."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.planner = OfflinePlanner()

    def steps(self, budget: TurnBudget | None = None) -> Steps:
        """Steps for one search turn."""
        return Steps(
            planner=self.planner,
            reader=OfflineReader(),
            judge=OfflineJudge(self._embedder),
            synthesizer=OfflineSynthesizer(),
            clarifier=OfflineClarifier(),
        )
