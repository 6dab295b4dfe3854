"""Writes at random to a data directory and says what was acknowledged, until it is killed. Run as a program.

Each line of output is JSON, flushed: ``{"begin": …}`` before a call and ``{"done": true}`` after it.
"""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path

import engine
from tests.embedders import HashingEmbedder
from tests.faults.crash_points import arm

SCHEMA = {"body": {"type": "string", "is_searchable": True}, "version": {"type": "int", "is_filterable": True}}


def say(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main(folder: str, seed: str, point: str) -> None:
    draw = random.Random(int(seed))
    with engine.open(Path(folder), embedder=HashingEmbedder(), agent="offline") as quarry:
        say({"open": os.getpid()})
        if point:
            quarry.upsert("n", [{"id": "first", "body": "before the crash", "version": 0}], SCHEMA)
            say({"begin": {"upsert": {"first": 0}}})
            say({"done": True})
            arm(point)
        for step in range(10_000):
            version = int(seed) * 10_000 + step
            if draw.random() < 0.75 or step == 0:
                chosen = draw.sample(range(40), draw.choice([1, 3, 12]))
                documents = [
                    {"id": f"d{n}", "body": f"document d{n} stands in version v{version}z", "version": version}
                    for n in chosen
                ]
                say({"begin": {"upsert": {d["id"]: version for d in documents}}})
                quarry.upsert("n", documents, SCHEMA)
            else:
                gone = [f"d{n}" for n in draw.sample(range(40), 4)]
                say({"begin": {"delete": gone}})
                quarry.delete("n", document_ids=gone)
            say({"done": True})
            if point in ("terms", "save") and step == 3:
                quarry.maintain("n")
            if point == "swap" and step == 3:
                quarry.reindex("n")


if __name__ == "__main__":
    main(*sys.argv[1:])
