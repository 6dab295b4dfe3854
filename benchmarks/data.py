"""The evaluation collections: documents, questions and what answers them.

They are not part of the project. `--data` or `QUARRY_BENCH_DATA` names their folder; the default is `../shared/data`
beside the project. Each is a folder of `documents.jsonl`, `queries.jsonl` and `qrels.tsv`.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEFAULT_FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
NULL_QUESTION = "null_query"

_TEXT = {"type": "string", "is_searchable": True}
_NAME = {"type": "string", "is_searchable": True, "is_filterable": True}
_KEY = {"type": "string", "is_filterable": True}
_DATE = {"type": "datetime", "is_filterable": True}

SCHEMAS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "multihop_rag": {
        "title": _TEXT,
        "body": _TEXT,
        "source": _NAME,
        "category": _KEY,
        "author": _KEY,
        "published_at": _DATE,
    },
    "squad_dev": {"title": _TEXT, "body": _TEXT},
    "scifact": {"title": _TEXT, "body": _TEXT},
    "hotpotqa_sample": {"title": _TEXT, "body": _TEXT},
}
"""Collections in the order of the table, each with the schema that a user would declare."""


class CollectionAbsent(Exception):
    """The folder of a collection is not there; the message says where it was looked for."""


@dataclass(frozen=True)
class Question:
    """One query and its gold.

    Attributes:
        relevant: document id → grade above 0.
        facts: gold evidence sentences; empty where the collection has none.
        is_null: the collection holds no answer; the right outcome is "not found".
    """

    id: str
    text: str
    relevant: Mapping[str, int]
    facts: tuple[str, ...]
    is_null: bool


@dataclass(frozen=True)
class Collection:
    """Read on use; `questions` leaves out those without a relevant document unless they are null questions."""

    name: str
    folder: Path

    def documents(self) -> Iterator[dict[str, Any]]:
        yield from _lines(self.folder / "documents.jsonl")

    def questions(self) -> list[Question]:
        graded: dict[str, dict[str, int]] = {}
        with (self.folder / "qrels.tsv").open(encoding="utf-8") as file:
            for line in file:
                query, document, grade = line.rstrip("\n").split("\t")
                if int(grade) > 0:
                    graded.setdefault(query, {})[document] = int(grade)
        found = [_question(row, graded.get(row["id"], {}), self.name) for row in _lines(self.folder / "queries.jsonl")]
        return [question for question in found if question.relevant or question.is_null]

    @property
    def judges_passages(self) -> bool:
        """Whether gold evidence is scored by passage (multi-hop questions) rather than by document."""
        return self.name == "multihop_rag"


def open_collection(name: str, folder: Path) -> Collection:
    """Raises `CollectionAbsent` when it is not there."""
    if not (folder / name / "documents.jsonl").is_file():
        raise CollectionAbsent(f"{name} is not in {folder}: name the folder with --data or QUARRY_BENCH_DATA")
    return Collection(name, folder / name)


def present_collections(names: Iterable[str], folder: Path) -> Iterator[Collection]:
    """Those of `names` that are there; says on stderr which are not."""
    for name in names:
        try:
            yield open_collection(name, folder)
        except CollectionAbsent as absent:
            print(absent, file=sys.stderr)


def data_folder(given: str | None) -> Path:
    """`given`, else the environment's, else the default."""
    return Path(given or os.environ.get("QUARRY_BENCH_DATA") or DEFAULT_FOLDER)


def without_space(text: str) -> str:
    """`text` without white space, as gold sentences are compared."""
    return re.sub(r"\s+", "", text)


def _question(row: Mapping[str, Any], relevant: Mapping[str, int], name: str) -> Question:
    multihop = name == "multihop_rag"
    facts = tuple(without_space(entry["fact"]) for entry in row.get("evidence") or ()) if multihop else ()
    return Question(row["id"], row["text"], relevant, facts, row.get("question_type") == NULL_QUESTION)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)
