"""The server as an operator sees it: start, log, metrics, origins, end."""

from __future__ import annotations

import html
import json
import re
import signal
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
import pytest

import engine
from api.routes import health
from api.server import listening_sockets, serve
from api.settings import Settings, SettingsError
from engine.errors import StorageError
from engine.storage.catalog_file import CatalogFile
from tests.api.conftest import ARTICLES, SCHEMA
from tests.api.rows import row
from tests.api.serving import (
    ROOT_KEY,
    Api,
    ProcessServer,
    ThreadServer,
    error_of,
    parse_events,
    wait_until,
)
from tests.api.slow_model import SlowModel

SEARCH_STAGES = (
    "plan", "embed", "filter", "lexical", "vector", "rank", "hydrate", "read", "answer", "verify",
)  # fmt: skip
BODY = {"objective": "For how many hours do cats sleep a day?", "context": "a test"}


def lines_of(server: ProcessServer) -> list[dict[str, Any]]:
    return [json.loads(line) for line in server.log.read_text().splitlines()]


def test_told_to_stop_it_ends_what_hangs_and_leaves_in_good_order(tmp_path: Path) -> None:
    model = SlowModel()
    model.hangs = True
    with model.served() as fake:
        environment = {
            "QUARRY_AGENT": "claude",
            "ANTHROPIC_API_KEY": fake.key,
            "ANTHROPIC_BASE_URL": fake.url,
            "QUARRY_SHUTDOWN_SECONDS": "0.5",
        }
        with ProcessServer(tmp_path, **environment) as server, Api(server.url) as api, ThreadPoolExecutor(2) as pool:
            api.upload("n", *ARTICLES)
            stream = pool.submit(Api(server.url).post, "/v1/namespaces/n/search", json={**BODY, "stream": True})
            plain = pool.submit(Api(server.url).post, "/v1/namespaces/n/search", json=BODY)
            wait_until(lambda: model.plans(fake) == 2, seconds=30)
            assert server.stop() == 0
            name, last = parse_events(stream.result(30).text)[-1]
            assert (name, last["code"]) == ("error", "overloaded")
            assert error_of(plain.result(30)) == (503, "overloaded")


def test_told_to_stop_it_lets_streams_end_that_soon_do(tmp_path: Path) -> None:
    model = SlowModel()
    model.delay_s = 0.2
    with model.served() as fake:
        environment = {"QUARRY_AGENT": "claude", "ANTHROPIC_API_KEY": fake.key, "ANTHROPIC_BASE_URL": fake.url}
        with ProcessServer(tmp_path, **environment) as server, Api(server.url) as api, ThreadPoolExecutor(1) as pool:
            api.upload("n", *ARTICLES)
            stream = pool.submit(Api(server.url).post, "/v1/namespaces/n/search", json={**BODY, "stream": True})
            wait_until(lambda: model.plans(fake) == 1, seconds=30)
            assert server.stop(by=signal.SIGINT) == 0
            assert parse_events(stream.result(30).text)[-1][0] == "session_result"


def test_a_data_directory_in_use_is_refused(tmp_path: Path) -> None:
    with engine.open(tmp_path / "data"):
        server = ProcessServer(tmp_path)
        with pytest.raises(AssertionError):
            server.start()
        assert server.stop() != 0
        assert "DataDirectoryLocked" in server.log.read_text()


def test_a_port_in_use_is_one_sentence_that_says_what_to_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError, match=rf"Port {port} .* in use: .*QUARRY_PORT"):
            serve(Settings(data=tmp_path / "data", port=port))
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid"])
def test_an_address_of_another_machine_is_refused(host: str) -> None:
    with pytest.raises(SettingsError, match="QUARRY_HOST"):
        listening_sockets(host, 0)


def test_a_name_with_several_addresses_is_listened_on_at_each() -> None:
    (first,) = listening_sockets("localhost", 0)
    port = first.getsockname()[1]
    first.close()
    found = {info[4][0] for info in socket.getaddrinfo("localhost", port, type=socket.SOCK_STREAM)}
    sockets = listening_sockets("localhost", port)
    assert {made.getsockname()[0] for made in sockets} == found
    for made in sockets:
        made.close()


def test_the_log_begins_with_the_settings_without_secrets_and_ends_with_the_uptime(tmp_path: Path) -> None:
    secrets = {"QUARRY_API_KEY": "canary-of-the-root", "ANTHROPIC_API_KEY": "canary-of-the-model"}
    with ProcessServer(tmp_path, **secrets, ANTHROPIC_BASE_URL="http://user:canary-pass@model.example") as server:
        with Api(server.url, secrets["QUARRY_API_KEY"]) as api:
            api.upload("n", {"id": "a", "text": "Cats sleep."})
        assert server.stop() == 0
        server.start()
        assert server.stop() == 0
    starts = [line for line in lines_of(server) if line["message"] == "started"]
    stops = [line for line in lines_of(server) if line["message"] == "stopped"]
    assert [line["namespaces"] for line in starts] == [0, 1]
    assert {line["version"] for line in (*starts, *stops)} == {version("quarry-search")}
    assert starts[0]["settings"]["QUARRY_DATA"] == str(tmp_path / "data")
    assert starts[0]["settings"]["ANTHROPIC_BASE_URL"] == "http://***@model.example"
    assert all(line["uptime_s"] >= 0 for line in stops)
    assert "canary" not in server.log.read_text()


def test_a_log_line_tells_who_asked_what_and_never_what_was_said(tmp_path: Path) -> None:
    secrets = ("Kinkajoucanary", "Ocelotcanary", "Tapircanary")
    with ProcessServer(tmp_path) as server, Api(server.url) as api:
        api.upload("n", {"id": f"id-{secrets[0]}", "text": f"The word is {secrets[0]}."})
        raw = api.new_key(name="reader")
        reader = api.with_key(raw)
        for stream in (False, True):
            assert reader.search("n", objective=f"What about {secrets[1]}?", stream=stream).status_code == 200
        reader.search("n", objective="x", filters={secrets[2]: 1})
        reader.get(f"/v1/namespaces/n/documents/id-{secrets[0]}")
        api.with_key("qk_wrong-key-altogether").get("/v1/namespaces")
        missing = api.get("/v1/nothing", headers={"X-Request-Id": "from-a-proxy"})
        api.post(
            "/v1/namespaces/n/search", content=f"{{{secrets[1]}".encode(), headers={"Content-Type": "application/json"}
        )
        assert server.stop() == 0
    text = server.log.read_text()
    for secret in (*secrets, raw, ROOT_KEY, "qk_wrong"):
        assert secret not in text
    requests = [line for line in lines_of(server) if line["logger"] == "quarry.request"]
    searched = next(line for line in requests if line["route"].endswith("/search"))
    assert sorted(searched) == [
        "company",
        "key_id",
        "level",
        "logger",
        "message",
        "method",
        "ms",
        "request_id",
        "route",
        "status",
        "time",
    ]
    assert (searched["method"], searched["route"], searched["status"], searched["company"]) == (
        "POST",
        "/v1/namespaces/{namespace}/search",
        200,
        "default",
    )
    unmatched = next(line for line in requests if line["request_id"] == missing.headers["X-Request-Id"])
    assert (unmatched["code"], unmatched["client_request_id"]) == ("not_found", "from-a-proxy")


def test_it_prints_one_line_when_it_answers_and_logs_for_people_if_told_to(tmp_path: Path) -> None:
    with ProcessServer(tmp_path, QUARRY_LOG_FORMAT="console") as server:
        assert httpx.get(f"{server.url}/healthz").status_code == 200
        assert server.stop() == 0
    assert re.fullmatch(r"listening on http://127\.0\.0\.1:\d+\n", "".join(server.stdout))
    assert re.search(
        r"^\S+Z info    request request_id=req_\S+ method=GET route=/healthz status=200",
        server.log.read_text(),
        re.MULTILINE,
    )


@pytest.fixture(scope="module")
def measured() -> Iterator[Api]:
    origins = ("https://app.example.com",)
    with ThreadServer(cors_origins=origins) as server, Api(server.url) as api:
        api.upload("n", *ARTICLES, schema=SCHEMA)
        api.search("n", filters={"source": "Almanac"})
        api.get("/v1/nothing")
        yield api


def test_metrics_count_requests_stages_and_contents(measured: Api) -> None:
    answer = measured.get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain")
    values = {
        match[1]: float(match[2]) for match in re.finditer(r"^(\w+(?:\{[^}]*\})?) (\S+)$", answer.text, re.MULTILINE)
    }
    assert re.search(
        r'^quarry_requests_total\{method="POST",route="/v1/namespaces/\{namespace\}/search",status="200"\} 1\.0$',
        answer.text,
        re.MULTILINE,
    )
    assert 'route="unmatched",status="404"' in answer.text
    counts = {stage: values[f'quarry_stage_seconds_count{{stage="{stage}"}}'] for stage in SEARCH_STAGES}
    assert min(counts.values()) >= 1, counts
    assert counts["filter"] == counts["lexical"] == counts["vector"] == counts["rank"]
    sums = {stage: values[f'quarry_stage_seconds_sum{{stage="{stage}"}}'] for stage in SEARCH_STAGES}
    assert min(sums.values()) > 0, sums
    assert values['quarry_stage_seconds_count{stage="derive"}'] == 1
    assert values['quarry_stage_seconds_count{stage="write"}'] == 1
    assert values["quarry_documents"] == 3
    assert values["quarry_passages"] >= 3
    assert values["quarry_namespaces"] == 1
    assert values["quarry_searches"] == 0
    assert 'quarry_engine_events_total{name="documents_written"} 3.0' in answer.text


def test_metrics_tell_how_many_namespaces_are_open() -> None:
    def open_now(api: Api) -> int:
        match = re.search(r"^quarry_open_namespaces (\S+)$", api.get("/metrics").text, re.MULTILINE)
        assert match
        return int(float(match[1]))

    with ThreadServer() as server, Api(server.url) as api:
        assert open_now(api) == 0
        for name in ("a", "b"):
            api.upload(name, {"id": "1", "text": "One."})
        other = server.service.engine.for_company("elsewhere")
        other.upsert("c", [{"id": "1", "text": "One."}])
        assert open_now(api) == 3
        api.delete("/v1/namespaces/a")
        assert open_now(api) == 2


def test_metrics_are_for_admins_of_the_company_that_runs_the_server(measured: Api) -> None:
    assert error_of(measured.with_key(None).get("/metrics")) == (401, "unauthenticated")
    assert error_of(measured.with_key(measured.new_key()).get("/metrics")) == (403, "permission_denied")


def test_browsers_may_call_from_the_origins_that_are_named(measured: Api, api: Api) -> None:
    origin = {"Origin": "https://app.example.com"}
    ask = origin | {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    nobody = measured.with_key(None)
    preflight = nobody.options("/v1/namespaces/n/search", headers=ask)
    assert preflight.status_code == 204
    assert preflight.headers["Access-Control-Allow-Origin"] == "https://app.example.com"
    assert "POST" in preflight.headers["Access-Control-Allow-Methods"]
    assert "authorization" in preflight.headers["Access-Control-Allow-Headers"]
    answer = measured.get("/v1/namespaces", headers=origin)
    assert answer.headers["Access-Control-Allow-Origin"] == "https://app.example.com"
    assert "Origin" in answer.headers["Vary"]
    refused = nobody.get("/v1/namespaces", headers=origin)
    assert refused.headers["Access-Control-Allow-Origin"] == "https://app.example.com"
    other = {"Origin": "https://evil.example.com"}
    assert "Access-Control-Allow-Origin" not in measured.get("/v1/namespaces", headers=other).headers
    assert nobody.options("/v1/namespaces", headers=ask | other).status_code == 401
    # Without the setting no origin is let in.
    assert "Access-Control-Allow-Origin" not in api.get("/v1/namespaces", headers=origin).headers
    assert api.with_key(None).options("/v1/namespaces", headers=ask).status_code == 401


@row("Authentication and keys: Health")
def test_it_is_not_ready_while_storage_fails_or_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    with ThreadServer() as server, Api(server.url, None) as nobody:
        original, hangs = CatalogFile.read, threading.Event()

        @contextmanager
        def failing(self: CatalogFile) -> Iterator[Any]:
            raise StorageError("the disk is gone")
            yield

        @contextmanager
        def hanging(self: CatalogFile) -> Iterator[Any]:
            assert hangs.wait(20)
            with original(self) as cursor:
                yield cursor

        monkeypatch.setattr(CatalogFile, "read", failing)
        assert error_of(nobody.get("/readyz")) == (503, "storage_error")
        monkeypatch.setattr(CatalogFile, "read", hanging)
        monkeypatch.setattr(health, "READY_SECONDS", 0.1)
        # However often it is asked, one thread waits for the disk.
        for _ in range(12):
            assert error_of(nobody.get("/readyz")) == (503, "storage_error")
        assert nobody.get("/healthz").status_code == 200
        hangs.set()
        monkeypatch.setattr(health, "READY_SECONDS", 20)
        assert nobody.get("/readyz").json()["status"] == "ready"


@row("Authentication and keys: Health")
def test_it_is_not_ready_while_it_shuts_down() -> None:
    with ThreadServer() as server, Api(server.url, None) as nobody:
        assert nobody.get("/readyz").status_code == 200
        server.service.stopping.set()
        answer = nobody.get("/readyz")
        assert error_of(answer) == (503, "overloaded")
        assert nobody.get("/healthz").status_code == 200
        server.service.stopping.clear()


def test_the_documentation_is_one_page_without_scripts_or_other_hosts(api: Api) -> None:
    nobody = api.with_key(None)
    page = nobody.get("/docs")
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "<script" not in page.text
    assert not re.findall(r"""(?:src|href)=["'](?!#|/openapi\.json)""", page.text)
    assert "url(" not in page.text
    assert "/v1/namespaces/{namespace}/search" in page.text
    assert nobody.get("/schema", headers={"Accept": "text/html,*/*"}).text == page.text
    document = nobody.get("/schema").json()
    assert document["openapi"] == "3.1.0"
    assert document == nobody.get("/schema/openapi.json").json() == nobody.get("/openapi.json").json()
    links = set(re.findall(r'href="#([^"]+)"', page.text))
    assert links <= set(re.findall(r'id="([^"]+)"', page.text))


def test_idle_and_dawdling_connections_hold_up_nobody(measured: Api) -> None:
    host, port = measured.url.removeprefix("http://").split(":")
    with ExitStack() as held:
        for n in range(200):
            connection = held.enter_context(socket.create_connection((host, int(port)), timeout=10))
            if n % 2:
                connection.sendall(b"POST /v1/namespaces/n/search HTTP/1.1\r\nHost: x\r\nContent-Le")
        for _ in range(20):
            assert measured.get("/v1/namespaces/n/documents/cats").status_code == 200
        assert measured.search("n").status_code == 200


def test_the_documentation_begins_with_the_search_and_has_a_command_for_each_route(api: Api) -> None:
    page = html.unescape(api.with_key(None).get("/docs").text)
    assert page.index('id="search"') < min(
        page.index(f'id="{name}"') for name in ("upload_documents", "about", "whoami")
    )
    assert (
        'curl -H "Authorization: Bearer $QUARRY_KEY" -H "Content-Type: application/json" '
        """-d '{"text": "ferry cancelled by a storm", "k": 5}' "$QUARRY_URL/v1/namespaces/articles/retrieve\""""
    ) in page
    assert 'curl "$QUARRY_URL/healthz"' in page
    routes = api.get("/openapi.json").json()["paths"]
    assert page.count("<pre>curl ") == sum(len(methods) for methods in routes.values())


def test_the_root_tells_where_to_look(api: Api) -> None:
    nobody = api.with_key(None)
    told = nobody.get("/").json()
    assert told["service"] == "quarry"
    for name in ("documentation", "openapi", "console"):
        assert nobody.get(told[name]).status_code == 200
    browser = nobody.get("/", headers={"Accept": "text/html"})
    assert (browser.status_code, browser.headers["Location"]) == (307, "/console")
