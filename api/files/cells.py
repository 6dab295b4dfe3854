"""Cells of a table to values of the schema's types."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from engine import AttributeType

LIST_SEPARATOR = "|"
"""Between the elements of a list that is not written as JSON."""

_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_TRUE = frozenset({"true", "yes", "y", "1", "t"})
_FALSE = frozenset({"false", "no", "n", "0", "f"})


class CellMismatch(ValueError):
    """A cell is not of its column's type; the message names both."""


def typed_cells(row: Mapping[str, Any], types: Mapping[str, AttributeType]) -> dict[str, Any]:
    """`row` with each cell as its type wants it; a column that `types` does not name stays text.

    Text, uuids and datetimes stay as they are: the engine checks them.

    Raises:
        CellMismatch: names the column, the type and, shortened, the cell.

    >>> typed_cells({"year": "2024", "tags": "a|b"}, {"year": AttributeType.INT, "tags": AttributeType.STRINGS})
    {'year': 2024, 'tags': ['a', 'b']}
    """
    return {name: _typed(name, cell, types.get(name)) for name, cell in row.items()}


def _typed(name: str, cell: str, kind: AttributeType | None) -> Any:
    if kind is None or kind is AttributeType.STRING:
        return cell
    try:
        if kind is AttributeType.JSON:
            return msgspec.json.decode(cell)
        if not kind.is_list:
            return _SCALARS.get(kind, str)(cell.strip())
        element = _SCALARS.get(kind.element, str)
        if cell.lstrip().startswith("["):
            return msgspec.json.decode(cell, type=list[Any])
        return [element(each.strip()) for each in cell.split(LIST_SEPARATOR) if each.strip()]
    except (ValueError, RecursionError):
        shown = cell if len(cell) <= 40 else cell[:40] + "…"
        raise CellMismatch(f"{name} is of type {kind}, which {shown!r} is not") from None


def _whole(cell: str) -> int:
    if not _WHOLE.fullmatch(cell) or len(cell) > 32:
        raise ValueError(cell)
    return int(cell)


def _truth(cell: str) -> bool:
    if cell.lower() in _TRUE:
        return True
    if cell.lower() in _FALSE:
        return False
    raise ValueError(cell)


_SCALARS: Mapping[AttributeType, Callable[[str], Any]] = {
    AttributeType.INT: _whole,
    AttributeType.UINT: _whole,
    AttributeType.FLOAT: float,
    AttributeType.BOOL: _truth,
}
