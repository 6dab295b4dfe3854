"""The gate: every word that leaves a search is checked here, whoever put it.

A statement may say what its sources say: the excerpts it cites, the passages, headers and attribute values they come
from, and the client's own words. Addresses, commands, quotations, figures and names must stand there. Figures and
dates may be rewritten, and computed where the computation is declared and holds. Of a statement that a model wrote,
lone names, numbers as words and denials are looked at too; there the check may err, so these faults are not sure.

What cites nothing (a caveat, what is missing, a question back) may only use the client's words: it would otherwise be
the way out for what a document wants to say to the reader.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from engine.agent.answer.addresses import folded, strange_addresses
from engine.agent.answer.arithmetic import computed_values
from engine.agent.answer.dates import dates, known
from engine.agent.answer.figures import KnownFigures, figures, in_24_hours, without_units, word_figures
from engine.agent.answer.names import known_capitals, lone_names, strange_names
from engine.agent.answer.negation import turned_around
from engine.agent.answer.quotations import strange_quotations
from engine.agent.answer.support import Supported
from engine.agent.drafts import AnswerDraft, Computed, Problem

OWN_WORDS = 0.5
"""Share of the words of an uncited text that must be the client's; larger lets less through."""
NEAR = 400
"""Characters up to which a source is looked at first; excerpts always are."""
_ROUGHLY = (
    "about|around|roughly|nearly|almost|approximately|some|over|above|under|below|more than|less than|up to|at least"
    "|etwa|rund|ungefähr|fast|knapp|über|unter|mehr als|weniger als|mindestens"
    "|unos|unas|cerca de|casi|más de|menos de|aproximadamente|environ|près de|presque|plus de|moins de|circa"
)
_STEM = 5
"""Letters after which words count as forms of one."""
_PIECE = re.compile(r"(?<=[.!?]) |:\s|(?<=[：。！？।؟])")
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Fault(NamedTuple):
    """Why a statement says more than its sources; `is_sure` as in `Problem`."""

    reason: str
    is_sure: bool = True


@dataclass(frozen=True, slots=True)
class Sources:
    """What a statement may draw on.

    Attributes:
        excerpts: what it cites.
        around: passages, headers and attribute values that were shown with them.
        asked: the client's own words.
        cited: how many documents it cites; that many may be said in words.
    """

    excerpts: tuple[str, ...]
    around: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    cited: int = 0

    @property
    def texts(self) -> tuple[str, ...]:
        """All of them, once each."""
        return tuple(dict.fromkeys((*self.excerpts, *self.around, *self.asked)))


def problems_of(draft: AnswerDraft, supported: Sequence[Supported | None], asked: Sequence[str] = ()) -> list[Problem]:
    """Every fault of every part of a draft, in the draft's order.

    Args:
        asked: the client's own texts.
    """
    own = tuple(text for text in asked if text)
    problems: list[Problem] = []

    @cache
    def faults(text: str, sources: Sources, computed: tuple[Computed, ...] = ()) -> list[Fault]:
        # A finding and the sentence that says it are often the same words with the same sources.
        return faults_of(text, sources, computed, is_written=draft.written)

    for index, held in enumerate(supported):
        if held is not None:
            sources = sources_of([held], own)
            found = faults(held.finding, sources)
            problems += [Problem("finding", index, fault.reason, fault.is_sure) for fault in found]
    for index, sentence in enumerate(draft.sentences):
        cited = [held for n in sentence.findings if 0 <= n < len(supported) and (held := supported[n]) is not None]
        if not cited:
            problems.append(Problem("sentence", index, "none of the findings it cites has an excerpt"))
            continue
        found = faults(sentence.text, sources_of(cited, own), tuple(sentence.computed))
        problems += [Problem("sentence", index, fault.reason, fault.is_sure) for fault in found]
    if draft.written:
        for index, caveat in enumerate(draft.caveats):
            problems += [Problem("caveat", index, fault.reason) for fault in uncited_faults(caveat, own)]
        for index, phrase in enumerate(draft.missing):
            problems += [Problem("missing", index, fault.reason) for fault in uncited_faults(phrase, own)]
    return problems


def sources_of(cited: Sequence[Supported], asked: Sequence[str]) -> Sources:
    """What a statement that cites these findings may draw on."""
    return Sources(
        excerpts=tuple(dict.fromkeys(excerpt for held in cited for excerpt in held.excerpts)),
        around=tuple(dict.fromkeys(text for held in cited for text in held.around)),
        asked=tuple(asked),
        cited=len({held.document_id for held in cited}),
    )


def faults_of(
    text: str, sources: Sources, computed: Sequence[Computed] = (), *, is_written: bool = False
) -> list[Fault]:
    """All faults of a statement that cites something.

    Args:
        computed: figures of it that stand in no source, with what they are computed from.
        is_written: a model put the words; adds the faults that are not sure.

    >>> faults_of("It rose by 12 % in 2023.", Sources(("Sales rose by 12 % last year.",)))
    [Fault(reason='the number 2023 stands in none of its sources', is_sure=True)]
    """
    if not is_written and not computed:
        text = not_verbatim(text, sources)
        if not text or stands_near(text, sources):
            return []
    texts = sources.texts
    faults = [
        Fault(f"the address or command {found} stands in none of its sources")
        for found in strange_addresses(text, texts)
    ]
    faults += [
        Fault(f"the quotation “{quoted}” stands in none of its sources") for quoted in strange_quotations(text, texts)
    ]
    faults += _figure_faults(text, texts, computed, sources.cited, is_written=is_written)
    # A month is no name, and neither is a unit.
    named = without_units(_without_known_dates(text, texts)[0])
    written = (*texts, *map(without_units, texts))
    strange = strange_names(named, written)
    faults += [Fault(f"the name {name} stands in none of its sources") for name in strange]
    if is_written:
        lone = [name for name in lone_names(named, written) if name not in strange]
        faults += [Fault(f"{name} looks like a name and stands in none of its sources", is_sure=False) for name in lone]
        if turned := turned_around(text, sources.excerpts):
            faults.append(Fault(turned, is_sure=False))
    return faults


def stands_near(text: str, sources: Sources) -> bool:
    """Whether the excerpts, headers and attribute values alone say all that `faults_of` looks for.

    It then finds nothing in all sources either, as more of them only ever know more; reading the passages, which are
    most of them, is left out. A statement made of a document's own sentences passes here.
    """
    near = (*sources.excerpts, *(source for source in sources.around if len(source) <= NEAR))
    return (
        known_capitals(unicodedata.normalize("NFC", text), near)
        and not strange_addresses(text, near)
        and not strange_quotations(text, near)
        and not _figure_faults(text, near, (), sources.cited, is_written=False)
    )


def not_verbatim(text: str, sources: Sources) -> str:
    """The sentences of a statement, and the label in front of one, that do not stand word for word in what it cites.

    What `faults_of` looks for in the others stands there too. Of a document's own sentences nothing is left.
    """
    around = [" ".join(source.split()) for source in (*sources.excerpts, *sources.around)]
    pieces = _PIECE.split(" ".join(text.split()))
    return " ".join(piece for piece in pieces if not any(_holds(source, piece) for source in around))


def _holds(text: str, piece: str) -> bool:
    """Whether a piece stands in a text with no letter and no digit beside it."""
    at = text.find(piece)
    around = text[max(at - 1, 0) : at] + text[at + len(piece) : at + len(piece) + 1]
    return at >= 0 and not any(map(str.isalnum, around))


def _figure_faults(
    text: str, texts: Sequence[str], computed: Sequence[Computed], cited: int, *, is_written: bool
) -> list[Fault]:
    plain, misdated = _without_known_dates(text, texts)
    if not computed and not misdated and not figures(plain) and not (is_written and word_figures(text)):
        # Most sentences hold no figure; reading all their sources for none would be most of the check.
        return []
    held = KnownFigures(texts)
    values, wrong = computed_values(computed, held)
    faults = [Fault(*reason) for reason in wrong]
    faults += [Fault(f"the date {date} stands in none of its sources", is_sure=False) for date in misdated]
    for figure, later in zip(figures(plain), figures(in_24_hours(plain)), strict=True):
        if (figure.readings | figure.plain) & values or held.fault(later) is None:
            continue
        if (fault := held.fault(figure)) is not None:
            # A rounded figure may be right, which takes a reader to say.
            is_rounded = fault[1] and _is_rough(plain, figure.text) and held.is_near(figure)
            faults.append(Fault(fault[0], fault[1] and not is_rounded))
    for figure in word_figures(text) if is_written else ():
        if any(value == cited or value in values for value in figure.readings):
            continue
        if (fault := held.fault(figure)) is not None:
            faults.append(Fault(fault[0], is_sure=False))
    return faults


def _is_rough(text: str, figure: str) -> bool:
    """Whether `text` gives a figure as a round one, or as a bound."""
    return (
        re.search(rf"(?<!\w)(?:{_ROUGHLY})\s(?:\w+\s)?[€$£¥]?\s?{re.escape(figure)}", text, re.IGNORECASE) is not None
    )


def _without_known_dates(text: str, texts: Sequence[str]) -> tuple[str, list[str]]:
    """`text` without the dates that its sources have, and the dates that they do not have."""
    written = unicodedata.normalize("NFC", text)
    own = dates(written)
    if not own:
        return written, []
    sources = [date for source in texts for date in dates(source)]
    years = {reading.year for date in sources for reading in date.readings if reading.year}
    left, end = "", 0
    strange: list[str] = []
    for date in own:
        if known(date, sources, years):
            left += f"{written[end : date.start]} "
            end = date.end
        else:
            strange.append(written[date.start : date.end])
    return left + written[end:], strange


def uncited_faults(text: str, asked: Sequence[str]) -> list[Fault]:
    """All faults of a text that cites nothing: besides those of a statement, words that are not the client's."""
    faults = [
        fault
        for fault in faults_of(text, Sources((), asked=tuple(asked)), is_written=True)
        if not fault.reason.startswith(("it denies", "every excerpt"))
    ]
    if own_share(text, asked) < OWN_WORDS:
        faults.append(Fault("it cites nothing and is not about what was asked"))
    return faults


def own_share(text: str, asked: Iterable[str]) -> float:
    """Share of the words of `text` that stand in `asked`, other forms of a word included; 0 for no words.

    >>> own_share("the costs in 1986", ["What did the bridge cost in 1986?"])
    1.0
    """
    words = _units(text)
    held = {unit for source in asked for unit in _units(source)}
    stems = {unit[:_STEM] for unit in held if len(unit) >= _STEM} | {unit for unit in held if len(unit) == _STEM - 1}
    own = [unit in held or unit[:_STEM] in stems or (len(unit) == _STEM and unit[:-1] in stems) for unit in words]
    return sum(own) / len(own) if own else 0.0


def _units(text: str) -> list[str]:
    """Words, and pairs of characters in scripts that put no spaces between words."""
    units: list[str] = []
    for word in _WORD.findall(folded(text)):
        if _UNSPACED.search(word):
            units += [word[start : start + 2] for start in range(max(1, len(word) - 1))]
        else:
            units.append(word)
    return units


def unsupported(text: str, excerpts: Sequence[str]) -> str:
    """The first reason why `text` says more than `excerpts`: a figure, a quotation or an address; empty for none.

    >>> unsupported("It rose by 12 % in 2023.", ["Sales rose by 12 % last year."])
    'the number 2023 stands in none of its sources'
    """
    texts = tuple(excerpts)
    for address in strange_addresses(text, texts):
        return f"the address or command {address} stands in none of its sources"
    for quoted in strange_quotations(text, texts):
        return f"the quotation “{quoted}” stands in none of its sources"
    figure_faults = [fault for fault in _figure_faults(text, texts, (), 0, is_written=False) if fault.is_sure]
    return figure_faults[0].reason if figure_faults else ""
