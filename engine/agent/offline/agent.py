"""The offline set of steps."""

from __future__ import annotations

import asyncio

from engine.agent.offline.answer import SettleThenAnswer
from engine.agent.offline.clarify import OfflineClarifier
from engine.agent.offline.judge import OfflineJudge
from engine.agent.offline.plan import OfflinePlanner
from engine.agent.offline.read import OfflineReader
from engine.agent.offline.write import OfflineSynthesizer
from engine.agent.steps import Steps, TurnBudget
from engine.agent.workers import InThread
from engine.embedding.protocol import Embedder


class OfflineAgent:
    """Steps that need no model; they keep nothing between turns. `steps` is a `StepsFactory`.

    Args:
        run: runs what would hold up the event loop.
    """

    def __init__(self, embedder: Embedder, run: InThread = asyncio.to_thread) -> None:
        self._run = run
        self.planner = OfflinePlanner()
        self._judge = OfflineJudge(embedder, run)

    def steps(self, budget: TurnBudget | None = None) -> Steps:
        """Steps for one search turn."""
        return Steps(
            planner=self.planner,
            reader=OfflineReader(self._run),
            answerer=SettleThenAnswer(self._judge, OfflineSynthesizer(self._run, self._judge.likeness), self._run),
            clarifier=OfflineClarifier(self._run),
        )
