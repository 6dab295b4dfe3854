"""Names in a sentence that its sources do not know."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

NOUN_CAPITALS = 0.25
"""Share of capitalised words within sentences above which a language is taken to capitalise its nouns, as German does;
English news has about half of that."""
_BEGINNING = 4
"""Letters that tell two forms of a name from two names."""
_WORD = re.compile(r"\w(?:[\w’'&-]|\.(?=\w))*")
_SENTENCE_END = re.compile(r"[.!?:;…]['”\"»)]*\s*$")
_SHORT = 3
"""Letters up to which an abbreviation may be a title or a common word: CEO, GPS."""
_TITLES = frozenset(
    ["dr", "prof", "mr", "mrs", "ms", "st", "sr", "sra", "dra", "jr", "hr", "fr", "frau", "herr", "dipl", "ing"]
)
"""What ends with a dot and no sentence with it; so does a single letter."""


class _Word(NamedTuple):
    text: str
    begins: bool
    """Stands at the beginning of a sentence, where every word has a capital."""
    joined: bool
    """Only white space stands between it and the word before it."""

    @property
    def capitals(self) -> str:
        return "".join(character for character in self.text if character.isupper())

    @property
    def is_abbreviation(self) -> bool:
        return len(self.capitals) > 1


def strange_names(text: str, sources: Iterable[str]) -> list[str]:
    """Words of names in `text` that stand in none of `sources`, in order.

    A name is a run of two or more capitalised words, or an abbreviation; one of three letters is left to
    `lone_names`. The first word of a sentence may open a run and is not looked up; where nouns have capitals it opens
    none. An abbreviation counts as known where its words stand in a source, and words where their abbreviation does.
    Scripts without capitals have no names here.

    >>> strange_names("Then Ada Byron left the UN Council.", ["Ada was in a council.", "The United Nations hired her."])
    ['Byron']
    """
    texts = [_words(source) for source in sources]
    known = {form for words in texts for word in words for form in _forms(word.text)}
    initials = {_initials(run) for words in texts for run in _runs(words)}
    words = _words(text)
    if _capitalises_nouns([word for held in texts for word in held]):
        words = [word for word in words if not word.begins or word.is_abbreviation]
    strange: dict[str, None] = {}
    for run in _runs(words):
        if len(run) > 1 and _initials(run) in known:
            continue
        for word in run:
            if word.is_abbreviation:
                # A short one may be of words that a source spells in another way.
                is_known = len(word.capitals) <= _SHORT or word.capitals.casefold() in initials
            else:
                is_known = len(run) == 1 or word.begins
            if not is_known and not _forms(word.text) & known:
                strange[word.text] = None
    return list(strange)


def known_capitals(text: str, sources: Iterable[str]) -> bool:
    """Whether every word of `text` that may belong to a name stands in `sources` as it is.

    That leaves `strange_names` nothing, whatever else there is in other sources.
    """
    wanted = {
        word.text for word in _words(text) if word.text[0].isupper() and (not word.begins or word.is_abbreviation)
    }
    for source in sources:
        if not wanted:
            break
        wanted.difference_update(_WORD.findall(source))
    return not wanted


def lone_names(text: str, sources: Iterable[str]) -> list[str]:
    """Capitalised words within a sentence of `text` that begin no word of `sources`, and abbreviations, in order.

    Where nouns have capitals, only abbreviations are looked at. A word of the same first letters counts as known, so
    that "German" stands where "Germany" does; this may err in both ways, as it does for a "CEO" who is called a chief
    executive.

    >>> lone_names("It was drawn by Smith, a German, said Ada of ACME.", ["Ada drew it in Germany."])
    ['Smith', 'ACME']
    """
    texts = [_words(source) for source in sources]
    has_nouns = _capitalises_nouns([word for held in texts for word in held])
    known = {form for words in texts for word in words for form in _forms(word.text)}
    known |= {_initials(run) for words in texts for run in _runs(words)}
    begun = {form[:_BEGINNING] for form in known if len(form) >= _BEGINNING}
    found: dict[str, None] = {}
    for word in _words(text):
        forms = _forms(word.text)
        if word.is_abbreviation:
            is_name = word.capitals.casefold() not in known
        else:
            is_name = word.text[0].isupper() and not word.begins and len(word.text) > 1 and not has_nouns
        if is_name and not forms & known and not {form[:_BEGINNING] for form in forms} & begun:
            found[word.text] = None
    return list(found)


def _words(text: str) -> list[_Word]:
    found: list[_Word] = []
    end = 0
    for match in _WORD.finditer(text):
        gap = text[end : match.start()]
        is_title = bool(found) and gap.startswith(".") and _is_title(found[-1].text)
        begins = not found or (_SENTENCE_END.search(gap) is not None and not is_title)
        found.append(_Word(match.group(), begins, joined=bool(found) and not begins and not gap.strip()))
        end = match.end()
    return found


def _is_title(word: str) -> bool:
    return word.casefold() in _TITLES or (len(word) == 1 and word.isalpha())


def _runs(words: Iterable[_Word]) -> Iterator[list[_Word]]:
    """Capitalised words that follow each other."""
    run: list[_Word] = []
    for word in words:
        if run and not (word.joined and word.text[0].isupper()):
            yield run
            run = []
        if word.text[0].isupper():
            run.append(word)
    if run:
        yield run


def _initials(run: list[_Word]) -> str:
    """First letters; an opening "The" is no part of a name."""
    name = run[1:] if len(run) > 2 and run[0].begins and not run[0].is_abbreviation else run
    return "".join(word.text[0] for word in name).casefold()


def _forms(word: str) -> set[str]:
    """A word as sources may write it: folded, without a possessive, without dots, and its hyphenated parts."""
    folded = re.sub(r"['’]s?$", "", word.casefold()).replace("’", "'")
    return {folded, folded.replace(".", ""), *folded.split("-")}


def _capitalises_nouns(words: list[_Word]) -> bool:
    within = [word for word in words if not word.begins and word.text[0].isalpha()]
    capitalised = sum(word.text[0].isupper() for word in within)
    return capitalised > NOUN_CAPITALS * len(within)
