"""What the steps of one search turn share: the model, what is left of the budget, and what went wrong so far."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from engine.agent.claude.fence import Fence
from engine.agent.claude.prompt_files import rules
from engine.agent.steps import Corpus, TurnBudget
from engine.errors import ModelError, ModelMisconfigured, ModelRefused, ModelUnavailable
from engine.llm.protocol import ChatModel, Effort, StructuredCall
from engine.llm.structured import structured
from engine.model.explain import ModelCall, Removal
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
        step: name of the step and of its section in the rules.
        cap_s: longest call.
        keep_s: seconds to the hard deadline that are left to later steps.
        keep_tokens: tokens of the session that are left to later steps.
    """

    step: str
    fast: bool = False
    effort: Effort = "low"
    max_tokens: int
    cap_s: float
    keep_s: float
    keep_tokens: int = 30_000


class Skipped(Exception):
    """A call was not made, or its reply was of no use; `reason` is ``time``, ``tokens``, ``down`` or ``empty``."""

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
        """Counts by ``(step, reason)``; a reason is the code of a `ModelError`, or that of a `Skipped`."""
        with self._lock:
            return dict(self._counts)


class ModelTurn:
    """One turn of one session; used by tasks of one event loop. Satisfies `Trace`.

    Attributes:
        corpus: what the planner was told of the namespace; None before it ran.
        fence: marks material off. One for the turn, so that what is shown again is the same text and can be cached;
            its token is known to no one who wrote the material, because it is made when the turn begins.
    """

    def __init__(
        self, model: ChatModel, budget: TurnBudget, fallbacks: FallbackCounters, token: Callable[[], str]
    ) -> None:
        self.corpus: Corpus | None = None
        self.fence = Fence(token())
        self._model = model
        self._budget = budget
        self._fallbacks = fallbacks
        self._reserved = 0
        self._strikes = 0
        self._down = False
        self._reasons: set[str] = set()
        self._calls: list[ModelCall] = []
        self._degraded: dict[str, None] = {}
        self._dropped: dict[str, None] = {}
        self._removed: list[Removal] = []

    async def ask(self, spec: StepSpec, reply: type[T], user: tuple[str, ...], *, marks: tuple[int, ...] = ()) -> T:
        """One structured call within what is left.

        Args:
            marks: blocks of `user` up to which the next call of the turn is the same.

        Raises:
            ModelError: from the model; its tokens are counted.
            Skipped: there is not enough time or tokens, or the model was given up for this turn.
        """
        if self._down:
            raise Skipped("down")
        deadline_s = min(spec.cap_s, self._budget.seconds_to_hard() - spec.keep_s)
        if deadline_s < MIN_CALL_S:
            raise Skipped("time")
        system = rules(spec.step)
        estimate = (len(system) + sum(map(len, user))) // _CHARACTERS_A_TOKEN + spec.max_tokens
        if self._budget.tokens_left() - self._reserved - estimate < spec.keep_tokens:
            raise Skipped("tokens")
        call = StructuredCall(
            step=spec.step,
            fast=spec.fast,
            system=system,
            user=user,
            marks=marks,
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
            self._calls.append(ModelCall(spec.step, error.code, input=error.tokens))
            raise
        finally:
            self._reserved -= estimate
        self._budget.spend_tokens(usage.charged)
        self._calls.append(
            ModelCall(spec.step, "ok", usage.input, usage.output, usage.cache_read, usage.cache_write),
        )
        return value

    def fell_back(self, step: str, error: ModelError | Skipped, *, silent: bool = False) -> None:
        """Note that a step is done by its offline twin.

        Args:
            silent: the answer does not differ enough to speak of it.
        """
        reason = error.reason if isinstance(error, Skipped) else error.code
        self._fallbacks.count(step, reason)
        self._degraded[f"{step}: {reason}"] = None
        if not silent:
            self._reasons.add(reason)
        if isinstance(error, ModelUnavailable):
            self._strikes += 1
        if isinstance(error, ModelMisconfigured) or self._strikes >= MAX_STRIKES:
            self._down = True

    def drop(self, conditions: Iterable[str]) -> None:
        """Note conditions that a plan wanted and the schema does not allow."""
        self._dropped |= dict.fromkeys(conditions)

    def remove(self, part: str, text: str, reasons: Iterable[str]) -> None:
        """Note words that a step kept back itself."""
        self._removed.append(Removal(part, text, tuple(reasons)))

    def calls(self) -> tuple[ModelCall, ...]:
        return tuple(self._calls)

    def degraded(self) -> tuple[str, ...]:
        return tuple(self._degraded)

    def dropped(self) -> tuple[str, ...]:
        return tuple(self._dropped)

    def removed(self) -> tuple[Removal, ...]:
        return tuple(self._removed)

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
