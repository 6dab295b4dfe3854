"""Retrieval under a filter is the filter's meaning applied to documents, then ranking."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import engine
from tests.embedders import HashingEmbedder
from tests.postgres import KINDS, place

COUNT = 300
SCHEMA = {
    "body": {"type": "string", "is_searchable": True},
    "colour": {"type": "string", "is_filterable": True},
    "year": {"type": "int", "is_filterable": True},
    "tags": {"type": "[]string", "is_filterable": True},
}
COLOURS = ["red", "green", "blue", ""]
TAGS = ["x", "y", "z"]


def made(number: int) -> dict[str, Any]:
    document: dict[str, Any] = {
        "id": f"d{number}",
        "body": f"harbour ferry {'storm ' * (number % 5)} island{number % 17} lantern{number % 7}.",
        "tags": [t for i, t in enumerate(TAGS) if number >> i & 1],
    }
    if number % 4:
        document["colour"] = COLOURS[number % 4]
    if number % 3:
        document["year"] = 2000 + number % 11
    return document


DOCUMENTS = {d["id"]: d for d in map(made, range(COUNT))}


@pytest.fixture(scope="module", params=KINDS)
def quarry(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[engine.Engine]:
    where = place(request.param, tmp_path_factory.mktemp("filtered"))
    with engine.open(where, embedder=HashingEmbedder(), agent="offline") as opened:
        opened.upsert("n", DOCUMENTS.values(), SCHEMA)
        yield opened


leaves = st.one_of(
    st.builds(lambda v: {"colour": v}, st.sampled_from([*COLOURS, None, "pink"])),
    st.builds(lambda op, v: {"year": {op: v}}, st.sampled_from(["$gt", "$lte", "$neq"]), st.integers(1999, 2011)),
    st.builds(lambda v: {"tags": {"$contains": v}}, st.sampled_from(TAGS)),
    st.builds(lambda v: {"id": {"$in": v}}, st.lists(st.sampled_from(sorted(DOCUMENTS)), max_size=5)),
)
filters = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda parts: {"$and": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"$or": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda part: {"$not": part}, inner),
    ),
    max_leaves=5,
)


def holds(where: dict[str, Any], document: dict[str, Any]) -> bool:
    """The meaning of the filters above, written down a second time."""
    ((key, condition),) = where.items()
    if key == "$and":
        return all(holds(part, document) for part in condition)
    if key == "$or":
        return any(holds(part, document) for part in condition)
    if key == "$not":
        return not holds(condition, document)
    held = document.get(key)
    if not isinstance(condition, dict):
        return held == condition
    ((operator, operand),) = condition.items()
    if operator == "$contains":
        return operand in (held or [])
    if operator == "$in":
        return held in operand
    if operator == "$neq":
        return held != operand
    return held is not None and (held > operand if operator == "$gt" else held <= operand)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=filters, mode=st.sampled_from(["lexical", "vector", "hybrid"]))
def test_the_filter_keeps_exactly_the_documents_it_means(
    quarry: engine.Engine, where: dict[str, Any], mode: str
) -> None:
    hits = quarry.retrieve("n", "harbour ferry", k=2 * COUNT, filters=where, mode=mode)
    assert {h.document_id for h in hits} == {i for i, d in DOCUMENTS.items() if holds(where, d)}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=filters, mode=st.sampled_from(["lexical", "vector"]), text=st.sampled_from(["storm", "island3 lantern2"]))
def test_a_filtered_ranking_is_the_whole_ranking_less_what_the_filter_drops(
    quarry: engine.Engine, where: dict[str, Any], mode: str, text: str
) -> None:
    def ranked(filters: dict[str, Any] | None) -> list[tuple[str, float]]:
        found = quarry.retrieve("n", text, k=2 * COUNT, filters=filters, mode=mode)
        return [(h.document_id, round(h.lexical_score + h.vector_score, 4)) for h in found]

    whole = [pair for pair in ranked(None) if holds(where, DOCUMENTS[pair[0]])]
    # Ties may fall differently where scores round to the same value; what is compared is each document's score.
    assert sorted(ranked(where)) == sorted(whole)
    assert [s for _, s in ranked(where)] == sorted((s for _, s in whole), reverse=True)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(k=st.integers(0, 40), mode=st.sampled_from(["lexical", "vector"]))
def test_more_k_never_drops_a_hit(quarry: engine.Engine, k: int, mode: str) -> None:
    fewer = [h.document_id for h in quarry.retrieve("n", "storm island5", k=k, mode=mode)]
    more = [h.document_id for h in quarry.retrieve("n", "storm island5", k=k + 10, mode=mode)]
    assert len(fewer) == k
    assert set(fewer) <= set(more)
