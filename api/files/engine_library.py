"""An engine of this process as the place where the documents of files go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from api.files.store import Known
from engine import DocumentNotFound, Engine, NamespaceNotFound


class EngineLibrary:
    """`Library` over `quarry`."""

    def __init__(self, quarry: Engine) -> None:
        self._quarry = quarry

    def described(self, namespace: str) -> Known | None:
        try:
            found = self._quarry.namespace(namespace)
        except NamespaceNotFound:
            return None
        return Known(found.id, {name: attribute.type for name, attribute in found.schema.attributes.items()})

    def has(self, namespace: str, document_id: str) -> bool:
        try:
            self._quarry.get(namespace, document_id)
        except DocumentNotFound:
            return False
        return True

    def upsert(self, namespace: str, documents: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> int:
        return self._quarry.upsert(namespace, documents, schema)

    def delete(self, namespace: str, ids: Sequence[str], *, roots: bool) -> int:
        if roots:
            return self._quarry.delete(namespace, root_document_ids=ids)
        return self._quarry.delete(namespace, document_ids=ids)
