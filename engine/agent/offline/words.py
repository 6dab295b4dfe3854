"""Words of a question and of a passage, comparable: folded, without function words, lightly stemmed."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20ff]+")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

_FUNCTION = """
a an the of in on at to for from by with without within and or but nor so yet as is are was were be been being
am do does did done doing has have had having will would shall should can could may might must cannot not no
than then that this these those it its itself he she they them him his her hers their theirs we us our you
your i me my who whom whose which what when where why how if whether while whereas there here about into onto
over under between among through during before after above below up down out off again further both all any
each every few more most other others another such only own same too very just also even still ever never s t
don ll ve re m d
"""
FUNCTION_WORDS = frozenset(_FUNCTION.split())
"""English words that carry no content of their own."""

_FRAME = """
article articles report reports reported reporting reportedly coverage covered covers cover according
publication publications published publish publishes piece pieces source sources document documents suggest
suggests suggested suggesting claim claims claimed claiming indicate indicates indicated indicating discuss
discusses discussed discussing discussion mention mentions mentioned mentioning describe describes described
describing state states stated stating imply implies implied implying portray portrays portrayed portrayal
depict depicts depicted highlight highlights highlighted attribute attributes attributed considering
compare compares compared comparing comparison contrast contrasts say says said saying tell tells told telling
write writes wrote written writing information detailing regarding concerning respectively align aligns
indication author authors
"""
FRAME_WORDS = frozenset(_FRAME.split())
"""Words with which a question speaks of documents and of its own form rather than of its subject."""


def content_words(text: str) -> list[str]:
    """Folded, stemmed words that carry content, in order, with repetitions."""
    return [stem(word) for word in words(text) if word not in FUNCTION_WORDS and (len(word) > 1 or not word.isascii())]


def subject_words(text: str) -> list[str]:
    """As `content_words`, without the words with which a question speaks of documents."""
    return [
        stem(word)
        for word in words(text)
        if word not in FUNCTION_WORDS and word not in FRAME_WORDS and (len(word) > 1 or not word.isascii())
    ]


def words(text: str) -> list[str]:
    """Folded words, in order; where a script writes no spaces, pairs of its characters.

    >>> words("Café Müller’s 3 rooms")
    ['cafe', 'muller', 's', '3', 'rooms']
    """
    found: list[str] = []
    for word in _WORD.findall(folded(text)):
        if len(word) > 2 and _CJK.search(word):
            found += [word[i : i + 2] for i in range(len(word) - 1)]
        else:
            found.append(word)
    return found


def folded(text: str) -> str:
    """Case and accents removed."""
    if text.isascii():
        return text.lower()
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A light conflation of English inflections: enough to compare, never shown.

    >>> [stem(w) for w in ("accused", "accuses", "accusing", "companies", "company", "stopped", "news")]
    ['accus', 'accus', 'accus', 'compani', 'compani', 'stop', 'news']
    """
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    for ending in ("ingly", "edly", "ies", "ied", "ing", "ed", "ly", "es", "s", "e", "y"):
        if not word.endswith(ending):
            continue
        if ending == "s" and word.endswith(("ss", "us", "is", "news")):
            return word
        root = word[: -len(ending)]
        if len(root) < 3 or not any(c in "aeiouy" for c in root):
            continue
        if ending in ("ies", "ied", "y"):
            return root + "i"
        if (
            ending in ("ing", "ed", "ingly", "edly")
            and len(root) > 3
            and root[-1] == root[-2]
            and root[-1] not in "lsz"
        ):
            root = root[:-1]
        return root[:-1] if root.endswith("e") and len(root) > 3 else root
    return word
