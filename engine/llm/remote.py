"""A model behind an HTTP service: what Claude and OpenAI's protocol share.

A reply is asked for whole, not streamed: half a JSON object is of no use to a step, and a stream can break in ways
that an SDK reports as success. Retries are counted here (those of the SDKs are off), because an SDK sleeps as long as
a ``retry-after`` header says, without regard to the deadline of the caller.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import random
import threading
from typing import Literal, NamedTuple, Protocol, TypeAlias

from engine.errors import (
    ModelError,
    ModelMisconfigured,
    ModelOutputInvalid,
    ModelRefused,
    ModelTruncated,
    ModelUnavailable,
)
from engine.llm.counters import CallCounters
from engine.llm.faults import Fault
from engine.llm.loop_thread import LoopStopped, LoopThread
from engine.llm.plain_json import json_object
from engine.llm.protocol import Reply, StructuredCall, TokenUsage
from engine.model.observer import Observer, SilentObserver
from engine.settings import ModelSettings

CONNECT_S = 5.0
"""Longest wait for a connection; the rest of the deadline is for the reply."""
_FIRST_WAIT_S = 0.5
_PROBE_DEADLINE_S = 15.0
_PROBE_TOKENS = 64
_LOGGERS = ("anthropic", "openai", "httpx2", "httpcore2")


Stop: TypeAlias = Literal["answered", "refused", "cut", "other"]


class Finished(NamedTuple):
    """A message of the service.

    Attributes:
        stop: why it ended: by itself, declined, at a limit of length, or otherwise.
        text: what it says without the model's thinking.
    """

    stop: Stop
    text: str
    usage: TokenUsage


class Failed(Exception):
    """An attempt that gave no message."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.error.message)
        self.fault = fault


class Service(Protocol):
    """One provider's SDK."""

    @property
    def package(self) -> str:
        """What is imported."""
        ...

    async def ask(self, model: str, call: StructuredCall, left_s: float) -> Finished:
        """One attempt. Raises `Failed`."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


class RemoteModel:
    """`ChatModel` on a service: one client and one pool in a process, for callers of any event loop.

    Attributes:
        counters: calls by step and outcome, tokens by model.
    """

    def __init__(
        self, service: Service, models: tuple[str, str], settings: ModelSettings, observer: Observer | None = None
    ) -> None:
        """Makes no call; a wrong key shows at `check` or at the first `complete`.

        Args:
            models: the strong one and the fast one, as the service names them; they may be the same.
            observer: is told of calls and tokens, those of failed calls included.
        """
        self.counters = CallCounters()
        self._service = service
        self._models = models
        self._observer = observer or SilentObserver()
        self._runner = LoopThread("quarry-model")
        self._places = asyncio.Semaphore(settings.concurrency)
        for name in _LOGGERS:
            # At DEBUG the SDKs log whole requests: prompts and documents.
            logger = logging.getLogger(name)
            logger.setLevel(max(logger.level, logging.WARNING))
        # Off the caller's path: the import takes seconds, and the first search should not wait for it.
        threading.Thread(target=_import, args=(service.package,), daemon=True).start()

    async def complete(self, call: StructuredCall) -> Reply:
        outcome = "cancelled"
        try:
            reply = await self._runner.run(self._complete(call))
            outcome = "ok"
        except LoopStopped as error:
            outcome = ModelUnavailable.code
            raise ModelUnavailable("The model client is closed.") from error
        except ModelError as error:
            outcome = error.code
            raise
        finally:
            self.counters.count(call.step, outcome)
            self._observer.count("model_calls")
        return reply

    def check(self) -> list[str]:
        """What is wrong with key, account or models, one sentence each; empty when all models answer. Blocks.

        It sends each model one call of a few tokens in the form that searches use, because a list of models would
        tell nothing of billing, and nothing of what the address behind ``base_url`` accepts.
        """
        try:
            return self._runner.run_sync(self._check())
        except LoopStopped:
            # Closed meanwhile: no one is left to tell.
            return []

    async def aclose(self) -> None:
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """`aclose` for callers without a loop. A second call does nothing."""
        self._runner.stop(self._service.close())

    async def _complete(self, call: StructuredCall) -> Reply:
        end = asyncio.get_running_loop().time() + call.deadline_s
        try:
            async with asyncio.timeout_at(end), self._places:
                return await self._attempts(call, end)
        except TimeoutError as error:
            raise ModelUnavailable("The language model did not answer in time.") from error

    async def _attempts(self, call: StructuredCall, end: float) -> Reply:
        clock = asyncio.get_running_loop().time
        model = self._models[call.fast]
        attempt = 0
        while True:
            try:
                finished = await self._service.ask(model, call, end - clock())
            except Failed as failed:
                fault = failed.fault
                wait_s = _FIRST_WAIT_S * 2**attempt * random.uniform(0.75, 1.0)  # noqa: S311 - spreads retries
                wait_s = wait_s if fault.wait_s is None else fault.wait_s
                if attempt >= fault.retries or clock() + wait_s >= end:
                    raise fault.error from failed.__cause__
            else:
                self._spend(model, finished.usage)
                return Reply(text=_answer(finished), usage=finished.usage)
            attempt += 1
            await asyncio.sleep(wait_s)

    def _spend(self, model: str, usage: TokenUsage) -> None:
        self.counters.spend(model, usage)
        self._observer.count("model_input_tokens", usage.input + usage.cache_read + usage.cache_write)
        self._observer.count("model_cache_read_tokens", usage.cache_read)
        self._observer.count("model_output_tokens", usage.output)

    async def _check(self) -> list[str]:
        problems: list[str] = []
        for name in dict.fromkeys(self._models):
            call = StructuredCall(
                step="probe",
                fast=name != self._models[0],
                system="Answer with the JSON object asked for.",
                user=("Say that you are ready.",),
                schema={
                    "type": "object",
                    "properties": {"ready": {"type": "boolean"}},
                    "required": ["ready"],
                    "additionalProperties": False,
                },
                max_tokens=_PROBE_TOKENS,
                deadline_s=_PROBE_DEADLINE_S,
            )
            try:
                await self._complete(call)
            except ModelTruncated:
                # It answered; a model that thinks may not be done within so few tokens.
                continue
            except (ModelMisconfigured, ModelUnavailable) as error:
                problems.append(f"{name}: {error.message}")
            except ModelError as error:
                if not error.tokens:
                    problems.append(f"{name}: {error.message}")
        return problems


def whole(count: object) -> int:
    """A count of tokens as a service sent it; 0 for what is none, because a gateway may send anything."""
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0


def _answer(finished: Finished) -> str:
    """The JSON text of a message that ended by itself."""
    tokens = finished.usage.total
    match finished.stop:
        case "answered" if finished.text:
            return json_object(finished.text)
        case "answered":
            raise ModelOutputInvalid("The language model answered without text.", tokens=tokens)
        case "refused":
            raise ModelRefused("The language model declined to answer.", tokens=tokens)
        case "cut":
            raise ModelTruncated("The language model's reply was cut.", tokens=tokens)
        case _:
            raise ModelOutputInvalid("The language model stopped before it had answered.", tokens=tokens)


def _import(package: str) -> None:
    try:
        importlib.import_module(package)
    except ImportError:
        # Told at the first call, as an error of ours.
        return
