"""Retrievers for LangChain and LlamaIndex, used through the real packages."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from llama_index.core.schema import NodeRelationship, QueryBundle

import engine
from api.integrations.langchain import QuarryRetriever
from api.integrations.llama_index import QuarryRetriever as LlamaRetriever

pytestmark = pytest.mark.xdist_group("integrations")


def test_langchain_documents_carry_offsets_scores_and_attributes(quarry: engine.Engine) -> None:
    retriever = QuarryRetriever(engine=quarry, namespace="notes", k=3)
    documents = retriever.invoke("When does the ferry sail?")
    assert len(documents) == 3
    assert all(isinstance(document, Document) for document in documents)
    best = documents[0].metadata
    assert (best["document_id"], best["title"], best["year"]) == ("2", "Timetable", 2024)
    stored = quarry.get("notes", "2")[best["attribute"]]
    assert stored[best["start"] : best["end"]] == documents[0].page_content
    scores = [document.metadata["score"] for document in documents]
    assert scores == sorted(scores, reverse=True)
    # What LangChain's own suite for retrievers asks: k of the instance and of the call, and the asynchronous form.
    assert len(QuarryRetriever(engine=quarry, namespace="notes", k=1).invoke("ferry")) == 1
    assert len(retriever.invoke("ferry", k=1)) == 1
    assert asyncio.run(retriever.ainvoke("When does the ferry sail?")) == documents


def test_langchain_filters_and_chains(quarry: engine.Engine) -> None:
    retriever = QuarryRetriever(engine=quarry, namespace="notes", filters={"year": 2023}, mode="lexical")
    chain = retriever | RunnableLambda(lambda found: [document.metadata["document_id"] for document in found])
    assert chain.invoke("harbour") == ["1"]
    assert {d.metadata["document_id"] for d in retriever.invoke("ferry", filters={"year": 2024})} == {"2", "3"}


def test_langchain_raises_what_the_engine_raises(quarry: engine.Engine) -> None:
    with pytest.raises(engine.UnknownAttribute):
        QuarryRetriever(engine=quarry, namespace="notes", filters={"colour": 1}).invoke("x")


def test_llamaindex_nodes_carry_offsets_scores_and_their_source(quarry: engine.Engine) -> None:
    retriever = LlamaRetriever(quarry, "notes", k=2, filters={"year": 2024})
    nodes = retriever.retrieve("When does the ferry sail?")
    assert [node.node.relationships[NodeRelationship.SOURCE].node_id for node in nodes] == ["2", "3"]
    best = nodes[0]
    assert best.score
    assert best.score >= (nodes[1].score or 0)
    assert best.metadata["title"] == "Timetable"
    stored = quarry.get("notes", "2")[best.metadata["attribute"]]
    assert stored[best.node.start_char_idx : best.node.end_char_idx] == best.text
    again = asyncio.run(retriever.aretrieve(QueryBundle("When does the ferry sail?")))
    assert [node.node_id for node in again] == [node.node_id for node in nodes]
