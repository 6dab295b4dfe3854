"""The steps of a search as protocols, and the values that pass between them.

plan → retrieve → read → judge → … → synthesize → verify. Two sets of steps stand behind these protocols:
`offline` (rules and extraction) and `claude` (structured calls). A step never sees namespace or company: they are
bound in the loop, and so is the caller's filter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import msgspec

from engine.model.document import JsonValue, Passage
from engine.model.schema import Schema
from engine.model.search import Clarification, SearchRequest
from engine.question.followup import asked_in_turn
from engine.question.shape import AnswerShape
from engine.question.terms import AskedTerms, asked_terms

QueryMode = Literal["hybrid", "lexical", "vector"]


class SubQuestion(msgspec.Struct, frozen=True):
    """One thing that the answer must cover.

    Attributes:
        text: readable on its own.
        entities: names and rare terms that evidence for it must show.
        places: what of the text only says where it was said, such as the name of a source that a query narrows to.
    """

    text: str
    entities: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


class PlannedQuery(msgspec.Struct, frozen=True):
    """One index query.

    Attributes:
        text: what is looked for.
        sub_question: index into the plan's sub-questions; -1 for the whole objective.
        narrowing: filter JSON that is ANDed to the caller's; None for none. It can only narrow.
        weight: of this query's results when rankings are merged; > 0.
        mode: ``lexical`` for exact names and numbers, ``vector`` for paraphrase, else both.
    """

    text: str
    sub_question: int = -1
    narrowing: Mapping[str, Any] | None = None
    weight: float = 1.0
    mode: QueryMode = "hybrid"


class Plan(msgspec.Struct, frozen=True):
    """What to look for. `shape` says which form the answer takes.

    Attributes:
        followed: what is asked of documents that the best passages name; see `engine.agent.hops`. Not of the planner:
            known once passages were brought up.
        together: ids of documents that are joined by a name, or by the question, and answer together; likewise.
    """

    sub_questions: tuple[SubQuestion, ...]
    queries: tuple[PlannedQuery, ...]
    shape: AnswerShape = "fact"
    followed: tuple[str, ...] = ()
    together: tuple[tuple[str, ...], ...] = ()


class Turn(msgspec.Struct, frozen=True):
    """An earlier exchange of the session: what the client said and what came back."""

    message: str
    synthesis: str


class AttributeValues(msgspec.Struct, frozen=True):
    """Known values of one filterable attribute with their document counts, most frequent first."""

    attribute: str
    type: str
    values: tuple[tuple[JsonValue, int], ...]


class Corpus(msgspec.Struct, frozen=True):
    """What a planner may know of the namespace: never raw document text.

    Attributes:
        today: ISO date, for words like "last year".
        languages: passages by language, whatever the filter leaves.
    """

    schema: Schema
    values: tuple[AttributeValues, ...]
    documents: int
    today: str
    languages: Mapping[str, int] = {}


class Question(msgspec.Struct, frozen=True, dict=True):
    """The request with what the session adds.

    Attributes:
        turns: earlier turns, oldest first.
        message: the client's latest message of a continuation; empty on the first turn.
        narrowing: what earlier clarifications settled, as filter JSON; None for nothing.
        rarity: IDF in the namespace of the index's terms of everything asked so far; empty where it is not known.
        filterable: attributes that a filter may name.
        documents: how many the search may see; 0 where it is not known.
        languages: passages of the namespace by language.
    """

    request: SearchRequest
    turns: tuple[Turn, ...] = ()
    message: str = ""
    narrowing: Mapping[str, Any] | None = None
    rarity: Mapping[str, float] = {}
    filterable: tuple[str, ...] = ()
    documents: int = 0
    languages: Mapping[str, int] = {}

    @cached_property
    def text(self) -> str:
        """What this turn answers, readable on its own."""
        return asked_in_turn(self.request.objective, [*(turn.message for turn in self.turns[1:]), self.message])

    @cached_property
    def terms(self) -> AskedTerms:
        """The words of `text`, read once a turn."""
        return asked_terms(self.text, self.rarity, self.documents, self.languages)


class Block(msgspec.Struct, frozen=True):
    """A sentence of a passage: the unit of evidence.

    Attributes:
        id: ``"<passage label>.<index>"``, unique within a search.
        start: offset into the attribute's value; ``text`` is verbatim from there.
    """

    id: str
    start: int
    text: str


class ReadingPassage(msgspec.Struct, frozen=True):
    """A passage as the steps see it.

    Attributes:
        score: fused score over the queries that brought it up.
        queries: indexes into the queries run so far that brought it up.
        attributes: short filterable values of its document, such as source and date.
    """

    passage: Passage
    blocks: tuple[Block, ...]
    score: float
    queries: tuple[int, ...] = ()
    attributes: Mapping[str, Any] = {}


class Evidence(msgspec.Struct, frozen=True):
    """What a reader found in one passage.

    Attributes:
        block_ids: 1–5, in reading order.
        relevance: 0–10.
        sub_questions: which sub-questions it bears on.
    """

    passage: ReadingPassage
    block_ids: tuple[str, ...]
    relevance: float
    sub_questions: tuple[int, ...] = ()


class Judgement(msgspec.Struct, frozen=True):
    """Whether the evidence answers the question.

    Attributes:
        sufficient: True ends the search for evidence.
        missing: what is still not covered, readable; goes into a caveat.
        queries: what to run next; none ends the search too.
        answerable: False means the corpus does not answer: "not found".
    """

    sufficient: bool
    missing: tuple[str, ...] = ()
    queries: tuple[PlannedQuery, ...] = ()
    answerable: bool = True


class FindingDraft(msgspec.Struct, frozen=True):
    """A finding before verification: words about one document, and the blocks that carry it."""

    finding: str
    document_id: str
    block_ids: tuple[str, ...]


class SentenceDraft(msgspec.Struct, frozen=True):
    """A sentence of the synthesis without its markers; `findings` index into the draft's findings."""

    text: str
    findings: tuple[int, ...]


class AnswerDraft(msgspec.Struct, frozen=True):
    """An answer before verification; findings by importance. No findings means "not found"."""

    findings: tuple[FindingDraft, ...]
    sentences: tuple[SentenceDraft, ...]
    caveats: tuple[str, ...] = ()


class Problem(msgspec.Struct, frozen=True):
    """Why a part of a draft failed verification.

    Attributes:
        part: which list of the draft; `index` points into it.
        reason: readable, such as "the number 42 stands in none of its excerpts".
    """

    part: Literal["finding", "sentence"]
    index: int
    reason: str


class TurnBudget(Protocol):
    """What is left of one search turn; kept by the loop, drawn on by steps that call a model."""

    def seconds_to_hard(self) -> float:
        """Seconds until the turn fails with `search_timeout`; may be negative."""
        ...

    def tokens_left(self) -> int:
        """Model tokens that the session may still use; may be negative."""
        ...

    def spend_tokens(self, tokens: int) -> None:
        """Count input and output tokens of one model call against the session."""
        ...


class Planner(Protocol):
    """Question to queries."""

    async def plan(self, question: Question, corpus: Corpus) -> Plan: ...


class Reader(Protocol):
    """Passages to evidence; best first."""

    async def read(self, question: Question, plan: Plan, passages: Sequence[ReadingPassage]) -> list[Evidence]: ...


class Judge(Protocol):
    """Whether to go on searching, and for what."""

    async def judge(
        self, question: Question, plan: Plan, evidence: Sequence[Evidence], executed: Sequence[PlannedQuery]
    ) -> Judgement: ...


class Synthesizer(Protocol):
    """Evidence to a draft of the answer."""

    async def synthesize(
        self, question: Question, plan: Plan, evidence: Sequence[Evidence], judgement: Judgement
    ) -> AnswerDraft: ...


@runtime_checkable
class Repairer(Protocol):
    """A synthesizer that can mend its own draft, once. The loop asks it, then drops what still fails."""

    async def repair(self, question: Question, draft: AnswerDraft, problems: Sequence[Problem]) -> AnswerDraft: ...


class Clarifier(Protocol):
    """Evidence to a question back, or None; asked only after a first retrieval."""

    async def clarify(
        self, question: Question, plan: Plan, evidence: Sequence[Evidence]
    ) -> ClarificationDraft | None: ...


class ClarificationDraft(msgspec.Struct, frozen=True):
    """A question back, and what each option would settle.

    Attributes:
        narrowing: option text → filter JSON, or None where the option only adds words to the question.
    """

    clarification: Clarification
    narrowing: Mapping[str, Mapping[str, Any] | None]


def no_notice() -> None:
    """Nothing to say."""


class Steps(msgspec.Struct, frozen=True):
    """One set of steps.

    Attributes:
        notice: a sentence for the reader about how the steps went, such as that the model was not available; None for
            nothing to say. A synthesizer puts it into its caveats by itself; without a draft, the loop says it.
    """

    planner: Planner
    reader: Reader
    judge: Judge
    synthesizer: Synthesizer
    clarifier: Clarifier
    notice: Callable[[], str | None] = no_notice


StepsFactory: TypeAlias = Callable[[TurnBudget], Steps]
"""Makes the steps of one search turn; steps that call a model keep its state, offline ones ignore the budget."""
