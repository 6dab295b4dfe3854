"""How deep a search on a model is: calls in a row as the service sees them, and what the cache gives."""

from __future__ import annotations

from benchmarks.recorded import Call, depth, recorded, seconds


def test_one_round_is_three_calls_in_a_row_and_two_are_at_most_five() -> None:
    asked = [
        ("When does the ferry to Ness sail?", "one round"),
        ("Who drew the Pellam bridge?", "two rounds"),
    ]
    (_, _, first), (_, _, second) = recorded(asked)
    assert {call.step for call in first} == {"plan", "read", "answer", "check"}
    assert depth(first) <= 3
    assert [call.step for call in second].count("answer") == 2
    assert 3 < depth(second) <= 5
    assert sum(call.read for call in second) > 0.8 * sum(call.input + call.read + call.written for call in second)


def test_a_second_round_that_reads_what_it_found_is_five_calls_in_a_row_and_never_six() -> None:
    """So many documents speak of the bridge that the first round does not see the boathouse."""
    bridge = [
        {
            "id": f"bridge-{n}",
            "title": f"Pellam bridge {n}",
            "text": f"Who drew the Pellam bridge? Its pillar {n} is new.",
        }
        for n in range(60)
    ]
    ((_, _, calls),) = recorded([("Who drew the Pellam bridge?", "two rounds")], bridge)
    in_order = [call.step for call in sorted(calls, key=lambda call: call.start)]
    first = in_order.index("answer")
    assert "read" in in_order[first:]
    assert depth(calls) == 5


def test_the_counter_counts_what_waited_for_each_other() -> None:
    def call(step: str, start: float, end: float) -> Call:
        return Call(step, "m", start, end, 0, 0, 0, 0)

    beside = [call("plan", 0, 2), call("read", 0.5, 1.5), call("answer", 2.5, 4), call("check", 5, 6)]
    assert depth(beside) == 3
    assert seconds(beside) == 14.0
    assert depth([]) == 0
