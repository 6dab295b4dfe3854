"""The default embedder: pooled static token vectors of WordLlama. The only importer of tokenizers and safetensors.

Weights and tokenizer are read from the installed wordllama wheel: no download, no network, no cache folder. The
library itself is not imported: it would configure the root logger, bring an HTTP client, and take half a second.
"""

from __future__ import annotations

import importlib
import importlib.util
import threading
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from engine.embedding.pieces import PieceTokenizer
from engine.embedding.pooling import Weights, by_count, saturated, to_unit_rows, weighted_sums
from engine.embedding.products import product
from engine.errors import StorageError
from engine.model.hits import Vectors

DIMENSION = 256
_SATURATION = 3.0
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_WHITENING = "whitening.npy"
"""What `engine.embedding.pooling.whitening` makes of the weights, shape ``(256, 256)``: 0.1 s of every start."""
_SPECIAL = ("<unk>", "<s>", "</s>")
_BOS = 1


class WordLlamaMean:
    """Mean of the token vectors, scaled to unit length: equal to ``WordLlama.embed(texts, norm=True)``.

    Making one costs nothing; the model (32 MB) is loaded once a process, at the first text. A text without tokens
    gets the row of the BOS token, which is near nothing in particular.
    """

    @property
    def name(self) -> str:
        return "wordllama-256-mean"

    @property
    def dimension(self) -> int:
        return DIMENSION

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._load().embed(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._load().embed(texts)

    def _load(self) -> _Model:
        return _mean_model()


class WordLlamaEmbedder(WordLlamaMean):
    """The default: whitened token vectors, repetition damped, each word in both its own and lower case.

    None of it is learned from a collection. Against the plain mean (``benchmarks/embedding_ablation.py``, vectors
    only): SciFact nDCG@10 .554 → .576, SQuAD .702 → .743, HotpotQA .670 → .706, MultiHop Hits@10 .629 → .675.
    """

    @property
    def name(self) -> str:
        return "wordllama-256-whitened"

    def _load(self) -> _Model:
        return _whitened_model()


class _Model:
    """What stays in memory: a row for each token, shape ``(32000, 256)``, and the tokenizer."""

    def __init__(
        self, table: Vectors, tokenizer: PieceTokenizer, weights: Weights, turn: Vectors | None = None
    ) -> None:
        self._table = table
        self._tokenizer = tokenizer
        self._weights = weights
        # Turning a sum of rows is the same as summing turned rows, and spares turning the whole table at the start.
        self._turn = turn
        blank = table[_BOS] if turn is None else table[_BOS] @ turn
        self._blank = blank / np.linalg.norm(blank)

    def embed(self, texts: Sequence[str]) -> Vectors:
        sums = weighted_sums(self._table, [self._tokenizer.ids(text) for text in texts], self._weights)
        return to_unit_rows(sums if self._turn is None else product(sums, self._turn), self._blank)


def _once(make: Callable[[], _Model]) -> Callable[[], _Model]:
    """`make`, run once a process even when several threads ask first."""
    lock, kept = threading.Lock(), cache(make)

    def get() -> _Model:
        with lock:
            return kept()

    return get


@_once
def _mean_model() -> _Model:
    library = load_library()
    return _Model(library.table, library.tokenizer(both_cases=False), by_count)


@_once
def _whitened_model() -> _Model:
    library = load_library()
    # Both cases count each occurrence twice, so a constant of 3 occurrences is 6 counts.
    turn = np.load(Path(__file__).with_name(_WHITENING))
    return _Model(library.table, library.tokenizer(both_cases=True), saturated(2 * _SATURATION), turn)


class Library:
    """Weights, shape ``(32000, 256)``, and tokenizer as the library ships them."""

    def __init__(self, weights: Vectors, tokenizer: _Tokenizer) -> None:
        self._bpe = _LlamaBpe(tokenizer)
        self._vocabulary = list(tokenizer.get_vocab())
        self.table = np.ascontiguousarray(weights, dtype=np.float32)
        if self.table.shape != (len(self._vocabulary), DIMENSION) or not np.isfinite(self.table).all():
            raise StorageError("The installed wordllama package holds weights of another shape; install it again.")

    def tokenizer(self, *, both_cases: bool) -> PieceTokenizer:
        return PieceTokenizer(self._bpe, self._vocabulary, _SPECIAL, both_cases=both_cases)


def load_library() -> Library:
    """Weights and tokenizer from the installed wheel.

    Raises:
        StorageError: they are missing, or of another shape.
    """
    found = importlib.util.find_spec("wordllama")
    folders = found.submodule_search_locations if found is not None else None
    if not folders:
        raise StorageError("The package wordllama is not installed.")
    weights, tokenizer = Path(folders[0]) / _WEIGHTS, Path(folders[0]) / _TOKENIZER
    if not weights.is_file() or not tokenizer.is_file():
        raise StorageError("The installed wordllama package lacks its weights; install it again.")
    safetensors = cast("Any", importlib.import_module("safetensors.numpy"))
    tokenizers = cast("Any", importlib.import_module("tokenizers"))
    return Library(safetensors.load_file(weights)["embedding.weight"], tokenizers.Tokenizer.from_file(str(tokenizer)))


class _Token(Protocol):
    @property
    def id(self) -> int: ...


class _Encoding(Protocol):
    @property
    def ids(self) -> list[int]: ...


class _BpeModel(Protocol):
    def tokenize(self, sequence: str) -> list[_Token]: ...


class _Tokenizer(Protocol):
    @property
    def model(self) -> _BpeModel: ...

    def get_vocab(self) -> dict[str, int]: ...

    def encode(self, sequence: str, *, add_special_tokens: bool) -> _Encoding: ...


class _LlamaBpe:
    def __init__(self, tokenizer: _Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._model = tokenizer.model

    def encode_raw(self, text: str) -> list[int]:
        return [token.id for token in self._model.tokenize(text)]

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False).ids
