"""Log lines: one JSON object each, or text for people. Never document text, prompts or keys."""

from __future__ import annotations

import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

import msgspec

FIELDS = (
    "request_id",
    "client_request_id",
    "method",
    "route",
    "status",
    "ms",
    "code",
    "key_id",
    "company",
    "version",
    "namespaces",
    "settings",
    "uptime_s",
)
"""What a line may carry beside its message; everything else that code attaches is left out."""

_encode = msgspec.json.Encoder().encode


class JsonFormatter(logging.Formatter):
    """One JSON object a line, in UTC."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of one record."""
        line: dict[str, Any] = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["exception"] = _frames(record)
        return _encode(line).decode()


class ConsoleFormatter(logging.Formatter):
    """Text for people."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of one record."""
        fields = " ".join(f"{name}={value}" for name, value in _fields(record).items())
        line = f"{_moment(record)} {record.levelname.lower():7} {record.getMessage()} {fields}".rstrip()
        return f"{line}\n{_frames(record)}" if record.exc_info else line


def configure_logging(level: str, style: str) -> None:
    """Send the log of the whole process to standard error.

    Args:
        level: ``debug``, ``info``, ``warning`` or ``error``; for other libraries at least ``warning``.
        style: ``json`` or ``console``.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if style == "json" else ConsoleFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level.upper()]))
    for name in ("quarry", "engine", "api"):
        logging.getLogger(name).setLevel(level.upper())


def _moment(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in FIELDS if getattr(record, name, None) is not None}


def _frames(record: logging.LogRecord) -> str:
    """Where an exception came from. Messages that are not ours may quote values: they are shown at level debug only."""
    kind, error, trace = record.exc_info or (None, None, None)
    lines = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)]
    is_debug = logging.getLogger("quarry").isEnabledFor(logging.DEBUG)
    message = str(error) if is_debug else getattr(error, "message", "")
    return "\n".join([*lines, f"{kind.__name__ if kind else ''}: {message}"])
