"""What became of the files of one run, counted by kind and reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

MAX_LISTED = 10_000
"""Refusals that are kept with their place; further ones are counted only."""

_SHOWN = 20


class Refused(msgspec.Struct, frozen=True):
    """A file, or a line or page of one, that could not be used; `place` is ``rows.csv:17``."""

    place: str
    reason: str


class Report(msgspec.Struct, kw_only=True):
    """Counts of one run.

    Attributes:
        documents: stored, those that replaced an earlier version included.
        files: whose documents were stored.
        unchanged: files that were passed over, as nothing in them changed.
        removed: documents taken away: gone from their file, or their file is gone.
        skipped: reason to number of files and folders.
        notes: sentences about single files that are no faults.
    """

    documents: int = 0
    files: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: Counter[str] = msgspec.field(default_factory=Counter[str])
    refused: list[Refused] = msgspec.field(default_factory=list["Refused"])
    refused_count: int = 0
    notes: list[str] = msgspec.field(default_factory=list[str])

    def skip(self, reason: str) -> None:
        self.skipped[reason] += 1

    def refuse(self, place: str, reason: str) -> None:
        self.refused_count += 1
        if len(self.refused) < MAX_LISTED:
            self.refused.append(Refused(_printable(place), _printable(reason)))

    def note(self, text: str) -> None:
        """A sentence; the same one is kept once."""
        if len(self.notes) < MAX_LISTED and text not in self.notes[-100:]:
            self.notes.append(_printable(text))

    def summary(self, namespace: str) -> str:
        """One line on what was stored."""
        asides = [
            f"{count:,} {word}"
            for count, word in (
                (self.unchanged, "unchanged file" + "s" * (self.unchanged != 1)),
                (self.removed, "removed"),
            )
            if count
        ]
        line = f"{self.documents:,} document{'s' * (self.documents != 1)} in {namespace}"
        return f"{line} ({', '.join(asides)})" if asides else line

    def lines(self) -> Iterator[str]:
        """What was skipped, refused and noted, for people."""
        if self.skipped:
            total = self.skipped.total()
            reasons = ", ".join(f"{reason} {count:,}" for reason, count in self.skipped.most_common())
            yield f"skipped {total:,}: {reasons}"
        if self.refused_count:
            yield f"refused {self.refused_count:,}:"
            yield from (f"  {each.place}: {each.reason}" for each in self.refused[:_SHOWN])
            if self.refused_count > _SHOWN:
                yield f"  and {self.refused_count - _SHOWN:,} more; --report FILE lists them"
        yield from (f"note: {note}" for note in self.notes[:_SHOWN])
        if len(self.notes) > _SHOWN:
            yield f"note: and {len(self.notes) - _SHOWN:,} more; --report FILE lists them"


def _printable(text: str) -> str:
    """`text` as a terminal and JSON can show it, whatever the name of a file holds."""
    return "".join(c if c.isprintable() else "?" for c in text.encode(errors="replace").decode())
