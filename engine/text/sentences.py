r"""Where sentences begin and end, in any script.

The rules follow UAX #29 (4, sentence boundaries) and add what it leaves to "tailoring":

- A full stop, ``!``, ``?`` or ``…`` with its closing quotes and brackets ends a sentence when white space follows and
  then anything but a lower-case letter. Abbreviations, initials, acronyms, ordinals and list numbers do not
  (``languages/any.toml``).
- The marks of scripts that put no space after them (``。`` ``।`` ``؟`` ``۔`` ``։`` ``።`` ``។`` ``။`` and their like)
  end a sentence at once; ``;`` after Greek and ``:`` after Armenian letters do before white space.
- A blank line always ends one. A single line end does too (headings, list items, table rows, verse) unless the line
  looks wrapped: long, or of some length and continued in lower case.
- Thai, Lao, Khmer and Burmese end sentences with spaces: in a long stretch of them a space that comes late enough cuts.
- Nothing longer than `MAX_SENTENCE` is left in one piece (`long_spans`).
"""

from __future__ import annotations

import re

from engine.analysis.language import neutral
from engine.analysis.scripts import ARMENIAN, CJK, GREEK, INDIC, WITHOUT_SPACES
from engine.model.document import Span
from engine.text.long_spans import append_trimmed, split_long

MAX_SENTENCE = 1_000
"""The longest sentence, in characters."""

_SPACED = ".!?…"
_FULL = "。！？｡︒।॥۔؟؞։።፧፨។៕။།༎๚๛᠃᠉׃;‼⁇⁈⁉．"
_BREAKS = "\n\x0b\x0c\x85\u2028\u2029"
_CLOSERS = r"\"'”’»›)\]}」』）】》〉〕］｝"
_FOOTNOTES = r"(?:\[\d{1,3}\])*+"

# The first character stands in a class of its own so that the search skips to it; possessive repeats and the
# look-behind (a run of marks is tried from its first mark only) keep every search linear.
_ASCII_MARK = re.compile(rf"([.!?\n](?:(?<=\n)|(?<![.!?][.!?])[.!?]*+[\"')\]}}]*+{_FOOTNOTES}(?=\s)))\s*+")
_MARK = re.compile(
    rf"([{_SPACED}{_BREAKS}{_FULL};:](?:"
    rf"(?<=[{_BREAKS}])"
    rf"|(?<=[{_FULL}])[{_SPACED}{_FULL}]*+[{_CLOSERS}]*+"
    rf"|(?<=[{_SPACED}])(?<![{_SPACED}][{_SPACED}])[{_SPACED}]*+[{_CLOSERS}]*+{_FOOTNOTES}(?:(?=\s)|(?<=[!?])(?=[{CJK}]))"
    rf"|(?<=[{GREEK}];)(?=\s)|(?<=[{ARMENIAN}]:)(?=\s)"
    r"))\s*+"
)

NEVER_LAST = frozenset(neutral().never_last.split())
"""A name, a number or an example follows these abbreviations: no sentence ends here."""
BEFORE_NUMBER = frozenset(neutral().before_number.split())
"""No sentence ends here when a number follows."""
MAY_BE_LAST = frozenset(neutral().may_be_last.split())
"""A sentence ends here only when the next word is one that sentences begin with."""
STARTERS = frozenset(neutral().starters.split())
"""Words that begin a sentence far more often than they follow an abbreviation inside one."""
AFTER_ORDINAL = frozenset(neutral().after_ordinal.split())
"""What follows an ordinal number that is written with a full stop."""

_OPENERS = frozenset("\"'“‘«‹„‚([{¿¡「『（【《〈*_-–—•")
_LINE_ENDS = frozenset(_BREAKS)
_LONG_TAILS = frozenset(f(w[-5:]) for w in NEVER_LAST | MAY_BE_LAST if len(w) >= 5 for f in (str, str.title))
_ITEM = re.compile(r"[-*+•‣◦▪●·–—]\s|\(?(?:\d{1,3}|[A-Za-z])[.)]\s|#{1,6}\s|[|>]|```|~~~|(?:[=\-*_] ?){3}")
_WORD = re.compile(r"[^\W\d_]+")
_ACRONYM = re.compile(r"(?:[^\W\d_]{1,3}\.)+[^\W\d_]{1,3}")
_ROMAN = re.compile(r"[IVXLC]+")
_UNSPACED = re.compile(f"[{WITHOUT_SPACES}]")
_UNSPACED_GAP = re.compile(rf"(?<=[{WITHOUT_SPACES}])\s+(?=[{WITHOUT_SPACES}])")
_INDIC_SHORT = re.compile(f"[{INDIC}]{{1,3}}")

_WRAPPED_LINE = 45
_CONTINUED_LINE = 20
_PHRASE = 80
_LOOK_BACK = 24


def sentences(text: str) -> list[Span]:
    """The sentences of `text`: trimmed, in order, apart, at most `MAX_SENTENCE` long, together all but white space.

    >>> text = "Dr. Who paid $3.50. Why?"
    >>> [text[s.start : s.end] for s in sentences(text)]
    ['Dr. Who paid $3.50.', 'Why?']
    """
    return [Span(start, end) for start, end in sentence_bounds(text)]


def sentence_bounds(text: str) -> list[tuple[int, int]]:
    """`sentences` as pairs ``(start, end)``: half the time, for the upload path."""
    bounds: list[tuple[int, int]] = []
    start = len(text) - len(text.lstrip())
    for match in (_ASCII_MARK if text.isascii() else _MARK).finditer(text, start):
        mark, end = match.span(1)
        following = match.end()
        first = text[mark]
        if first == "." and following == mark + 2 and text[following : following + 1].isupper():
            # The common case, decided without more calls: a long word, one full stop, one space, a capital.
            tail = text[mark - 5 : mark]
            ends = (tail.isalpha() and tail not in _LONG_TAILS) or _full_stop_ends(text, start, mark, following)
        elif first in _LINE_ENDS:
            if _line_ends(text, start, mark, following):
                append_trimmed(bounds, text, start, mark)
                start = following
            continue
        else:
            ends = following >= len(text) or _stop_ends(text, start, mark, end, following)
        if ends:
            bounds.append((start, end))
            start = following
    append_trimmed(bounds, text, start, len(text))
    return _shortened(text, bounds)


def _stop_ends(text: str, start: int, mark: int, end: int, following: int) -> bool:
    """Whether the marks ``text[mark:end]`` end the sentence from `start` when ``text[following]`` comes next."""
    first = text[mark]
    if first not in _SPACED:
        return not (first == "．" and text[following].isdigit())
    gap = text[end:following]
    if "\n" in gap:
        if gap.count("\n") > 1 or _ITEM.match(text, following):
            return True
        if text[following].islower():
            return _line_ends(text, start, end, following)
    upcoming = text[following]
    while upcoming in _OPENERS and following + 1 < len(text):
        following += 1
        upcoming = text[following]
    if upcoming.islower():
        # “iPhone” and “eBay” begin sentences.
        return text[following + 1 : following + 2].isupper()
    if first != "." or end > mark + 1:
        return True
    return _full_stop_ends(text, start, mark, following)


def _full_stop_ends(text: str, start: int, mark: int, following: int) -> bool:
    words = text[max(start, mark - _LOOK_BACK) : mark].split()
    if not words:
        return False
    word = words[-1].lstrip("([{\"'“‘«„¿¡*_–—-/")
    if not word:
        return True
    if mark - start == len(word) and (word.isdigit() or len(word) == 1 or _ROMAN.fullmatch(word)):
        return False  # the number of a list item or a heading
    if word.isdigit():
        return _next_word(text, following) not in AFTER_ORDINAL
    lower = word.lower()
    if lower in NEVER_LAST:
        return False
    if lower in BEFORE_NUMBER and text[following].isdigit():
        return False
    if len(word) == 1 and word.isalpha():
        if word == "I" and len(words) > 1 and words[-2].islower():
            return True
        # Letters without case are words; of the others, “J. R. R. Tolkien” is told from “vitamin C. The”.
        upcoming = _next_word(text, following)
        return not (word.isupper() or word.islower()) or (len(upcoming) > 1 and upcoming in STARTERS)
    if lower in MAY_BE_LAST or ("." in word and _ACRONYM.fullmatch(word)):
        return _next_word(text, following) in STARTERS
    return not _INDIC_SHORT.fullmatch(word)


def _next_word(text: str, position: int) -> str:
    match = _WORD.match(text, position)
    return match.group() if match else ""


def _line_ends(text: str, start: int, end: int, following: int) -> bool:
    """Whether the line break at `end` ends a sentence, rather than wrapping it."""
    gap = text[end:following]
    if following >= len(text) or gap.count("\n") != 1 or _ITEM.match(text, following):
        return True
    line = text[max(text.rfind("\n", start, end) + 1, start) : end].strip()
    if not line or line[0] in "#|" or line[-1] in ":|" or not any(map(str.isalnum, line)):
        return True
    if text[following].islower():
        return len(line) < _CONTINUED_LINE
    # Two columns a character: a line of ideographs is wrapped at half as many.
    width = len(line) if line[-1] < "\u2e80" else 2 * len(line)
    return width < _WRAPPED_LINE


def _shortened(text: str, bounds: list[tuple[int, int]]) -> list[tuple[int, int]]:
    unspaced = not text.isascii() and _UNSPACED.search(text) is not None
    if not unspaced and all(end - start <= MAX_SENTENCE for start, end in bounds):
        return bounds
    out: list[tuple[int, int]] = []
    for start, end in bounds:
        phrases = _phrases(text, start, end) if unspaced and end - start > 2 * _PHRASE else [(start, end)]
        for first, last in phrases:
            out += split_long(text, first, last, MAX_SENTENCE)
    return out


def _phrases(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A stretch of a script without spaces between words, cut where there are spaces, into phrases of some length."""
    phrases: list[tuple[int, int]] = []
    for gap in _UNSPACED_GAP.finditer(text, start, end):
        if gap.start() - start >= _PHRASE and end - gap.end() >= _PHRASE:
            phrases.append((start, gap.start()))
            start = gap.end()
    phrases.append((start, end))
    return phrases
