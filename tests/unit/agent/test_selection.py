from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.agent.evidence.select import POOL, select
from engine.agent.gathering import Gathering, distinct, same_query
from engine.agent.steps import Plan, PlannedQuery, SubQuestion
from engine.model.document import Passage
from tests.unit.agent.examples_offline import narrowed, passage, ranked
from tests.unit.agent.made import question

TUNNEL = "The northern tunnel leaks."
NORTH = PlannedQuery("northern tunnel leaks", 0)
SOUTH = PlannedQuery("southern tunnel dry", 1)
PLAN = Plan((SubQuestion("northern tunnel leaks"), SubQuestion("southern tunnel dry")), (NORTH, SOUTH))
ASKED = question("Which tunnel leaks?")


def gathered(*rankings: tuple[PlannedQuery, list[Passage]]) -> Gathering:
    gathering = Gathering()
    for query, passages in rankings:
        gathering.add(query, ranked(*passages))
    return gathering


def chosen(gathering: Gathering, k: int, plan: Plan = PLAN) -> list[int]:
    return [g.passage.label for g in select(gathering, plan, k, question=ASKED)]


def test_a_passage_of_two_queries_ranks_above_one_of_each() -> None:
    both, one = passage(1, TUNNEL), passage(2, TUNNEL)
    gathering = gathered((NORTH, [one, both]), (SOUTH, [both]))
    assert [g.passage.label for g in gathering.ranking()] == [1, 2]
    assert gathering.passages[1].queries == (0, 1)


def test_a_narrowed_query_adds_and_replaces_nothing() -> None:
    plain, only = passage(1, TUNNEL), passage(2, TUNNEL)
    gathering = gathered((NORTH, [plain]), (narrowed("northern tunnel", newspaper="Gazette"), [only]))
    assert {g.passage.label for g in gathering.ranking()} == {1, 2}


def test_an_empty_ranking_changes_nothing_but_the_count_of_queries() -> None:
    gathering = gathered((NORTH, []))
    assert gathering.ranking() == []
    assert gathering.has_run(NORTH)
    assert not gathering.has_run(SOUTH)


def test_case_and_spaces_make_no_other_query_but_a_narrowing_does() -> None:
    assert same_query(PlannedQuery("The  Tunnel"), PlannedQuery("the tunnel"))
    assert not same_query(PlannedQuery("the tunnel"), narrowed("the tunnel", newspaper="Gazette"))
    assert distinct([NORTH, NORTH, PlannedQuery("  ")]) == [NORTH]


def test_every_part_of_the_question_is_read_before_a_part_is_read_again() -> None:
    north = [passage(n, f"The northern tunnel leaks, says witness {n}.") for n in range(1, 6)]
    south = passage(9, "The southern tunnel is dry.")
    gathering = gathered((NORTH, north), (SOUTH, [south]))
    assert 9 in chosen(gathering, 2)


def test_under_a_narrowing_a_passage_whose_sentence_answers_beats_one_of_the_topic() -> None:
    query = narrowed("engineer closed northern tunnel", newspaper="Gazette")
    plan = Plan((SubQuestion("engineer closed northern tunnel"),), (query,))
    topic = passage(
        1,
        "The tunnel was in the news of the whole week. Northern lights were seen above the old town. "
        "An engineer sang in the choir of the church. All shops closed for the winter holidays.",
    )
    answer = passage(2, "Snow fell on the hills for weeks. The engineer closed the northern tunnel to all traffic.")
    assert chosen(gathered((query, [topic, answer])), 1, plan) == [2]


def test_passages_that_were_read_do_not_return() -> None:
    gathering = gathered((NORTH, [passage(1, TUNNEL), passage(2, TUNNEL)]))
    assert [g.passage.label for g in select(gathering, PLAN, 5, question=ASKED, already={1})] == [2]


def test_beyond_the_pool_the_merged_ranking_decides() -> None:
    many = [passage(n, f"Tunnel {n}.") for n in range(POOL + 30)]
    labels = chosen(gathered((NORTH, many)), POOL + 30)
    assert sorted(labels) == list(range(POOL + 30))
    assert labels[POOL:] == list(range(POOL, POOL + 30))


@given(
    st.lists(st.lists(st.integers(0, 12), unique=True, max_size=8), max_size=4),
    st.integers(0, 15),
)
def test_a_selection_is_of_distinct_gathered_passages_and_a_longer_one_begins_with_the_shorter(
    rankings: list[list[int]], k: int
) -> None:
    queries = [PlannedQuery(f"tunnel {n}", n % 2) for n in range(len(rankings))]
    gathering = gathered(
        *((q, [passage(n, f"Tunnel {n} leaks.") for n in r]) for q, r in zip(queries, rankings, strict=True))
    )
    short, long = chosen(gathering, k), chosen(gathering, k + 1)
    assert len(set(long)) == len(long) == min(k + 1, len(gathering.passages))
    assert long[:k] == short
