"""Counting tokens with the vocabulary that ships beside this module: the same numbers on every machine, no download.

The vocabulary is a byte-level BPE of 16,384 tokens in tiktoken's own format, trained by
``benchmarks/train_vocabulary.py``. `PATTERN` cuts text into pieces before merging. Two of its properties matter:

- a piece is at most 25 characters long, so that merging stays linear on any input (a run of one letter, base64);
- no piece holds a space after another character, so that a text may be cut in front of any run of spaces and the
  counts of the parts add up to the count of the whole. That is why `count_tokens` can look words up in a table, which
  is several times faster than encoding.
"""

from __future__ import annotations

import base64
import gzip
import re
from functools import cache
from importlib.resources import files

import tiktoken

PATTERN = (
    r"['’](?:[sdmt]|ll|ve|re)"
    r"| ?[\p{L}\p{M}]{1,24}"
    r"| ?\p{N}{1,4}"
    r"| ?[^\s\p{L}\p{M}\p{N}]{1,16}"
    r"| {1,16}"
    r"|[^\S ]{1,8}"
)
"""Contractions, words, numbers by four digits, punctuation, spaces, other white space; a space joins what follows."""

VOCABULARY = "vocabulary.tiktoken.gz"
_NAME = "quarry-16k"
_CHUNK = re.compile(r" +[^ ]*|[^ ]+")
_LONGEST_KEPT = 32
_KEPT_CHUNKS = 1 << 17


@cache
def encoding() -> tiktoken.Encoding:
    """The shipped encoding; it knows no special tokens, so any text is ordinary text."""
    packed = (files("engine.text") / VOCABULARY).read_bytes()
    fields = gzip.decompress(packed).split()
    ranks = dict(zip(map(base64.b64decode, fields[::2]), map(int, fields[1::2]), strict=True))
    return tiktoken.Encoding(_NAME, pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})


class _Counts(dict[str, int]):
    """Chunk → its tokens, `prefix` put in front; a race of two threads computes a number twice, nothing worse."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def __missing__(self, chunk: str) -> int:
        count = len(encoding().encode_ordinary(self._prefix + chunk))
        if len(chunk) <= _LONGEST_KEPT:
            if len(self) >= _KEPT_CHUNKS:
                # Starting over is rare, and simpler than an order of use that each look-up would pay for.
                self.clear()
            self[chunk] = count
        return count


_bare = _Counts("")
_spaced = _Counts(" ")
_count_bare = _bare.__getitem__
_count_spaced = _spaced.__getitem__


def count_tokens(text: str) -> int:
    """Tokens of `text`; equal to ``len(encoding().encode_ordinary(text))``, and 0 for an empty text.

    >>> count_tokens("")
    0
    """
    if not text:
        return 0
    if "  " in text:
        return sum(map(_count_bare, _CHUNK.findall(text)))
    words = text.split(" ")
    first = words[0]
    return sum(map(_count_spaced, words)) + _count_bare(first) - _count_spaced(first)
