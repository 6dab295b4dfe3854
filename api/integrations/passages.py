"""Hits with the documents that they stand in, which is what frameworks and assistants ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

from engine import DocumentNotFound, Engine, Hit

Mode: TypeAlias = Literal["hybrid", "lexical", "vector", "planned"]
"""How `Engine.retrieve` looks for passages."""

_LONGEST = 500
"""Characters of a text that still counts as a property of its document rather than as its content."""


def with_properties(quarry: Engine, namespace: str, hits: list[Hit]) -> Iterator[tuple[Hit, dict[str, Any]]]:
    """Each hit with the short attributes of its document, each document fetched once.

    A document that was deleted since the hits were found is left out.
    """
    known: dict[str, dict[str, Any] | None] = {}
    for hit in hits:
        if hit.document_id not in known:
            known[hit.document_id] = _fetched(quarry, namespace, hit.document_id)
        properties = known[hit.document_id]
        if properties is not None:
            yield hit, properties


def properties_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes that say what a document is, without ``id`` and its long texts.

    >>> properties_of({"id": "1", "title": "Log", "body": "x" * 1000})
    {'title': 'Log'}
    """
    return {
        name: value
        for name, value in document.items()
        if name != "id" and value is not None and not (isinstance(value, str) and len(value) > _LONGEST)
    }


def _fetched(quarry: Engine, namespace: str, document_id: str) -> dict[str, Any] | None:
    try:
        return properties_of(quarry.get(namespace, document_id))
    except DocumentNotFound:
        return None
