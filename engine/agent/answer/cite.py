"""From a verified draft to a synthesis with right markers: ``[1]`` is the first result, and every result is cited."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from engine.agent.answer.support import Supported
from engine.agent.drafts import AnswerDraft
from engine.model.document import JsonValue
from engine.model.search import MAX_RESULTS, Result

MARKER = re.compile(r"\[(\d+)\]")
# What reads as a marker but was not put there by this module.
_STRAY = re.compile(r"\s*\[\d+(?:\s*[,–-]\s*\d+)*\]")


def cite(
    draft: AnswerDraft,
    supported: Sequence[Supported | None],
    *,
    failed_findings: Collection[int] = (),
    failed_sentences: Collection[int] = (),
    documents: Mapping[str, dict[str, JsonValue]] | None = None,
) -> tuple[str, tuple[Result, ...]]:
    """Synthesis and results, findings numbered in the draft's order of importance.

    Sentences that failed, or whose findings all fell away, are left out; equal ones become one. A finding that no
    sentence cites is cited in a last sentence of its own; without any sentence the findings' own words are the answer.

    Args:
        documents: given, each result carries its document.

    Returns:
        ``("", ())`` when no finding is left.
    """
    kept = [index for index, held in enumerate(supported) if held is not None and index not in failed_findings][
        :MAX_RESULTS
    ]
    number = {index: position for position, index in enumerate(kept, 1)}
    if not kept:
        return "", ()
    marks: dict[str, dict[int, None]] = {}
    texts: dict[str, str] = {}
    for position, sentence in enumerate(draft.sentences):
        known = [n for n in sentence.findings if n in number]
        text = clean(sentence.text)
        if position in failed_sentences or not known or not text:
            continue
        # A sentence that is said twice is said once, with the citations of both.
        texts.setdefault(text.casefold(), f"\n- {text}" if sentence.is_line else text)
        marks.setdefault(text.casefold(), {}).update(dict.fromkeys(known))
    lines = [f"{texts[folded]} {_marked(known, number)}" for folded, known in marks.items()]
    cited = {index for known in marks.values() for index in known}
    rest = [index for index in kept if index not in cited]
    if lines and rest:
        lines.append(f"See also {_marked(rest, number)}.")
    elif rest:
        lines = [f"{_said(supported[index])} {_marked([index], number)}" for index in rest]
    results: list[Result] = []
    for index in kept:
        held = supported[index]
        if held is not None:
            results.append(
                Result(
                    finding=held.finding,
                    id=held.document_id,
                    excerpts=held.excerpts,
                    attributes=documents.get(held.document_id) if documents is not None else None,
                )
            )
    return " ".join(lines).replace(" \n", "\n").strip(), tuple(results)


def _marked(indexes: Iterable[int], number: Mapping[int, int]) -> str:
    return "".join(f"[{number[n]}]" for n in sorted(indexes, key=number.__getitem__))


def _said(held: Supported | None) -> str:
    """A finding's own words; those of its excerpt where they are nothing but markers."""
    return "" if held is None else clean(held.finding) or clean(held.excerpts[0]) or "Found"


def clean(text: str) -> str:
    """`text` without markers of its own and without control characters, white space folded."""
    return " ".join(_STRAY.sub("", "".join(c for c in text if c.isprintable() or c.isspace())).split())


def markers(synthesis: str) -> list[int]:
    """The numbers of every marker, in order.

    >>> markers("So it is. [2][1]")
    [2, 1]
    """
    return [int(number) for number in MARKER.findall(synthesis)]
