"""Passages as rows, their terms packed beside their texts, so that candidates are reranked without being analysed anew.

The packed terms are 32-bit numbers (`engine.analysis.term_ids`), little-endian: how many names, how many terms the
header has, ``start, length`` of each name in the header, the header's terms, the text's terms.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.analysis.term_ids import TermIds, append_text_ids
from engine.model.document import Passage, PassageDraft
from engine.model.hits import Labels
from engine.ranking.passage_terms import PassageTerms, TermTexts, append_header_ids
from engine.store.postgres.connection import Connection
from engine.store.postgres.text import array_of, unescaped

_COLUMNS = "label, document_id, attribute, start_at, end_at, text, header, terms"
_READ = (
    f"SELECT {_COLUMNS} FROM quarry.passages "
    "WHERE part = (SELECT part FROM quarry.namespaces WHERE namespace = %s) AND label = ANY(%s::int8[])"
).encode()


def packed_terms(draft: PassageDraft, language: str) -> bytes:
    """The terms of a passage whose text is of `language`."""
    header, body = array("I"), array("I")
    names = append_header_ids(draft.header, language, header)
    append_text_ids(draft.text, language, body)
    packed = array("I", [len(names), len(header), *(number for name in names for number in name)]) + header + body
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def read_passages(connection: Connection, namespace: int, labels: Labels) -> dict[int, tuple[Passage, bytes]]:
    """The live passages among `labels`, each with its packed terms; empty where they were never stored."""
    rows = connection.execute(_READ, [namespace, array_of(labels)], binary=True)
    return {row[0]: (_passage(row), row[7] or b"") for row in rows}


def terms_of(held: Sequence[tuple[Passage, bytes]]) -> PassageTerms:
    """The same as `PassageTerms.of` the passages."""
    passages = [passage for passage, _ in held]
    if not all(packed for _, packed in held):
        return PassageTerms.of(passages)
    bodies, headers, names = list[TermIds](), list[TermIds](), list[TermIds]()
    named = list[int]()
    for at, (_, packed) in enumerate(held):
        numbers: TermIds = np.frombuffer(packed, "<u4")
        count, length = int(numbers[0]), int(numbers[1])
        begin = 2 + 2 * count
        header = numbers[begin : begin + length]
        bodies.append(numbers[begin + length :])
        headers.append(header)
        for start, size in numbers[2:begin].reshape(count, 2).tolist():
            names.append(header[start : start + size])
            named.append(at)
    return PassageTerms(
        np.fromiter((passage.label for passage in passages), np.int64, len(passages)),
        tuple(passage.document_id for passage in passages),
        _texts(bodies),
        _texts(headers),
        _texts(names),
        np.array(named, np.int64),
        tuple(passages),
    )


def _texts(parts: Sequence[TermIds]) -> TermTexts:
    terms = np.concatenate(parts).astype(np.uint32, copy=False) if parts else np.empty(0, np.uint32)
    return TermTexts(terms, np.fromiter(map(len, parts), np.int64, len(parts)))


def _passage(row: tuple[Any, ...]) -> Passage:
    label, document_id, attribute, start, end, text, header, _ = row
    return Passage(
        label=label,
        document_id=document_id,
        attribute=unescaped(attribute),
        start=start,
        end=end,
        text=unescaped(text),
        header=unescaped(header),
    )
