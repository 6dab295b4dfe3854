"""Conditions of PostgreSQL give what the reference gives, on a real server."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.filters.check import CheckedFilter, parse_filter
from engine.filters.evaluate import matches
from engine.model.checking import plan_upload
from engine.model.document import ROOT_ATTRIBUTE
from engine.model.schema import TypedValue
from engine.store.postgres.attributes import strings_of
from engine.store.postgres.connection import Connection, Pool
from engine.store.postgres.filters import compile_condition
from engine.store.postgres.migrate import migrate
from engine.store.postgres.text import escaped
from engine.store.postgres.writing import attributes_json
from tests.postgres import database_of
from tests.strategies import EVERYTHING, documents, filters

Rows = list[dict[str, TypedValue]]
PART = 1


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Generator[Connection]:
    pool = Pool(database_of(tmp_path_factory.mktemp("filters")), vectors=False)
    migrate(pool)
    with pool.apart() as held:
        yield held
    pool.close()


def fill(connection: Connection, held: Rows) -> None:
    connection.execute("DELETE FROM quarry.documents WHERE part = %s", [PART])
    for key, row in enumerate(held):
        values = {name: value for name, value in row.items() if name != "id" and value is not None}
        root = values.get(ROOT_ATTRIBUTE)
        connection.execute(
            "INSERT INTO quarry.documents (part, key, id, root_id, body, attributes) VALUES (%s, %s, %s, %s, '', %s)",
            [PART, key, row["id"], None if root is None else escaped(str(root)), attributes_json(values)],
        )


def found(connection: Connection, checked: CheckedFilter) -> list[int]:
    condition = compile_condition(checked, lambda attribute: strings_of(connection, PART, attribute))
    rows = connection.execute(
        f"SELECT key, ({condition.sql}) FROM quarry.documents d WHERE part = %s ORDER BY key".encode(),
        [*condition.params, PART],
    ).fetchall()
    assert all(holds is not None for _, holds in rows)
    return [key for key, holds in rows if holds]


def distinct(batch: list[dict[str, Any]]) -> Rows:
    return [{"id": d.id, **d.values} for d in plan_upload(EVERYTHING, None, batch)[1]]


uploads = st.lists(documents(), min_size=1, max_size=5).map(distinct)


@settings(max_examples=40)
@given(held=uploads, raw=st.lists(filters(), min_size=1, max_size=6))
def test_conditions_find_what_the_reference_finds(
    connection: Connection, held: Rows, raw: list[dict[str, Any]]
) -> None:
    fill(connection, held)
    for each in raw:
        for tree in (each, {"$not": each}):
            checked = parse_filter(tree, EVERYTHING)
            if checked is not None:
                assert found(connection, checked) == [n for n, row in enumerate(held) if matches(checked, row)]
