"""What one document contributes, in one readable sentence of its own words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from engine.agent.answer.gate import unsupported
from engine.agent.evidence.analysed import terms_of
from engine.agent.steps import Evidence, Question, ReadingPassage
from engine.analysis.language import DEFAULT_LANGUAGE
from engine.analysis.words import folded
from engine.question.kinds import Kind, shows
from engine.question.terms import read_in
from engine.text.sentences import sentences

MAX_LABEL = 100
"""Characters of a title or source that is put in front of a sentence; a longer one is left out, never cut."""
MAX_SENTENCE = 400
"""Characters above which a shorter sentence is preferred."""
MIN_SENTENCE = 15
IN_HEADER = 0.5
"""What a term counts that only the header holds, as a share of one in the sentence."""
WANTED = 1.15
"""Factor on a sentence that holds the kind of thing that the question asks for: a figure, a time, a name."""
PLACE = 0.5
"""What the rank of its passage adds to a sentence, at most, as a share of its own score."""
HEADER_SEPARATOR = " · "
_WORDS = re.compile(r"\w")
_ENDS = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")
_LEANING = re.compile(
    r"^\W*(?:he|she|it|they|his|her|its|their|this|that|these|those|there|here|but|and|so|or|then|however|also|instead"
    r"|meanwhile|both|such|another|yes|no|additionally|moreover|furthermore|therefore|thus|hence|nevertheless"
    r"|in addition|in contrast|for (?:example|instance)|the (?:same|latter|former))\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"^\W*(?:he|she|it|they|his|her|its|their|this|that|these|those|both|the (?:same|latter|former))\b", re.IGNORECASE
)
_BOILERPLATE = re.compile(
    r"\b(?:sign(?:ing)? up (?:for|to)|subscrib(?:e|ing) (?:to|now|here|today)|newsletters?|(?:click|tap)(?:ing)? here"
    r"|read more|learn more at|follow us|all rights reserved|cookie policy|privacy policy|terms of (?:use|service)"
    r"|advertisements?|share this|(?:image|photo)(?: credit)?s?:|photo by|affiliate (?:links?|commission)"
    r"|this article (?:was|is|has been) (?:originally|first|updated)|originally (?:appeared|published) (?:on|in|at)"
    r"|contributed to this (?:report|story|article))\b|©|(?-i:^\W*B[Yy] [A-Z][\w.'’-]+ [A-Z])",
    re.IGNORECASE,
)
_LINKED = re.compile(r"https?://|www\.|(?<!\w)@\w|\b\w+\.(?:com|org|net|co|io)/", re.IGNORECASE)
_LISTED = re.compile(r"^\W*\d{1,3}[.)]\s")
_PAIRS = (("“", "”"), ("«", "»"), ("(", ")"), ("[", "]"))
_CODE = re.compile(r"[_.()=*`<>/\\]\w|\w[_(=*`<>/\\]")


class Sentence(msgspec.Struct, frozen=True):
    """A sentence of a document that may speak for it.

    Attributes:
        text: as it is shown; a sentence that says "he" or "this" comes with the one before it.
        score: what it says of what is asked, lowered where it does not read well alone.
        share: weight of the asked terms that it holds, its header's counted less, as a share of all, in [0, 1].
        terms: its own.
        about: its own and its header's.
    """

    text: str
    block_id: str
    document_id: str
    score: float
    share: float
    terms: frozenset[str]
    about: frozenset[str]


class _Read(msgspec.Struct, frozen=True):
    shown: str
    block_id: str
    document_id: str
    terms: frozenset[str]
    header: frozenset[str]
    factor: float
    figure: str


class Spoken:
    """The sentences of a document's chosen blocks, read once and scored against one target after another.

    Args:
        evidence: of one document or several.
        best: the highest score of any passage, for what the rank of a passage adds.
    """

    def __init__(self, evidence: Sequence[Evidence], best: float = 0.0, code: str = DEFAULT_LANGUAGE) -> None:
        self._code = code
        top = max([best, *(e.passage.score for e in evidence)]) or 1.0
        self._read = [one for e in evidence for one in _read(e, 1.0 + PLACE * e.passage.score / top, code)]

    @property
    def is_silent(self) -> bool:
        """Whether no sentence has a letter or a digit."""
        return not self._read

    def towards(self, weights: Mapping[str, float], kind: Kind | None = None) -> list[Sentence]:
        """The most telling first; ties in reading order.

        Args:
            weights: of the terms that are asked for.
            kind: of answer that is asked for.
        """
        total = sum(weights.values()) or 1.0
        found: list[Sentence] = []
        for one in self._read:
            said = sum(
                weight * (1.0 if term in one.terms else IN_HEADER)
                for term, weight in weights.items()
                if term in one.terms or term in one.header
            )
            told = WANTED if shows(kind, one.figure, self._code) > 0 else 1.0
            found.append(
                Sentence(
                    one.shown,
                    one.block_id,
                    one.document_id,
                    (said * told + 0.01) * one.factor,
                    said / total,
                    one.terms,
                    one.terms | one.header,
                )
            )
        return sorted(found, key=lambda s: -s.score)


def sentences_of(
    evidence: Sequence[Evidence], weights: Mapping[str, float], kind: Kind | None = None
) -> list[Sentence]:
    """See `Spoken.towards`."""
    return Spoken(evidence).towards(weights, kind)


def _read(held: Evidence, place: float, code: str) -> list[_Read]:
    chosen = set(held.block_ids)
    header = terms_of(held.passage.passage.header, read_in(code))
    found: list[_Read] = []
    before, before_id = "", ""
    for block in held.passage.blocks:
        if block.id not in chosen:
            before = ""
            continue
        # A block may hold a heading or a short sentence beside the one that tells.
        for span in sentences(block.text):
            text = block.text[span.start : span.end]
            if not _WORDS.search(text):
                continue
            shown, factor = tidy(text), readability(text)
            brings = bool(before) and _PRONOUN.match(text) is not None and readability(before) >= 0.8
            if brings and len(before) + len(text) <= MAX_SENTENCE and before_id:
                shown, factor = f"{tidy(before)} {shown}", readability(text.lstrip(), is_led=True)
            found.append(
                _Read(
                    shown,
                    block.id,
                    held.passage.passage.document_id,
                    terms_of(text, read_in(code)),
                    header,
                    factor * place,
                    text,
                )
            )
            before, before_id = text, block.id
    return found


def readability(text: str, *, is_led: bool = False) -> float:
    """Factor in (0, 1]: how well a sentence reads where it stands alone.

    Args:
        is_led: the sentence before it stands in front of it.
    """
    text = " ".join(text.split())
    factor = 1.0
    if not _ENDS.search(text):
        factor *= 0.6
    if text.endswith("?"):
        factor *= 0.6
    first = next((c for c in text if c.isalnum()), "")
    if first.islower() and not _is_spelled_small(text):
        factor *= 0.6
    if _LEANING.match(text) and not is_led:
        factor *= 0.8
    if _BOILERPLATE.search(text):
        factor *= 0.3
    if _LINKED.search(text):
        factor *= 0.4
    if _LISTED.match(text):
        factor *= 0.7
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
    if text[:1] == "(" and text[-1:] == ")" and text.count("(") == 1:
        text = text[1:-1].strip()
    if text and not _ENDS.search(text):
        text += "."
    return text[:1].upper() + text[1:] if not _is_spelled_small(text) else text


def _is_spelled_small(text: str) -> bool:
    """Whether the first word is a name with a capital inside, such as ``iPhone``, or code, such as ``dump(value)``."""
    first = text.split(" ", 1)[0]
    return any(c.isupper() for c in first[1:]) or _CODE.search(first) is not None


def label_of(passage: ReadingPassage, question: Question, asked: str) -> str:
    """What to call a document: the value that the question names, such as its source, else its title; may be empty."""
    for name in question.filterable:
        value = passage.attributes.get(name)
        if isinstance(value, str) and len(value) > 2 and (named := _named(value, asked)):
            return named if len(named) <= MAX_LABEL else ""
    return title_of(passage)


def title_of(passage: ReadingPassage) -> str:
    """The document's title: the first part of the header; empty when there is none, or it is too long."""
    title = " ".join(passage.passage.header.split(HEADER_SEPARATOR, 1)[0].split())
    return title if len(title) <= MAX_LABEL and len(title.split()) > 0 else ""


def _named(value: str, asked: str) -> str:
    """The longest part of `value` that `asked` names: the whole, or what stands before a separator.

    A value without a capital is a word like any other: "class", "function" and "create" name nothing.
    """
    for part in (value, re.split(r"\s+[|/·–—-]\s+", value, maxsplit=1)[0]):
        if any(c.isupper() for c in part) and re.search(rf"(?<!\w){re.escape(folded(part))}(?!\w)", folded(asked)):
            return part
    return ""


def labelled(label: str, sentence: str, excerpts: str, aside: str = "") -> str:
    """``label: sentence``, where the label adds something and says no number or quotation that the excerpts do not.

    Args:
        aside: put between them, or in front, such as "likewise".
    """
    fits = (
        label
        and folded(label) not in folded(sentence)
        and not any(mark in label for mark in '“”"«»„[]')
        # What the gate refuses would take the sentence with it.
        and not unsupported(label, [excerpts])
    )
    if not fits:
        return f"{aside[:1].upper()}{aside[1:]}, {sentence}" if aside else sentence
    joint = " —" if label[-1] in ".?!…:" else ":"
    return f"{label}, {aside}: {sentence}" if aside else f"{label}{joint} {sentence}"
