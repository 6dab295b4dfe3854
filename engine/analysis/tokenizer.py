"""The only importer of tantivy's text analyzers; the index itself is `engine.lexical.native`."""

from __future__ import annotations

import importlib
from typing import Any, Protocol, cast

_tantivy: Any = importlib.import_module("tantivy")


class TextAnalyzer(Protocol):
    """Text to terms; may be shared by threads."""

    def analyze(self, text: str) -> list[str]: ...


def make_analyzer(stemmer: str) -> TextAnalyzer:
    """Words in lower case without accents, stemmed; words above 60 bytes are left out.

    Args:
        stemmer: a Snowball language; its words keep their accents until they are stemmed, English ones need none.
    """
    chain = _tantivy.TextAnalyzerBuilder(_tantivy.Tokenizer.simple())
    filters = _tantivy.Filter
    steps = [filters.remove_long(60), filters.lowercase(), filters.stemmer(stemmer), filters.ascii_fold()]
    if stemmer == "english":
        steps[2:] = reversed(steps[2:])
    for step in steps:
        chain = chain.filter(step)
    return cast("TextAnalyzer", chain.build())


def make_splitter() -> TextAnalyzer:
    """Words in lower case without accents, not stemmed: what `make_analyzer` sees before its stemmer, for English."""
    filters = _tantivy.Filter
    chain = _tantivy.TextAnalyzerBuilder(_tantivy.Tokenizer.simple())
    for step in (filters.remove_long(60), filters.lowercase(), filters.ascii_fold()):
        chain = chain.filter(step)
    return cast("TextAnalyzer", chain.build())
