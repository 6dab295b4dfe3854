"""From the name of an embedder, or an embedder of the user's own, to one that the engine can trust."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine.embedding.cached import CachedEmbedder
from engine.embedding.checked import CheckedEmbedder
from engine.embedding.fastembed import FastEmbedEmbedder
from engine.embedding.openai import OpenAIEmbedder
from engine.embedding.protocol import Embedder
from engine.embedding.sentence_transformers import SentenceTransformersEmbedder
from engine.embedding.wordllama import WordLlamaEmbedder, WordLlamaMean
from engine.errors import InvalidRequest

DEFAULT = "wordllama"

_BUILT_IN: Mapping[str, Callable[[], Embedder]] = {DEFAULT: WordLlamaEmbedder, "wordllama-mean": WordLlamaMean}
_FAMILIES: Mapping[str, Callable[[str], Embedder]] = {
    "sentence-transformers": SentenceTransformersEmbedder,
    "fastembed": FastEmbedEmbedder,
}
_REMOTE = "openai"


def load_embedder(spec: str | Embedder = DEFAULT, *, url: str | None = None, key: str | None = None) -> Embedder:
    """The embedder that `spec` names, or `spec` itself behind `CheckedEmbedder`, its queries remembered.

    Args:
        spec: ``wordllama`` (the default), ``wordllama-mean``, ``sentence-transformers:NAME``, ``fastembed:NAME``,
            ``openai:NAME``, or any object with the `Embedder` protocol.
        url: where ``openai:NAME`` is served; None for OpenAI's own address.
        key: what that server asks for.

    Raises:
        InvalidRequest: no such embedder, or an object that does not follow the protocol.
        ModelMisconfigured: the embedder needs an extra that is not installed, or its model cannot be loaded.
    """
    if not isinstance(spec, str):
        return _foreign(spec)
    if spec in _BUILT_IN:
        # Built in: its output is tested, and a query costs less than a look-up would save.
        return _BUILT_IN[spec]()
    family, colon, model = spec.partition(":")
    if colon and model.strip() and family in _FAMILIES:
        return _foreign(_FAMILIES[family](model.strip()))
    if colon and model.strip() and family == _REMOTE:
        return _foreign(OpenAIEmbedder(model.strip(), url=url, key=key))
    known = ", ".join([*_BUILT_IN, *(f"{family}:NAME" for family in (*_FAMILIES, _REMOTE))])
    raise InvalidRequest(f"Unknown embedder {spec!r}; there are {known}.", path="embedder")


def _foreign(embedder: object) -> Embedder:
    if not isinstance(embedder, Embedder):
        raise InvalidRequest(
            "An embedder has name, dimension, embed_passages and embed_queries; "
            f"this {type(embedder).__name__} does not.",
            path="embedder",
        )
    return CachedEmbedder(CheckedEmbedder(embedder))
