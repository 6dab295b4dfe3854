"""Settings: read from the environment, checked, documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from api.settings import SETTINGS, Settings, SettingsError, from_environment, in_effect

OPERATIONS = Path(__file__).resolve().parents[3] / "docs" / "operations.md"


def test_an_empty_environment_gives_the_defaults() -> None:
    assert from_environment({}) == Settings()
    assert from_environment({"QUARRY_PORT": "  ", "QUARRY_API_KEY": ""}) == Settings()


def test_every_field_has_a_variable_and_every_variable_a_field() -> None:
    assert [s.field for s in SETTINGS] == sorted({s.field for s in SETTINGS}, key=[s.field for s in SETTINGS].index)
    assert {s.field for s in SETTINGS} == set(Settings.__struct_fields__)


def test_variables_are_read_into_their_types() -> None:
    settings = from_environment(
        {
            "QUARRY_DATA": "/srv/quarry",
            "QUARRY_PORT": "0",
            "QUARRY_AGENT": "Offline",
            "QUARRY_SESSION_HOURS": "0.5",
            "QUARRY_CORS_ORIGINS": "https://a.example.com/, http://localhost:3000",
            "QUARRY_MODEL": "some-model",
            "ANTHROPIC_API_KEY": "secret",
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
            "QUARRY_HARD_SECONDS": "50",
        }
    )
    assert (settings.data, settings.port, settings.agent) == (Path("/srv/quarry"), 0, "offline")
    assert settings.cors_origins == ("https://a.example.com", "http://localhost:3000")
    engine = settings.engine_settings()
    assert (engine.agent, engine.session_hours, engine.budget.hard_seconds) == ("offline", 0.5, 50.0)
    assert (engine.llm.model, engine.llm.api_key, engine.llm.base_url) == ("some-model", "secret", "http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("QUARRY_PORT", "http"),
        ("QUARRY_PORT", "65536"),
        ("QUARRY_PORT", "-1"),
        ("QUARRY_AGENT", "robot"),
        ("QUARRY_SESSION_HOURS", "a day"),
        ("QUARRY_SESSION_HOURS", "nan"),
        ("QUARRY_SESSION_HOURS", "-1"),
        ("QUARRY_RATE_LIMIT", "1.5"),
        ("QUARRY_UPLOAD_BYTES", "0"),
        ("QUARRY_CORS_ORIGINS", "app.example.com"),
        ("QUARRY_LOG_LEVEL", "loud"),
        ("QUARRY_MEMORY_LIMIT", "lots"),
        ("QUARRY_LOG_FORMAT", "xml"),
    ],
)
def test_a_value_that_cannot_be_is_named(variable: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"^{variable} takes .+, not '{value}'"):
        from_environment({variable: value})


def test_deadlines_must_be_in_order() -> None:
    with pytest.raises(SettingsError, match="QUARRY_SOFT_SECONDS"):
        from_environment({"QUARRY_SOFT_SECONDS": "60"})


def test_what_is_given_goes_before_the_environment_and_none_is_not_given() -> None:
    settings = from_environment({"QUARRY_PORT": "1", "QUARRY_HOST": "0.0.0.0"}, port=2, host=None)
    assert (settings.port, settings.host) == (2, "0.0.0.0")


def test_the_documentation_lists_every_setting_with_its_default() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| (.*?) \| (.*?) \|$", OPERATIONS.read_text(encoding="utf-8"), re.MULTILINE)
    expected = [(s.variable, f"`{s.default()}`" if s.default() else "", s.meaning) for s in SETTINGS]
    assert rows == expected


def test_a_model_behind_openais_protocol_gets_its_own_key_and_address() -> None:
    settings = from_environment(
        {
            "QUARRY_MODEL": "openai:gpt-oss:20b",
            "OPENAI_BASE_URL": "http://127.0.0.1:11434/v1/",
            "OPENAI_API_KEY": "theirs",
            "ANTHROPIC_API_KEY": "ours",
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
        }
    ).engine_settings()
    assert settings.llm.names == ("gpt-oss:20b", "gpt-oss:20b")
    assert (settings.llm.api_key, settings.llm.base_url) == ("theirs", "http://127.0.0.1:11434/v1")


@pytest.mark.parametrize(
    "environment",
    [
        {"QUARRY_MODEL": "openai:gpt-4o", "QUARRY_FAST_MODEL": "claude-haiku-5-5"},
        {"QUARRY_FAST_MODEL": "openai:gpt-4o"},
        {"QUARRY_MODEL": "openai:"},
        {"QUARRY_MODEL": "openai:gpt-4o", "QUARRY_AGENT": "claude"},
    ],
)
def test_models_that_do_not_belong_together_are_refused_at_the_start(environment: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="QUARRY_MODEL"):
        from_environment(environment)


@pytest.mark.parametrize(("value", "streamed"), [("on", True), ("OFF", False), ("0", False), ("", True)])
def test_sentences_are_streamed_or_not_as_the_environment_says(value: str, *, streamed: bool) -> None:
    settings = from_environment({"QUARRY_STREAM_SENTENCES": value})
    assert settings.engine_settings().stream_sentences is streamed
    assert {e.variable: e.value for e in in_effect({"QUARRY_STREAM_SENTENCES": value})}["QUARRY_STREAM_SENTENCES"] == (
        "on" if streamed else "off"
    )
