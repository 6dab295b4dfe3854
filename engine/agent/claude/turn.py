"""What the steps of one search turn share: the model, what is left of the budget, and what went wrong so far."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

import msgspec

from engine.agent.claude.fence import Fence
from engine.agent.claude.prompt_files import prompt
from engine.agent.steps import Corpus, TurnBudget
from engine.errors import ModelError, ModelMisconfigured, ModelRefused, ModelUnavailable
from engine.llm.protocol import ChatModel, Effort, StructuredCall
from engine.llm.structured import structured
from engine.model.observer import Observer

T = TypeVar("T")

MIN_CALL_S = 1.5
"""A call that would have less time is not made."""
MAX_STRIKES = 2
"""Steps that may find the model unavailable before the rest of the turn leaves it alone."""
_CHARACTERS_A_TOKEN = 3


class StepSpec(msgspec.Struct, frozen=True, kw_only=True):
    """How a step calls the model.

    Attributes:
        prompt: name of the file in `prompts/`.
        cap_s: longest call.
        keep_s: seconds to the hard deadline that are left to later steps.
        keep_tokens: tokens of the session that are left to later steps.
    """

    step: str
    prompt: str
    fast: bool = False
    effort: Effort = "low"
    max_tokens: int
    cap_s: float
    keep_s: float
    keep_tokens: int = 30_000


class Skipped(Exception):
    """A call was not made; `reason` is ``time``, ``tokens`` or ``down``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class FallbackCounters:
    """How often a step was done by its offline twin, by step and reason, since the process started. Thread-safe.

    Args:
        observer: is told of each as ``steps_degraded``.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str]] = Counter()

    def count(self, step: str, reason: str) -> None:
        with self._lock:
            self._counts[step, reason] += 1
        self._observer.count("steps_degraded")

    def snapshot(self) -> dict[tuple[str, str], int]:
        """Counts by ``(step, reason)``; a reason is the code of a `ModelError`, or ``time``, ``tokens``, ``down``."""
        with self._lock:
            return dict(self._counts)


class ModelTurn:
    """One turn of one session; used by tasks of one event loop.

    Attributes:
        corpus: what the planner was told of the namespace; None before it ran.
    """

    def __init__(
        self, model: ChatModel, budget: TurnBudget, fallbacks: FallbackCounters, token: Callable[[], str]
    ) -> None:
        self.corpus: Corpus | None = None
        self._model = model
        self._budget = budget
        self._fallbacks = fallbacks
        self._token = token
        self._reserved = 0
        self._strikes = 0
        self._down = False
        self._reasons: set[str] = set()

    def fence(self) -> Fence:
        """A new one for each call."""
        return Fence(self._token())

    async def ask(self, spec: StepSpec, reply: type[T], user: tuple[str, ...]) -> T:
        """One structured call within what is left.

        Raises:
            ModelError: from the model; its tokens are counted.
            Skipped: there is not enough time or tokens, or the model was given up for this turn.
        """
        if self._down:
            raise Skipped("down")
        deadline_s = min(spec.cap_s, self._budget.seconds_to_hard() - spec.keep_s)
        if deadline_s < MIN_CALL_S:
            raise Skipped("time")
        system = prompt(spec.prompt)
        estimate = (len(system) + sum(map(len, user))) // _CHARACTERS_A_TOKEN + spec.max_tokens
        if self._budget.tokens_left() - self._reserved - estimate < spec.keep_tokens:
            raise Skipped("tokens")
        call = StructuredCall(
            step=spec.step,
            fast=spec.fast,
            system=system,
            user=user,
            schema={},
            max_tokens=spec.max_tokens,
            deadline_s=deadline_s,
            effort=spec.effort,
        )
        # Reserved while under way, so that parallel calls cannot together pass the cap.
        self._reserved += estimate
        try:
            value, usage = await structured(self._model, call, reply)
        except ModelError as error:
            self._budget.spend_tokens(error.tokens)
            raise
        finally:
            self._reserved -= estimate
        self._budget.spend_tokens(usage.total)
        return value

    def fell_back(self, step: str, error: ModelError | Skipped, *, silent: bool = False) -> None:
        """Note that a step is done by its offline twin.

        Args:
            silent: the answer does not differ enough to speak of it.
        """
        reason = error.reason if isinstance(error, Skipped) else error.code
        self._fallbacks.count(step, reason)
        if not silent:
            self._reasons.add(reason)
        if isinstance(error, ModelUnavailable):
            self._strikes += 1
        if isinstance(error, ModelMisconfigured) or self._strikes >= MAX_STRIKES:
            self._down = True

    def notice(self) -> str | None:
        """One sentence for the reader of the answer when a step fell back; the worst reason speaks."""
        match self._reasons:
            case reasons if not reasons:
                return None
            case reasons if reasons <= {"time"}:
                cause = "Time was short"
            case reasons if reasons <= {"time", "tokens"}:
                cause = "The token budget of this session is used up"
            case reasons if ModelRefused.code in reasons and reasons <= {ModelRefused.code, "time", "tokens"}:
                cause = "The language model declined a part of this search"
            case _:
                cause = "The language model was not available for a part of this search"
        return f"{cause}, so that part was done by rules and extraction."
