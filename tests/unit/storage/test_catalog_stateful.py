"""The catalog, with its rows in memory, against dictionaries: through reopening and failed writes."""

from __future__ import annotations

import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.errors import ApiKeyNotFound, StorageError
from engine.model.schema import Attribute, AttributeType, Schema
from engine.storage.catalog import Catalog
from engine.storage.catalog_file import CatalogFile
from engine.storage.keys import Keyring
from engine.store.keys import KeyStore
from tests.catalogs import added, state, written

COMPANIES = ("default", "acme")
names = st.sampled_from(["a", "b", "c", "A", "a.b", "-"])
companies = st.sampled_from(COMPANIES)
schemas = st.dictionaries(
    st.text(min_size=1, max_size=5),
    st.builds(Attribute, st.sampled_from(AttributeType), st.booleans(), st.booleans(), st.booleans()),
    max_size=3,
).map(Schema)


class CatalogMachine(RuleBasedStateMachine):
    @initialize()
    def open(self) -> None:
        self.directory = Path(tempfile.mkdtemp())
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.file = CatalogFile.open(self.directory)
        self.attach()
        self.namespaces: dict[tuple[str, str], tuple[int, Schema]] = {}
        self.numbers: set[int] = set()
        self.keys: dict[str, tuple[str, str]] = {}
        self.revoked: set[str] = set()

    def attach(self) -> None:
        self.catalog = Catalog(self.file, lambda: self.now)
        self.keyring = Keyring(self.file, lambda: self.now)

    @rule(company=companies, name=names, schema=schemas)
    def create(self, company: str, name: str, schema: Schema) -> None:
        if (company, name) in self.namespaces:
            return
        made = added(self.catalog, name, schema, self.catalog.company(company))
        assert made.id not in self.numbers
        self.numbers.add(made.id)
        self.namespaces[company, name] = (made.id, schema)

    @precondition(lambda self: self.namespaces)
    @rule(data=st.data(), schema=schemas)
    def change(self, data: st.DataObject, schema: Schema) -> None:
        key = data.draw(st.sampled_from(sorted(self.namespaces)))
        number = self.namespaces[key][0]
        before = self.catalog.namespace(self.catalog.company(key[0]).id, key[1]).updated_at
        assert written(self.catalog, number, schema).updated_at > before
        self.namespaces[key] = (number, schema)

    @precondition(lambda self: self.namespaces)
    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.namespaces)))
        self.catalog.drop_namespace(self.namespaces.pop(key)[0])

    @rule(company=companies, name=names)
    def fail_to_create(self, company: str, name: str) -> None:
        """The commit stands, its record on the side does not: an error, and yet the namespace is there."""
        if (company, name) in self.namespaces:
            return
        owner = self.catalog.company(company)
        blocked = self.directory / ".catalog.manifest.tmp"
        number = self.catalog.reserve()
        blocked.mkdir()
        try:
            self.catalog.add_namespace(owner, name, number, state(1, Schema()))
        except StorageError:
            blocked.rmdir()
        else:
            raise AssertionError("acknowledged without its record")
        assert self.catalog.namespace(owner.id, name).id == number
        assert number not in self.numbers
        self.numbers.add(number)
        self.namespaces[company, name] = (number, Schema())

    @rule(company=companies)
    def create_key(self, company: str) -> None:
        key, raw = KeyStore(self.keyring, self.catalog.company(company)).create("k")
        self.keys[raw] = (key.id, company)

    @precondition(lambda self: self.keys)
    @rule(data=st.data(), company=companies)
    def revoke_key(self, data: st.DataObject, company: str) -> None:
        # In the order they were made: sorted, random keys would make another run of the same choices.
        raw = data.draw(st.sampled_from(list(self.keys)))
        key_id, owner = self.keys[raw]
        try:
            self.keyring.revoke(self.catalog.company(company).id, key_id)
        except ApiKeyNotFound:
            assert company != owner
        else:
            assert company == owner
            del self.keys[raw]
            self.revoked.add(raw)

    @rule(seconds=st.integers(-10, 100))
    def let_time_pass(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule()
    def reopen(self) -> None:
        self.catalog.flush()
        self.file.close()
        self.file = CatalogFile.open(self.directory)
        self.attach()

    @invariant()
    def memory_equals_model(self) -> None:
        for company in COMPANIES:
            found = self.catalog.namespaces(self.catalog.company(company).id)
            expected = {name: held for (owner, name), held in self.namespaces.items() if owner == company}
            assert [n.name for n in found] == sorted(expected)
            assert {n.name: (n.id, n.schema) for n in found} == expected
        for raw, (key_id, company) in self.keys.items():
            key = self.keyring.verify(raw)
            assert key is not None
            assert (key.id, key.company_name) == (key_id, company)
        assert not any(self.keyring.verify(raw) for raw in self.revoked)

    def teardown(self) -> None:
        self.file.close()
        shutil.rmtree(self.directory)


TestCatalogMachine = CatalogMachine.TestCase
TestCatalogMachine.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)
