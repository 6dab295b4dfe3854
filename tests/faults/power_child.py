"""Uploads, deletes, changes schemas, drops and backs up, and acknowledges each in the file ``ACK``. Run as a program.

Arguments: the folder to work in, a seed, the number of steps.
"""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path

import engine
from tests.embedders import HashingEmbedder

FILTERABLE = {"colour": {"type": "string", "is_filterable": True}}


def main(folder: str, seed: str, steps: str) -> None:
    draw, root = random.Random(int(seed)), Path(folder)
    with (
        (root / "ACK").open("a", buffering=1) as ack,
        engine.open(root / "data", embedder=HashingEmbedder(), agent="offline") as quarry,
    ):
        # From here on the n-th call may fail.
        Path(os.environ["FAULTS_ARMED"]).touch()
        for step in range(int(steps)):
            kind = draw.choices(["upsert", "delete", "schema", "drop", "backup", "reindex"], [8, 2, 1, 1, 1, 1])[0]
            name = draw.choice(["n", "m"])
            there = name in {n.name for n in quarry.namespaces()}
            chosen = [f"d{n}" for n in draw.sample(range(12), 4)]
            ack.write(
                json.dumps({"step": step, "begin": kind if there else "upsert", "name": name, "ids": chosen}) + "\n"
            )
            try:
                if kind == "delete" and there:
                    quarry.delete(name, document_ids=chosen)
                elif kind == "drop" and there:
                    quarry.drop(name)
                elif kind == "reindex" and there:
                    quarry.reindex(name)
                elif kind == "backup" and there:
                    quarry.backup(root / f"backup{step}")
                else:
                    schema = FILTERABLE if kind == "schema" else None
                    documents = [{"id": i, "body": f"ferry step{step}x", "colour": "red", "step": step} for i in chosen]
                    quarry.upsert(name, documents, schema)
            except engine.QuarryError as error:
                ack.write(json.dumps({"step": step, "refused": error.code}) + "\n")
            else:
                ack.write(json.dumps({"step": step, "done": True}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
