"""What the control of every store must do: companies, namespaces, keys and sessions.

Subclass and give `open`; a test of two stores at once is skipped only where `Capabilities` denies many writers.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.backend.protocol import NamespaceSpec
from engine.errors import (
    ApiKeyNotFound,
    ConcurrentChange,
    InvalidRequest,
    NamespaceNotFound,
    NotFound,
    SessionBusy,
    SessionExpired,
    SessionFailed,
    SessionNotFound,
)
from engine.model.namespace import Company, StoredNamespace
from engine.settings import EngineSettings
from engine.store.keys import KeyStore
from engine.store.protocol import Store
from tests.contracts.backend import CORPUS, EMBEDDER, SCHEMA
from tests.contracts.backend import store as put


def named(held: Store, name: str, company: Company | None = None) -> StoredNamespace:
    """Make a namespace as an upload does."""
    owner = company or held.catalog.company("default")
    number = held.catalog.reserve()
    held.documents.create(NamespaceSpec(number, SCHEMA, EMBEDDER.name, EMBEDDER.dimension))
    put(held.documents, CORPUS[:3], number)
    made = held.catalog.add_namespace(owner, name, number, held.documents.state(number))
    held.documents.confirm(number)
    return made


class ControlContract:
    """Collected through its subclasses."""

    @abstractmethod
    def open(self, folder: Path, settings: EngineSettings) -> Store:
        """The store that belongs to `folder`; a second call gives the same data."""

    @pytest.fixture
    def held(self, tmp_path: Path) -> Generator[Store]:
        opened = self.open(tmp_path, EngineSettings())
        yield opened
        opened.close()

    @pytest.fixture
    def pair(self, held: Store, tmp_path: Path) -> Generator[tuple[Store, Store]]:
        if not held.capabilities.many_writers:
            pytest.skip("one process at a time")
        other = self.open(tmp_path, EngineSettings())
        yield held, other
        other.close()

    # -- companies and namespaces

    def test_there_is_a_default_company(self, held: Store) -> None:
        assert held.catalog.company("default") == Company(1, "default")

    def test_a_company_is_made_once(self, held: Store) -> None:
        made = held.catalog.company("Müller & Söhne")
        assert held.catalog.company("Müller & Söhne") == made
        assert [company.name for company in held.catalog.companies()] == ["default", "Müller & Söhne"]

    @pytest.mark.parametrize("name", ["", " ", "a\0b", "x" * 129])
    def test_no_company_has_such_a_name(self, held: Store, name: str) -> None:
        with pytest.raises(InvalidRequest):
            held.catalog.company(name)

    def test_a_company_that_is_not_there_is_only_made_when_asked(self, held: Store) -> None:
        with pytest.raises(NotFound):
            held.catalog.company("nobody", create=False)
        assert len(held.catalog.companies()) == 1

    def test_a_namespace_is_found_by_its_name_in_its_company_alone(self, held: Store) -> None:
        made = named(held, "boats")
        other = held.catalog.company("other")
        assert held.catalog.namespace(1, "boats").id == made.id
        assert held.catalog.find(other.id, "boats") is None
        with pytest.raises(NamespaceNotFound):
            held.catalog.namespace(other.id, "boats")

    def test_companies_may_use_one_name(self, held: Store) -> None:
        other = held.catalog.company("other")
        assert named(held, "boats").id != named(held, "boats", other).id

    def test_namespaces_are_listed_by_name(self, held: Store) -> None:
        for name in ("b", "a", "B", "a-1"):
            named(held, name)
        assert [found.name for found in held.catalog.namespaces(1)] == ["B", "a", "a-1", "b"]

    def test_a_namespace_says_what_it_holds(self, held: Store) -> None:
        number = named(held, "boats").id
        put(held.documents, CORPUS, number)
        found = held.catalog.record(number, held.documents.state(number))
        assert (found.documents, found.embedder, found.dimension) == (len(CORPUS), EMBEDDER.name, EMBEDDER.dimension)
        assert found.schema == held.documents.state(number).schema
        assert [stats.documents for stats in held.stats(1)] == [len(CORPUS)]
        assert held.totals().documents == len(CORPUS)

    def test_every_write_moves_the_time_of_a_namespace_forward(self, held: Store) -> None:
        found = named(held, "boats")
        for _ in range(3):
            put(held.documents, CORPUS[:1], found.id)
            later = held.catalog.record(found.id, held.documents.state(found.id))
            assert later.updated_at > found.updated_at
            found = later

    def test_a_number_is_given_out_once(self, held: Store) -> None:
        number = named(held, "boats").id
        held.documents.drop(number, lambda: held.catalog.drop_namespace(number))
        assert held.catalog.reserve() > number

    def test_a_dropped_namespace_is_gone_with_its_sessions(self, held: Store) -> None:
        number = named(held, "boats").id
        held.sessions.add(1, number, "s", b"state")
        held.documents.drop(number, lambda: held.catalog.drop_namespace(number))
        assert held.catalog.find(1, "boats") is None
        assert not held.documents.exists(number)
        with pytest.raises(SessionNotFound):
            held.sessions.load(1, number, "s")
        named(held, "boats")

    def test_a_sound_namespace_has_no_problems(self, held: Store) -> None:
        made = named(held, "boats")
        held.documents.delete(made.id, ids=["d1"])
        held.catalog.record(made.id, held.documents.state(made.id))
        assert held.problems(made) == []
        assert held.strays() == []

    # -- keys

    def test_a_key_is_verified_by_its_raw_form_alone(self, held: Store) -> None:
        key, raw = KeyStore(held.keyring, held.catalog.company("default")).create("mine", ["read"], None, "cli")
        found = held.keyring.verify(raw)
        assert found is not None
        assert (found.id, found.scopes, found.created_by) == (key.id, ("read",), "cli")
        for other in (raw[:-1], raw + "x", key.id, "", "\0"):
            assert held.keyring.verify(other) is None

    def test_a_revoked_key_is_no_key(self, held: Store) -> None:
        key, raw = KeyStore(held.keyring, held.catalog.company("default")).create("mine")
        held.keyring.revoke(1, key.id)
        assert held.keyring.verify(raw) is None
        with pytest.raises(ApiKeyNotFound):
            held.keyring.revoke(1, key.id)

    def test_a_key_is_revoked_by_its_own_company(self, held: Store) -> None:
        key, raw = KeyStore(held.keyring, held.catalog.company("default")).create("mine")
        with pytest.raises(ApiKeyNotFound):
            held.keyring.revoke(held.catalog.company("other").id, key.id)
        assert held.keyring.verify(raw) is not None

    def test_keys_are_listed_by_company_with_their_last_use(self, held: Store) -> None:
        other = held.catalog.company("other")
        _, raw = KeyStore(held.keyring, held.catalog.company("default")).create("one")
        KeyStore(held.keyring, other).create("two")
        held.keyring.verify(raw)
        (listed,) = held.keyring.of_company(1)
        assert listed.name == "one"
        assert listed.last_used_at is not None
        assert [key.name for key in held.keyring.of_company(other.id)] == ["two"]

    def test_an_expired_key_is_refused_and_still_listed(self, held: Store) -> None:
        soon = datetime.now(UTC) + timedelta(milliseconds=150)
        _, raw = KeyStore(held.keyring, held.catalog.company("default")).create("brief", None, soon)
        threading.Event().wait(0.2)
        assert held.keyring.verify(raw) is None
        assert [key.name for key in held.keyring.of_company(1)] == ["brief"]

    def test_a_root_key_is_not_stored(self, held: Store, tmp_path: Path) -> None:
        held.keyring.register_root("a-root-key", held.catalog.company("default"))
        assert held.keyring.verify("a-root-key") is not None
        assert not held.keyring.is_used
        held.close()
        again = self.open(tmp_path, EngineSettings())
        assert again.keyring.verify("a-root-key") is None
        again.close()

    # -- sessions

    def test_a_session_goes_from_turn_to_turn(self, held: Store) -> None:
        held.sessions.add(1, 7, "s", b"first")
        assert held.sessions.claim(1, 7, "s").state == b"first"
        held.sessions.save("s", b"second")
        assert held.sessions.load(1, 7, "s").state == b"second"
        held.sessions.claim(1, 7, "s")
        held.sessions.release("s")
        assert held.sessions.load(1, 7, "s").state == b"second"
        assert held.sessions.load(1, 7, "s").status == "open"

    def test_a_session_has_one_continuation_at_a_time(self, held: Store) -> None:
        held.sessions.add(1, 7, "s", b"")
        held.sessions.claim(1, 7, "s")
        with pytest.raises(SessionBusy):
            held.sessions.claim(1, 7, "s")

    def test_a_failed_session_stays_failed(self, held: Store) -> None:
        held.sessions.add(1, 7, "a", b"", failed=True)
        held.sessions.add(1, 7, "b", b"")
        held.sessions.claim(1, 7, "b")
        held.sessions.fail("b")
        for name in "ab":
            with pytest.raises(SessionFailed):
                held.sessions.claim(1, 7, name)

    def test_a_session_is_of_its_company_and_namespace(self, held: Store) -> None:
        held.sessions.add(1, 7, "s", b"")
        for company, namespace, name in ((2, 7, "s"), (1, 8, "s"), (1, 7, "other"), (1, 7, "\0")):
            with pytest.raises(SessionNotFound):
                held.sessions.load(company, namespace, name)

    def test_an_unused_session_expires(self, tmp_path: Path) -> None:
        held = self.open(tmp_path, EngineSettings(session_hours=0.0))
        held.sessions.add(1, 7, "s", b"")
        with pytest.raises(SessionExpired):
            held.sessions.claim(1, 7, "s")
        held.sessions.purge()
        with pytest.raises(SessionExpired):
            held.sessions.load(1, 7, "s")
        held.close()

    def test_many_claim_a_session_and_one_has_it(self, held: Store) -> None:
        held.sessions.add(1, 7, "s", b"")
        begin, won = threading.Barrier(6), list[int]()

        def claim(number: int) -> None:
            begin.wait()
            try:
                held.sessions.claim(1, 7, "s")
            except SessionBusy:
                return
            won.append(number)

        threads = [threading.Thread(target=claim, args=[number]) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(won) == 1

    def test_what_was_stored_is_there_after_reopening(self, held: Store, tmp_path: Path) -> None:
        company = held.catalog.company("other")
        made = named(held, "boats", company)
        _, raw = KeyStore(held.keyring, company).create("mine")
        held.sessions.add(company.id, made.id, "s", b"state")
        held.close()
        again = self.open(tmp_path, EngineSettings())
        assert again.catalog.namespace(company.id, "boats").id == made.id
        assert again.keyring.verify(raw) is not None
        assert again.sessions.claim(company.id, made.id, "s").state == b"state"
        again.close()

    # -- two at once

    def test_what_one_makes_the_other_finds(self, pair: tuple[Store, Store]) -> None:
        one, other = pair
        made = named(one, "boats")
        assert other.catalog.namespace(1, "boats") == one.catalog.namespace(1, "boats")
        put(other.documents, CORPUS, made.id)
        assert one.catalog.namespace(1, "boats").documents == len(CORPUS)
        assert one.documents.get(made.id, ["d40"]) != []

    def test_what_one_drops_the_other_does_not_find(self, pair: tuple[Store, Store]) -> None:
        one, other = pair
        made = named(one, "boats")
        other.documents.drop(made.id, lambda: other.catalog.drop_namespace(made.id))
        assert one.catalog.find(1, "boats") is None
        with pytest.raises(NamespaceNotFound):
            one.documents.get(made.id, ["d1"])

    def test_a_name_is_given_to_one_of_two(self, pair: tuple[Store, Store]) -> None:
        one, other = pair
        named(one, "boats")
        with pytest.raises(ConcurrentChange):
            named(other, "boats")

    def test_a_schema_is_merged_from_what_is_there(self, pair: tuple[Store, Store]) -> None:
        one, other = pair
        made = named(one, "boats")
        seen = one.documents.state(made.id).schema
        put(other.documents, [{"id": "x", "fresh": "a new attribute"}], made.id)
        before = other.documents.state(made.id)
        with pytest.raises(ConcurrentChange):
            put(one.documents, CORPUS[:1], made.id, base=seen)
        assert one.documents.state(made.id) == before

    def test_a_key_that_one_revokes_the_other_refuses(self, pair: tuple[Store, Store]) -> None:
        one, other = pair
        key, raw = KeyStore(one.keyring, one.catalog.company("default")).create("mine")
        assert other.keyring.verify(raw) is not None
        one.keyring.revoke(1, key.id)
        assert other.keyring.verify(raw) is None

    def test_a_session_goes_on_elsewhere_but_not_twice(self, pair: tuple[Store, Store]) -> None:
        one, other = pair
        one.sessions.add(1, 7, "s", b"first")
        assert other.sessions.claim(1, 7, "s").state == b"first"
        with pytest.raises(SessionBusy):
            one.sessions.claim(1, 7, "s")
        other.sessions.save("s", b"second")
        assert one.sessions.claim(1, 7, "s").state == b"second"

    def test_opening_another_store_fails_nobody_s_session(self, held: Store, tmp_path: Path) -> None:
        if not held.capabilities.many_writers:
            pytest.skip("one process at a time")
        held.sessions.add(1, 7, "s", b"")
        held.sessions.claim(1, 7, "s")
        other = self.open(tmp_path, EngineSettings())
        other.sessions.purge()
        held.sessions.save("s", b"done")
        assert other.sessions.load(1, 7, "s").state == b"done"
        other.close()
