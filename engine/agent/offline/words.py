"""Words of a question and of a passage, comparable: folded, without function words, lightly stemmed."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"\w+(?:['’]\w+)?")
_FUNCTION = frozenset(
    ["a", "an", "the", "of", "in", "on", "at", "to", "for", "from", "by", "with", "and", "or", "but", "nor", "so", "yet", "as", "is", "are", "was", "were", "be", "been", "being", "am", "do", "does", "did", "done", "has", "have", "had", "having", "will", "would", "shall", "should", "can", "could", "may", "might", "must", "not", "no", "than", "then", "that", "this", "these", "those", "it", "its", "he", "she", "they", "them", "his", "her", "their", "we", "our", "you", "your", "i", "me", "my", "who", "whom", "whose", "which", "what", "when", "where", "why", "how", "if", "while", "there", "here", "about", "into", "over", "under", "between", "both", "all", "any", "each", "other", "such", "only", "own", "same", "too", "very", "s", "t"]
)


def content_words(text: str) -> list[str]:
    """Folded words that carry content, in order, with repetitions."""
    return [stem(word) for word in words(text) if word not in _FUNCTION]


def words(text: str) -> list[str]:
    """Folded words, in order."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(c for c in folded if not unicodedata.combining(c))
    return [w.removesuffix("'s").removesuffix("’s") for w in _WORD.findall(plain)]


def stem(word: str) -> str:
    """A crude conflation of English inflections: enough to compare, never shown."""
    for ending in ("ingly", "edly", "ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word
