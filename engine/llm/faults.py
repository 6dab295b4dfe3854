"""What a failed attempt means: which of our errors, and how often it is tried again. Messages never quote the service.

Both SDKs name their exceptions alike, so one reading serves both; `SdkErrors` says which class is which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from engine.errors import ModelError, ModelMisconfigured, ModelOutputInvalid, ModelUnavailable

RETRIES_UNAVAILABLE = 2
RETRIES_GARBAGE = 1
_BUSY_STATUSES = frozenset({408, 409, 429})
_SPOKEN = ("message", "msg", "detail", "param", "loc", "code", "error")
"""Fields in which servers say what they refuse. Others may repeat the request, prompts included."""
_MOST_DEEP = 6


class Fault(NamedTuple):
    """What a failed attempt means.

    Attributes:
        retries: how often such a failure is tried again, at most.
        wait_s: what the service asks for before the next attempt; None when it does not say.
    """

    error: ModelError
    retries: int
    wait_s: float | None = None


class NotAMessage(Exception):
    """The body of a 200 is not a finished message: a proxy's page, or an empty object."""


class SdkErrors(NamedTuple):
    """The exception classes of one SDK.

    Attributes:
        root: the base of all.
        status: an answer with an error status; has `status_code` and `response`.
        invalid: an answer that could not be read.
        unreachable: the connection failed before an answer.
    """

    root: type[Exception]
    status: type[Exception]
    invalid: type[Exception]
    unreachable: tuple[type[Exception], ...]


def caught(sdk: SdkErrors) -> tuple[type[Exception], ...]:
    """What one attempt may raise, of the SDK and of what lies under it."""
    import httpx2

    transport = (httpx2.HTTPError, httpx2.InvalidURL, OSError)
    return (sdk.root, *transport, ValueError, TypeError, AssertionError, RecursionError, NotAMessage)


def read_fault(error: Exception, sdk: SdkErrors) -> Fault:
    """What an exception of the SDK or of its transport means."""
    import httpx2

    if isinstance(error, sdk.status):
        response = cast("Any", error).response
        return read_status(cast("int", response.status_code), response.headers)
    if isinstance(error, (sdk.invalid, NotAMessage)):
        return Fault(ModelOutputInvalid("The model service did not send a message."), RETRIES_GARBAGE)
    if isinstance(error, sdk.unreachable):
        return Fault(ModelUnavailable("The model service could not be reached."), RETRIES_UNAVAILABLE)
    if isinstance(error, (httpx2.HTTPError, OSError)):
        return Fault(ModelUnavailable("The connection to the model service broke."), RETRIES_GARBAGE)
    if isinstance(error, (TypeError, sdk.root, httpx2.InvalidURL)):
        return Fault(ModelMisconfigured("No usable API key or address for the model service."), 0)
    return Fault(ModelOutputInvalid("The model service sent something unreadable."), RETRIES_GARBAGE)


def read_status(status: int, headers: Mapping[str, str]) -> Fault:
    """What an error status means."""
    match status:
        case 401 | 403:
            return Fault(ModelMisconfigured(f"The model service does not accept the API key ({status})."), 0)
        case 402:
            return Fault(ModelMisconfigured("The account at the model service cannot be billed (402)."), 0)
        case 404:
            return Fault(ModelMisconfigured("The model service does not know the model or the address (404)."), 0)
        case _ if 400 <= status < 500 and status not in _BUSY_STATUSES:
            return Fault(ModelMisconfigured(f"The model service does not accept the request ({status})."), 0)
        case _:
            retries = 0 if headers.get("x-should-retry") == "false" else RETRIES_UNAVAILABLE
            error = ModelUnavailable(f"The model service is busy or failing ({status}).")
            return Fault(error, retries, _retry_after_s(headers))


def said(body: object, depth: int = 0) -> str:
    """The words in which an error's body says what is wrong, in small letters.

    >>> said({"error": {"message": "Unknown name", "param": "effort"}, "input": "a prompt"})
    'unknown name effort'
    """
    if depth > _MOST_DEEP:
        return ""
    if isinstance(body, dict):
        fields = cast("dict[str, object]", body)
        parts = [said(fields[name], depth + 1) for name in _SPOKEN if name in fields]
    elif isinstance(body, list):
        parts = [said(part, depth + 1) for part in cast("list[object]", body)]
    else:
        parts = [body.lower()] if isinstance(body, str) else []
    return " ".join(part for part in parts if part)


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that the service asks to wait; None when it does not say, or says it as a date."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            wait_s = float(headers[name]) * unit_s
        except (KeyError, ValueError):
            continue
        if 0 <= wait_s < float("inf"):
            return wait_s
    return None
