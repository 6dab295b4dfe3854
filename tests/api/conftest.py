"""One server for most tests of the interface, and clients for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.serving import Api, ProcessServer

HERE = Path(__file__).parent

ARTICLES = [
    {
        "id": "cats",
        "title": "On cats",
        "text": "Cats sleep for thirteen hours a day. A cat has whiskers.",
        "source": "Almanac",
        "year": 2021,
        "tags": ["animals", "sleep"],
        "published": "2021-05-01T10:00:00Z",
    },
    {
        "id": "dogs",
        "title": "On dogs",
        "text": "Dogs bark at strangers. A dog remembers cats that it has met.",
        "source": "Gazette",
        "year": 2022,
        "tags": ["animals"],
        "published": "2022-05-01T10:00:00Z",
    },
    {
        "id": "moon",
        "title": "On the moon",
        "text": "The moon goes around the earth in twenty-seven days. Cats look at the moon.",
        "source": "Almanac",
        "year": 2023,
        "published": "2023-05-01T12:00:00+02:00",
    },
]
SCHEMA = {
    "title": {"type": "string", "is_searchable": True},
    "text": {"type": "string", "is_searchable": True},
    "source": {"type": "string", "is_filterable": True},
    "year": {"type": "int", "is_filterable": True},
    "tags": {"type": "[]string", "is_filterable": True},
    "published": {"type": "datetime", "is_filterable": True},
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share a server run in one worker, so that there is one of it."""
    for item in items:
        if HERE in item.path.parents:
            shares_server = "server" in getattr(item, "fixturenames", ())
            item.add_marker(pytest.mark.xdist_group("api" if shares_server else f"api-{item.path.stem}"))


@pytest.fixture
def row(request: pytest.FixtureRequest) -> str:
    """The row of the decisions that a test is about."""
    return request.param


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessServer]:
    """A server in a process of its own, with the offline agent."""
    with ProcessServer(tmp_path_factory.mktemp("server"), QUARRY_HEARTBEAT_SECONDS="0.05") as running:
        yield running


@pytest.fixture(scope="session")
def api(server: ProcessServer) -> Iterator[Api]:
    """A client with the root key."""
    with Api(server.url) as client:
        yield client


@pytest.fixture(scope="session")
def articles(api: Api) -> str:
    """A namespace of three articles with a schema; tests only read it."""
    answer = api.upload("articles", *ARTICLES, schema=SCHEMA)
    assert answer.json() == {"documents_upserted": 3}
    return "articles"


@pytest.fixture
def fresh(request: pytest.FixtureRequest, api: Api) -> Iterator[str]:
    """The name of a namespace that does not exist yet; it is dropped afterwards."""
    name = f"ns-{abs(hash(request.node.nodeid)):x}"
    yield name
    api.delete(f"/v1/namespaces/{name}")
