"""The answer without a model: the best sentences of the best documents, each with its citation."""

from __future__ import annotations

from collections.abc import Sequence

from engine.agent.steps import AnswerDraft, Evidence, FindingDraft, Judgement, Plan, Question, SentenceDraft
from engine.model.search import MAX_EXCERPTS, MAX_RESULTS

SENTENCES = 3


class OfflineSynthesizer:
    """Says nothing that does not stand in a document."""

    async def synthesize(
        self, question: Question, plan: Plan, evidence: Sequence[Evidence], judgement: Judgement
    ) -> AnswerDraft:
        by_document: dict[str, list[Evidence]] = {}
        for found in evidence:
            by_document.setdefault(found.passage.passage.document_id, []).append(found)
        findings: list[FindingDraft] = []
        for document_id, held in list(by_document.items())[:MAX_RESULTS]:
            blocks = [block_id for e in held for block_id in e.block_ids][:MAX_EXCERPTS]
            findings.append(FindingDraft(_first_text(held), document_id, tuple(blocks)))
        sentences = [SentenceDraft(f.finding, (n,)) for n, f in enumerate(findings[:SENTENCES])]
        return AnswerDraft(tuple(findings), tuple(sentences))


def _first_text(held: Sequence[Evidence]) -> str:
    text = {b.id: b.text for e in held for b in e.passage.blocks}
    return " ".join(text[held[0].block_ids[0]].split())
