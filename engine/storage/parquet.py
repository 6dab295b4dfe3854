"""Parquet files as rows of JSON values, read by DuckDB."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import duckdb

from engine.errors import InvalidRequest

_ROWS_AT_ONCE = 1_000
_MEMORY_LIMIT = "1GB"


def parquet_rows(path: str | Path) -> Iterator[dict[str, Any]]:
    """Each row as column name to JSON value; NULL is left out.

    Dates and times become ISO 8601 text (UTC where the file has a zone), decimals floats, uuids text; bytes, which
    JSON cannot hold, are left out.

    Raises:
        InvalidRequest: not a Parquet file, or damaged.
    """
    connection = duckdb.connect(":memory:", config={"memory_limit": _MEMORY_LIMIT, "threads": 1})
    try:
        connection.execute("SET TimeZone = 'UTC'")
        # A name may hold what the function would read as a pattern.
        quoted = str(path)
        for sign in "[*?":
            quoted = quoted.replace(sign, f"[{sign}]")
        columns = connection.execute("SELECT * FROM read_parquet(?) LIMIT 0", [quoted]).description
        # The driver needs another library for times with a zone; their UTC time as text needs none.
        shown = ", ".join(
            f"CAST({_name(column[0])} AS TIMESTAMP) AS {_name(column[0])}"
            if str(column[1]) == "TIMESTAMP WITH TIME ZONE"
            else _name(column[0])
            for column in columns
        )
        result = connection.execute(f"SELECT {shown} FROM read_parquet(?)", [quoted])  # noqa: S608 - quoted names
        names = [column[0] for column in columns]
        while rows := result.fetchmany(_ROWS_AT_ONCE):
            for row in rows:
                values = ((name, _json(value)) for name, value in zip(names, row, strict=True))
                yield {name: value for name, value in values if value is not None}
    except duckdb.Error as error:
        raise InvalidRequest(f"The file cannot be read as Parquet ({type(error).__name__}).", path="path") from error
    finally:
        connection.close()


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _json(value: object) -> Any:
    """`value` as JSON holds it; None for what JSON cannot hold."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            return int(value) if value == value.to_integral_value() and value.as_tuple().exponent == 0 else float(value)
        case datetime():
            return (value.astimezone(UTC) if value.tzinfo else value).isoformat()
        case date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case UUID():
            return str(value)
        case list() | tuple():
            return [_json(each) for each in cast("list[object]", value)]
        case dict():
            return {str(k): _json(v) for k, v in cast("dict[object, object]", value).items()}
        case _:
            return None
