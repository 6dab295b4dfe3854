"""Two ``quarry serve`` on one PostgreSQL: what one has acknowledged holds at the other by its next request."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest

from tests.api.serving import Api, error_of
from tests.postgres import database_of
from tests.shared.servers import Database, Server, children_of
from tests.unit.cli.running import quarry

pytestmark = pytest.mark.xdist_group("shared")

FERRY = {"id": "ferry", "body": "The ferry sails at nine from the old harbour.", "line": "north"}
BOATS = [FERRY, {"id": "tug", "body": "The tug tows barges up the river all winter.", "line": "south"}]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Api, Api]]:
    folder = tmp_path_factory.mktemp("pair")
    data = database_of(folder)
    # The second one starts while the first may still be making the tables.
    with Server(data, folder / "one.log") as one, Server(data, folder / "two.log") as other:
        yield one.wait().api, other.wait().api


def test_what_one_stores_the_other_reads_and_finds(pair: tuple[Api, Api]) -> None:
    one, other = pair
    assert one.upload("reads", *BOATS).status_code == 200
    assert other.get("/v1/namespaces/reads/documents/ferry").json()["body"] == FERRY["body"]
    assert other.search("reads", "When does the ferry sail?").json()["results"][0]["id"] == "ferry"
    assert other.upload("reads", {"id": "ferry", "body": "The ferry sails at ten."}).status_code == 200
    assert one.get("/v1/namespaces/reads/documents/ferry").json()["body"] == "The ferry sails at ten."


def test_a_session_goes_on_at_the_other(pair: tuple[Api, Api]) -> None:
    one, other = pair
    one.upload("talks", *BOATS)
    first = one.search("talks", "When does the ferry sail?").json()
    follow = other.post(
        f"/v1/namespaces/talks/search/{first['session_id']}", json={"message": "And what does the tug tow?"}
    )
    assert follow.status_code == 200, follow.text
    assert follow.json()["session_id"] == first["session_id"]
    assert follow.json()["queries_executed"] > first["queries_executed"]


def test_a_key_that_one_revokes_the_other_refuses_at_once(pair: tuple[Api, Api]) -> None:
    one, other = pair
    made = one.post("/v1/api_keys", json={"name": "brief", "scopes": ["read"]}).json()
    for _ in range(3):
        assert other.with_key(made["raw_key"]).get("/v1/namespaces").status_code == 200
    assert one.delete(f"/v1/api_keys/{made['api_key']['id']}").status_code == 200
    assert error_of(other.with_key(made["raw_key"]).get("/v1/namespaces")) == (401, "invalid_api_key")


def test_a_namespace_that_one_drops_is_gone_at_the_other(pair: tuple[Api, Api]) -> None:
    one, other = pair
    one.upload("gone", *BOATS)
    session = other.search("gone", "When does the ferry sail?").json()["session_id"]
    assert one.delete("/v1/namespaces/gone").status_code == 200
    for answer in (
        other.get("/v1/namespaces/gone"),
        other.get("/v1/namespaces/gone/documents/ferry"),
        other.search("gone"),
        other.post(f"/v1/namespaces/gone/search/{session}", json={"message": "And the tug?"}),
    ):
        assert error_of(answer) == (404, "namespace_not_found")
    assert "gone" not in other.get("/v1/namespaces").text


def test_an_attribute_that_one_makes_filterable_filters_at_the_other(pair: tuple[Api, Api]) -> None:
    one, other = pair
    one.upload("lines", *BOATS)
    schema = {"line": {"type": "string", "is_filterable": True}}
    assert other.upload("lines", {"id": "x", "line": "north"}, schema=schema).status_code == 200
    listed = one.post("/v1/namespaces/lines/documents/list", json={"filters": {"line": "north"}})
    assert [document["id"] for document in listed.json()["documents"]] == ["ferry", "x"]


def test_uploads_to_both_at_once_lose_no_document_and_no_attribute(pair: tuple[Api, Api]) -> None:
    answers: list[httpx.Response] = []

    def upload(number: int) -> None:
        # Each makes the namespace or changes its schema.
        answers.append(
            Api(pair[number % 2].url).upload("crowd", {"id": f"d{number}", f"attribute{number}": f"value {number}"})
        )

    threads = [threading.Thread(target=upload, args=[number]) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.status_code for answer in answers} == {200}
    for api in pair:
        schema = api.get("/v1/namespaces/crowd").json()["attributes_schema"]
        assert {f"attribute{number}" for number in range(12)} <= set(schema)
        sizes = {size["name"]: size["document_count"] for size in api.get("/v1/namespaces/stats").json()["results"]}
        assert sizes["crowd"] == 12
        for number in range(12):
            assert api.get(f"/v1/namespaces/crowd/documents/d{number}").status_code == 200


def test_a_company_of_one_is_no_company_of_another(pair: tuple[Api, Api]) -> None:
    one, other = pair
    one.upload("reads", *BOATS)
    key = one.new_key(scopes=["read"])
    assert error_of(other.with_key(key).post("/v1/api_keys", json={"name": "x"}))[0] == 403
    assert error_of(other.with_key(None).get("/v1/namespaces")) == (401, "unauthenticated")


def test_a_server_without_its_database_says_so_and_recovers(tmp_path: Path) -> None:
    with Database() as database, Server(database.address + "&password=swordfish", tmp_path / "log") as server:
        api = server.wait().api
        assert api.upload("boats", *BOATS).status_code == 200
        database.kill()
        asked = (
            api.get("/readyz"),
            api.get("/v1/namespaces"),
            api.get("/v1/namespaces/boats/documents/ferry"),
            api.upload("boats", FERRY),
            api.search("boats"),
        )
        assert {error_of(answer) for answer in asked} == {(503, "storage_error")}
        assert all(int(answer.headers["Retry-After"]) >= 1 for answer in asked)
        assert api.get("/healthz").status_code == 200
        database.start()
        until = time.monotonic() + 30
        while api.get("/readyz").status_code != 200:
            assert time.monotonic() < until
            time.sleep(0.1)
        assert api.search("boats", "When does the ferry sail?").json()["results"][0]["id"] == "ferry"
        database.kill_backend()
        until = time.monotonic() + 30
        while (answer := api.upload("boats", {"id": "late", "body": "Late."})).status_code != 200:
            assert error_of(answer) == (503, "storage_error")
            assert time.monotonic() < until
            time.sleep(0.1)
        assert "swordfish" not in (tmp_path / "log").read_text()
        assert server.stop() == 0


def test_workers_share_an_address_and_one_that_dies_is_replaced(tmp_path: Path) -> None:
    with Server(database_of(tmp_path), tmp_path / "log", "--workers", "2") as server:
        api = server.wait().api
        assert api.upload("boats", *BOATS).status_code == 200
        before = children_of(server.process.pid)
        assert len(before) == 2
        os.kill(before[0], signal.SIGKILL)
        until = time.monotonic() + 60
        while len(now := children_of(server.process.pid)) < 2 or now == before:
            assert time.monotonic() < until
            time.sleep(0.1)
        server.wait()
        assert api.get("/v1/namespaces/boats/documents/ferry").status_code == 200
        assert server.stop() == 0
        assert not any(Path(f"/proc/{pid}").exists() for pid in now)


def test_a_folder_has_one_worker(tmp_path: Path) -> None:
    refused = quarry("serve", "--workers", "2", "--port", "0", data=tmp_path / "data")
    assert refused.returncode == 1
    assert "One process owns a data directory" in refused.stderr
    assert not (tmp_path / "data").exists()
