"""`ClaudeAgent`: makes the steps of a turn out of a model and the offline steps."""

from __future__ import annotations

from collections.abc import Callable

from engine.agent.claude.answer import ClaudeAnswerer
from engine.agent.claude.check import ClaudeChecker
from engine.agent.claude.clarify import ClaudeClarifier
from engine.agent.claude.fence import random_token
from engine.agent.claude.plan import ClaudePlanner
from engine.agent.claude.read import BATCH, ClaudeReader
from engine.agent.claude.turn import FallbackCounters, ModelTurn
from engine.agent.steps import Steps, StepsFactory, TurnBudget
from engine.llm.protocol import ChatModel
from engine.model.observer import Observer, SilentObserver
from engine.settings import BudgetSettings


class ClaudeAgent:
    """The steps of one engine on a language model. `steps` is a `StepsFactory`.

    Attributes:
        fallbacks: how often a step was done by its offline twin, and why.
    """

    def __init__(
        self,
        model: ChatModel,
        offline: StepsFactory,
        *,
        budget: BudgetSettings | None = None,
        observer: Observer | None = None,
        token: Callable[[], str] = random_token,
    ) -> None:
        """All turns share `model`; nothing else is shared between turns.

        Args:
            offline: makes the twins, which do a step when the model cannot.
            token: makes the delimiter of a turn; it must not be foreseeable.
        """
        self.fallbacks = FallbackCounters(observer or SilentObserver())
        self._model = model
        self._offline = offline
        self._budget = budget or BudgetSettings()
        self._token = token

    def steps(self, budget: TurnBudget) -> Steps:
        """Steps for one search turn; use them for no other."""
        turn = ModelTurn(self._model, budget, self.fallbacks, self._token)
        twins = self._offline(budget)
        return Steps(
            planner=ClaudePlanner(turn, twins.planner),
            reader=ClaudeReader(turn, twins.reader, self._budget.reader_batches),
            answerer=ClaudeAnswerer(turn, twins.answerer, twins.reader),
            clarifier=ClaudeClarifier(turn, twins.clarifier),
            notice=turn.notice,
            opening=twins.planner,
            checker=ClaudeChecker(turn),
            read_per_round=BATCH * self._budget.reader_batches,
            trace=turn,
        )
