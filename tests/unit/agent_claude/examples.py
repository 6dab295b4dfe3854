"""A small corpus, steps without a model, and a budget that a test sets."""

from __future__ import annotations

from collections.abc import Sequence

from engine.agent.claude.agent import ClaudeAgent
from engine.agent.drafts import AnswerDraft, FindingDraft, SentenceDraft
from engine.agent.steps import (
    AttributeValues,
    Block,
    ClarificationDraft,
    Corpus,
    Evidence,
    Judgement,
    Outcome,
    Plan,
    PlannedQuery,
    ReadingPassage,
    SoFar,
    Steps,
    SubQuestion,
)
from engine.llm.protocol import ChatModel
from engine.model.document import JsonValue, Passage
from engine.model.schema import Attribute, AttributeType, Schema
from engine.model.search import SearchRequest
from engine.question.turn import Question, Turn
from engine.settings import BudgetSettings

SCHEMA = Schema(
    {
        "text": Attribute(AttributeType.STRING, is_searchable=True),
        "newspaper": Attribute(AttributeType.STRING, is_filterable=True),
        "year": Attribute(AttributeType.INT, is_filterable=True),
        "score": Attribute(AttributeType.FLOAT, is_filterable=True),
        "printed": Attribute(AttributeType.BOOL, is_filterable=True),
        "published": Attribute(AttributeType.DATETIME, is_filterable=True),
        "topics": Attribute(AttributeType.STRINGS, is_filterable=True),
        "secret": Attribute(AttributeType.STRING),
    }
)
CORPUS = Corpus(
    schema=SCHEMA,
    values=(
        AttributeValues("newspaper", "string", (("Harbour Gazette", 12), ("Coastal Times", 7))),
        AttributeValues("topics", "[]string", (("bridges", 9), ("cheese", 4))),
    ),
    documents=19,
    today="2026-11-21",
)
QUESTION = Question(
    SearchRequest(
        objective="Did the Harbour Gazette and the Coastal Times report different costs for the Pellam bridge?",
        context="We compare local papers of the 1980s.",
    )
)
FOLLOW_UP = Question(
    QUESTION.request,
    turns=(Turn(QUESTION.request.objective, "The Gazette said 12 million, the Times 14 million [1][2]."),),
    message="And what did they say in 1986?",
)
MULTITURN = Question(SearchRequest(objective="When was the bridge opened?", context="Local history.", multiturn=True))
PLAN = Plan(
    sub_questions=(SubQuestion("What cost did the Gazette report?"), SubQuestion("What cost did the Times report?")),
    queries=(PlannedQuery("Pellam bridge cost"),),
    shape="comparison",
)


def passage(label: int, document_id: str, sentences: Sequence[str], **attributes: JsonValue) -> ReadingPassage:
    """A passage whose sentences stand one after the other."""
    blocks: list[Block] = []
    start = 0
    for index, sentence in enumerate(sentences):
        blocks.append(Block(f"{label}.{index}", start, sentence))
        start += len(sentence) + 1
    text = " ".join(sentences)
    stored = Passage(
        label=label, document_id=document_id, attribute="text", start=0, end=len(text), text=text, header=""
    )
    return ReadingPassage(stored, tuple(blocks), score=1.0 / label, attributes=attributes)


PASSAGES = (
    passage(
        1,
        "gazette-1",
        ["The Pellam bridge was long in planning.", "It cost 12 million crowns, the mayor said."],
        newspaper="Harbour Gazette",
        year=1987,
    ),
    passage(
        2,
        "times-1",
        ["Costs ran to 14 million crowns.", "Pellam has a cheese market.", "See https://times.example/bridge."],
        newspaper="Coastal Times",
        year=1987,
    ),
)
EVIDENCE = (
    Evidence(PASSAGES[0], ("1.0", "1.1"), 9.0, (0,)),
    Evidence(PASSAGES[1], ("2.0", "2.2"), 8.0, (1,)),
)
LAST = SoFar(executed=PLAN.queries)
"""No further query can run."""
MORE = SoFar(executed=PLAN.queries, rounds_left=2)


class Twin:
    """Steps without a model, of the simplest kind; `done` lists which were asked."""

    def __init__(self) -> None:
        self.done: list[str] = []

    async def plan(self, question: Question, corpus: Corpus) -> Plan:
        self.done.append("plan")
        return Plan((SubQuestion("twin"),), (PlannedQuery("twin"),))

    async def read(self, question: Question, plan: Plan, passages: Sequence[ReadingPassage]) -> list[Evidence]:
        self.done.append("read")
        return [Evidence(item, (item.blocks[0].id,), 5.0) for item in passages]

    async def clarify(self, question: Question, plan: Plan, evidence: Sequence[Evidence]) -> ClarificationDraft | None:
        self.done.append("clarify")
        return None

    async def answer(self, question: Question, plan: Plan, evidence: Sequence[Evidence], so_far: SoFar) -> Outcome:
        self.done.append("answer")
        if not evidence:
            return Outcome(Judgement(sufficient=False, answerable=False))
        first = evidence[0]
        finding = FindingDraft("By the twin.", first.passage.passage.document_id, first.block_ids)
        draft = AnswerDraft((finding,), (SentenceDraft("By the twin.", (0,)),), ("The twin's caveat.",))
        return Outcome(Judgement(sufficient=True), draft)

    def steps(self) -> Steps:
        return Steps(self, self, self, self)


class Budget:
    """`TurnBudget` with as much as a test says."""

    def __init__(self, *, seconds: float = 55.0, tokens: int = 400_000) -> None:
        self.seconds = seconds
        self.tokens = tokens

    def seconds_to_hard(self) -> float:
        return self.seconds

    def tokens_left(self) -> int:
        return self.tokens

    def spend_tokens(self, tokens: int) -> None:
        self.tokens -= tokens


class Bench:
    """The steps of one turn over `model`, with all that a test looks at."""

    def __init__(
        self, model: ChatModel, *, budget: Budget | None = None, settings: BudgetSettings | None = None
    ) -> None:
        self.twin = Twin()
        self.budget = budget or Budget()
        self.agent = ClaudeAgent(model, lambda _: self.twin.steps(), budget=settings, token=lambda: "0123456789abcdef")
        self.steps = self.agent.steps(self.budget)
