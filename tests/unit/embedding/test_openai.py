"""The embedder over HTTP: the real client against a server that speaks the form."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

import engine
from engine.embedding import openai
from engine.embedding.registry import load_embedder
from engine.errors import ModelMisconfigured, ModelOutputInvalid, ModelUnavailable


class EmbeddingServer(ThreadingHTTPServer):
    """Embeds a text as its length and its number of vowels; answers what it was told to when asked for a model's name.

    Attributes:
        asked: bodies and keys of all requests.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.asked: list[tuple[dict[str, Any], str | None]] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Answering(BaseHTTPRequestHandler):
    server: EmbeddingServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((body, self.headers["Authorization"]))
        model = body["model"]
        status = int(model) if model.isdigit() else 200
        answer: dict[str, Any] = {
            "object": "list",
            "model": model,
            "data": [self.row(n, t) for n, t in self.rows(body)],
        }
        if model == "short":
            answer["data"] = answer["data"][1:]
        elif model == "empty":
            answer = {}
        elif status != 200:
            answer = {"error": {"message": f"echo {body['input']}"}}
        raw = json.dumps(answer).encode() if model != "html" else b"<p>nothing here"
        self.send_response(status if self.path == "/v1/embeddings" else 404)
        self.send_header("Content-Type", "application/json" if model != "html" else "text/html")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    @staticmethod
    def rows(body: dict[str, Any]) -> list[tuple[int, str]]:
        # In any order: `index` says which is whose.
        return list(reversed(list(enumerate(body["input"]))))

    @staticmethod
    def row(number: int, text: str) -> dict[str, Any]:
        vector = [float(len(text)), float(sum(text.count(vowel) for vowel in "aeiou")), 1.0]
        return {"object": "embedding", "index": number, "embedding": vector}

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    monkeypatch.setattr(openai, "_RETRIES", 0)
    made = EmbeddingServer()
    yield made
    made.shutdown()
    made.server_close()


def test_texts_come_back_as_unit_rows_in_their_order(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "TEXTS_A_CALL", 2)
    embedder = load_embedder("openai:some/model", url=server.url, key="secret")
    texts = ["harbour", " ", "a", "ferry to Ness", "x" * 50_000]
    rows = embedder.embed_passages(texts)
    assert (embedder.name, embedder.dimension) == ("openai:some/model", 3)
    expected = np.array([[7, 3, 1], [1, 1, 1], [1, 1, 1], [13, 3, 1], [openai.LONGEST_TEXT, 0, 1]], np.float64)
    assert np.allclose(rows, expected / np.linalg.norm(expected, axis=1, keepdims=True))
    sent = [body["input"] for body, _ in server.asked]
    assert sent[1:] == [["harbour", "a"], ["ferry to Ness", "x" * openai.LONGEST_TEXT]]
    assert {key for _, key in server.asked} == {"Bearer secret"}
    assert {body["encoding_format"] for body, _ in server.asked} == {"float"}


@pytest.mark.parametrize(
    ("model", "error", "words"),
    [
        ("401", ModelMisconfigured, "QUARRY_EMBEDDER_KEY"),
        ("404", ModelMisconfigured, "refuses the model '404'"),
        ("400", ModelMisconfigured, "or its texts"),
        ("429", ModelUnavailable, "does not answer"),
        ("503", ModelUnavailable, "does not answer"),
        ("short", ModelOutputInvalid, "with 0 rows"),
        ("empty", ModelOutputInvalid, "without vectors"),
        ("html", ModelOutputInvalid, "without vectors"),
    ],
)
def test_faults_are_told_in_our_words_without_what_was_sent(
    server: EmbeddingServer, model: str, error: type[engine.QuarryError], words: str
) -> None:
    with pytest.raises(error, match=words) as raised:
        load_embedder(f"openai:{model}", url=server.url)
    assert "echo" not in raised.value.message


def test_a_server_that_is_not_there_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "_RETRIES", 0)
    with pytest.raises(ModelUnavailable, match=r"at 127\.0\.0\.1 does") as raised:
        load_embedder("openai:x", url="http://user:secret@127.0.0.1:9/v1")
    assert "secret" not in raised.value.message


def test_an_engine_stores_and_finds_with_it(server: EmbeddingServer, tmp_path: Any) -> None:
    with engine.open(tmp_path, agent="offline", embedder="openai:tiny", embedder_url=server.url) as quarry:
        quarry.upsert("notes", [{"id": "1", "body": "The ferry sails at nine."}, {"id": "2", "body": "Rain."}])
        assert quarry.retrieve("notes", "When does the ferry sail?", k=1)[0].document_id == "1"
    with engine.open(tmp_path, agent="offline") as other, pytest.raises(engine.ReindexRequired):
        other.upsert("notes", [{"id": "3", "body": "Sun."}])
