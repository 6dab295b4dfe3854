"""What every backend must do. Subclass and give `make`; a test is skipped only where `Capabilities` denies it."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.backend.protocol import Backend, Legs, LegsQuery, LexicalTerms, NamespaceSpec
from engine.errors import InvalidRequest, StorageError
from engine.filters.check import CheckedFilter, parse_filter
from engine.filters.evaluate import matches
from engine.ingest.derive import derive
from engine.model.checking import plan_upload
from engine.model.hits import Candidates
from engine.model.schema import Schema, decode_schema, merge
from engine.ranking.passage_terms import PassageTerms
from engine.settings import PassageSettings
from tests.embedders import HashingEmbedder

EMBEDDER = HashingEmbedder()
SCHEMA = merge(
    Schema(),
    decode_schema(
        {
            "body": {"type": "string", "is_searchable": True},
            "notes": {"type": "[]string", "is_searchable": True},
            "colour": {"type": "string", "is_filterable": True},
            "year": {"type": "int", "is_filterable": True},
            "tags": {"type": "[]string", "is_filterable": True},
            "size": {"type": "float"},
            "root_document_id": {"type": "string", "is_filterable": True},
        }
    ),
)
COLOURS = ["red", "green", "blue"]
TAIL = "The crossing took most of the morning, the crew drank their coffee on deck, and nobody was in a hurry to land."
LONG_NOTE = "A note of more words than a title has is a passage of its own: " + "the keeper wrote down every tide. " * 4
ALL = 1_000
FILTERS: list[dict[str, Any]] = [
    {"colour": "red"},
    {"colour": None},
    {"colour": {"$neq": "red"}},
    {"year": {"$gte": 2003, "$lt": 2007}},
    {"tags": {"$contains": "y"}},
    {"tags": {"$not_contains_any": ["x", "z"]}},
    {"id": {"$in": ["d3", "d44", "nobody"]}},
    {"root_document_id": "d0"},
    {"$or": [{"colour": "blue", "year": 2001}, {"$not": {"tags": {"$exists": True}}}]},
]


def document(number: int) -> dict[str, Any]:
    storms = "storm " * (number % 5)
    made: dict[str, Any] = {
        "id": f"d{number}",
        "body": f"The harbour ferry {storms}passed island{number % 7} and lantern{number % 11} . {TAIL}",
        "notes": [f"gull{number % 3} above", LONG_NOTE if number % 3 == 0 else f"the tide{number}"],
        "size": number / 4,
    }
    if number % 4 < 3:
        made["colour"] = COLOURS[number % 4]
    if number % 5:
        made["year"] = 2000 + number % 9
    if number % 8:
        made["tags"] = [tag for bit, tag in enumerate("xyz") if number >> bit & 1]
    if 0 < number < 5:
        made["root_document_id"] = "d0"
    return made


CORPUS = [document(number) for number in range(60)]
COUNT = len(CORPUS)


def spec(namespace: int = 1, schema: Schema = SCHEMA) -> NamespaceSpec:
    return NamespaceSpec(namespace, schema, EMBEDDER.name, EMBEDDER.dimension)


def passages_of(documents: Sequence[dict[str, Any]]) -> int:
    schema, checked = plan_upload(SCHEMA, {}, documents)
    writes, _ = derive(checked, schema.searchable(), EMBEDDER, PassageSettings())
    return sum(len(write.passages) for write in writes)


def store(
    backend: Backend, documents: Sequence[dict[str, Any]], namespace: int = 1, *, base: Schema | None = None
) -> int:
    """Upload as the engine does."""
    schema, checked = plan_upload(SCHEMA, {}, documents)
    writes, vectors = derive(checked, schema.searchable(), EMBEDDER, PassageSettings())
    return backend.upsert(namespace, writes, vectors, schema, base=base)


def checked_filter(raw: dict[str, Any]) -> CheckedFilter:
    checked = parse_filter(raw, SCHEMA)
    assert checked is not None
    return checked


def meant(raw: dict[str, Any], documents: Sequence[dict[str, Any]] = CORPUS) -> list[str]:
    """Ids of the documents that satisfy a filter, in order."""
    return [d["id"] for d in documents if matches(checked_filter(raw), d)]


def ask(
    backend: Backend,
    text: str,
    *,
    where: dict[str, Any] | None = None,
    k: int = ALL,
    lexical: bool = True,
    vector: bool = True,
    namespace: int = 1,
) -> Legs:
    query = LegsQuery(
        lexical=LexicalTerms(text) if lexical else None,
        vector=EMBEDDER.embed_queries([text])[0] if vector else None,
        where=None if where is None else checked_filter(where),
        k=k,
    )
    return backend.legs(namespace, query)


def found(backend: Backend, candidates: Candidates, namespace: int = 1) -> list[str]:
    """The document of each candidate, in order."""
    return [passage.document_id for passage in backend.hydrate(namespace, candidates.labels)]


def scanned(backend: Backend, namespace: int = 1) -> list[dict[str, Any]]:
    return [held.body for batch in backend.scan(namespace) for held in batch]


def in_pages(backend: Backend, where: dict[str, Any] | None, limit: int) -> Iterator[list[str]]:
    """Ids of each page."""
    checked = None if where is None else checked_filter(where)
    page = backend.page(1, where=checked, limit=limit)
    yield ids(of=page.documents)
    while page.next_cursor is not None:
        page = backend.page(1, where=checked, limit=limit, cursor=page.next_cursor)
        yield ids(of=page.documents)


def ids(*, of: Sequence[Any]) -> list[str]:
    return [held.id for held in of]


class BackendContract:
    def make(self, folder: Path) -> Backend:
        """A backend whose data stay in `folder`: once closed, another one made there holds the same."""
        raise NotImplementedError

    @pytest.fixture
    def backend(self, tmp_path: Path) -> Generator[Backend]:
        """With the empty namespace 1."""
        made = self.make(tmp_path)
        made.create(spec())
        made.confirm(1)
        yield made
        made.close()

    @pytest.fixture
    def filled(self, backend: Backend) -> Backend:
        """With `CORPUS` in namespace 1."""
        assert store(backend, CORPUS) == COUNT
        return backend

    # -- what is stored

    def test_an_empty_namespace_answers_everything_with_nothing(self, backend: Backend) -> None:
        legs = ask(backend, "harbour", where={"colour": "red"})
        assert (len(legs.lexical), len(legs.vector), legs.allowed) == (0, 0, 0)
        assert backend.get(1, ["d1"]) == []
        assert backend.delete(1, ids=["d1"]) == 0
        assert (backend.count(1), scanned(backend), backend.values(1, "colour")) == (0, [], [])
        assert backend.hydrate(1, np.array([0, 7], np.int64)) == []

    def test_a_namespace_is_never_made_over_another(self, filled: Backend) -> None:
        with pytest.raises(StorageError):
            filled.create(spec())
        assert scanned(filled) == CORPUS

    def test_the_state_says_what_is_stored(self, filled: Backend) -> None:
        before = filled.state(1)
        assert (before.documents, before.passages) == (COUNT, passages_of(CORPUS))
        filled.delete(1, ids=["d1", "nobody"])
        store(filled, [document(2), document(99)])
        after = filled.state(1)
        assert (after.documents, after.schema) == (COUNT, SCHEMA)
        assert after.seq == before.seq + 2

    def test_a_schema_goes_with_its_documents_or_not_at_all(self, filled: Backend) -> None:
        wider = merge(SCHEMA, decode_schema({"size": {"is_filterable": True}}))
        before = filled.state(1)
        schema, checked = plan_upload(wider, {}, [document(70)])
        writes, vectors = derive(checked, schema.searchable(), EMBEDDER, PassageSettings())
        with pytest.raises(ValueError, match="vectors"):
            filled.upsert(1, writes, vectors[1:], wider)
        assert filled.state(1) == before
        assert filled.upsert(1, writes, vectors, wider) == 1
        assert filled.state(1).schema == wider
        where = parse_filter({"size": {"$gt": 10}}, wider)
        assert filled.count(1, where) == sum(d["size"] > 10 for d in [*CORPUS, document(70)])

    def test_an_attribute_that_becomes_filterable_holds_the_values_already_stored(self, filled: Backend) -> None:
        wider = merge(SCHEMA, decode_schema({"size": {"is_filterable": True}}))
        filled.upsert(1, [], EMBEDDER.embed_passages([]), wider)
        where = parse_filter({"size": {"$gt": 10}}, wider)
        assert filled.count(1, where) == sum(d["size"] > 10 for d in CORPUS)

    def test_a_document_comes_back_exactly_as_it_was_uploaded(self, backend: Backend) -> None:
        odd = {
            "id": "ü/'; --",
            "size": 2.0,
            "body": 'Ferry "Øst"\n🛟\u0000',
            "notes": [],
            "year": None,
            "tags": ["x", "x"],
        }
        store(backend, [odd])
        (held,) = backend.get(1, ["ü/'; --"])
        assert list(held.body.items()) == list(odd.items())
        assert type(held.body["size"]) is float

    def test_a_replaced_document_leaves_nothing_of_its_old_version(self, filled: Backend) -> None:
        before = ask(filled, "lantern9").lexical.labels
        assert store(filled, [{"id": "d9", "body": "A rope."}]) == 1
        assert filled.count(1) == COUNT
        assert filled.get(1, ["d9"])[0].body == {"id": "d9", "body": "A rope."}
        assert "d9" not in found(filled, ask(filled, "island2 lantern9 gull0 tide9").lexical)
        assert found(filled, ask(filled, "d9 rope", where={"id": "d9"}).vector) == ["d9"]
        assert "d9" not in {p.document_id for p in filled.hydrate(1, before)}
        assert filled.count(1, checked_filter({"year": 2000, "id": "d9"})) == 0

    def test_writing_the_same_again_changes_nothing_that_can_be_seen(self, filled: Backend) -> None:
        store(filled, CORPUS)
        assert scanned(filled) == CORPUS
        assert len(ask(filled, "harbour").vector) == passages_of(CORPUS)

    def test_a_document_without_passages_is_stored_and_filtered_but_not_found(self, backend: Backend) -> None:
        assert store(backend, [{"id": "bare", "colour": "red"}]) == 1
        assert backend.count(1, checked_filter({"colour": "red"})) == 1
        legs = ask(backend, "red bare", where={"colour": "red"})
        assert (len(legs.lexical), len(legs.vector), legs.allowed) == (0, 0, 0)

    def test_a_batch_that_fails_leaves_nothing_behind(self, filled: Backend) -> None:
        if not filled.capabilities.atomic_batches:
            pytest.skip("batches are not atomic")
        schema, checked = plan_upload(SCHEMA, {}, [{"id": "d1", "body": "A rope."}, {"id": "new", "body": "An oar."}])
        writes, vectors = derive(checked, schema.searchable(), EMBEDDER, PassageSettings())
        with pytest.raises((ValueError, StorageError)):
            filled.upsert(1, writes, vectors[:-1])
        assert scanned(filled) == CORPUS
        assert len(ask(filled, "rope oar").lexical) == 0

    # -- deleting

    def test_deleting_ids_counts_what_was_there_and_leaves_children(self, filled: Backend) -> None:
        assert filled.delete(1, ids=["d0", "nobody", "d7"]) == 2
        assert scanned(filled) == [d for d in CORPUS if d["id"] not in {"d0", "d7"}]
        left = found(filled, ask(filled, "harbour").vector)
        assert not {"d0", "d7"} & set(left)
        assert "d1" in left

    def test_deleting_roots_takes_their_children_too(self, filled: Backend) -> None:
        store(filled, [{"id": "orphan", "body": "rope", "root_document_id": "never"}])
        assert filled.delete(1, roots=["d0", "never", "d59"]) == 7
        assert scanned(filled) == CORPUS[5:59]
        assert not {f"d{n}" for n in range(5)} & set(found(filled, ask(filled, "harbour").lexical))

    def test_deleting_twice_removes_nothing_more(self, filled: Backend) -> None:
        assert filled.delete(1, ids=["d3"]) == 1
        assert filled.delete(1, ids=["d3"]) == 0
        assert filled.delete(1, roots=["d3"]) == 0

    def test_what_was_deleted_can_come_back(self, filled: Backend) -> None:
        filled.delete(1, ids=[d["id"] for d in CORPUS])
        assert (filled.count(1), len(ask(filled, "harbour").vector)) == (0, 0)
        store(filled, CORPUS[:3])
        assert sorted(set(found(filled, ask(filled, "harbour").lexical))) == ["d0", "d1", "d2"]

    # -- reading

    def test_get_keeps_the_order_asked_and_leaves_out_the_unknown(self, filled: Backend) -> None:
        assert ids(of=filled.get(1, ["d40", "nobody", "d2", "d11"])) == ["d40", "d2", "d11"]
        assert filled.get(1, []) == []

    def test_get_under_a_filter_leaves_out_what_does_not_satisfy_it(self, filled: Backend) -> None:
        asked = [d["id"] for d in reversed(CORPUS)]
        for raw in FILTERS:
            assert ids(of=filled.get(1, asked, where=checked_filter(raw))) == meant(raw)[::-1]

    def test_count_is_that_of_the_documents_the_filter_means(self, filled: Backend) -> None:
        assert filled.count(1) == COUNT
        for raw in FILTERS:
            assert filled.count(1, checked_filter(raw)) == len(meant(raw))

    def test_a_scan_gives_every_document_once_in_the_order_of_upload(self, filled: Backend) -> None:
        store(filled, [document(4)])
        batches = list(filled.scan(1, batch=7))
        assert max(len(batch) for batch in batches) <= 7
        expected = [*CORPUS[:4], *CORPUS[5:], CORPUS[4]]
        assert [held.body for batch in batches for held in batch] == expected

    @pytest.mark.parametrize("where", [None, *FILTERS])
    def test_pages_give_every_document_that_matches_once_in_the_order_of_upload(
        self, filled: Backend, where: dict[str, Any] | None
    ) -> None:
        pages = list(in_pages(filled, where, limit=7))
        assert [d for page in pages for d in page] == (meant(where) if where else [d["id"] for d in CORPUS])
        assert {len(page) for page in pages[:-1]} <= {7}

    def test_pages_keep_their_place_while_documents_come_and_go(self, filled: Backend) -> None:
        pages = in_pages(filled, None, limit=10)
        seen = next(pages)
        filled.delete(1, ids=["d3", "d9", "d10", "d25"])
        store(filled, [{"id": "d5", "body": "anew"}, {"id": "new", "body": "rope"}])
        rest = [document for page in pages for document in page]
        assert seen == [f"d{n}" for n in range(10)]
        assert rest == [*(f"d{n}" for n in range(11, COUNT) if n != 25), "d5", "new"]

    def test_a_place_that_no_page_gave_is_refused(self, filled: Backend) -> None:
        following = filled.page(1, limit=1).next_cursor
        assert following is not None
        for cursor in ("", "x", "%%", "\ud800", following + "=", following[:-1], following + "A"):
            with pytest.raises(InvalidRequest):
                filled.page(1, cursor=cursor)

    def test_a_scan_sees_the_state_as_of_its_start_while_writes_go_on(self, filled: Backend) -> None:
        batches = filled.scan(1, batch=10)
        seen = [held.body for held in next(batches)]
        store(filled, [{"id": "d30", "body": "replaced"}, {"id": "late", "body": "new"}])
        filled.delete(1, ids=["d40"])
        seen += [held.body for batch in batches for held in batch]
        assert seen == CORPUS
        assert filled.count(1) == COUNT

    def test_values_are_counted_by_document_the_most_frequent_first(self, filled: Backend) -> None:
        store(filled, [{"id": "d4", "colour": "red", "tags": ["w", "w"]}])
        after = [d for d in CORPUS if d["id"] != "d4"] + [{"id": "d4", "colour": "red", "tags": ["w", "w"]}]
        for attribute in ("colour", "tags", "year"):
            expected: dict[Any, int] = {}
            for held in after:
                value = held.get(attribute)
                for element in set(value) if isinstance(value, list) else {value} - {None}:
                    expected[element] = expected.get(element, 0) + 1
            counted = filled.values(1, attribute)
            assert dict(counted) == expected  # type: ignore[arg-type]
            assert [n for _, n in counted] == sorted(expected.values(), reverse=True)
            assert filled.values(1, attribute, limit=2) == counted[:2]

    def test_values_under_a_filter_are_those_of_its_documents(self, filled: Backend) -> None:
        for raw in FILTERS:
            kept = [d for d in CORPUS if d["id"] in meant(raw)]
            years = [d["year"] for d in kept if "year" in d]
            assert dict(filled.values(1, "year", where=checked_filter(raw))) == {y: years.count(y) for y in years}

    def test_the_extent_of_numbers_and_dates_is_that_of_the_documents_that_a_filter_leaves(
        self, filled: Backend
    ) -> None:
        for raw in FILTERS:
            years = [d["year"] for d in CORPUS if d["id"] in meant(raw) and "year" in d]
            expected = (min(years), max(years)) if years else None
            assert filled.extent(1, "year", where=checked_filter(raw)) == expected
        assert filled.extent(1, "colour") is None
        assert filled.extent(1, "size") is None
        assert filled.extent(1, "no such") is None

    def test_values_of_an_attribute_that_is_not_filterable_are_none(self, filled: Backend) -> None:
        assert filled.values(1, "size") == filled.values(1, "no such") == []

    def test_values_follow_every_write(self, filled: Backend) -> None:
        before = dict(filled.values(1, "colour"))
        filled.delete(1, ids=["d0"])
        assert dict(filled.values(1, "colour")) == before | {"red": before["red"] - 1}

    def test_a_rarer_word_weighs_more_and_an_unknown_one_most(self, filled: Backend) -> None:
        rarity = filled.rarity(1, "harbour island3 tide17 submarine")
        assert len(rarity) == 4
        harbour, island, tide, unknown = rarity.values()
        assert 0 <= harbour < island < tide <= unknown < float("inf")

    def test_hydrating_keeps_the_order_and_leaves_out_what_is_not_live(self, filled: Backend) -> None:
        labels = ask(filled, "harbour").vector.labels
        asked = np.concatenate([labels[::-1], np.array([2**62], np.int64)])
        assert [p.label for p in filled.hydrate(1, asked)] == labels[::-1].tolist()
        gone = filled.hydrate(1, labels[:1])[0].document_id
        filled.delete(1, ids=[gone])
        left = filled.hydrate(1, labels)
        assert gone not in {p.document_id for p in left}
        assert [p.label for p in left] == [n for n in labels.tolist() if n in {p.label for p in left}]
        assert filled.hydrate(1, np.empty(0, np.int64)) == []

    def test_terms_of_passages_are_those_of_their_texts_in_the_order_asked(self, filled: Backend) -> None:
        labels = ask(filled, "harbour").vector.labels[::-1]
        given, from_texts = filled.passage_terms(1, labels), PassageTerms.of(filled.hydrate(1, labels))
        assert given.labels.tolist() == labels.tolist()
        assert given.documents == from_texts.documents
        assert given.named.tolist() == from_texts.named.tolist()
        for one, other in (
            (given.bodies, from_texts.bodies),
            (given.headers, from_texts.headers),
            (given.names, from_texts.names),
        ):
            assert one.terms.tolist() == other.terms.tolist()
            assert one.lengths.tolist() == other.lengths.tolist()

    def test_a_passage_is_word_for_word_what_its_attribute_holds(self, filled: Backend) -> None:
        passages = filled.hydrate(1, ask(filled, "harbour").vector.labels)
        assert len(passages) == passages_of(CORPUS) > COUNT
        held: dict[str, Any] = {d["id"]: d for d in CORPUS}
        for passage in passages:
            name, _, index = passage.attribute.partition("[")
            value = held[passage.document_id][name]
            text = value[int(index[:-1])] if index else value
            assert passage.text == text[passage.start : passage.end]

    # -- the legs

    @pytest.mark.parametrize("text", ["storm island3 lantern2", "harbour ferry", "tide17", "gull0 storm"])
    def test_each_leg_is_ranked_best_first_with_finite_scores_and_ties_to_the_smaller_label(
        self, filled: Backend, text: str
    ) -> None:
        legs = ask(filled, text)
        for leg in (legs.lexical, legs.vector):
            assert len(leg) > 0
            assert np.isfinite(leg.scores).all()
            assert (np.lexsort((leg.labels, -leg.scores)) == np.arange(len(leg))).all()
            assert len(set(leg.labels.tolist())) == len(leg)
            assert (leg.labels.dtype, leg.scores.dtype) == (np.int64, np.float32)

    def test_fewer_candidates_are_the_head_of_more(self, filled: Backend) -> None:
        whole = ask(filled, "storm island3 lantern2")
        for k in (0, 1, 7, 40):
            part = ask(filled, "storm island3 lantern2", k=k)
            for leg, of in ((part.lexical, whole.lexical), (part.vector, whole.vector)):
                assert leg.labels.tolist() == of.labels[:k].tolist()

    def test_the_lexical_leg_holds_exactly_the_passages_with_a_word_of_the_query(self, filled: Backend) -> None:
        leg = ask(filled, "island3 tide17").lexical
        everything = filled.hydrate(1, ask(filled, "harbour").vector.labels)
        texts = {p.label: f"{p.header} {p.text}".split() for p in everything}
        assert set(leg.labels.tolist()) == {n for n, words in texts.items() if {"island3", "tide17"} & set(words)}
        assert "tide17" in texts[int(leg.labels[0])]

    def test_headers_alone_are_found_by_what_they_share_with_a_text(self, filled: Backend) -> None:
        store(filled, [{"id": "titled", "body": f"A ship. {TAIL}", "notes": ["Silver Albatross"], "colour": "red"}])
        store(filled, [{"id": "told", "body": f"The silver albatross was seen from the pier. {TAIL}"}])
        text = "They went aboard Silver Albatross before a harbour was closed."

        def named(where: dict[str, Any] | None = None) -> set[str]:
            checked = None if where is None else checked_filter(where)
            query = LegsQuery(lexical=LexicalTerms(text, headers_only=True), vector=None, where=checked, k=ALL)
            return set(found(filled, filled.legs(1, query).lexical))

        assert named() == named({"colour": "red"}) == {"titled"}
        assert named({"colour": "green"}) == set()

    def test_the_lexical_leg_reads_no_query_language(self, filled: Backend) -> None:
        plain = ask(filled, "tide17 storm").lexical.labels.tolist()
        assert ask(filled, 'tide17 AND (storm" -[').lexical.labels.tolist()[: len(plain)] == plain
        assert len(ask(filled, "").lexical) == 0

    def test_the_vector_leg_is_the_cosine_of_every_passage(self, filled: Backend) -> None:
        text = "ferry island3 lantern2"
        leg = ask(filled, text).vector
        passages = filled.hydrate(1, leg.labels)
        texts = [f"{p.header}\n{p.text}" if p.header else p.text for p in passages]
        truth = EMBEDDER.embed_passages(texts) @ EMBEDDER.embed_queries([text])[0]
        assert len(leg) == passages_of(CORPUS)
        np.testing.assert_allclose(leg.scores, truth, atol=2e-4)

    def test_a_leg_that_is_left_out_is_empty(self, filled: Backend) -> None:
        lexical, vector = ask(filled, "storm", vector=False), ask(filled, "storm", lexical=False)
        assert (len(lexical.lexical) > 0, len(lexical.vector)) == (True, 0)
        assert (len(vector.lexical), len(vector.vector) > 0) == (0, True)

    @pytest.mark.parametrize("raw", FILTERS, ids=str)
    def test_legs_under_a_filter_are_the_whole_legs_less_what_it_drops(
        self, filled: Backend, raw: dict[str, Any]
    ) -> None:
        text, kept = "storm island3 lantern2 tide17", set(meant(raw))
        whole, legs = ask(filled, text), ask(filled, text, where=raw)
        assert legs.allowed == passages_of([d for d in CORPUS if d["id"] in kept])
        assert whole.allowed == -1
        pairs = [(whole.vector, legs.vector)]
        if filled.capabilities.global_bm25:
            pairs.append((whole.lexical, legs.lexical))
        for of, leg in pairs:
            keep = np.array([document_id in kept for document_id in found(filled, of)], np.bool_)
            # Sums in another order differ in the last bits; so near-equals may swap, and each is compared by its score.
            scores = dict(zip(of.labels[keep].tolist(), of.scores[keep].tolist(), strict=True))
            assert set(leg.labels.tolist()) == set(scores)
            np.testing.assert_allclose(leg.scores, [scores[label] for label in leg.labels.tolist()], atol=1e-4)
            few = ask(filled, text, where=raw, k=3)
            shorter = few.vector if of is whole.vector else few.lexical
            np.testing.assert_allclose(shorter.scores, leg.scores[:3], atol=1e-4)

    def test_a_filter_that_nothing_satisfies_gives_empty_legs(self, filled: Backend) -> None:
        legs = ask(filled, "harbour", where={"colour": "pink"})
        assert (len(legs.lexical), len(legs.vector), legs.allowed) == (0, 0, 0)

    def test_a_write_is_found_when_it_returns_and_moves_the_generation(self, filled: Backend) -> None:
        if not filled.capabilities.read_your_writes:
            pytest.skip("writes may be found late")
        generations = [ask(filled, "harbour").generation]
        for turn in range(5):
            store(filled, [{"id": "d1", "body": f"version{turn}v"}])
            legs = ask(filled, f"version{turn}v")
            assert found(filled, legs.lexical) == ["d1"]
            assert found(filled, legs.vector)[0] == "d1"
            assert len(ask(filled, f"version{turn - 1}v").lexical) == 0
            generations.append(legs.generation)
        assert generations == sorted(set(generations))

    def test_the_same_filter_is_answered_anew_after_a_write(self, filled: Backend) -> None:
        before = ask(filled, "harbour", where={"colour": "red"}).allowed
        store(filled, [{"id": "one more", "body": "harbour", "colour": "red"}])
        assert ask(filled, "harbour", where={"colour": "red"}).allowed == before + 1

    # -- holding, dropping, reopening

    def test_a_reading_sees_one_state_however_long_a_write_takes(self, filled: Backend) -> None:
        started = threading.Event()

        def write() -> None:
            started.set()
            store(filled, [{"id": "late", "body": "latecomer"}])

        writer = threading.Thread(target=write)
        with filled.reading(1):
            writer.start()
            started.wait()
            writer.join(0.2)
            assert filled.count(1) == COUNT
            assert len(ask(filled, "latecomer").lexical) == 0
            assert len(ask(filled, "harbour").lexical) == COUNT
        writer.join()
        assert found(filled, ask(filled, "latecomer").lexical) == ["late"]

    def test_a_dropped_namespace_takes_nothing_else_with_it(self, filled: Backend) -> None:
        filled.create(spec(2))
        store(filled, CORPUS[:5], 2)
        filled.drop(1)
        filled.drop(1)
        assert scanned(filled, 2) == CORPUS[:5]
        filled.create(spec(1))
        assert filled.count(1) == 0
        assert len(ask(filled, "harbour").vector) == 0

    def test_namespaces_know_nothing_of_each_other(self, filled: Backend) -> None:
        filled.create(spec(2))
        store(filled, [{"id": "d1", "body": "submarine"}], 2)
        assert len(ask(filled, "submarine").lexical) == 0
        assert found(filled, ask(filled, "harbour submarine", namespace=2).vector, 2) == ["d1"]
        assert filled.delete(2, ids=["d1", "d2"]) == 1
        assert scanned(filled) == CORPUS

    def test_reopening_gives_the_same(self, tmp_path: Path) -> None:
        def everything(backend: Backend) -> list[object]:
            legs = [ask(backend, text, where=raw) for text in ("storm island3", "tide17") for raw in (None, *FILTERS)]
            return [
                scanned(backend),
                [backend.values(1, attribute) for attribute in ("colour", "tags", "year")],
                backend.rarity(1, "harbour tide17"),
                [
                    (leg.labels.tolist(), leg.scores.round(4).tolist())
                    for held in legs
                    for leg in (held.lexical, held.vector)
                ],
            ]

        backend = self.make(tmp_path)
        backend.create(spec())
        store(backend, CORPUS)
        store(backend, [document(4), {"id": "d9", "body": "A rope."}])
        backend.delete(1, ids=["d20", "d21"])
        before = everything(backend)
        backend.close()
        again = self.make(tmp_path)
        assert everything(again) == before
        label = int(ask(again, "harbour").vector.labels.max())
        store(again, [{"id": "after", "body": "submarine"}])
        assert int(ask(again, "submarine").lexical.labels[0]) > label
        again.close()

    def test_maintaining_changes_no_answer(self, filled: Backend) -> None:
        before = ask(filled, "storm island3")
        filled.maintain(1)
        filled.maintain(1)
        after = ask(filled, "storm island3")
        assert after.generation == before.generation
        assert after.lexical.labels.tolist() == before.lexical.labels.tolist()
        assert after.vector.labels.tolist() == before.vector.labels.tolist()
        assert scanned(filled) == CORPUS

    def test_closing_twice_is_harmless(self, tmp_path: Path) -> None:
        backend = self.make(tmp_path)
        backend.create(spec())
        backend.close()
        backend.close()
