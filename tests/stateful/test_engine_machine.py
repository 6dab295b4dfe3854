"""The engine against a dictionary: whatever is written, replaced, deleted or reopened, both say the same."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

import engine
from engine import DocumentNotFound, NamespaceNotFound
from tests.embedders import HashingEmbedder

SCHEMA = {
    "body": {"type": "string", "is_searchable": True},
    "notes": {"type": "[]string", "is_searchable": True},
    "year": {"type": "int", "is_filterable": True},
}
WORDS = ["harbour", "ferry", "storm", "island", "lantern", "rope", "gull", "tide"]
ids = st.sampled_from(["a", "b", "c", "d/e", "ü", "a b"])
words = st.sampled_from(WORDS)
texts = st.lists(words, min_size=1, max_size=4)
years = st.none() | st.integers(2000, 2003)


def document(document_id: str, chosen: list[str], serial: int, year: int | None, root: str | None) -> dict[str, Any]:
    """A document whose text holds a word that no other version of any document has."""
    out: dict[str, Any] = {
        "id": document_id,
        "body": f"The {' '.join(chosen)} was seen. unique{serial}x",
        "notes": [f"first {chosen[0]}", f"marker{serial}y stands here"],
    }
    return out | ({"year": year} if year is not None else {}) | ({"root_document_id": root} if root else {})


class EngineMachine(RuleBasedStateMachine):
    keys = Bundle("keys")

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="quarry-machine-"))
        self.model: dict[str, dict[str, Any]] = {}
        self.gone: list[int] = []
        self.serial = 0
        self.exists = False
        self.quarry = self.open()

    def open(self) -> engine.Engine:
        return engine.open(self.folder / "data", embedder=HashingEmbedder(), agent="offline")

    def teardown(self) -> None:
        self.quarry.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @rule(target=keys, document_id=ids)
    def key(self, document_id: str) -> str:
        return document_id

    @rule(
        batch=st.lists(
            st.tuples(ids, texts, years, st.none() | ids),
            min_size=1,
            max_size=5,
        )
    )
    def upsert(self, batch: list[tuple[str, list[str], int | None, str | None]]) -> None:
        documents = []
        for document_id, chosen, year, root in batch:
            self.serial += 1
            documents.append(document(document_id, chosen, self.serial, year, root))
        written = self.quarry.upsert("n", documents, SCHEMA)
        self.exists = True
        for held in documents:
            if held["id"] in self.model:
                self.forget(held["id"])
            self.model[held["id"]] = held
        assert written == len({d["id"] for d in documents})

    def forget(self, document_id: str) -> None:
        body = self.model.pop(document_id)["body"]
        self.gone.append(int(body.rpartition("unique")[2].removesuffix("x")))

    @precondition(lambda self: self.exists)
    @rule(chosen=st.lists(ids, min_size=1, max_size=3))
    def delete(self, chosen: list[str]) -> None:
        there = {i for i in chosen if i in self.model}
        assert self.quarry.delete("n", document_ids=chosen) == len(there)
        for document_id in there:
            self.forget(document_id)

    @precondition(lambda self: self.exists)
    @rule(root=ids)
    def delete_root(self, root: str) -> None:
        there = [i for i, d in self.model.items() if i == root or d.get("root_document_id") == root]
        assert self.quarry.delete("n", root_document_ids=[root]) == len(there)
        for document_id in there:
            self.forget(document_id)

    @precondition(lambda self: self.exists)
    @rule(document_id=ids)
    def get(self, document_id: str) -> None:
        try:
            found = self.quarry.get("n", document_id)
        except DocumentNotFound:
            assert document_id not in self.model
        else:
            assert found == self.model[document_id]

    @precondition(lambda self: self.exists)
    @rule(mode=st.sampled_from(["lexical", "vector", "hybrid"]), word=words, year=st.none() | st.integers(2000, 2003))
    def retrieve(self, mode: str, word: str, year: int | None) -> None:
        filters = None if year is None else {"year": year}
        for hit in self.quarry.retrieve("n", word, k=30, mode=mode, filters=filters):
            held = self.model[hit.document_id]
            name, bracket, position = hit.attribute.partition("[")
            value = held[name][int(position[:-1])] if bracket else held[name]
            assert value[hit.start : hit.end] == hit.text
            assert year is None or held.get("year") == year

    @precondition(lambda self: self.exists and self.model)
    @rule(data=st.data())
    def what_is_stored_is_found(self, data: st.DataObject) -> None:
        held = self.model[data.draw(st.sampled_from(sorted(self.model)))]
        for mode in ("lexical", "hybrid"):
            for text in (held["body"].rpartition(" ")[2], held["notes"][1].split()[0]):
                assert self.quarry.retrieve("n", text, k=1, mode=mode)[0].document_id == held["id"]

    @precondition(lambda self: self.exists)
    @rule()
    def reopen(self) -> None:
        self.quarry.close()
        self.quarry = self.open()

    @precondition(lambda self: self.exists)
    @rule()
    def reindex(self) -> None:
        assert self.quarry.reindex("n") == len(self.model)

    @precondition(lambda self: self.exists)
    @rule()
    def drop(self) -> None:
        self.quarry.drop("n")
        self.exists = False
        for document_id in list(self.model):
            self.forget(document_id)
        try:
            self.quarry.get("n", "a")
        except NamespaceNotFound:
            return
        raise AssertionError("a dropped namespace is still there")

    @invariant()
    def nothing_that_is_gone_is_found(self) -> None:
        if not getattr(self, "exists", False):
            return
        for serial in self.gone[-3:]:
            for text in (f"unique{serial}x", f"marker{serial}y"):
                assert self.quarry.retrieve("n", text, mode="lexical") == []
                hits = self.quarry.retrieve("n", text, k=30, mode="vector")
                assert [h for h in hits if text in h.text] == []

    @invariant()
    def sizes_agree(self) -> None:
        if getattr(self, "exists", False):
            assert self.quarry.stats()[0].documents == len(self.model)

    @precondition(lambda self: self.exists)
    @rule()
    def all_stores_agree(self) -> None:
        assert self.quarry.check() == []


EngineMachine.TestCase.settings = settings(
    max_examples=15,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestEngineMachine = EngineMachine.TestCase
