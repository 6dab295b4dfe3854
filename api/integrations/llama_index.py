"""A LlamaIndex retriever over one namespace. Needs the extra ``llamaindex``."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from llama_index.core.callbacks import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode

from api.integrations.passages import Mode, with_properties
from engine import Engine


class QuarryRetriever(BaseRetriever):
    """Passages as text nodes with scores, best first.

    A node's metadata holds the short attributes of its document and ``attribute``; its source is the document's id, and
    ``start_char_idx``, ``end_char_idx`` are characters of the attribute's value.

    Args:
        engine: an open engine, which the caller closes.
        k: how many passages.
        filters: see the filter language; None for none.
    """

    def __init__(
        self,
        engine: Engine,
        namespace: str,
        *,
        k: int = 10,
        filters: Mapping[str, Any] | None = None,
        mode: Mode = "hybrid",
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(callback_manager=callback_manager)  # pyright: ignore[reportUnknownMemberType] - untyped there
        self._engine = engine
        self._namespace = namespace
        self._k = k
        self._filters = filters
        self._mode: Mode = mode

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self._engine.retrieve(
            self._namespace, query_bundle.query_str, k=self._k, filters=self._filters, mode=self._mode
        )
        return [
            NodeWithScore(
                score=hit.score,
                node=TextNode(
                    id_=f"{hit.document_id}#{hit.attribute}:{hit.start}",
                    text=hit.text,
                    start_char_idx=hit.start,
                    end_char_idx=hit.end,
                    metadata=properties | {"attribute": hit.attribute},
                    relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=hit.document_id)},
                ),
            )
            for hit, properties in with_properties(self._engine, self._namespace, hits)
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)
