"""Namespaces in a catalog, without their databases."""

from __future__ import annotations

from engine.model.namespace import Company, NamespaceState, StoredNamespace
from engine.model.schema import Schema
from engine.storage.catalog import Catalog


def state(seq: int, schema: Schema | None, *, embedder: str = "e", dimension: int = 1) -> NamespaceState:
    return NamespaceState(
        seq=seq,
        schema=schema,
        embedder=embedder,
        dimension=dimension,
        documents=3 * seq,
        passages=5 * seq,
        storage_bytes=1_000 * seq,
    )


def added(
    catalog: Catalog,
    name: str,
    schema: Schema | None = None,
    company: Company | None = None,
    *,
    embedder: str = "e",
    dimension: int = 1,
) -> StoredNamespace:
    """A namespace as its first upload makes it."""
    owner = company or catalog.company("default")
    first = state(1, schema or Schema(), embedder=embedder, dimension=dimension)
    return catalog.add_namespace(owner, name, catalog.reserve(), first)


def written(catalog: Catalog, namespace_id: int, schema: Schema | None = None) -> StoredNamespace:
    """A further write to the namespace."""
    found = catalog.of_id(namespace_id)
    assert found is not None
    after = state(found.seq + 1, schema or found.schema, embedder=found.embedder, dimension=found.dimension)
    return catalog.record(namespace_id, after)
