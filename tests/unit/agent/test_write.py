import asyncio
import re

from engine.agent.answer.cite import cite, markers
from engine.agent.answer.gate import problems_of
from engine.agent.answer.support import support
from engine.agent.answer.verify import blocks_of
from engine.agent.drafts import AnswerDraft
from engine.agent.offline.write import OfflineSynthesizer, excerpt_blocks
from engine.agent.steps import Evidence, Judgement, Plan
from engine.question.turn import Question
from tests.unit.agent.made import evidence, passage, plan, question

ACME = passage(
    1,
    "Acme sold 40 boats in Spain last year. The weather was fine. it hired new staff",
    header="Acme in Spain",
    attributes={"title": "Acme in Spain", "paper": "Daily Ledger"},
)
BOLT = passage(
    2,
    "Acme sold 55 boats in Spain last year. Prices fell.",
    header="Boats",
    attributes={"title": "Boats", "paper": "Morning Courier"},
)
FRANCE = passage(3, "Wages in France rose by 3 % in the summer.", header="Wages", attributes={"paper": "Daily Ledger"})
SALES = "How many boats did Acme sell in Spain?"


def draft(asked: Question, planned: Plan, *found: Evidence, missing: tuple[str, ...] = ()) -> AnswerDraft:
    judgement = Judgement(sufficient=not missing, missing=missing)
    return asyncio.run(OfflineSynthesizer().synthesize(asked, planned, list(found), judgement))


def test_every_sentence_is_whole_and_cites_a_finding() -> None:
    made = draft(question(SALES), plan(SALES), evidence(ACME), evidence(BOLT), evidence(FRANCE))
    assert made.sentences
    for sentence in made.sentences:
        assert sentence.text[0].isupper()
        assert sentence.text.endswith(".")
        assert sentence.findings


def test_a_finding_speaks_with_the_most_telling_sentence_under_its_title() -> None:
    made = draft(question(SALES), plan(SALES), evidence(ACME))
    assert made.findings[0].finding == "Acme in Spain: Acme sold 40 boats in Spain last year."


def test_a_source_that_the_question_names_takes_the_place_of_the_title() -> None:
    asked = question("What did the Daily Ledger write on wages in France?", filterable=["paper"])
    made = draft(asked, plan(asked.request.objective), evidence(FRANCE))
    assert made.findings[0].finding.startswith("Daily Ledger: Wages in France")


def test_a_title_with_a_number_that_no_excerpt_holds_is_left_out() -> None:
    numbered = passage(1, "The tower leans to the south.", header="Towers of 1173")
    made = draft(question("Where does the tower lean?"), plan("Where does the tower lean?"), evidence(numbered))
    assert made.findings[0].finding == "The tower leans to the south."


def test_sentences_follow_the_order_of_the_parts() -> None:
    planned = plan("wages in France", "boats sold in Spain")
    made = draft(question("wages in France, and boats sold in Spain"), planned, evidence(ACME), evidence(FRANCE))
    texts = [sentence.text for sentence in made.sentences]
    assert "Wages" in texts[0]
    assert "boats" in texts[1]
    assert made.findings[0].document_id == "d3"


def test_figures_that_differ_are_set_against_each_other() -> None:
    made = draft(question(SALES), plan(SALES), evidence(ACME, blocks_at=[0]), evidence(BOLT, blocks_at=[0]))
    assert [s.text.startswith("By contrast: ") for s in made.sentences[:2]] == [False, True]


def test_what_another_document_repeats_is_said_once_and_cites_both() -> None:
    other = passage(4, "In Spain, Acme sold 40 boats last year.", header="Spain")
    made = draft(question(SALES), plan(SALES), evidence(ACME, blocks_at=[0]), evidence(other))
    assert [s.findings for s in made.sentences] == [(0, 1)]


def test_a_source_that_says_nearly_the_same_is_said_to() -> None:
    other = passage(4, "Acme sold 40 boats in Spain last year, by the count of its founder.", header="Fishing")
    made = draft(question(SALES), plan(SALES), evidence(ACME, blocks_at=[0]), evidence(other))
    assert made.sentences[1].text.startswith("Fishing, likewise: Acme sold 40 boats")


def test_no_sentence_is_said_twice() -> None:
    copies = [evidence(passage(n, "Acme sold 40 boats in Spain last year.")) for n in (1, 2, 3)]
    made = draft(question(SALES), plan(SALES), *copies)
    texts = [re.sub(r"^Likewise: ", "", s.text) for s in made.sentences]
    assert len(texts) == len(set(texts))
    assert {n for s in made.sentences for n in s.findings} == {0, 1, 2}


def test_a_yes_or_no_is_left_to_the_reader() -> None:
    made = draft(question("Did Acme sell boats?"), plan("Did Acme sell boats?", shape="yes_no"), evidence(ACME))
    assert "left to the reader" in made.caveats[-1]


def test_what_is_missing_is_said() -> None:
    made = draft(question(SALES), plan(SALES), evidence(ACME), missing=("Zwickau",))
    assert made.caveats == ("Not covered by what was found: Zwickau.",)


def test_documents_far_below_the_best_are_no_results() -> None:
    made = draft(question(SALES), plan(SALES), evidence(ACME, relevance=9), evidence(FRANCE, relevance=1))
    assert [finding.document_id for finding in made.findings] == ["d1"]


def test_excerpts_of_a_document_are_five_at_most_and_neighbours_count_once() -> None:
    text = " ".join(f"Sentence number {n} says something of its own about boats." for n in "abcdefghijkl")
    held = passage(1, text)
    assert len(held.blocks) == 12
    apart = evidence(held, blocks_at=[0, 2, 4, 6, 8, 10])
    together = evidence(held)
    assert len(excerpt_blocks([apart])) == 5
    assert len(excerpt_blocks([together])) == 12


def test_the_draft_passes_verification_and_cites_every_result() -> None:
    found = [evidence(ACME), evidence(BOLT), evidence(FRANCE)]
    made = draft(question(SALES), plan(SALES), *found)
    documents = {e.passage.passage.document_id: {"body": e.passage.passage.text} for e in found}
    supported = support(made, blocks_of(found), documents)
    assert problems_of(made, supported, (SALES,)) == []
    synthesis, results = cite(made, supported)
    assert set(markers(synthesis)) == set(range(1, len(results) + 1))


TENT = passage(5, "The Alpine tent weighs 1.9 kg. It sleeps two.", header="Alpine tent")
PACK = passage(6, "The Ridge backpack weighs 1.2 kg. A rain cover is included.", header="Ridge backpack")
STOVE = passage(7, "The Ember stove weighs 0.3 kg. It boils a litre of water in four minutes.", header="Ember stove")


def test_a_comparison_speaks_of_both_sides() -> None:
    heavier = "Is the Alpine tent heavier than the Ridge backpack?"
    found = [evidence(TENT), evidence(PACK, relevance=7)]
    made = draft(question(heavier), plan(heavier, shape="comparison"), *found)
    said = " ".join(sentence.text for sentence in made.sentences[:2])
    assert "1.9 kg" in said
    assert "1.2 kg" in said


def test_a_side_that_the_first_sentences_leave_out_is_added() -> None:
    compared = "Does the Ember stove or the Ridge backpack weigh less, and by how much does the Ember stove boil water?"
    parts = ("how much does the Ember stove weigh", "how fast does the Ember stove boil water")
    found = [evidence(STOVE), evidence(PACK, relevance=4)]
    made = draft(question(compared), plan(*parts, shape="comparison"), *found)
    assert any("Ridge backpack weighs 1.2 kg" in sentence.text for sentence in made.sentences)


def test_a_sentence_that_holds_little_of_a_part_is_not_said_for_it() -> None:
    parts = ("boats sold in Spain", "who conducted the overture of the opera in Prague")
    made = draft(question("boats sold in Spain, and the overture"), plan(*parts), evidence(ACME), evidence(FRANCE))
    assert not any("Wages" in sentence.text for sentence in made.sentences)


def test_two_sentences_about_one_name_are_not_taken_for_agreement() -> None:
    one = passage(8, "The trial of Ann Lee over the fire began in the city court.", header="Court")
    two = passage(9, "A juror in the trial of Ann Lee fell ill on the first day.", header="News")
    asked = "What happened in the trial of Ann Lee?"
    made = draft(question(asked), plan(asked), evidence(one), evidence(two))
    assert not any("likewise" in s.text.casefold() or "by contrast" in s.text.casefold() for s in made.sentences)


def test_what_documents_of_two_names_say_alike_is_said_under_neither() -> None:
    same = "Invoice shows the wrong VAT rate for boats."
    first, second = passage(1, same, header="Obermeier"), passage(2, same, header="Trident")
    made = draft(
        question("Which VAT rate is wrong?"), plan("Which VAT rate is wrong?"), evidence(first), evidence(second)
    )
    assert [(s.text, s.findings) for s in made.sentences] == [(same, (0, 1))]


def test_a_document_without_a_word_is_no_result() -> None:
    spoken, silent = passage(1, "no"), passage(2, "-")
    made = draft(question("no"), plan("no"), evidence(spoken), evidence(silent))
    assert [finding.document_id for finding in made.findings] == ["d1"]
