"""Text to token ids, piece by piece, with the ids of every piece remembered.

The tokenizer of the default model (SentencePiece BPE, no pre-tokenizer) writes a space as ``▁`` and knows no token
in which ``▁`` follows another character, nor one that holds a line feed beside other characters. So no merge ever
crosses the start of a run of spaces or touches a line feed: encoding the pieces between those places and joining the
ids equals encoding the whole text, and a piece that was seen before costs one dictionary look-up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

TokenIds = npt.NDArray[np.int32]

_SPACE_MARK = "\u2581"
_CUT = "\0"
_PIECE = re.compile(r" +[^ \n]*|\n+|[^ \n]+")
_LONGEST_KEPT = 48
_KEPT_PIECES = 1 << 17


class Bpe(Protocol):
    """The model of a tokenizer: no normalizer, no special tokens."""

    def encode_raw(self, text: str) -> list[int]:
        """Ids of `text`, in which spaces are already ``▁``."""
        ...

    def encode(self, text: str) -> list[int]:
        """Ids of a whole text with its normalizer and special tokens, without a BOS token."""
        ...


class PieceTokenizer:
    """Token ids of texts, equal to encoding each text whole. Safe to call from several threads.

    With `both_cases`, the ids of the lower-case form follow those of each piece, so that "Apple" and "apple" share
    half of their tokens and a text in capitals is still understood; the count of a token is then twice its mean over
    both forms.

    Args:
        bpe: what encodes a piece that is not remembered.
        vocabulary: every token; checked for the property that makes pieces independent.
        special: texts that the tokenizer cuts out before anything else; a text that holds one is encoded whole.

    Raises:
        ValueError: a token of `vocabulary` would cross a cut.
    """

    def __init__(
        self, bpe: Bpe, vocabulary: Sequence[str], special: Sequence[str], *, both_cases: bool = False
    ) -> None:
        crossing = [t for t in vocabulary if _SPACE_MARK in t.lstrip(_SPACE_MARK) or ("\n" in t and t != "\n")]
        if crossing:
            raise ValueError(f"{len(crossing)} tokens cross a cut, such as {crossing[0]!r}")
        self._bpe = bpe
        self._both_cases = both_cases
        self._special = re.compile("|".join(map(re.escape, special))) if special else None
        self._special_start = special[0][0] if special and len({s[0] for s in special}) == 1 else ""
        self._ids_of = _Pieces(self._encode_piece)

    def ids(self, text: str) -> TokenIds:
        """Shape ``(tokens,)``; empty for an empty text. Lone surrogates count as U+FFFD."""
        if not text:
            return np.empty(0, np.int32)
        if self._holds_special(text):
            ids = self._bpe.encode(_valid(text))
            return np.array(ids + self._bpe.encode(_valid(text.lower())) if self._both_cases else ids, np.int32)
        if text[0] == " " or "  " in text or _CUT in text or _SPACE_MARK in text:
            pieces = _PIECE.findall(" " + text.replace(_SPACE_MARK, " "))
        else:
            pieces = f" {text}".replace(" ", "\0 ").replace("\n", "\0\n\0").split(_CUT)
        return np.frombuffer(b"".join(map(self._ids_of.__getitem__, pieces)), np.int32)

    def _holds_special(self, text: str) -> bool:
        if self._special is None or self._special_start not in text:
            return False
        return self._special.search(text) is not None

    def _encode_piece(self, piece: str) -> bytes:
        if not piece:
            return b""
        marked = _valid(piece).replace(" ", _SPACE_MARK)
        ids = self._bpe.encode_raw(marked)
        if self._both_cases:
            lower = marked.lower()
            ids = ids + (ids if lower == marked else self._bpe.encode_raw(lower))
        return np.array(ids, np.int32).tobytes()


class _Pieces(dict[str, bytes]):
    """Piece → its ids as int32 bytes: joining bytes is the cheapest way to gather the ids of a text."""

    def __init__(self, encode: Callable[[str], bytes]) -> None:
        super().__init__()
        self._encode = encode

    def __missing__(self, piece: str) -> bytes:
        ids = self._encode(piece)
        if len(piece) <= _LONGEST_KEPT:
            if len(self) >= _KEPT_PIECES:
                # Starting over is rare, and simpler than an order of use that each look-up would pay for.
                self.clear()
            self[piece] = ids
        return ids


def _valid(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
