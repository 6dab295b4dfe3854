"""Text of any script to text whose words stand between spaces, so that one tokenizer serves all.

Scripts that are written without spaces (and Korean, whose particles cling to the noun) become overlapping pairs of
characters: the segmentation-free way, as good as word segmentation for ranking (Nie, Gao, Zhang & Zhou 2000,
"On the use of words and n-grams for Chinese information retrieval").
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

GREEK = "Ͱ-Ͽἀ-῿"
CYRILLIC = "Ѐ-ԯᲀ-᲏ⷠ-ⷿꙀ-ꚟ"
ARMENIAN = "\u0531-\u058a"
INDIC = "\u0900-\u0dff"
"""Devanagari to Sinhala, with Bengali, Gurmukhi, Gujarati, Oriya, Tamil, Telugu, Kannada and Malayalam between."""
HAN = "\u2e80-\u2fdf\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
KANA = "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f"
HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
WITHOUT_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\ua9e0-\ua9ff\uaa60-\uaa7f"
"""Thai, Lao, Burmese, Khmer and their relatives: words follow each other, a space ends a phrase or a sentence."""
CJK = HAN + KANA
CAPITAL = "".join(chr(c) for c in range(0x2E80) if chr(c).isupper() or chr(c).istitle())
"""The capitals of every script that has any, for a class of characters."""

_UNSPACED = (
    "\u0e00-\u0e4f\u0e80-\u0edf"  # Thai, Lao
    "\u1000-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f"  # Myanmar
    "\u1780-\u17d3\u17dc-\u17dd"  # Khmer
    "\u1100-\u11ff\uac00-\ud7af"  # Hangul
    "\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana and iteration marks
    "\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_RUN = re.compile(f"[{_UNSPACED}]+")
_LETTERS = re.compile(f"[{WITHOUT_SPACES}{KANA}]+")
"""Of `_RUN`, what writes sounds: two letters are no word yet, as two Chinese characters often are."""
_FAR = re.compile("[\u0e00-\u1cff\u2e80-\U0003ffff]")
"""What holds none of these has no letter of such a script in any form."""
_JOINERS = str.maketrans({"\u00ad": None, "\u200b": " ", "\u200c": None, "\u200d": None, "\u0640": None})
_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u093c\u094d\u09bc\u09cd\u0a3c\u0a4d\u0abc\u0acd\u0b3c\u0b4d\u0bcd\u0c4d\u0cbc\u0ccd\u0d3b\u0d3c\u0d4d\u0dca"
    "\u0e38-\u0e3a\u0e48-\u0e4b\u0eb8-\u0eba\u0ec8-\u0ecb\u1037\u1039\u103a\u17d2\u17dd]"
)


def prepare(text: str) -> str:
    """`text` as the index tokenizes it: composed, without points and viramas, unspaced runs as pairs of characters.

    Every run of unspaced script ends with its last character alone, so that each of its characters begins a term and a
    single-character query is a prefix search. ASCII text comes back as it is.

    >>> prepare("黑猫 sleeps")
    ' 黑猫 猫  sleeps'
    """
    return text if text.isascii() else _RUN.sub(_pairs_and_last, _composed(text))


def prepare_query(text: str) -> str:
    """As `prepare`, without the single character at the end of a run: two characters are matched as one term.

    >>> prepare_query("黑猫"), prepare_query("猫")
    (' 黑猫 ', ' 猫 ')
    """
    return text if text.isascii() else _RUN.sub(_pairs, _composed(text))


def is_single_unspaced(term: str) -> bool:
    """Whether `term` is one character of an unspaced script: to be matched as a prefix.

    >>> is_single_unspaced("猫"), is_single_unspaced("黑猫"), is_single_unspaced("a")
    (True, False, False)
    """
    return len(term) == 1 and _RUN.fullmatch(term) is not None


def is_unspaced(term: str) -> bool:
    """Whether all of `term` is of an unspaced script.

    >>> is_unspaced("黑猫"), is_unspaced("cat")
    (True, False)
    """
    return _RUN.fullmatch(term) is not None


def spelled_triples(text: str) -> list[str]:
    """Three letters in a row of unspaced scripts that write sounds, wherever they begin.

    >>> spelled_triples("カメラは黒い camera")
    ['カメラ', 'メラは']
    """
    if _FAR.search(text) is None:
        return []
    runs = (run.group() for run in _LETTERS.finditer(_composed(text)))
    return [run[n : n + 3] for run in runs for n in range(len(run) - 2)]


def is_spelled(term: str) -> bool:
    """Whether all of `term` is of an unspaced script that writes sounds.

    >>> is_spelled("カメ"), is_spelled("黑猫")
    (True, False)
    """
    return _LETTERS.fullmatch(term) is not None


def _composed(text: str) -> str:
    composed = unicodedata.normalize("NFKC", text).translate(_JOINERS)
    # Marks of combining class above 0 are no letters to the tokenizer: a virama would cut a Hindi word in two, and a
    # pointed Hebrew or Arabic word would miss the same word without points.
    return _MARKS.sub("", composed)


def _pairs(run: re.Match[str]) -> str:
    characters = run.group()
    return f" {' '.join(map(''.join, pairwise(characters))) or characters} "


def _pairs_and_last(run: re.Match[str]) -> str:
    characters = run.group()
    return f" {' '.join((*map(''.join, pairwise(characters)), characters[-1]))} "
