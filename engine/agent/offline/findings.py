"""What one document contributes, in one readable sentence of its own words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from engine.agent.offline.coverage import terms_in
from engine.agent.offline.words import folded
from engine.agent.steps import Evidence, Question, ReadingPassage
from engine.text.sentences import sentences

MAX_LABEL = 100
"""Characters of a title or source that is put in front of a sentence; a longer one is left out, never cut."""
MAX_SENTENCE = 400
"""Characters above which a shorter sentence is preferred."""
MIN_SENTENCE = 15
IN_HEADER = 0.35
"""What a term counts that only the header holds, as a share of one in the sentence."""
WANTED = 1.15
"""Factor on a sentence that holds the kind of thing that the question asks for: a figure, a time, a name."""
HEADER_SEPARATOR = " · "
_WORDS = re.compile(r"\w")
_ENDS = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")
_LEANING = re.compile(
    r"^\W*(?:he|she|it|they|his|her|its|their|this|that|these|those|there|here|but|and|so|or|then|however|also|instead"
    r"|meanwhile|both|such|another|the (?:same|latter|former))\b",
    re.IGNORECASE,
)
_PAIRS = (("“", "”"), ("«", "»"), ("(", ")"), ("[", "]"))
_NUMBER = re.compile(r"\d+")
_AMOUNT = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|hundred|thousand|million|billion|half"
    r"|daily|weekly|monthly|yearly)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\d|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday|century|noon|midnight|o'clock|today|yesterday|spring|summer|autumn|winter)\b",
    re.IGNORECASE,
)
_PERSON = re.compile(r"(?<=\s)[^\W\d_a-z]\w+")
_KINDS = (
    (
        re.compile(r"\bhow (?:many|much|long|often|old|far|tall|big|large|high|deep|wide|heavy|fast)\b", re.IGNORECASE),
        _AMOUNT,
    ),
    (re.compile(r"\b(?:when|what (?:year|date|time|day|month))\b", re.IGNORECASE), _TIME),
    (re.compile(r"^\W*who\b", re.IGNORECASE), _PERSON),
)


class Sentence(msgspec.Struct, frozen=True):
    """A sentence of a document that may speak for it.

    Attributes:
        score: rarity of the asked terms that it holds, lowered where it does not read well alone.
    """

    text: str
    block_id: str
    document_id: str
    score: float
    terms: frozenset[str]


def wanted(asked: str) -> re.Pattern[str] | None:
    """What a sentence shows that gives the kind of answer asked for; None where anything may."""
    return next((shown for question, shown in _KINDS if question.search(asked)), None)


def sentences_of(
    evidence: Sequence[Evidence], weights: Mapping[str, float], shows: re.Pattern[str] | None = None
) -> list[Sentence]:
    """The sentences of the evidence's blocks, the most telling first; ties in reading order.

    Args:
        weights: of the terms that are asked for.
        shows: see `wanted`.
    """
    found: list[Sentence] = []
    for held in evidence:
        chosen = set(held.block_ids)
        header = terms_in(held.passage.passage.header)
        for block in held.passage.blocks:
            if block.id not in chosen:
                continue
            # A block may hold a heading or a short sentence beside the one that tells.
            for span in sentences(block.text):
                text = block.text[span.start : span.end]
                if not _WORDS.search(text):
                    continue
                terms = terms_in(text)
                mass = sum(
                    weight * (1.0 if term in terms else IN_HEADER)
                    for term, weight in weights.items()
                    if term in terms or term in header
                )
                if shows is not None and shows.search(text):
                    mass *= WANTED
                found.append(
                    Sentence(
                        tidy(text),
                        block.id,
                        held.passage.passage.document_id,
                        (mass + 0.01) * readability(text),
                        terms,
                    )
                )
    return sorted(found, key=lambda s: -s.score)


def readability(text: str) -> float:
    """Factor in (0, 1]: how well a sentence reads where it stands alone."""
    text = " ".join(text.split())
    factor = 1.0
    if not _ENDS.search(text):
        factor *= 0.6
    if text.endswith("?"):
        factor *= 0.6
    first = next((c for c in text if c.isalnum()), "")
    if first.islower():
        factor *= 0.6
    if _LEANING.match(text):
        factor *= 0.8
    if len(text) > MAX_SENTENCE:
        factor *= max(0.4, MAX_SENTENCE / len(text))
    if len(text) < MIN_SENTENCE:
        factor *= 0.5
    return factor


def tidy(text: str) -> str:
    r"""Text as a sentence: white space folded, a capital first, a full stop last, no mark of a pair alone.

    >>> tidy("it rose by\n 3 %")
    'It rose by 3 %.'
    """
    text = " ".join(text.split())
    for opening, closing in _PAIRS:
        if text.count(opening) != text.count(closing):
            text = text.replace(opening, "").replace(closing, "")
    if text.count('"') % 2:
        text = text.replace('"', "")
    text = text.strip(" -–—•*·|:;,")
    if text and not _ENDS.search(text):
        text += "."
    return text[:1].upper() + text[1:] if not _is_spelled_small(text) else text


def _is_spelled_small(text: str) -> bool:
    """Whether the first word is a name with a capital inside, such as ``iPhone``."""
    first = text.split(" ", 1)[0]
    return any(c.isupper() for c in first[1:])


def label_of(passage: ReadingPassage, question: Question, asked: str) -> str:
    """What to call a document: the value that the question names, such as its source, else its title; may be empty."""
    said = folded(asked)
    for name in question.filterable:
        value = passage.attributes.get(name)
        if isinstance(value, str) and len(value) > 2 and (named := _named(value, said)):
            return named if len(named) <= MAX_LABEL else ""
    return title_of(passage)


def title_of(passage: ReadingPassage) -> str:
    """The document's title: the first part of the header; empty when there is none, or it is too long."""
    title = " ".join(passage.passage.header.split(HEADER_SEPARATOR, 1)[0].split())
    return title if len(title) <= MAX_LABEL and len(title.split()) > 0 else ""


def _named(value: str, said: str) -> str:
    """The longest part of `value` that `said` names: the whole, or what stands before a separator."""
    for part in (value, re.split(r"\s+[|/·–—-]\s+", value, maxsplit=1)[0]):
        if re.search(rf"(?<!\w){re.escape(folded(part))}(?!\w)", said):
            return part
    return ""


def labelled(label: str, sentence: str, excerpts: str) -> str:
    """``label: sentence``, where the label adds something and says no number or quotation that the excerpts do not."""
    fits = (
        label
        and folded(label) not in folded(sentence)
        and not any(mark in label for mark in '“”"«»„[]')
        and all(number in excerpts for number in _NUMBER.findall(label))
    )
    if not fits:
        return sentence
    joint = " —" if label[-1] in ".?!…:" else ":"
    return f"{label}{joint} {sentence}"
