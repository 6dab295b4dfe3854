"""The engine over PostgreSQL against a dictionary; every run is a company of its own in one database."""

from __future__ import annotations

import secrets
import tempfile
from functools import cache
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis.stateful import initialize

import engine
from tests.embedders import HashingEmbedder
from tests.postgres import database_of
from tests.stateful.test_engine_machine import EngineMachine


@cache
def database() -> str:
    return database_of(Path(tempfile.mkdtemp(prefix="quarry-machine-")))


class PostgresMachine(EngineMachine):
    company: str

    @initialize()
    def begin(self) -> None:
        self.company = secrets.token_hex(6)
        super().begin()

    def open(self) -> engine.Engine:
        return engine.open(database(), embedder=HashingEmbedder(), agent="offline", company=self.company)


PostgresMachine.TestCase.settings = settings(
    max_examples=4,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestPostgresMachine = PostgresMachine.TestCase
