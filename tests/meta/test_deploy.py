"""The files under ``deploy/``: what can be checked of them without a container engine, a proxy or a network."""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.logs import FIELDS
from api.settings import SETTINGS
from tests.api.conftest import ARTICLES
from tests.api.serving import Api, ThreadServer

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
OURS = {setting.variable for setting in SETTINGS}
OF_COMPOSE = {"QUARRY_DOMAIN", "QUARRY_UPSTREAM"}
"""Variables of the compose file and the proxy, not of the server."""


@pytest.fixture(scope="module")
def dashboard() -> Any:
    return json.loads((DEPLOY / "grafana.json").read_text())


def panels(dashboard: Any) -> Iterator[Any]:
    yield from (panel for panel in dashboard["panels"] if panel["type"] != "row")


@pytest.fixture(scope="module")
def metrics() -> str:
    with ThreadServer() as server, Api(server.url) as api:
        api.upload("n", *ARTICLES)
        assert api.search("n").status_code == 200
        api.get("/metrics")
        return api.get("/metrics").text


def test_the_dashboard_asks_for_metrics_that_there_are(dashboard: Any, metrics: str) -> None:
    offered = set(re.findall(r"^(\w+)(?:{| )", metrics, re.MULTILINE))
    asked = {
        name
        for panel in panels(dashboard)
        for target in panel["targets"]
        for name in re.findall(r"\b(?:quarry|process)_\w+", target["expr"])
    }
    assert len(asked) > 10
    assert asked - offered - {"quarry_model_tokens_total"} == set()


def test_the_dashboard_knows_the_route_of_searches_and_shows_every_metric_of_ours(dashboard: Any, metrics: str) -> None:
    text = " ".join(target["expr"] for panel in panels(dashboard) for target in panel["targets"])
    for route in set(re.findall(r'route="([^"]+)"', text)):
        assert f'route="{route}"' in metrics
    families = set(re.findall(r"^# TYPE (quarry_\w+) (?:counter|gauge|histogram)", metrics, re.MULTILINE))
    shown = {name for name in families if name.removesuffix("_total").removesuffix("_created") in text}
    unseen = {"quarry_namespace_unavailable"}
    assert {name for name in families - shown if not name.endswith("_created")} <= unseen


def test_panels_have_places_and_ids_of_their_own(dashboard: Any) -> None:
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids))
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken
        taken |= cells


@pytest.mark.parametrize(
    "name", ["Dockerfile", "compose.yaml", "compose.database.yaml", "quarry.env.example", "Caddyfile"]
)
def test_every_setting_that_is_named_is_one(name: str) -> None:
    named = set(re.findall(r"\b(?:QUARRY|ANTHROPIC)_[A-Z_]+", (DEPLOY / name).read_text()))
    assert named
    assert named - OURS - OF_COMPOSE == set()


def instructions() -> list[tuple[str, str]]:
    joined = re.sub(r"\\\n", " ", (DEPLOY / "Dockerfile").read_text())
    lines = [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split(None, 1)[0], line.split(None, 1)[1].strip()) for line in lines]


def test_the_image_runs_as_nobody_special_with_one_volume_and_a_health_check() -> None:
    last_stage = instructions()[max(n for n, (word, _) in enumerate(instructions()) if word == "FROM") :]
    words = dict(last_stage)
    assert words["USER"].split(":")[0].isdigit()
    assert words["USER"].split(":")[0] != "0"
    assert [value for word, value in last_stage if word == "VOLUME"] == ["/data"]
    assert "/readyz" in words["HEALTHCHECK"]
    assert json.loads(words["CMD"]) == ["serve"]
    assert "HNSWLIB_NO_NATIVE=1" in (DEPLOY / "Dockerfile").read_text()
    check = json.loads(words["HEALTHCHECK"].split("CMD", 1)[1])
    compile(check[2], "health check", "exec")


def test_the_image_is_built_from_files_that_there_are_and_the_context_holds_them() -> None:
    copied = [
        source
        for word, value in instructions()
        if word == "COPY" and not value.startswith("--from")
        for source in value.split()[:-1]
    ]
    allowed = (DEPLOY.parent / ".dockerignore").read_text().splitlines()
    for source in copied:
        assert (DEPLOY.parent / source).exists()
        assert f"!{source}" in allowed


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="hadolint is not installed")
def test_hadolint_finds_nothing() -> None:
    subprocess.run(["hadolint", str(DEPLOY / "Dockerfile")], check=True)


@pytest.mark.parametrize("name", ["compose.yaml", "compose.database.yaml"])
def test_the_compose_file_uses_what_it_defines(name: str) -> None:
    compose = yaml.safe_load((DEPLOY / name).read_text())
    volumes = set(compose["volumes"])
    for service in compose["services"].values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            # The key of Prometheus is the operator's to make.
            assert source in volumes or (DEPLOY / source).exists() or source == "./prometheus.key"
        for needed in service.get("depends_on", {}):
            assert needed in compose["services"]
    quarry = compose["services"]["quarry"]
    assert quarry["read_only"] is True
    assert (DEPLOY / quarry["build"]["context"] / quarry["build"]["dockerfile"]).resolve() == DEPLOY / "Dockerfile"
    scraped = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())["scrape_configs"][0]
    assert scraped["static_configs"][0]["targets"] == ["quarry:8000"]


def unit() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(DEPLOY / "quarry.service")
    return parser


def test_the_unit_stops_gently_and_reads_the_settings_that_are_shown() -> None:
    service = unit()["Service"]
    assert service["ExecStart"].split()[-1] == "serve"
    assert service["EnvironmentFile"] == "/etc/quarry/quarry.env"
    assert int(service["TimeoutStopSec"]) > 10
    directory = f"/var/lib/{service['StateDirectory']}"
    assert f"QUARRY_DATA={directory}\n" in (DEPLOY / "quarry.env.example").read_text()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_understands_the_unit() -> None:
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(DEPLOY / "quarry.service")],
        capture_output=True,
        text=True,
        check=False,
    )
    # The program is not installed where the tests run.
    said = [line for line in done.stderr.splitlines() if "quarry.service" in line and "is not executable" not in line]
    assert said == []


@pytest.mark.parametrize("name", ["Caddyfile", "nginx.conf"])
def test_braces_of_the_proxies_match(name: str) -> None:
    text = re.sub(r"#.*", "", (DEPLOY / name).read_text())
    depth = 0
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0


def test_the_proxies_let_events_through_and_wait_longer_than_a_search() -> None:
    nginx = (DEPLOY / "nginx.conf").read_text()
    for line in ("proxy_buffering off;", "merge_slashes off;", "proxy_read_timeout 75s;", "client_max_body_size 256m;"):
        assert line in nginx
    # An address with a path, even "/", would make nginx decode paths.
    assert re.findall(r"proxy_pass (\S+);", nginx) == ["http://quarry"]
    assert "flush_interval -1" in (DEPLOY / "Caddyfile").read_text()


def test_every_field_of_the_log_is_documented() -> None:
    page = (DEPLOY.parent / "docs" / "deploy.md").read_text()
    assert [
        name for name in (*FIELDS, "time", "level", "logger", "message", "exception") if f"`{name}`" not in page
    ] == []
