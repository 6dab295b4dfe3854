"""Two companies with the same names and ids: nothing of one is ever seen by the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.api.rows import row
from tests.api.serving import Api, ThreadServer, error_of
from tests.api.slow_model import SlowModel
from tests.fakes.messages_server import FakeMessages
from tests.postgres import KINDS, place

CANARIES = {"acme": "Zanzibarcanary", "globex": "Quetzalcanary"}


@dataclass
class Company:
    name: str
    api: Api
    canary: str
    session: str = ""
    key_id: str = ""


@pytest.fixture(scope="module", params=KINDS)
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Company, Company, FakeMessages]]:
    model = SlowModel()
    data = place(request.param, tmp_path_factory.mktemp("world"))
    with (
        model.served() as fake,
        ThreadServer(data=data, agent="claude", anthropic_api_key=fake.key, anthropic_base_url=fake.url) as server,
    ):
        companies: list[Company] = []
        for name, canary in CANARIES.items():
            keys = server.service.engine.for_company(name).keys
            key, raw = keys.create("admin", scopes=["admin"])
            company = Company(name, Api(server.url, raw), canary, key_id=key.id)
            for namespace in ("shared", f"only-{name}"):
                document = {"id": "same", "text": f"The secret word is {canary}.", "owner": canary, "kind": "secret"}
                schema = {"owner": {"type": "string", "is_filterable": True}, "text": {"type": "string"}}
                assert company.api.upload(namespace, document, schema=schema).status_code == 200
            company.session = search(company, "shared").json()["session_id"]
            companies.append(company)
        yield companies[0], companies[1], fake
        for company in companies:
            company.api.close()


def search(company: Company, namespace: str, **body: Any) -> httpx.Response:
    return company.api.search(namespace, objective="What is the secret word?", include_attributes=True, **body)


def test_a_search_finds_the_own_documents_only(world: tuple[Company, Company, FakeMessages]) -> None:
    for mine, other in (world[:2], world[1::-1]):
        for stream in (False, True):
            answer = search(mine, "shared", stream=stream)
            assert mine.canary in answer.text
            assert other.canary not in answer.text


READS: dict[str, Callable[[Company, Company], httpx.Response]] = {
    "list": lambda me, _: me.api.get("/v1/namespaces"),
    "stats": lambda me, _: me.api.get("/v1/namespaces/stats"),
    "namespace": lambda me, _: me.api.get("/v1/namespaces/shared"),
    "document": lambda me, _: me.api.get("/v1/namespaces/shared/documents/same"),
    "random": lambda me, _: me.api.get("/v1/namespaces/shared/random_document"),
    "search": lambda me, _: search(me, "shared"),
    "search for the other": lambda me, you: me.api.search("shared", objective=f"Where is {you.canary[:6]}?"),
    "filter by the other": lambda me, you: search(me, "shared", filters={"kind": "x"}),
    "keys": lambda me, _: me.api.get("/v1/api_keys"),
    "passages": lambda me, _: me.api.post("/v1/namespaces/shared/retrieve", json={"text": "Where is it?", "k": 100}),
    "documents": lambda me, _: me.api.get("/v1/namespaces/shared/documents"),
    "documents by post": lambda me, _: me.api.post("/v1/namespaces/shared/documents/list", json={"filters": {}}),
    "usage": lambda me, _: me.api.get("/v1/usage_events", params={"limit": 100}),
    "whoami": lambda me, _: me.api.get("/v1/whoami"),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_no_read_shows_anything_of_the_other_company(
    world: tuple[Company, Company, FakeMessages], read: Callable[[Company, Company], httpx.Response]
) -> None:
    for mine, other in (world[:2], world[1::-1]):
        answer = read(mine, other)
        assert other.canary not in answer.text
        assert f"only-{other.name}" not in answer.text
        assert other.key_id not in answer.text


FOREIGN: dict[str, tuple[Callable[[Company, Company], httpx.Response], tuple[int, str]]] = {
    "namespace": (lambda me, you: me.api.get(f"/v1/namespaces/only-{you.name}"), (404, "namespace_not_found")),
    "document": (
        lambda me, you: me.api.get(f"/v1/namespaces/only-{you.name}/documents/same"),
        (404, "namespace_not_found"),
    ),
    "random": (
        lambda me, you: me.api.get(f"/v1/namespaces/only-{you.name}/random_document"),
        (404, "namespace_not_found"),
    ),
    "search": (lambda me, you: search(me, f"only-{you.name}"), (404, "namespace_not_found")),
    "stream": (lambda me, you: search(me, f"only-{you.name}", stream=True), (404, "namespace_not_found")),
    "delete documents": (
        lambda me, you: me.api.post(
            f"/v1/namespaces/only-{you.name}/documents/delete", json={"document_ids": ["same"]}
        ),
        (404, "namespace_not_found"),
    ),
    "drop": (lambda me, you: me.api.delete(f"/v1/namespaces/only-{you.name}"), (404, "namespace_not_found")),
    "session": (
        lambda me, you: me.api.post(f"/v1/namespaces/shared/search/{you.session}", json={"message": "And?"}),
        (404, "session_not_found"),
    ),
    "session as a stream": (
        lambda me, you: me.api.post(
            f"/v1/namespaces/shared/search/{you.session}", json={"message": "And?", "stream": True}
        ),
        (404, "session_not_found"),
    ),
    "key": (lambda me, you: me.api.delete(f"/v1/api_keys/{you.key_id}"), (404, "api_key_not_found")),
    "metrics": (lambda me, _: me.api.get("/metrics"), (403, "permission_denied")),
    "backup": (lambda me, _: me.api.post("/v1/admin/backup"), (403, "permission_denied")),
    "passages": (
        lambda me, you: me.api.post(f"/v1/namespaces/only-{you.name}/retrieve", json={"text": "x"}),
        (404, "namespace_not_found"),
    ),
    "documents": (
        lambda me, you: me.api.get(f"/v1/namespaces/only-{you.name}/documents"),
        (404, "namespace_not_found"),
    ),
    "usage": (
        lambda me, you: me.api.get(f"/v1/usage_events/{search(you, 'shared').headers['X-Request-Id']}"),
        (404, "not_found"),
    ),
}


@row("Authentication and keys: Another company's namespace, session or key")
@pytest.mark.parametrize(("reach", "expected"), FOREIGN.values(), ids=FOREIGN.keys())
def test_what_belongs_to_another_company_does_not_exist(
    world: tuple[Company, Company, FakeMessages],
    reach: Callable[[Company, Company], httpx.Response],
    expected: tuple[int, str],
) -> None:
    for mine, other in (world[:2], world[1::-1]):
        answer = reach(mine, other)
        assert error_of(answer) == expected
        assert other.canary not in answer.text


@row("Authentication and keys: Another company's namespace, session or key")
def test_foreign_and_missing_are_told_apart_by_nobody(world: tuple[Company, Company, FakeMessages]) -> None:
    mine, other, _ = world
    foreign = mine.api.get(f"/v1/namespaces/only-{other.name}").json()["error"]["message"]
    missing = mine.api.get("/v1/namespaces/only-missing").json()["error"]["message"]
    assert foreign.replace(f"only-{other.name}", "") == missing.replace("only-missing", "")
    url = "/v1/namespaces/shared/search/"
    foreign = mine.api.post(url + other.session, json={"message": "x"}).json()["error"]["message"]
    missing = mine.api.post(url + "sess_" + "x" * 22, json={"message": "x"}).json()["error"]["message"]
    assert foreign == missing


def test_writes_and_drops_touch_the_own_company_only(world: tuple[Company, Company, FakeMessages]) -> None:
    mine, other, _ = world
    for step in (
        lambda: mine.api.upload("contested", {"id": "x", "by": mine.name}),
        lambda: mine.api.post("/v1/namespaces/contested/documents/delete", json={"document_ids": ["x"]}),
        lambda: mine.api.delete("/v1/namespaces/contested"),
    ):
        other.api.upload("contested", {"id": "x", "by": other.name})
        assert step().status_code == 200
        assert other.api.get("/v1/namespaces/contested/documents/x").json() == {"id": "x", "by": other.name}


def test_keys_made_by_a_company_belong_to_it(world: tuple[Company, Company, FakeMessages]) -> None:
    for company in world[:2]:
        made = company.api.with_key(company.api.new_key())
        assert company.canary in made.get("/v1/namespaces/shared/documents/same").text


def test_a_model_is_never_shown_both_companies(world: tuple[Company, Company, FakeMessages]) -> None:
    mine, other, fake = world
    for company in (mine, other):
        search(company, "shared")
        company.api.post(f"/v1/namespaces/shared/search/{company.session}", json={"message": "Say it again"})
    shown = [received.prompt for received in fake.requests]
    assert any(mine.canary in prompt for prompt in shown)
    assert any(other.canary in prompt for prompt in shown)
    assert not any(mine.canary in prompt and other.canary in prompt for prompt in shown)
