"""A LangChain retriever over one namespace. Needs the extra ``langchain``."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from api.integrations.passages import Mode, with_properties
from engine import Engine


class QuarryRetriever(BaseRetriever):
    """Passages as LangChain documents, best first.

    ``metadata`` holds the document's short attributes and, under these names whatever the document calls its own:
    ``document_id``, ``attribute``, ``start``, ``end`` (characters of the attribute's value) and ``score``.

    Attributes:
        engine: an open engine, which the caller closes. Asynchronous calls run in a thread: the engine is thread-safe.
        k: how many passages.
        filters: see the filter language; None for none.
        mode: ``hybrid``, ``lexical``, ``vector`` or ``planned``.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    engine: Engine
    namespace: str
    k: int = 10
    filters: dict[str, Any] | None = None
    mode: Mode = "hybrid"

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - the base class gives it
        **options: Any,
    ) -> list[Document]:
        k = options.get("k", self.k)
        filters = options.get("filters", self.filters)
        hits = self.engine.retrieve(self.namespace, query, k=k, filters=filters, mode=options.get("mode", self.mode))
        return [
            Document(
                id=f"{hit.document_id}#{hit.attribute}:{hit.start}",
                page_content=hit.text,
                metadata=properties
                | {
                    "document_id": hit.document_id,
                    "attribute": hit.attribute,
                    "start": hit.start,
                    "end": hit.end,
                    "score": hit.score,
                },
            )
            for hit, properties in with_properties(self.engine, self.namespace, hits)
        ]
