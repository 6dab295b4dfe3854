"""From a draft to what the client gets: verified, repaired once, cited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from engine.agent.answer.cite import cite, clean
from engine.agent.answer.gate import problems_of
from engine.agent.answer.support import Supported, support
from engine.agent.steps import (
    AnswerDraft,
    Block,
    Evidence,
    Question,
    ReadingPassage,
    Repairer,
    Synthesizer,
)
from engine.model.document import JsonValue
from engine.model.search import Result

Documents = Mapping[str, dict[str, JsonValue]]
Fetch = Callable[[Sequence[str]], Awaitable[Documents]]


async def verified(
    draft: AnswerDraft,
    evidence: Sequence[Evidence],
    synthesizer: Synthesizer,
    question: Question,
    fetch: Fetch,
    *,
    caveats: Sequence[str] = (),
) -> tuple[str, tuple[Result, ...]]:
    """Synthesis and results of which every excerpt stands in its document now.

    Args:
        fetch: documents by id as they are now; a missing one takes its findings with it.
        caveats: sentences of the loop's own, put behind the answer.

    Returns:
        ``("", ())`` when nothing is left.
    """
    blocks = blocks_of(evidence)
    asked = (question.request.objective, question.request.context, question.message)
    documents = await fetch(list(dict.fromkeys(f.document_id for f in draft.findings)))
    supported = support(draft, blocks, documents)
    problems = problems_of(draft, supported, asked)
    if problems and isinstance(synthesizer, Repairer):
        draft = await synthesizer.repair(question, draft, problems)
        documents = await fetch(list(dict.fromkeys(f.document_id for f in draft.findings)))
        supported = support(draft, blocks, documents)
        problems = problems_of(draft, supported, asked)
    failed = {p.index for p in problems if p.part == "finding"}
    synthesis, results = cite(
        draft,
        [_mended(held, is_failed=index in failed) for index, held in enumerate(supported)],
        failed_sentences={p.index for p in problems if p.part == "sentence"},
        documents=documents if question.request.include_attributes else None,
    )
    if not results:
        return "", ()
    return " ".join([synthesis, *(clean(c) for c in (*draft.caveats, *caveats))]).strip(), results


def _mended(held: Supported | None, *, is_failed: bool) -> Supported | None:
    """A finding whose words say more than its excerpts keeps the excerpts and speaks with the first of them."""
    if held is None or not is_failed:
        return held
    return Supported(held.excerpts[0], held.document_id, held.excerpts)


def blocks_of(evidence: Sequence[Evidence]) -> dict[str, tuple[ReadingPassage, Block]]:
    """Every block of the passages that were read, by id."""
    return {block.id: (e.passage, block) for e in evidence for block in e.passage.blocks}
