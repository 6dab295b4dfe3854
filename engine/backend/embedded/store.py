"""One open namespace: its database, its three indexes, and the snapshot that searches read."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.backend.embedded.recent import BODIES, PASSAGES
from engine.backend.embedded.record import Record
from engine.backend.embedded.snapshot import Snapshot, without
from engine.errors import StorageError
from engine.lexical.forward import ForwardIndex
from engine.lexical.index import LexicalIndex
from engine.model.hits import Labels
from engine.model.namespace import NamespaceState
from engine.settings import EngineSettings
from engine.storage.attributes import Columns
from engine.storage.connection import Cursor, Database
from engine.storage.files import folder_bytes, make_private
from engine.storage.manifest import Manifest
from engine.storage.passages import label_keys
from engine.vector.index import VectorIndex

DATABASE_FILE = "documents.duckdb"
LEXICAL_FOLDER = "lexical"
VECTORS_FOLDER = "vectors"
FORWARD_FOLDER = "forward"
MANIFEST_FILE = "committed.json"
_TOKENS = count()


class NamespaceStore:
    """The database and the indexes of a namespace, kept in step.

    Writers hold `write_lock`; readers take `snapshot` and never wait. `committed_seq` moves at the database's commit,
    `snapshot.seq` when both indexes show the same state: where they differ, a write is being applied. A write that
    failed on the way, and could not be undone in memory, leaves `is_settled` False for the next one. `token` is this
    object's own, so that nothing that was remembered of another state of the namespace is taken for its.
    """

    def __init__(
        self,
        folder: Path,
        database: Database,
        lexical: LexicalIndex,
        vectors: VectorIndex,
        forward: ForwardIndex,
        columns: Columns,
        settings: EngineSettings,
        record: Record,
    ) -> None:
        self.token = next(_TOKENS)
        self.folder = folder
        self.database = database
        self.lexical = lexical
        self.vectors = vectors
        self.forward = forward
        self.columns = columns
        self.manifest = Manifest(folder / MANIFEST_FILE)
        self.record = record
        self.settings = settings
        self.write_lock = threading.RLock()
        self.committed_seq = 0
        self.saved_seq = 0
        self.unsaved_rows = 0
        self.is_settled = True
        self._snapshot: Snapshot | None = None

    @property
    def dimension(self) -> int:
        """Length of the vectors; 0 where there are none."""
        return self.record.dimension

    @property
    def snapshot(self) -> Snapshot:
        """The latest published state."""
        if self._snapshot is None:
            raise StorageError("The namespace is not loaded.")
        return self._snapshot

    @contextmanager
    def reading(self) -> Generator[Cursor]:
        """A cursor of this thread's own."""
        with self.database.reader() as cursor:
            yield cursor

    def load(self, seq: int) -> None:
        """Publish the state of the database and the indexes as they stand, at `seq`."""
        with self.reading() as cursor:
            labels, keys = label_keys(cursor)
        self.committed_seq = seq
        self._snapshot = Snapshot(seq, labels, keys, self.lexical.reader(), self.vectors.reader())

    def publish(self, seq: int, added: Labels, added_keys: npt.NDArray[np.int64], removed: Labels) -> None:
        """Show a write that both indexes have applied."""
        labels, keys = without(self.snapshot.labels, self.snapshot.keys, removed)
        self._snapshot = Snapshot(
            seq,
            np.concatenate([labels, added]),
            np.concatenate([keys, added_keys]),
            self.lexical.reader(),
            self.vectors.reader(),
        )

    @property
    def is_current(self) -> bool:
        """Whether the snapshot shows every committed write."""
        return self.committed_seq == self.snapshot.seq

    def state(self) -> NamespaceState:
        """What the catalog mirrors; for the one who holds writers off, or just wrote."""
        return NamespaceState(
            seq=self.committed_seq,
            schema=self.record.schema,
            embedder=self.record.embedder,
            dimension=self.record.dimension,
            documents=self.record.documents,
            passages=len(self.snapshot.labels),
            storage_bytes=folder_bytes(self.folder),
        )

    def close(self) -> None:
        """Release files and threads; nothing is lost when this never runs."""
        PASSAGES.drop(self.token)
        BODIES.drop(self.token)
        self.vectors.close()
        self.forward.close()
        self.lexical.close()
        self.database.close()
        make_private(self.folder)
