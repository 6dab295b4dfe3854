"""The systems as one interface, each through its own library's interface and with its own defaults where it has some.

Imports stand in the classes: an interpreter needs the library of its own system alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from benchmarks.peers.corpus import DIMENSION, Corpus, K

Found = list[int]


class System(Protocol):
    """One index of passages; numbers of passages in, numbers of passages out. What it cannot do raises `Cannot`."""

    def take(self, corpus: Corpus) -> None:
        """Hold what building needs, before time and memory are counted."""
        ...

    def build(self, folder: Path, corpus: Corpus) -> None:
        """Index every passage; return when all of it is searched as fast as it will be."""
        ...

    def open(self, folder: Path) -> None: ...
    def hybrid(self, text: str, vector: np.ndarray) -> Found: ...
    def text(self, text: str) -> Found: ...
    def vector(self, vector: np.ndarray, below: int | None = None) -> Found:
        """Args: below: only passages whose bucket is smaller."""
        ...

    def replace(self, numbers: list[int], corpus: Corpus) -> None: ...
    def delete(self, numbers: list[int]) -> None: ...
    def close(self) -> None: ...


class Cannot(Exception):
    """The system has no such operation."""


class Base:
    """What a system cannot do."""

    def take(self, corpus: Corpus) -> None:
        """Nothing to hold."""

    def hybrid(self, *_: Any) -> Found:
        raise Cannot

    def text(self, *_: Any) -> Found:
        raise Cannot

    def vector(self, *_: Any) -> Found:
        raise Cannot

    def replace(self, *_: Any) -> None:
        raise Cannot

    def delete(self, *_: Any) -> None:
        raise Cannot

    def close(self) -> None:
        """Nothing to do."""


class Quarry(Base):
    """`engine.open` with vectors given: an embedder that knows the vector of each text."""

    SCHEMA: ClassVar[dict[str, Any]] = {
        "body": {"type": "string", "is_searchable": True},
        "bucket": {"type": "int", "is_filterable": True},
    }

    class Given:
        name = "given"
        dimension = DIMENSION

        def __init__(self) -> None:
            self.known: dict[str, np.ndarray] = {}

        def embed_passages(self, texts: list[str]) -> np.ndarray:
            return np.array([self.known[text] for text in texts], np.float32)

        embed_queries = embed_passages

    def __init__(self) -> None:
        self.given = self.Given()

    def take(self, corpus: Corpus) -> None:
        self.given.known = dict(zip(corpus.texts, corpus.vectors, strict=True))

    def build(self, folder: Path, corpus: Corpus) -> None:
        self.open(folder)
        self.engine.upsert("bench", self._documents(range(len(corpus.texts)), corpus), self.SCHEMA)
        self.engine.maintain("bench")
        self.given.known = {}

    def open(self, folder: Path) -> None:
        import engine

        self.engine = engine.open(folder / "data", agent="offline", embedder=self.given)

    @staticmethod
    def _documents(numbers: Any, corpus: Corpus) -> Iterator[dict[str, Any]]:
        buckets = corpus.buckets
        return ({"id": str(n), "body": corpus.texts[n], "bucket": int(buckets[n])} for n in numbers)

    def _found(self, mode: str, text: str, filters: dict[str, Any] | None = None) -> Found:
        return [int(hit.document_id) for hit in self.engine.retrieve("bench", text, k=K, mode=mode, filters=filters)]

    def hybrid(self, text: str, vector: np.ndarray) -> Found:
        self.given.known[text] = vector
        return self._found("hybrid", text)

    def text(self, text: str) -> Found:
        return self._found("lexical", text)

    def vector(self, vector: np.ndarray, below: int | None = None) -> Found:
        # The engine remembers the vectors of questions by their text.
        text = vector[:4].tobytes().hex()
        self.given.known[text] = vector
        return self._found("vector", text, None if below is None else {"bucket": {"$lt": below}})

    def replace(self, numbers: list[int], corpus: Corpus) -> None:
        self.given.known = {corpus.texts[n]: corpus.vectors[n] for n in numbers}
        self.engine.upsert("bench", self._documents(numbers, corpus), self.SCHEMA)

    def delete(self, numbers: list[int]) -> None:
        self.engine.delete("bench", document_ids=[str(n) for n in numbers])

    def close(self) -> None:
        self.engine.close()


class Lance(Base):
    """LanceDB: HNSW over scalar-quantised vectors, its own full-text index, a bitmap-less scalar index for filters."""

    def build(self, folder: Path, corpus: Corpus) -> None:
        import lancedb
        import pyarrow as pa

        database = lancedb.connect(folder / "lance")
        self.table = database.create_table("bench", self._rows(pa, range(len(corpus.texts)), corpus))
        self.table.create_index(
            metric="cosine", vector_column_name="vector", index_type="IVF_HNSW_SQ", num_partitions=1
        )
        self.table.create_fts_index("body", use_tantivy=False)
        self.table.create_scalar_index("bucket")

    @staticmethod
    def _rows(pa: Any, numbers: Any, corpus: Corpus) -> Any:
        numbers = list(numbers)
        flat = pa.array(corpus.vectors[numbers].ravel(), pa.float32())
        return pa.table(
            {
                "number": pa.array(numbers, pa.int64()),
                "body": pa.array([corpus.texts[n] for n in numbers]),
                "bucket": pa.array(corpus.buckets[numbers], pa.int64()),
                "vector": pa.FixedSizeListArray.from_arrays(flat, DIMENSION),
            }
        )

    def open(self, folder: Path) -> None:
        import lancedb

        self.table = lancedb.connect(folder / "lance").open_table("bench")

    @staticmethod
    def _found(query: Any, *, words: bool = False) -> Found:
        return query.select(["number", "_score" if words else "_distance"]).limit(K).to_arrow()["number"].to_pylist()

    def hybrid(self, text: str, vector: np.ndarray) -> Found:
        query = self.table.search(query_type="hybrid").vector(vector).text(text).limit(K)
        return query.to_arrow()["number"].to_pylist()

    def text(self, text: str) -> Found:
        return self._found(self.table.search(text, query_type="fts"), words=True)

    def vector(self, vector: np.ndarray, below: int | None = None) -> Found:
        query = self.table.search(vector).distance_type("cosine")
        return self._found(query if below is None else query.where(f"bucket < {below}", prefilter=True))

    def replace(self, numbers: list[int], corpus: Corpus) -> None:
        import pyarrow as pa

        merge = self.table.merge_insert("number").when_matched_update_all().when_not_matched_insert_all()
        merge.execute(self._rows(pa, numbers, corpus))
        self.table.optimize()

    def delete(self, numbers: list[int]) -> None:
        self.table.delete(f"number IN ({','.join(map(str, numbers))})")


class Chroma(Base):
    """Chroma, persistent, cosine; its full-text part finds substrings only, so there is no ranking by words."""

    def build(self, folder: Path, corpus: Corpus) -> None:
        self._connect(folder)
        self.collection = self.client.create_collection("bench", metadata={"hnsw:space": "cosine"})
        self._write(self.collection.add, list(range(len(corpus.texts))), corpus)

    def _write(self, write: Any, numbers: list[int], corpus: Corpus) -> None:
        for start in range(0, len(numbers), 5_000):
            part = numbers[start : start + 5_000]
            write(
                ids=[str(n) for n in part],
                embeddings=corpus.vectors[part],
                documents=[corpus.texts[n] for n in part],
                metadatas=[{"bucket": int(n)} for n in corpus.buckets[part]],
            )

    def _connect(self, folder: Path) -> None:
        import chromadb

        settings = chromadb.Settings(anonymized_telemetry=False)
        self.client = chromadb.PersistentClient(str(folder / "chroma"), settings=settings)

    def open(self, folder: Path) -> None:
        self._connect(folder)
        self.collection = self.client.get_collection("bench")

    def vector(self, vector: np.ndarray, below: int | None = None) -> Found:
        where = None if below is None else {"bucket": {"$lt": below}}
        found = self.collection.query(query_embeddings=[vector], n_results=K, where=where, include=["distances"])
        return [int(n) for n in found["ids"][0]]

    def replace(self, numbers: list[int], corpus: Corpus) -> None:
        self._write(self.collection.upsert, numbers, corpus)

    def delete(self, numbers: list[int]) -> None:
        self.collection.delete(ids=[str(n) for n in numbers])


class Tantivy(Base):
    """tantivy alone, the library that Quarry's words stand on: BM25 of one field."""

    def _index(self, folder: Path) -> Any:
        import tantivy

        self.library = tantivy
        schema = tantivy.SchemaBuilder()
        schema.add_integer_field("number", stored=False, indexed=True, fast=True)
        schema.add_text_field("body", tokenizer_name="en_stem", index_option="freq")
        (folder / "tantivy").mkdir(exist_ok=True)
        self.schema = schema.build()
        return tantivy.Index(self.schema, path=str(folder / "tantivy"))

    def build(self, folder: Path, corpus: Corpus) -> None:
        self.index = self._index(folder)
        self._write(range(len(corpus.texts)), corpus)

    def _write(self, numbers: Any, corpus: Corpus) -> None:
        writer = self.index.writer(50_000_000, 1)
        for n in numbers:
            writer.delete_documents_by_term("number", n)
            writer.add_document(self.library.Document.from_dict({"number": n, "body": corpus.texts[n]}, self.schema))
        writer.commit()
        writer.wait_merging_threads()
        self.index.reload()

    def open(self, folder: Path) -> None:
        self.index = self._index(folder)

    def text(self, text: str) -> Found:
        searcher = self.index.searcher()
        words = self.index.parse_query(text, ["body"])
        hits = searcher.search(words, K, count=False).hits
        return searcher.fast_field_values("number", [address for _, address in hits])

    def replace(self, numbers: list[int], corpus: Corpus) -> None:
        self._write(numbers, corpus)

    def delete(self, numbers: list[int]) -> None:
        writer = self.index.writer(50_000_000, 1)
        for n in numbers:
            writer.delete_documents_by_term("number", n)
        writer.commit()
        self.index.reload()


class Numpy(Base):
    """An exact product over float32 rows: no index, all recall."""

    def build(self, folder: Path, corpus: Corpus) -> None:
        np.save(folder / "rows.npy", corpus.vectors)
        self.open(folder)

    def open(self, folder: Path) -> None:
        self.rows = np.load(folder / "rows.npy")
        self.buckets = np.arange(len(self.rows)) % 1_000

    def vector(self, vector: np.ndarray, below: int | None = None) -> Found:
        allowed = np.arange(len(self.rows)) if below is None else np.flatnonzero(self.buckets < below)
        scores = (self.rows if below is None else self.rows[allowed]) @ vector
        best = np.argpartition(-scores, min(K, len(scores)) - 1)[:K]
        return allowed[best[np.argsort(-scores[best])]].tolist()


class Faiss(Base):
    """faiss's HNSW over float32 rows, with the links, breadth of building and of searching that Quarry has."""

    def build(self, folder: Path, corpus: Corpus) -> None:
        import faiss

        index = faiss.IndexHNSWFlat(DIMENSION, 20, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = 120
        index.add(corpus.vectors)
        faiss.write_index(index, str(folder / "faiss.index"))
        self.open(folder)

    def open(self, folder: Path) -> None:
        import faiss

        faiss.omp_set_num_threads(2)
        self.library, self.index = faiss, faiss.read_index(str(folder / "faiss.index"))
        self.index.hnsw.efSearch = 210
        self.buckets = np.arange(self.index.ntotal) % 1_000

    def vector(self, vector: np.ndarray, below: int | None = None) -> Found:
        parameters = None
        if below is not None:
            allowed = np.flatnonzero(self.buckets < below)
            parameters = self.library.SearchParametersHNSW(sel=self.library.IDSelectorBatch(allowed), efSearch=210)
        _, found = self.index.search(vector[np.newaxis], K, params=parameters)
        return [n for n in found[0].tolist() if n >= 0]


SYSTEMS: dict[str, type[Base]] = {
    "quarry": Quarry,
    "lancedb": Lance,
    "chroma": Chroma,
    "faiss": Faiss,
    "tantivy": Tantivy,
    "numpy": Numpy,
}
