"""What open namespaces remember of their rows."""

from __future__ import annotations

from engine.backend.recent import Recent
from engine.model.document import Passage

MOST_BYTES = 16 * 2**20
"""Of entries of one kind, in this process, for all namespaces together. The passages and bodies of 609 long news
articles take 12 and 7 MB; more holds more of a large collection and leaves less for its indexes."""

PASSAGES: Recent[Passage] = Recent(MOST_BYTES)
"""By label."""
BODIES: Recent[tuple[int, int, str]] = Recent(MOST_BYTES)
"""By document id: journal sequence at which it was known to stand, key, and JSON."""
