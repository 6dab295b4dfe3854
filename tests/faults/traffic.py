"""Clients that write to servers over HTTP until they die, and remember what was acknowledged, or seen and when."""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import httpx
import msgspec

from tests.api.serving import Api
from tests.faults.histories import NEVER, Op

KINDS = {"upload": 8, "delete": 2, "drop": 1, "filterable": 1, "searchable": 1}
"""What a writer does, by how often. ``filterable`` changes the schema; ``searchable`` has every document cut anew."""


class Held(msgspec.Struct, frozen=True):
    """What a namespace holds: document to version, and the flags that change."""

    versions: dict[str, int]
    colour_is_filterable: bool
    note_is_searched: bool

    @property
    def schema(self) -> dict[str, dict[str, Any]]:
        return {
            "body": {"type": "string", "is_searchable": True},
            "note": {"type": "string", "is_searchable": self.note_is_searched},
            "version": {"type": "int", "is_filterable": True},
            "colour": {"type": "string", "is_filterable": self.colour_is_filterable},
        }


def document(document_id: str, version: int) -> dict[str, Any]:
    colour = "red" if version % 2 else "blue"
    return {"id": document_id, "body": f"ferry v{version}z", "note": f"keel w{version}z", "version": version} | {
        "colour": colour
    }


class Writer:
    """One client, the only one to write to its namespace.

    Attributes:
        held: what was acknowledged last; None is no namespace.
        pending: what may stand there instead, where the last call was not answered.
        acknowledged: how many calls.
    """

    def __init__(self, name: str, draw: random.Random) -> None:
        self.name = name
        self.held: Held | None = None
        self.pending: Held | None = None
        self.acknowledged = 0
        self._draw = draw
        self._version = 0

    def run(self, url: str) -> None:
        """Write until the server is gone; an answer other than success fails."""
        with Api(url) as api:
            try:
                while True:
                    self._step(api)
                    self.held = self.pending
                    self.acknowledged += 1
            except httpx.TransportError:
                return

    def settle(self, seen: object) -> None:
        """The server was opened anew: what it shows was acknowledged, or is the one call that was not answered."""
        states = {id(state): expected(state) for state in (self.held, self.pending)}
        assert seen in states.values(), (self.name, seen, list(states.values()))
        self.held = self.pending = self.held if states[id(self.held)] == seen else self.pending

    def _step(self, api: Api) -> None:
        self._version += 1
        held = self.held
        kind = "upload" if held is None else self._draw.choices(list(KINDS), list(KINDS.values()))[0]
        chosen = [f"d{n}" for n in self._draw.sample(range(9), 3)]
        path = f"/v1/namespaces/{self.name}"
        if held is None:
            held = Held({}, colour_is_filterable=True, note_is_searched=False)
        match kind:
            case "delete":
                versions = {i: v for i, v in held.versions.items() if i not in chosen}
                self.pending = msgspec.structs.replace(held, versions=versions)
                answer = api.post(f"{path}/documents/delete", json={"document_ids": chosen})
            case "drop":
                self.pending = None
                answer = api.delete(path)
            case _:
                after = msgspec.structs.replace(
                    held,
                    versions=held.versions | dict.fromkeys(chosen, self._version),
                    colour_is_filterable=held.colour_is_filterable ^ (kind == "filterable"),
                    note_is_searched=held.note_is_searched ^ (kind == "searchable"),
                )
                self.pending = after
                answer = api.upload(self.name, *(document(i, self._version) for i in chosen), schema=after.schema)
        assert answer.is_success, (kind, answer.status_code, answer.text)


class Observer:
    """Writes, deletes and reads documents that others write too, and keeps the times.

    Attributes:
        seen: operations by document; one that a lost connection or a 503 ended may have taken effect or not.
    """

    def __init__(self, number: int, names: Sequence[str]) -> None:
        self._draw = random.Random(number)
        self._number = number
        self._names = names
        self._turn = 0
        self.seen: list[tuple[str, Op]] = []

    def run(self, apis: Sequence[Api], turns: int) -> None:
        """So many turns at servers in turn; where there is one, until it is gone."""
        for _ in range(turns):
            try:
                self._step(self._draw.choice(apis))
            except httpx.TransportError:
                if len(apis) == 1:
                    return
                time.sleep(0.05)

    def _step(self, api: Api) -> None:
        self._turn += 1
        name = self._draw.choice(self._names)
        kind = self._draw.choices(["write", "delete", "get", "list"], [4, 1, 4, 1])[0]
        value = f"{self._number}.{self._turn}"
        call, end, read = time.monotonic(), NEVER, dict[str, object]()
        try:
            match kind:
                case "write":
                    answer = api.upload("n", {"id": name, "value": value})
                case "delete":
                    answer = api.post("/v1/namespaces/n/documents/delete", json={"document_ids": [name]})
                case "get":
                    answer = api.get(f"/v1/namespaces/n/documents/{name}")
                case _:
                    answer = api.get("/v1/namespaces/n/documents?limit=100")
            if answer.status_code == 503:
                return
            assert answer.is_success or (kind == "get" and answer.status_code == 404), (kind, answer.text)
            if kind == "get":
                read = {name: answer.json().get("value")}
            elif kind == "list":
                held = {d["id"]: d["value"] for d in answer.json()["documents"]}
                read = {name: held.get(name) for name in self._names}
            end = time.monotonic()
        finally:
            if kind in ("write", "delete"):
                self.seen.append((name, Op(call, end, False, value if kind == "write" else None)))
            self.seen += [(name, Op(call, end, True, held)) for name, held in read.items()]


def histories(observers: Sequence[Observer]) -> dict[str, list[Op]]:
    """What all of them saw of each document."""
    history: defaultdict[str, list[Op]] = defaultdict(list)
    for observer in observers:
        for name, op in observer.seen:
            history[name].append(op)
    return history


def expected(held: Held | None) -> object:
    """What `seen` gives where all is well."""
    if held is None:
        return None
    red = sorted(i for i, version in held.versions.items() if version % 2)
    return {
        "listed": sorted(held.versions.items()),
        "counted": len(held.versions),
        "flags": (held.colour_is_filterable, held.note_is_searched),
        "filtered": sorted(held.versions),
        "red": red if held.colour_is_filterable else "refused",
        "by word": sorted(held.versions),
        "by vector": sorted(held.versions),
        "by note": sorted(held.versions) if held.note_is_searched else [],
    }


def seen(api: Api, name: str) -> object:
    """A namespace as its lists, statistics, schema, columns, filters and indexes show it; None where there is none."""
    path = f"/v1/namespaces/{name}"
    stats = {n["name"]: n for n in _body(api.get("/v1/namespaces/stats"))["results"]}
    names = {n["name"] for n in _body(api.get("/v1/namespaces"))["results"]}
    assert stats.keys() == names
    if name not in names:
        assert api.get(path).status_code == 404
        return None
    flags = _body(api.get(path))["attributes_schema"]
    documents = _body(api.get(f"{path}/documents?limit=1000"))["documents"]
    assert documents == [document(d["id"], d["version"]) for d in documents]

    def found(filters: dict[str, Any]) -> object:
        answer = api.post(f"{path}/documents/list", json={"filters": filters, "limit": 1000})
        return "refused" if answer.status_code == 400 else sorted(d["id"] for d in _body(answer)["documents"])

    def hits(text: str, mode: str, attribute: str) -> list[str]:
        asked = {"text": text, "k": 100, "mode": mode}
        answered = _body(api.post(f"{path}/retrieve", json=asked))["hits"]
        return sorted({h["document_id"] for h in answered if h["attribute"] == attribute})

    return {
        "listed": sorted((d["id"], d["version"]) for d in documents),
        "counted": stats[name]["document_count"],
        "flags": (flags["colour"]["is_filterable"], flags["note"]["is_searchable"]),
        "filtered": found({"version": {"$gte": 0}}),
        "red": found({"colour": "red"}),
        "by word": hits("ferry", "lexical", "body"),
        "by vector": hits("ferry", "vector", "body"),
        "by note": hits("keel", "lexical", "note"),
    }


def _body(answer: httpx.Response) -> Any:
    assert answer.status_code == 200, (answer.status_code, answer.text)
    return answer.json()
