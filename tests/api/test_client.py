"""The public Python client drives every route, and its error classes fit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.api.conftest import ARTICLES, SCHEMA
from tests.api.serving import ROOT_KEY, Api

charcoal = pytest.importorskip("charcoal")

NAMESPACE = "through-the-client"
QUESTION = {"objective": "For how many hours do cats sleep a day?", "context": "A test of the client."}


@pytest.fixture(scope="module")
def client(api: Api) -> Iterator[Any]:
    with charcoal.Charcoal(base_url=api.url, api_key=ROOT_KEY, max_retries=0) as client:
        answer = client.namespaces.documents.upsert(NAMESPACE, documents=ARTICLES, schema=SCHEMA)
        assert answer.documents_upserted == 3
        yield client
    api.delete(f"/v1/namespaces/{NAMESPACE}")


def test_documents_are_uploaded_fetched_and_deleted(client: Any) -> None:
    documents = client.namespaces.documents
    assert documents.upsert(NAMESPACE, documents=[{"id": "a/b c", "n": 1}]).documents_upserted == 1
    fetched = documents.retrieve("a/b c", namespace=NAMESPACE)
    assert (fetched.id, fetched.n) == ("a/b c", 1)
    assert documents.delete(NAMESPACE, document_ids=["a/b c", "unknown"]).documents_deleted == 1
    with pytest.raises(charcoal.NotFoundError) as caught:
        documents.retrieve("a/b c", namespace=NAMESPACE)
    assert caught.value.body["error"]["code"] == "document_not_found"


def test_namespaces_are_listed(client: Any) -> None:
    mine = next(n for n in client.namespaces.list().results if n.name == NAMESPACE)
    assert mine.attributes_schema["source"].is_filterable is True
    assert mine.created_at.tzinfo is not None


def test_a_search_answers_with_cited_results(client: Any) -> None:
    answer = client.namespaces.search.create(NAMESPACE, **QUESTION, include_attributes=True)
    assert (answer.status, answer.clarification_needed) == ("completed", None)
    assert answer.results[0].attributes["title"]
    assert "[1]" in answer.synthesis
    assert answer.documents_scanned >= 1


def test_a_search_is_filtered(client: Any) -> None:
    for filters in ({"source": "Gazette"}, {"source": {"$in": ["Gazette"]}}, {"$and": [{"year": {"$eq": 2022}}]}):
        answer = client.namespaces.search.create(NAMESPACE, objective="dogs", context="x", filters=filters)
        assert {result.id for result in answer.results} == {"dogs"}


def test_a_search_streams_its_events(client: Any) -> None:
    with client.namespaces.search.create(NAMESPACE, **QUESTION, stream=True) as stream:
        events = list(stream)
    assert [event.type for event in events[:-1]] == ["status"] * (len(events) - 1)
    assert all(event.message for event in events[:-1])
    assert (events[-1].type, events[-1].status) == ("session_result", "completed")
    assert events[-1].results


def test_a_session_is_continued(client: Any) -> None:
    first = client.namespaces.search.create(NAMESPACE, **QUESTION, multiturn=True)
    search = client.namespaces.search
    second = search.continue_(first.session_id, namespace=NAMESPACE, message="And dogs?", include_attributes=True)
    assert second.session_id == first.session_id
    stream = search.continue_(first.session_id, namespace=NAMESPACE, message="And the moon?", stream=True)
    assert [event.type for event in stream][-1] == "session_result"


def test_keys_are_made_listed_and_deleted(client: Any) -> None:
    made = client.api_keys.create(name="through the client")
    assert made.raw_key.endswith(made.api_key.key_suffix)
    assert made.api_key.id in {key.id for key in client.api_keys.list().api_keys}
    assert client.api_keys.delete(made.api_key.id).success is True
    with pytest.raises(charcoal.NotFoundError):
        client.api_keys.delete(made.api_key.id)


def test_errors_are_of_their_classes(client: Any, api: Api) -> None:
    search = client.namespaces.search
    with pytest.raises(charcoal.BadRequestError) as bad:
        search.create(NAMESPACE, objective="", context="x")
    assert bad.value.body["error"]["code"] == "invalid_request"
    with pytest.raises(charcoal.BadRequestError):
        search.create(NAMESPACE, objective="x", context="x", filters={"unheard": 1}, stream=True)
    with pytest.raises(charcoal.NotFoundError):
        search.create("nowhere", **QUESTION)
    with pytest.raises(charcoal.AuthenticationError):
        client.with_options(api_key="wrong-key-altogether").namespaces.list()
    with pytest.raises(charcoal.PermissionDeniedError):
        client.with_options(api_key=api.new_key(scopes=["read"])).namespaces.search.create(NAMESPACE, **QUESTION)


def test_the_asynchronous_client_does_the_same(api: Api, client: Any) -> None:
    async def run() -> None:
        async with charcoal.AsyncCharcoal(base_url=api.url, api_key=ROOT_KEY, max_retries=0) as other:
            search = other.namespaces.search
            answer = await search.create(NAMESPACE, **QUESTION)
            assert answer.status == "completed"
            stream: AsyncIterator[Any] = await search.create(NAMESPACE, **QUESTION, stream=True)
            assert [event.type async for event in stream][-1] == "session_result"
            await search.continue_(answer.session_id, namespace=NAMESPACE, message="And dogs?")
            stream = await search.continue_(answer.session_id, namespace=NAMESPACE, message="And?", stream=True)
            assert [event.type async for event in stream][-1] == "session_result"
            documents = other.namespaces.documents
            assert (await documents.upsert(NAMESPACE, documents=[{"id": "async"}])).documents_upserted == 1
            assert (await documents.retrieve("async", namespace=NAMESPACE)).id == "async"
            assert (await documents.delete(NAMESPACE, document_ids=["async"])).documents_deleted == 1
            assert NAMESPACE in {n.name for n in (await other.namespaces.list()).results}
            made = await other.api_keys.create(name="async")
            assert made.api_key.id in {key.id for key in (await other.api_keys.list()).api_keys}
            assert (await other.api_keys.delete(made.api_key.id)).success is True
            with pytest.raises(charcoal.NotFoundError):
                await search.create("nowhere", **QUESTION)

    asyncio.run(run())
