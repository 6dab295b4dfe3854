"""Everything of one store into another, of whatever kinds: companies, namespaces, documents and keys.

Documents are cut and embedded anew, by the same rules, and what came of it is compared: schemas, documents, passages
and the answers to queries. A transfer that was broken off goes on where it stopped. Sessions stay behind: they cite
passages by the numbers of their store, and last a day.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from engine.assembly import Core
from engine.backend.protocol import NamespaceSpec, StoredDocument
from engine.errors import InvalidRequest
from engine.ingest.derive import derive
from engine.model.checking import plan_upload
from engine.model.namespace import Company, StoredNamespace, check_embedder

BATCH = 1_000
QUERIES, FIRST, WORDS = 100, 10, 8
"""Queries that both are asked in all, how many passages of each answer are compared, and words of a query."""
LEAST_AGREEMENT = 0.95
"""Share of those passages that both must give: approximate search and ties leave the last of them open."""


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """What was moved, and what is wrong with it.

    Attributes:
        written: documents that the target lacked; the others were there from an earlier run.
        agreement: share of the first ten passages that both give for the same queries; 1.0 where none was asked.
        problems: one readable line a fault; empty when the target holds what the source holds.
    """

    companies: int
    namespaces: int
    documents: int
    written: int
    passages: int
    keys: int
    queries: int
    agreement: float
    problems: tuple[str, ...]


Progress = Callable[[str, int, int], None]
"""Is told a namespace, how many of its documents are done, and of how many."""


class _Held(NamedTuple):
    """A namespace on both sides."""

    company: Company
    source: StoredNamespace
    target: StoredNamespace


def transfer(source: Core, target: Core, progress: Progress | None = None) -> Move:
    """Bring everything of `source` into `target`, which may hold what an earlier run brought there.

    Nobody may write to either meanwhile. `source` is only read.

    Raises:
        ReindexRequired: a namespace of the source was embedded by another embedder than the present one.
        InvalidRequest: the target holds a namespace of that name with another schema.
    """
    moved: list[_Held] = []
    written = keys = 0
    companies = source.catalog.companies()
    for company in companies:
        owner = target.catalog.company(company.name)
        for namespace in source.catalog.namespaces(company.id):
            check_embedder(namespace, source.embedder.name, source.embedder.dimension)
            held, count = _namespace(source, target, namespace, owner, progress)
            moved.append(_Held(owner, namespace, held))
            written += count
        for key, digest in source.store.keyring.stored(company.id):
            target.store.keyring.add(msgspec.structs.replace(key, company_id=owner.id), digest)
            keys += 1
    problems = [line for held in moved for line in _compared(source, target, held)]
    queries, agreement = _asked(source, target, moved)
    if agreement < LEAST_AGREEMENT:
        problems.append(f"only {agreement:.1%} of the first passages of {queries} queries are the same")
    return Move(
        companies=len(companies),
        namespaces=len(moved),
        documents=sum(held.source.documents for held in moved),
        written=written,
        passages=sum(held.source.passages for held in moved),
        keys=keys,
        queries=queries,
        agreement=agreement,
        problems=tuple(problems),
    )


def _namespace(
    source: Core, target: Core, namespace: StoredNamespace, owner: Company, progress: Progress | None
) -> tuple[StoredNamespace, int]:
    """The namespace in the target with every document, and how many were written now."""
    held = target.catalog.find(owner.id, namespace.name)
    if held is not None and held.schema != namespace.schema:
        raise InvalidRequest(
            f"The target holds a namespace {namespace.name!r} already, of another schema.", path="target"
        )
    done = written = 0
    for batch in source.backend.scan(namespace.id, batch=BATCH):
        missing = batch if held is None else _missing(target, held.id, batch)
        if missing or held is None:
            held = _write(target, namespace, owner, held, missing)
        written += len(missing)
        done += len(batch)
        if progress is not None:
            progress(namespace.name, done, namespace.documents)
    if held is None:
        held = _write(target, namespace, owner, None, [])
    target.backend.maintain(held.id)
    return held, written


def _missing(target: Core, number: int, batch: list[StoredDocument]) -> list[StoredDocument]:
    there = {found.id: found.body for found in target.backend.get(number, [document.id for document in batch])}
    return [document for document in batch if there.get(document.id) != document.body]


def _write(
    target: Core, namespace: StoredNamespace, owner: Company, held: StoredNamespace | None, batch: list[StoredDocument]
) -> StoredNamespace:
    """Store documents under exactly the source's schema; the namespace is made with the first."""
    schema, embedder = namespace.schema, target.embedder
    _, checked = plan_upload(schema, {}, [document.body for document in batch])
    writes, vectors = derive(checked, schema.searchable(), embedder, target.settings.passages)
    if held is not None:
        target.backend.upsert(held.id, writes, vectors, schema)
        return target.catalog.record(held.id, target.backend.state(held.id))
    number = target.catalog.reserve()
    target.backend.create(NamespaceSpec(number, schema, embedder.name, embedder.dimension))
    target.backend.upsert(number, writes, vectors, schema)
    made = target.catalog.add_namespace(owner, namespace.name, number, target.backend.state(number))
    target.backend.confirm(number)
    return made


def _compared(source: Core, target: Core, held: _Held) -> Iterator[str]:
    """How the target's namespace differs from the source's."""
    name = f"{held.company.name}/{held.source.name}"
    there, here = source.backend.state(held.source.id), target.backend.state(held.target.id)
    if there.schema not in (None, here.schema):
        yield f"{name}: the schemas differ"
    if there.documents != here.documents:
        yield f"{name}: {there.documents:,} documents in the source, {here.documents:,} in the target"
    if there.passages != here.passages:
        yield f"{name}: {there.passages:,} passages in the source, {here.passages:,} in the target"
    if _checksum(source, held.source.id) != _checksum(target, held.target.id):
        yield f"{name}: the documents differ"


def _checksum(core: Core, number: int) -> int:
    """The same for the same documents in whatever order."""
    total = 0
    for batch in core.backend.scan(number, batch=BATCH):
        for document in batch:
            raw = msgspec.json.encode([document.id, document.body], order="deterministic")
            total += int.from_bytes(hashlib.sha256(raw).digest()[:16], "big")
    return total % 2**128


def _asked(source: Core, target: Core, moved: list[_Held]) -> tuple[int, float]:
    """How many queries were asked of both, and the share of the first passages that both gave."""
    asked, same, given = 0, 0, 0
    searched = [held for held in moved if held.source.passages]
    for held in searched:
        for text in _queries(source, held.source, max(1, QUERIES // len(searched))):
            there, here = _first(source, held.source, text), _first(target, held.target, text)
            asked += 1
            same += len(there & here)
            given += max(len(there), len(here))
    return asked, same / given if given else 1.0


def _first(core: Core, namespace: StoredNamespace, text: str) -> set[tuple[str, str, int]]:
    found = core.searches.retrieve(namespace, text, FIRST, None, "hybrid").passages
    return {(passage.document_id, passage.attribute, passage.start) for passage in found}


def _queries(core: Core, namespace: StoredNamespace, count: int) -> Iterator[str]:
    """Words of documents from all over the namespace."""
    step, place = max(1, namespace.documents // count), 0
    for batch in core.backend.scan(namespace.id, batch=BATCH):
        for document in batch:
            place += 1
            if (place - 1) % step:
                continue
            texts = [document.body.get(name) for name in namespace.schema.searchable()]
            words = " ".join(text for text in texts if isinstance(text, str)).split()[:WORDS]
            if words:
                yield " ".join(words)
                count -= 1
            if not count:
                return
