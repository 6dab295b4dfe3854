"""Tunable numbers of the engine, as frozen structs. Nothing here reads the environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

AgentChoice = Literal["auto", "offline", "claude"]

_OPENAI = "openai:"
_FAST_CLAUDE = "claude-haiku-5-5"


class PassageSettings(msgspec.Struct, frozen=True):
    """How values are cut into passages.

    Attributes:
        max_tokens: longest passage, in tokens of the shipped vocabulary.
        header_characters: the longest value that counts as title-like and joins the header.
    """

    max_tokens: int = 256
    header_characters: int = 120


class VectorSettings(msgspec.Struct, frozen=True):
    """HNSW parameters (Malkov & Yashunin 2018) and the choice between exact and approximate search.

    Attributes:
        m: links a node; memory is about ``8 * m`` bytes a vector beside the vector itself.
        ef_construction: breadth of the search while building. From 80 to 120 building takes a third to a half more
            time, and a quarter fewer of the ten nearest of overlapping passages of real texts are lost
            (``benchmarks/vector_speed.py --source collections --curve --rows 30000``).
        ef_search: breadth of a query in a graph of up to 100,000 rows; in larger ones, under a filter, and for many
            passages the query is broader still.
        exact_limit: allowed sets up to this many rows are always scanned.
        graph_from: a graph is built when more than this many rows live; fewer are scanned.
        rebuild_dead_share: rows and graph are built anew when more than this share of them is dead.
    """

    m: int = 20
    ef_construction: int = 120
    ef_search: int = 200
    exact_limit: int = 10_000
    graph_from: int = 10_000
    rebuild_dead_share: float = 0.3


class StorageSettings(msgspec.Struct, frozen=True):
    """What one namespace's DuckDB instance may use.

    Attributes:
        threads: DuckDB threads a namespace.
        memory_limit: per namespace, as DuckDB reads it.
        batch_documents: documents a transaction when an upsert is larger than that.
        open_namespaces: how many stay open before the least recently used closes.
        min_free_bytes: writes are refused when less than this is free on the disk.
    """

    threads: int = 2
    memory_limit: str = "2GB"
    batch_documents: int = 10_000
    open_namespaces: int = 32
    min_free_bytes: int = 256 * 1024 * 1024


class BudgetSettings(msgspec.Struct, frozen=True):
    """Bounds of one search turn.

    Attributes:
        soft_seconds: no new retrieval after this; what is there is answered.
        hard_seconds: the turn fails with `search_timeout`.
        reader_batches: reader batches of 8 passages a round.
        model_tokens: input and output tokens of all model calls of one session; those read from a cache count a tenth.
    """

    rounds: int = 3
    queries: int = 20
    reader_batches: int = 8
    soft_seconds: float = 45.0
    hard_seconds: float = 55.0
    model_tokens: int = 1_000_000


class ModelSettings(msgspec.Struct, frozen=True):
    """Which models write and read, and how to reach them.

    Attributes:
        model: plans and answers: a Claude model, or ``openai:NAME`` for one behind OpenAI's protocol.
        fast_model: reads passages and checks statements, of the same service; None is the small Claude model beside
            Claude, else `model` itself.
        api_key: of the service of `model`; None leaves the offline agent in charge under ``agent="auto"``, but for
            ``openai:NAME``, whose servers mostly ask for none.
        base_url: None is the provider's own address.
        concurrency: model calls under way at once in this process.
    """

    model: str = "claude-sonnet-5-5"
    fast_model: str | None = None
    api_key: str | None = None
    base_url: str | None = None
    concurrency: int = 16

    @property
    def service(self) -> Literal["claude", "openai"]:
        """Whose protocol `model` is spoken to in."""
        return "openai" if self.model.startswith(_OPENAI) else "claude"

    @property
    def names(self) -> tuple[str, str]:
        """The strong and the fast model as the service names them."""
        fast = self.fast_model or (self.model if self.service == "openai" else _FAST_CLAUDE)
        return self.model.removeprefix(_OPENAI), fast.removeprefix(_OPENAI)

    def problem(self, agent: AgentChoice) -> str | None:
        """Why these models cannot serve `agent`, in one sentence; None when they can."""
        if self.fast_model and self.fast_model.startswith(_OPENAI) != (self.service == "openai"):
            return "The two models belong to different services: name both with `openai:` or neither."
        if not all(self.names):
            return "A model `openai:NAME` needs a name behind the colon."
        if agent == "claude" and self.service == "openai":
            return "The agent `claude` needs a Claude model; with `openai:NAME` leave the agent at `auto`."
        return None


class EngineSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything `engine.open` accepts, with defaults.

    Attributes:
        session_hours: how long a search session lives after its last use.
        embedder_url: where an embedder ``openai:NAME`` is served, up to and with ``/v1``; None for OpenAI's address.
        embedder_key: what that server asks for; None for nothing.
        reranker: ``fastembed:NAME``, a cross-encoder that orders the first passages of a hybrid query; None for none.
        stream_sentences: a stream tells each sentence of a model's answer as progress once it has passed its checks.
    """

    agent: AgentChoice = "auto"
    session_hours: float = 24.0
    embedder_url: str | None = None
    embedder_key: str | None = None
    reranker: str | None = None
    stream_sentences: bool = True
    passages: PassageSettings = PassageSettings()
    vectors: VectorSettings = VectorSettings()
    storage: StorageSettings = StorageSettings()
    budget: BudgetSettings = BudgetSettings()
    llm: ModelSettings = ModelSettings()


def with_overrides(settings: EngineSettings, overrides: Mapping[str, Any]) -> EngineSettings:
    """`settings` with single fields replaced. Raises `TypeError` for a name that is not a field or a wrong type."""
    unknown = overrides.keys() - set(EngineSettings.__struct_fields__)
    if unknown:
        raise TypeError(f"unknown settings: {', '.join(sorted(unknown))}")
    merged = {name: getattr(settings, name) for name in EngineSettings.__struct_fields__} | dict(overrides)
    try:
        return msgspec.convert(merged, EngineSettings)
    except msgspec.ValidationError as error:
        raise TypeError(f"settings: {error}") from error
