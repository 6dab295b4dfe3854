"""An answer before verification, as values: findings, sentences, what is wrong with them, what is read about them."""

from __future__ import annotations

from typing import Literal

import msgspec


class FindingDraft(msgspec.Struct, frozen=True):
    """A finding before verification: words about one document, and the blocks that carry it."""

    finding: str
    document_id: str
    block_ids: tuple[str, ...]


ComputedKind = Literal["sum", "difference", "product", "ratio", "percent", "change_percent", "average", "count"]


class Computed(msgspec.Struct, frozen=True):
    """A figure that stands in no source because a sentence computes it.

    Attributes:
        value: as the sentence writes it.
        of: the figures that it is computed from, as their sources write them.
    """

    value: str
    kind: ComputedKind
    of: tuple[str, ...]


class SentenceDraft(msgspec.Struct, frozen=True):
    """A sentence of the synthesis without its markers; `findings` index into the draft's findings.

    Attributes:
        is_line: an item of a list, on a line of its own.
    """

    text: str
    findings: tuple[int, ...]
    computed: tuple[Computed, ...] = ()
    is_line: bool = False


class AnswerDraft(msgspec.Struct, frozen=True):
    """An answer before verification; findings by importance. No findings means "not found".

    Attributes:
        caveats: sentences about the limits of the answer; they cite nothing.
        missing: what the evidence does not cover, a phrase each.
        written: a model put the words, so they are checked for more than figures, names and quotations.
    """

    findings: tuple[FindingDraft, ...]
    sentences: tuple[SentenceDraft, ...]
    caveats: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    written: bool = False


class Problem(msgspec.Struct, frozen=True):
    """Why a part of a draft failed verification; a part may have several.

    Attributes:
        part: which list of the draft; `index` points into it.
        reason: readable, such as "the number 42 stands in none of its sources".
        is_sure: False where the check may err, and a reader of the sources decides.
    """

    part: Literal["finding", "sentence", "caveat", "missing"]
    index: int
    reason: str
    is_sure: bool = True


Verdict = Literal["supported", "partly", "no"]


class Statement(msgspec.Struct, frozen=True):
    """A part of a draft to be held against what it cites.

    Attributes:
        excerpts: what it cites, verbatim.
        around: attribute values and headers of the documents cited.
        hints: what a mechanical check is not sure of.
    """

    text: str
    excerpts: tuple[str, ...]
    around: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
