"""The steps of a search as protocols, and the values that pass between them.

plan → retrieve → read → answer → … → verify. Two sets of steps stand behind these protocols:
`offline` (rules and extraction) and `claude` (structured calls). A step never sees namespace or company: they are
bound in the loop, and so is the caller's filter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import msgspec

from engine.agent.drafts import AnswerDraft, Problem, Statement, Verdict
from engine.model.document import JsonValue, Passage
from engine.model.explain import ModelCall, Removal
from engine.model.schema import Schema
from engine.model.search import Clarification
from engine.question.shape import AnswerShape
from engine.question.turn import Question

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


class Constraint(msgspec.Struct, frozen=True):
    """Attribute values, or a time, that a question names and that a filter stands for.

    Attributes:
        words: as the question has them.
        narrowings: filters of which a document must satisfy one.
        attributes: what they are about.
        is_date: it is a time.
    """

    words: tuple[str, ...]
    narrowings: tuple[Mapping[str, Any], ...]
    attributes: tuple[str, ...]
    is_date: bool = False


class Plan(msgspec.Struct, frozen=True):
    """What to look for. `shape` says which form the answer takes.

    Attributes:
        constraints: what of the question queries narrow by.
        followed: what is asked of documents that the best passages name; see `engine.agent.hops`. Not of the planner:
            known once passages were brought up.
        together: ids of documents that are joined by a name, or by the question, and answer together; likewise.
        leads: ids of a document and of one that it names, for all that were followed; likewise.
    """

    sub_questions: tuple[SubQuestion, ...]
    queries: tuple[PlannedQuery, ...]
    shape: AnswerShape = "fact"
    constraints: tuple[Constraint, ...] = ()
    followed: tuple[str, ...] = ()
    together: tuple[tuple[str, ...], ...] = ()
    leads: tuple[tuple[str, str], ...] = ()


class AttributeValues(msgspec.Struct, frozen=True):
    """Known values of one filterable attribute with their document counts, most frequent first.

    Attributes:
        values: empty where there are too many to choose from.
        least: of numbers and dates, as the filter language writes it; None where it is not known.
    """

    attribute: str
    type: str
    values: tuple[tuple[JsonValue, int], ...]
    least: JsonValue = None
    most: JsonValue = None


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


class Block(msgspec.Struct, frozen=True):
    """A sentence of a passage: the unit of evidence.

    Attributes:
        id: ``"<passage label>.<index>"``, unique within a search.
        start: offset into the attribute's value; ``text`` is verbatim from there.
        attribute: the attribute that it stands in; empty for that of its passage.
    """

    id: str
    start: int
    text: str
    attribute: str = ""


class ReadingPassage(msgspec.Struct, frozen=True):
    """A passage as the steps see it.

    Attributes:
        score: fused score over the queries that brought it up.
        queries: indexes into the queries run so far that brought it up.
        attributes: short filterable values of its document, such as source and date.
        facts: the document's attribute values as blocks, so that they can be cited; see `answer.facts`.
        before: the end of what stands before the passage in its text, so that a pronoun can be read.
    """

    passage: Passage
    blocks: tuple[Block, ...]
    score: float
    queries: tuple[int, ...] = ()
    attributes: Mapping[str, Any] = {}
    facts: tuple[Block, ...] = ()
    before: str = ""


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


class SoFar(msgspec.Struct, frozen=True):
    """How the search stands when an answer is asked for.

    Attributes:
        executed: the queries of the session.
        hits: passages that each query of this turn brought up, by its place in `executed`.
        rounds_left: how often further queries may still run.
        dropped: conditions that could not be used, readable.
        absent: names of the question that stand in no document of the namespace.
    """

    executed: tuple[PlannedQuery, ...] = ()
    hits: Mapping[int, int] = {}
    rounds_left: int = 0
    dropped: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


class Outcome(msgspec.Struct, frozen=True):
    """What an answerer decided. Without a draft, its judgement has queries to go on with, or nothing was found."""

    judgement: Judgement
    draft: AnswerDraft | None = None


class Answerer(Protocol):
    """Evidence to an answer, or to what must be looked for first."""

    async def answer(self, question: Question, plan: Plan, evidence: Sequence[Evidence], so_far: SoFar) -> Outcome: ...


@runtime_checkable
class Repairer(Protocol):
    """An answerer that can mend parts of its own draft, once. What still fails is dropped."""

    async def repair(self, question: Question, draft: AnswerDraft, problems: Sequence[Problem]) -> AnswerDraft:
        """The draft with the sentences that `problems` name replaced; one without text is left out."""
        ...


class Checker(Protocol):
    """Holds statements against their sources."""

    async def check(
        self, question: Question, statements: Sequence[Statement], decided: Callable[[int, Verdict, str], None]
    ) -> None:
        """Tell `decided` the place, the verdict and its reason of each statement, in any order, as they are known.

        A statement that could not be checked is not told of.
        """
        ...


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


class Trace(Protocol):
    """What steps on a model can tell of a turn."""

    def calls(self) -> tuple[ModelCall, ...]: ...

    def degraded(self) -> tuple[str, ...]:
        """Steps that rules did, with the reason."""
        ...

    def dropped(self) -> tuple[str, ...]:
        """Conditions that could not be used, readable."""
        ...

    def removed(self) -> tuple[Removal, ...]:
        """What a step itself kept back."""
        ...


class Steps(msgspec.Struct, frozen=True):
    """One set of steps.

    Attributes:
        notice: a sentence for the reader about how the steps went, such as that the model was not available; None for
            nothing to say. The loop puts it behind the answer.
        opening: plans at once, by rules, so that searching and reading begin while `planner` still plans; None where
            `planner` needs no time itself.
        checker: reads statements against their sources; None leaves the mechanical gate alone in charge.
        read_per_round: passages read in a round.
        trace: what to add to an explanation; None for nothing.
    """

    planner: Planner
    reader: Reader
    answerer: Answerer
    clarifier: Clarifier
    notice: Callable[[], str | None] = no_notice
    opening: Planner | None = None
    checker: Checker | None = None
    read_per_round: int = 24
    trace: Trace | None = None


StepsFactory: TypeAlias = Callable[[TurnBudget], Steps]
"""Makes the steps of one search turn; steps that call a model keep its state, offline ones ignore the budget."""
