"""Puts the parts of an engine together and takes them apart again."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path

from engine.agent.claude.agent import ClaudeAgent
from engine.agent.offline.agent import OfflineAgent
from engine.agent.searches import Searches
from engine.agent.workers import THREADS, WAITING_THREADS, Workers
from engine.embedding.protocol import Embedder
from engine.embedding.registry import load_embedder
from engine.embedding.wordllama import WordLlamaMean
from engine.ingest.pipeline import Ingest
from engine.llm.chosen import chosen_model
from engine.llm.loop_thread import LoopThread
from engine.llm.protocol import TokenUsage
from engine.model.clock import utc_now
from engine.model.events import Event, StatusEvent
from engine.model.namespace import DEFAULT_COMPANY, Company
from engine.model.observer import Observer
from engine.model.search import SearchResponse
from engine.ranking.cross_encoder import load_reranker
from engine.ranking.rerank import Reranker
from engine.retrieval.retriever import Retriever
from engine.settings import EngineSettings
from engine.store.keys import KeyStore
from engine.store.opening import open_store
from engine.store.protocol import Store
from engine.upkeep import Upkeep


class Core:
    """What all engines of one store share; owned by whoever called `engine.open`."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        reranker: Reranker | None,
        settings: EngineSettings,
        observer: Observer,
    ) -> None:
        # First, because it refuses settings that contradict each other.
        self._model = chosen_model(settings, observer)
        self.store = store
        self.embedder = embedder
        self.settings = settings
        self.closed = False
        self.catalog = store.catalog
        self.sessions = store.sessions
        self.backend = store.documents
        self.ingest = Ingest(store.catalog, store.documents, embedder, settings, observer)
        self.retriever = Retriever(self.backend, embedder, observer, reader=reranker)
        self._workers = Workers(THREADS if isinstance(embedder, WordLlamaMean) else WAITING_THREADS)
        offline = OfflineAgent(embedder, self._workers.run)
        make_steps = offline.steps
        if self._model is not None:
            make_steps = ClaudeAgent(self._model, offline.steps, budget=settings.budget, observer=observer).steps
        self.searches = Searches(
            self.retriever,
            self.backend,
            self.sessions,
            make_steps,
            offline.planner.plan_now,
            settings.budget,
            observer,
            lambda: utc_now().date(),
            self._workers,
            # The rules write in milliseconds: whoever hears of a sentence has the answer at the same moment.
            tells_sentences=settings.stream_sentences and self._model is not None,
        )
        self._runner = LoopThread("quarry-search")
        self._upkeep = Upkeep(store.tasks())

    def run(self, start: Callable[[], AsyncGenerator[Event]]) -> SearchResponse:
        """The last event's response of the stream that `start` makes, for callers without an event loop; blocks."""
        return self._runner.run_sync(_last(start()))

    @property
    def has_model(self) -> bool:
        """Whether searches use a language model."""
        return self._model is not None

    def warm(self) -> None:
        """Have the embedder load its model."""
        self.embedder.embed_queries(["warm"])

    def keys(self, company: Company) -> KeyStore:
        """The API keys of `company`."""
        return KeyStore(self.store.keyring, company)

    def model_problems(self) -> list[str]:
        """What is wrong with the key, the account or the models; empty without a model. Makes two small calls."""
        return [] if self._model is None else self._model.check()

    def model_tokens(self) -> dict[str, TokenUsage]:
        """Tokens used since opening, by model name."""
        return {} if self._model is None else self._model.counters.tokens()

    def problems(self, company: Company) -> list[str]:
        """What is wrong with the company's namespaces, one readable line a fault. Reads everything.

        For the default company, what belongs to no namespace is named too.
        """
        found: list[str] = []
        for record in self.catalog.namespaces(company.id):
            with self.ingest.locked(company.id, record.name):
                found += [f"{record.name}: {problem}" for problem in self.store.problems(record)]
        if company.name == DEFAULT_COMPANY:
            found += self.store.strays()
        return found

    def close(self) -> None:
        """Save what makes the next open quick, and release the directory; a second call does nothing."""
        if self.closed:
            return
        self.closed = True
        self._runner.stop()
        self._workers.close()
        if self._model is not None:
            self._model.close()
        self._upkeep.stop()
        self.store.close()


def assemble(
    where: str | Path, embedder: str | Embedder, settings: EngineSettings, observer: Observer, *, create: bool = True
) -> Core:
    """Open the store at `where`, making it when it does not exist; see `engine.open` for the errors."""
    chosen = load_embedder(embedder, url=settings.embedder_url, key=settings.embedder_key)
    reranker = load_reranker(settings.reranker)
    store = open_store(where, settings, create=create)
    try:
        return Core(store, chosen, reranker, settings, observer)
    except BaseException:
        store.close()
        raise


async def _last(events: AsyncGenerator[Event]) -> SearchResponse:
    response: SearchResponse | None = None
    async with aclosing(events):
        async for event in events:
            if not isinstance(event, StatusEvent):
                response = event.response
    if response is None:
        raise RuntimeError("a search ended without a result")
    return response
