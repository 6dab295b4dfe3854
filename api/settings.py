"""The settings of the server and the command line: the only reader of the environment.

A setting is a field of `Settings` and a row of `SETTINGS`; the table in ``docs/operations.md`` is tested against them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from api import parsing
from api.places import Place, place, without_secrets
from engine import BudgetSettings, EngineSettings, ModelSettings, StorageSettings

MEBIBYTE = 1024 * 1024


class SettingsError(ValueError):
    """A setting cannot be used; the message names it and says what it takes, never the value of a secret."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a server needs to know to start. `SETTINGS` says what each field means."""

    data: Place = Path("quarry-data")
    host: str = "127.0.0.1"
    port: int = 8000
    api_key: str | None = None
    embedder: str = "wordllama"
    embedder_url: str | None = None
    embedder_key: str | None = None
    reranker: str | None = None
    agent: Literal["auto", "offline", "claude"] = "auto"
    model: str = ModelSettings().model
    fast_model: str | None = None
    anthropic_api_key: str | None = None
    anthropic_base_url: str | None = None
    openai_api_key: str | None = None
    openai_base_url: str | None = None
    stream_sentences: bool = EngineSettings().stream_sentences
    session_hours: float = 24.0
    memory_limit: str = StorageSettings().memory_limit
    soft_seconds: float = BudgetSettings().soft_seconds
    hard_seconds: float = BudgetSettings().hard_seconds
    rate_limit: int = 0
    key_searches: int = 128
    searches: int = 256
    connections: int = 1_000
    upload_bytes: int = 256 * MEBIBYTE
    body_bytes: int = MEBIBYTE
    upload_memory_bytes: int = 1024 * MEBIBYTE
    heartbeat_seconds: float = 15.0
    shutdown_seconds: float = 10.0
    backups: Path | None = None
    usage_days: int = 30
    cors_origins: tuple[str, ...] = ()
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] = "json"
    traces: Literal["off", "otlp"] = "off"

    def engine_settings(self) -> EngineSettings:
        """The part that concerns the engine."""
        llm = ModelSettings(model=self.model, fast_model=self.fast_model)
        key, url = self.anthropic_api_key, self.anthropic_base_url
        if llm.service == "openai":
            key, url = self.openai_api_key, self.openai_base_url
        return EngineSettings(
            agent=self.agent,
            stream_sentences=self.stream_sentences,
            session_hours=self.session_hours,
            embedder_url=self.embedder_url,
            embedder_key=self.embedder_key,
            reranker=self.reranker,
            storage=StorageSettings(memory_limit=self.memory_limit),
            budget=BudgetSettings(soft_seconds=self.soft_seconds, hard_seconds=self.hard_seconds),
            llm=msgspec.structs.replace(llm, api_key=key, base_url=url),
        )


class Effective(msgspec.Struct, frozen=True):
    """A setting as it is in effect.

    Attributes:
        value: as a person would type it; ``(set)`` for a secret.
        source: ``default``, ``environment`` or ``option``.
    """

    variable: str
    value: str
    source: Literal["default", "environment", "option"]


class Setting(msgspec.Struct, frozen=True):
    """How one field of `Settings` is read from the environment.

    Attributes:
        parse: turns the variable's text into the field's value; raises `ValueError` with what it takes.
        secret: the value is never shown.
    """

    variable: str
    field: str
    parse: Callable[[str], Any]
    meaning: str
    secret: bool = False

    def default(self) -> str:
        """The default as a reader would type it; empty for none."""
        return self.shown(Settings())

    def shown(self, settings: Settings) -> str:
        """Its value in `settings` as a reader would type it; empty for none, ``(set)`` for a secret."""
        value = getattr(settings, self.field)
        if value is None:
            return ""
        if self.secret:
            return "(set)"
        if isinstance(value, tuple):
            return ",".join(cast("tuple[str, ...]", value))
        if isinstance(value, bool):
            return "on" if value else "off"
        if isinstance(value, float):
            return f"{value:g}"
        return without_secrets(str(value))


def shown(settings: Settings) -> dict[str, str]:
    """The settings in effect by variable, for the log: no secret, no name or password within an address."""
    public = (setting for setting in SETTINGS if not setting.secret and getattr(settings, setting.field) is not None)
    return {setting.variable: setting.shown(settings) for setting in public}


_LARGE = 1024 * 1024 * MEBIBYTE

SETTINGS: tuple[Setting, ...] = (
    Setting(
        "QUARRY_DATA",
        "data",
        place,
        "Data directory, made when it does not exist; or a database, `postgresql://USER@HOST:PORT/NAME`.",
    ),
    Setting("QUARRY_HOST", "host", str, "Address to listen on; `0.0.0.0` for every interface."),
    Setting("QUARRY_PORT", "port", parsing.whole(0, 65_535), "Port to listen on; 0 takes a free one."),
    Setting(
        "QUARRY_API_KEY",
        "api_key",
        str,
        "An admin key of company `default` for as long as the server runs; at least 8 characters.",
        secret=True,
    ),
    Setting(
        "QUARRY_EMBEDDER",
        "embedder",
        str,
        "`wordllama`, `sentence-transformers:NAME`, `fastembed:NAME` or `openai:NAME`.",
    ),
    Setting(
        "QUARRY_EMBEDDER_URL",
        "embedder_url",
        parsing.address,
        "Where `openai:NAME` is served, up to and with `/v1`; OpenAI's address by default.",
    ),
    Setting("QUARRY_EMBEDDER_KEY", "embedder_key", str, "Key of that server.", secret=True),
    Setting(
        "QUARRY_RERANKER",
        "reranker",
        str,
        "`fastembed:NAME`: a cross-encoder that orders the first passages of each query again; none by default.",
    ),
    Setting(
        "QUARRY_AGENT",
        "agent",
        parsing.choice("auto", "offline", "claude"),
        "`auto` uses Claude where `ANTHROPIC_API_KEY` is set, the model of `QUARRY_MODEL` where that is `openai:NAME`, "
        "else the offline agent.",
    ),
    Setting("QUARRY_MODEL", "model", str, "Model that plans and answers: one of Claude's, or `openai:NAME`."),
    Setting(
        "QUARRY_FAST_MODEL",
        "fast_model",
        str,
        "Model of the same service that reads passages and checks statements; `claude-haiku-5-5` beside Claude, else "
        "that of `QUARRY_MODEL`.",
    ),
    Setting("ANTHROPIC_API_KEY", "anthropic_api_key", str, "Key of the Claude service.", secret=True),
    Setting("ANTHROPIC_BASE_URL", "anthropic_base_url", str, "Another address of the Claude service."),
    Setting("OPENAI_API_KEY", "openai_api_key", str, "Key for a model `openai:NAME`.", secret=True),
    Setting(
        "OPENAI_BASE_URL",
        "openai_base_url",
        parsing.address,
        "Where a model `openai:NAME` is served, up to and with `/v1`; OpenAI's address by default.",
    ),
    Setting(
        "QUARRY_STREAM_SENTENCES",
        "stream_sentences",
        parsing.switch,
        "`on` streams each sentence of an answer once it has passed its checks, `off` only the whole answer.",
    ),
    Setting(
        "QUARRY_SESSION_HOURS",
        "session_hours",
        parsing.number(0.0, 8_760),
        "Life of a search session after its last use.",
    ),
    Setting(
        "QUARRY_MEMORY_LIMIT", "memory_limit", parsing.memory, "Memory that the database of one namespace may use."
    ),
    Setting(
        "QUARRY_SOFT_SECONDS",
        "soft_seconds",
        parsing.number(0.1, 3_600),
        "A search stops looking and answers after this.",
    ),
    Setting("QUARRY_HARD_SECONDS", "hard_seconds", parsing.number(0.1, 3_600), "A search fails after this."),
    Setting(
        "QUARRY_RATE_LIMIT",
        "rate_limit",
        parsing.whole(0, 1_000_000),
        "Requests a minute for each key; 0 for no limit.",
    ),
    Setting(
        "QUARRY_KEY_SEARCHES",
        "key_searches",
        parsing.whole(0, 100_000),
        "Searches at once for each key; 0 for no limit.",
    ),
    Setting("QUARRY_SEARCHES", "searches", parsing.whole(0, 100_000), "Searches at once of all keys; 0 for no limit."),
    Setting(
        "QUARRY_CONNECTIONS",
        "connections",
        parsing.whole(16, 60_000),
        "Connections at once; at most half of the file descriptors that the system allows.",
    ),
    Setting("QUARRY_UPLOAD_BYTES", "upload_bytes", parsing.whole(1, _LARGE), "Largest body of an upload."),
    Setting("QUARRY_BODY_BYTES", "body_bytes", parsing.whole(1, _LARGE), "Largest body of any other request."),
    Setting(
        "QUARRY_UPLOAD_MEMORY_BYTES",
        "upload_memory_bytes",
        parsing.whole(1, _LARGE),
        "Bodies of uploads held at once, of all keys; beyond it uploads get 503.",
    ),
    Setting(
        "QUARRY_HEARTBEAT_SECONDS",
        "heartbeat_seconds",
        parsing.number(0.01, 3_600),
        "Silence in a stream before a comment line.",
    ),
    Setting(
        "QUARRY_SHUTDOWN_SECONDS",
        "shutdown_seconds",
        parsing.number(0.0, 3_600),
        "How long running searches may go on after the server was told to stop.",
    ),
    Setting("QUARRY_BACKUPS", "backups", Path, "Folder for the backups of `POST /v1/admin/backup`; none by default."),
    Setting(
        "QUARRY_USAGE_DAYS",
        "usage_days",
        parsing.whole(0, 36_500),
        "How long what was asked is kept for `GET /v1/usage_events`; 0 keeps nothing.",
    ),
    Setting(
        "QUARRY_CORS_ORIGINS",
        "cors_origins",
        parsing.origins,
        "Origins that browsers may call from, by commas; none by default.",
    ),
    Setting(
        "QUARRY_LOG_LEVEL",
        "log_level",
        parsing.choice("debug", "info", "warning", "error"),
        "Least severe line that is logged.",
    ),
    Setting(
        "QUARRY_LOG_FORMAT",
        "log_format",
        parsing.choice("json", "console"),
        "One JSON object a line, or text for people.",
    ),
    Setting(
        "QUARRY_TRACES",
        "traces",
        parsing.choice("off", "otlp"),
        "`otlp` exports OpenTelemetry spans over HTTP; needs the extra `otel`.",
    ),
)


def wants_debugging() -> bool:
    """Whether the environment asks for log level ``debug``; never raises."""
    return os.environ.get("QUARRY_LOG_LEVEL", "").strip().lower() == "debug"


def from_environment(environment: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
    """Settings from environment variables; an empty variable counts as not set.

    Args:
        environment: None reads that of the process.
        overrides: fields of `Settings` that go before the environment, such as options of a command; None is ignored.

    Raises:
        SettingsError: names the variable and what it takes.
    """
    source = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    for setting in SETTINGS:
        raw = source.get(setting.variable, "").strip()
        if not raw:
            continue
        try:
            values[setting.field] = setting.parse(raw)
        except ValueError as error:
            raise SettingsError(f"{setting.variable} takes {error}, not {raw!r}.") from error
    values |= {name: value for name, value in overrides.items() if value is not None}
    settings = Settings(**values)
    if settings.soft_seconds > settings.hard_seconds:
        raise SettingsError("QUARRY_SOFT_SECONDS must not be larger than QUARRY_HARD_SECONDS.")
    problem = settings.engine_settings().llm.problem(settings.agent)
    if problem is not None:
        raise SettingsError(f"QUARRY_MODEL, QUARRY_FAST_MODEL, QUARRY_AGENT: {problem}")
    return settings


def in_effect(environment: Mapping[str, str] | None = None, **overrides: Any) -> list[Effective]:
    """Every setting with its value and source, in the order of `SETTINGS`; otherwise as `from_environment`."""
    settings = from_environment(environment, **overrides)
    source = os.environ if environment is None else environment

    def source_of(setting: Setting) -> Literal["default", "environment", "option"]:
        if overrides.get(setting.field) is not None:
            return "option"
        return "environment" if source.get(setting.variable, "").strip() else "default"

    return [Effective(s.variable, s.shown(settings), source_of(s)) for s in SETTINGS]
