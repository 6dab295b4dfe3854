"""The tools of an assistant, called by the official client: in process, over standard input, over HTTP."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

import engine
from api.integrations.mcp_server import make_server

COMMAND = ["-c", "from api.cli.main import main; main()", "mcp"]
pytestmark = pytest.mark.xdist_group("integrations")


def environment(data: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("QUARRY_", "ANTHROPIC_"))}
    return kept | {"QUARRY_DATA": str(data)}


@pytest.fixture
def copied(data: Path, tmp_path: Path) -> Path:
    """The data for a process of its own: one process owns a directory at a time."""
    return Path(shutil.copytree(data, tmp_path / "data"))


def call(quarry: engine.Engine, tool: str, **arguments: Any) -> Any:
    async def run() -> Any:
        async with Client(make_server(quarry, "1")) as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(run())


def test_the_tools_say_what_they_take_and_give(quarry: engine.Engine) -> None:
    async def run() -> Any:
        async with Client(make_server(quarry, "1")) as client:
            return await client.list_tools()

    tools = {tool.name: tool for tool in asyncio.run(run()).tools}
    assert set(tools) == {"list_namespaces", "search", "retrieve", "get_document"}
    for tool in tools.values():
        assert tool.description
        assert tool.output_schema
        assert tool.annotations.read_only_hint
    assert tools["retrieve"].input_schema["properties"]["mode"]["enum"] == ["hybrid", "lexical", "vector", "planned"]


def test_namespaces_come_with_their_attributes(quarry: engine.Engine) -> None:
    (namespace,) = call(quarry, "list_namespaces").structured_content["namespaces"]
    assert (namespace["name"], namespace["documents"]) == ("notes", 3)
    assert namespace["attributes"]["year"] == {"type": "int", "searchable": False, "filterable": True}


def test_a_question_is_answered_with_citations(quarry: engine.Engine) -> None:
    answer = call(quarry, "search", namespace="notes", question="When does the ferry to Ness sail?").structured_content
    assert "[1]" in answer["answer"]
    first = answer["results"][0]
    assert (first["number"], first["document_id"], first["properties"]["title"]) == (1, "2", "Timetable")
    assert first["excerpts"] == ["The ferry to Ness sails at nine and at five."]


def test_passages_are_filtered_and_carry_their_document(quarry: engine.Engine) -> None:
    hits = call(quarry, "retrieve", namespace="notes", text="ferry", k=5, filters={"year": 2024})
    found = hits.structured_content["hits"]
    assert {hit["document_id"] for hit in found} == {"2", "3"}
    for hit in found:
        assert hit["text"] == quarry.get("notes", hit["document_id"])[hit["attribute"]][hit["start"] : hit["end"]]


def test_long_documents_are_read_in_pieces(quarry: engine.Engine) -> None:
    body = quarry.get("notes", "1")["body"]
    piece = call(quarry, "get_document", namespace="notes", document_id="1", characters=100).structured_content
    assert (piece["document"]["body"], piece["cut"]) == (body[:100], ["body"])
    rest = call(quarry, "get_document", namespace="notes", document_id="1", start=100).structured_content
    assert (rest["document"]["body"], rest["cut"]) == (body[100:], [])


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("search", {"namespace": "nothing", "question": "x"}, "namespace_not_found"),
        ("get_document", {"namespace": "notes", "document_id": "9"}, "document_not_found"),
        ("retrieve", {"namespace": "notes", "text": "x", "filters": {"colour": 1}}, "unknown_attribute"),
        ("retrieve", {"namespace": "notes", "text": " "}, "must not be blank"),
    ],
)
def test_the_model_reads_what_was_wrong(
    quarry: engine.Engine, tool: str, arguments: dict[str, Any], words: str
) -> None:
    result = call(quarry, tool, **arguments)
    assert result.is_error
    assert words in result.content[0].text


def test_an_assistant_starts_it_over_standard_input(copied: Path) -> None:
    async def run() -> Any:
        parameters = StdioServerParameters(command=sys.executable, args=COMMAND, env=environment(copied))
        async with Client(parameters) as client:
            return await client.call_tool("retrieve", {"namespace": "notes", "text": "dogs on a lead", "k": 1})

    assert asyncio.run(run()).structured_content["hits"][0]["document_id"] == "3"


def test_over_http_a_key_is_needed(data: Path, copied: Path) -> None:
    serving = subprocess.Popen(
        [sys.executable, *COMMAND, "--http", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env=environment(copied),
    )
    try:
        assert serving.stderr is not None
        found = re.search(r"http://\S+", serving.stderr.readline())
        assert found
        assert asyncio.run(_asked(found[0], (data.parent / "key").read_text())) == "2"
        for name, status in (("weak", 403), ("other", 403), (None, 401), ("nonsense", 401)):
            key = (data.parent / name).read_text() if name and (data.parent / name).exists() else name
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            assert httpx2.post(found[0], json={}, headers=headers).status_code == status
    finally:
        serving.terminate()
        serving.communicate(timeout=60)


async def _asked(url: str, key: str) -> str:
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers) as carrier,
        Client(streamable_http_client(url, http_client=carrier)) as client,
    ):
        result = await client.call_tool("search", {"namespace": "notes", "question": "When does the ferry sail?"})
        return result.structured_content["results"][0]["document_id"]
