from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.agent.relevance import HEADER_SHARE, Relevance
from engine.text.passages import blocks
from tests.unit.agent.examples_offline import passage

FILLER = [passage(n, text) for n, text in enumerate(("Rain fell.", "Bread rose.", "The tunnel is old."), 10)]


def test_a_sentence_with_all_words_covers_fully_and_one_without_any_not_at_all() -> None:
    both = passage(1, "The engineer closed the tunnel to all traffic. Cats slept on the warm stones beside the mill.")
    relevance = Relevance(["engineer closed tunnel"], [both, *FILLER])
    assert relevance.table(both) == [[1.0, 0.0]]
    assert relevance.of(both) == 1.0


def test_a_rare_word_counts_for_more_than_one_that_all_passages_hold() -> None:
    rare, frequent = passage(1, "An engineer sang of the bridge."), passage(2, "A tunnel under the bridge.")
    relevance = Relevance(["engineer tunnel"], [rare, frequent, passage(3, "Tunnel."), *FILLER])
    assert relevance.of(rare) > relevance.of(frequent)


def test_a_word_of_the_header_counts_in_part() -> None:
    held = passage(1, "It leaks.", header="Tunnel")
    assert Relevance(["tunnel"], [held]).of(held) == HEADER_SHARE


def test_words_about_documents_do_not_count() -> None:
    held = passage(1, "The tunnel leaks.")
    assert Relevance(["the article reported that the tunnel leaks"], [held]).of(held) == 1.0


def test_a_paper_that_names_itself_is_no_evidence_for_what_it_says() -> None:
    own, subject = passage(1, "He told the Harbour Gazette so."), passage(2, "The tunnel leaks.")
    question = ["What does the Harbour Gazette say about the tunnel?"]
    named = Relevance(question, [own, subject, *FILLER])
    placed = Relevance(question, [own, subject, *FILLER], ["Harbour Gazette"])
    assert named.of(own) > named.of(subject)
    assert placed.of(subject) > placed.of(own) > 0


def test_a_question_of_nothing_but_a_place_is_still_measured() -> None:
    held = passage(1, "The Harbour Gazette moved.")
    assert Relevance(["Harbour Gazette"], [held], ["Harbour Gazette"]).of(held) == 1.0


def test_the_best_of_several_targets_counts() -> None:
    held = passage(1, "Cats slept.")
    assert Relevance(["tunnel leaks", "cats slept"], [held]).of(held) == 1.0


@given(st.text(max_size=80), st.text(max_size=200))
def test_coverage_is_a_share_with_one_entry_a_block(target: str, text: str) -> None:
    held = passage(1, text)
    relevance = Relevance([target], [held])
    (row,) = relevance.table(held)
    assert len(row) == len(blocks(text))
    assert all(0.0 <= share <= 1.0 + 1e-9 for share in row)
