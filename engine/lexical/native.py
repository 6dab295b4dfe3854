"""The only importer of tantivy's index: its types as we use them, and its panics as errors."""

from __future__ import annotations

import importlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, cast

from engine.analysis.tokenizer import TextAnalyzer
from engine.errors import CorruptData, QuarryError, StorageError

LABEL, HEADER, BODY = "label", "header", "body"
TOKENIZER = "quarry-1"

_tantivy: Any = importlib.import_module("tantivy")

FORMAT = f"tantivy {_tantivy.__version__}, fields 2, analyzer 2"
"""An index of another format is rebuilt; change it with the schema or with what an analyzer makes of a text."""


class Address(Protocol):
    """Where a passage stands in one searcher; never given to another."""

    @property
    def segment_ord(self) -> int: ...


class Query(Protocol):
    """Opaque; built by the functions of this module."""


class SearchResult(Protocol):
    """Scores with addresses, best first; equal scores by address."""

    @property
    def hits(self) -> list[tuple[float, Address]]: ...

    @property
    def count(self) -> int | None: ...


class Searcher(Protocol):
    """A snapshot: what is committed later does not show."""

    @property
    def num_docs(self) -> int: ...

    def search(self, query: Query, limit: int = ..., count: bool = ...) -> SearchResult: ...  # noqa: FBT001
    def doc_freq(self, field_name: str, field_value: str) -> int: ...
    def fast_field_values(self, field_name: str, doc_addresses: Sequence[Address]) -> list[int]: ...
    def terms_with_prefix(self, field_name: str, prefix: str, *, limit: int | None = ...) -> list[tuple[str, int]]: ...


class Writer(Protocol):
    """One a folder and process; for one thread at a time."""

    def add_document(self, doc: object) -> int: ...
    def delete_documents_by_term(self, field_name: str, field_value: int) -> int: ...
    def commit(self) -> int: ...
    def rollback(self) -> int: ...
    def wait_merging_threads(self) -> None: ...


class Index(Protocol):
    """A folder of segments."""

    def writer(self, heap_size: int, num_threads: int) -> Writer: ...
    def register_tokenizer(self, name: str, text_analyzer: TextAnalyzer) -> None: ...
    def config_reader(self, reload_policy: str) -> None: ...
    def reload(self) -> None: ...
    def searcher(self) -> Searcher: ...


@contextmanager
def translated(action: str) -> Generator[None]:
    """Turn what tantivy raises into `StorageError`; a Rust panic is a `BaseException`, and becomes `CorruptData`."""
    try:
        yield
    except (QuarryError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except (ValueError, OSError, RuntimeError, TypeError, OverflowError) as error:
        raise StorageError(f"The lexical index could not {action}.") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise CorruptData(f"The lexical index could not {action}.") from error


_schema: Any = (
    _tantivy.SchemaBuilder()
    # Signed on purpose: deleting by the term of an unsigned field does nothing, silently.
    .add_integer_field(LABEL, stored=False, indexed=True, fast=True)
    # The body field holds the header too: terms of both saturate together, as in BM25F (Robertson, Zaragoza & Taylor
    # 2004). The header field alone adds a little for words of the title.
    .add_text_field(HEADER, stored=False, tokenizer_name=TOKENIZER, index_option="freq")
    .add_text_field(BODY, stored=False, tokenizer_name=TOKENIZER, index_option="freq")
    .build()
)


def open_index(folder: str, analyzer: TextAnalyzer) -> Index:
    """The index in `folder`, made when there is none, with its tokenizer: without that, commits lose documents."""
    index = cast("Index", _tantivy.Index(_schema, path=folder))
    index.register_tokenizer(TOKENIZER, analyzer)
    index.config_reader("manual")
    index.reload()
    return index


def make_document(label: int, header: str, body: str) -> object:
    """Checked against the schema here and now; a value of a wrong type would otherwise fail the commit after it."""
    return _tantivy.Document.from_dict({LABEL: label, HEADER: header, BODY: body}, _schema)


def term_query(field: str, term: str, weight: float) -> Query:
    """BM25 of one term, times `weight`. Flat unions of these keep tantivy's block-max pruning."""
    make = _tantivy.Query
    return cast("Query", make.boost_query(make.term_query(_schema, field, term, index_option="freq"), weight))


def any_of(queries: Sequence[Query]) -> Query:
    """The sum of the scores of those that match; at least one must."""
    if not queries:
        return cast("Query", _tantivy.Query.empty_query())
    return cast("Query", _tantivy.Query.boolean_query([(_tantivy.Occur.Should, query) for query in queries]))


def among(labels: Sequence[int], *, few: bool) -> Query:
    """Passages with one of `labels`, score 0.

    Args:
        few: a union of postings, faster up to about a thousand labels; else one pass over the dictionary of labels.
    """
    make = _tantivy.Query
    if few:
        members = any_of([make.term_query(_schema, LABEL, label, index_option="basic") for label in labels])
    else:
        members = make.term_set_query(_schema, LABEL, labels)
    return cast("Query", make.boost_query(make.const_score_query(members, 1.0), 0.0))


def both(query: Query, condition: Query) -> Query:
    """`query`, where `condition` holds too."""
    must = _tantivy.Occur.Must
    return cast("Query", _tantivy.Query.boolean_query([(must, query), (must, condition)]))
