import msgspec
import pytest

from engine.agent.offline.statements import PLACE, Statement, Statements
from engine.agent.offline.wording import label_of, labelled, readability, tidy, title_of
from engine.agent.steps import Block, ReadingPassage
from tests.unit.agent.made import passage, question


def said(asked: str, *passages: ReadingPassage) -> list[Statement]:
    statements = Statements(question(asked), passages)
    return statements.towards(statements.weights())


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("it rose by\n 3 %", "It rose by 3 %."),
        ("“It rose, he said.", "It rose, he said."),
        ("Der Film „Ebbe“ lief lange", "Der Film „Ebbe“ lief lange."),
        ("„Ebbe lief lange, so der Wirt", "Ebbe lief lange, so der Wirt."),
        ("iPhone sales fell", "iPhone sales fell."),
        ("• A list item:", "A list item."),
        ("Was it so?", "Was it so?"),
        ("(It rose, he said.)", "It rose, he said."),
        ("dump(value) writes it", "dump(value) writes it."),
        ("json.loads reads it", "json.loads reads it."),
        ("它上升了。", "它上升了。"),
        ("The *Otter* and the **Grey Heron** won", "The Otter and the Grey Heron won."),
        ("2 * 3 is 6, and **kwargs is a mapping", "2 * 3 is 6, and **kwargs is a mapping."),
    ],
)
def test_a_text_becomes_a_sentence(text: str, whole: str) -> None:
    assert tidy(text) == whole


@pytest.mark.parametrize(
    "worse",
    [
        "He opened the new bridge over the river Lea in May.",
        "opened the new bridge over the river Lea in May",
        "Did the mayor open the new bridge over the river Lea?",
        "Sign up for our newsletter on the new bridge over the river Lea.",
        "By Ada Marsh The mayor opened the new bridge over the river Lea in May.",
        "The new bridge over the river Lea: pic.example.com/Lea @the_mayor.",
    ],
)
def test_a_whole_sentence_that_names_its_subject_reads_best(worse: str) -> None:
    assert readability(worse) < readability("The mayor opened the new bridge over the river Lea in May.")


def test_the_sentence_of_a_block_that_tells_is_found() -> None:
    held = passage(1, "Fares. The fare to Lund is 40 crowns for adults. Children pay half of it on all days.")
    first = said("What is the fare to Lund?", held)[0]
    assert first.text == "The fare to Lund is 40 crowns for adults."


def test_a_reply_is_said_whole_without_its_mark_and_no_further_than_the_next_question() -> None:
    held = passage(
        1,
        "Q: How do I get a key?\nA: Ask the porter. There is a deposit of 30 crowns, and the key is cut within a day."
        "\n\nQ: How do I open the gate?\nA: Turn the key twice to the left, and push.",
    )
    (first,) = said("How do I get a key?", held)
    assert first.text == "Ask the porter. There is a deposit of 30 crowns, and the key is cut within a day."


def test_the_row_of_a_table_is_read_below_the_names_of_its_columns() -> None:
    rows = "| Deck | Bicycles | Cabins |\n|---|---|---|\n| Upper deck of the ferry | 0 | 24 |\n| Car deck | 60 | 0 |\n"
    first = said("How many bicycles fit on the car deck?", passage(1, "The bicycles are washed.\n\n" + rows))[0]
    assert first.text == "Car deck | 60 | 0."


def test_the_title_is_the_first_part_of_the_header_and_no_files_name() -> None:
    assert title_of(passage(1, "Text.", header="Fares in Lund · Transport")) == "Fares in Lund"
    assert title_of(passage(1, "Text.", header="fares/lund.md · Fares in Lund · Transport")) == ""
    assert title_of(passage(1, "Text.", header="notes.txt")) == ""
    assert title_of(passage(1, "Text.", header="3.0.7")) == "3.0.7"


def test_a_title_too_long_to_be_read_is_left_out() -> None:
    assert title_of(passage(1, "Text.", header="Fares " * 40)) == ""


def test_a_part_before_a_separator_names_a_document_too() -> None:
    held = passage(1, "Text.", header="Fares", attributes={"paper": "Ledger | Local News"})
    asked = question("What does the Ledger say on fares?", filterable=["paper"])
    assert label_of(held, asked, asked.request.objective) == "Ledger"


def test_an_attribute_that_filters_may_not_name_is_no_label() -> None:
    held = passage(1, "Text.", header="Fares", attributes={"paper": "Ledger"})
    asked = question("What does the Ledger say on fares?")
    assert label_of(held, asked, asked.request.objective) == "Fares"


@pytest.mark.parametrize("label", ["Top 10 fares", "The “best” fares", "The fare", ""])
def test_a_label_that_adds_nothing_or_says_too_much_is_left_out(label: str) -> None:
    assert labelled(label, "The fare is high.", "The fare is high.") == "The fare is high."


def test_a_label_that_ends_with_a_mark_takes_a_dash() -> None:
    assert labelled("What now?", "Fares rise.", "Fares rise.") == "What now? — Fares rise."


def test_a_sentence_that_opens_by_the_way_is_no_byline() -> None:
    plain = readability("The mayor opened the new bridge over the river Lea in May.")
    assert readability("By the end of May the mayor had opened the new bridge over the Lea.") == plain


def test_a_pronoun_brings_the_sentence_before_it_along() -> None:
    held = passage(1, "Ada Marsh leads the port of Lund. She opened the new quay for ferries in May 2021.")
    first = said("Who opened the quay for ferries?", held)[0]
    assert first.text == "Ada Marsh leads the port of Lund. She opened the new quay for ferries in May 2021."


def test_a_pronoun_without_a_sentence_before_it_stands_back() -> None:
    leaning = passage(1, "She opened the new quay for ferries in May.", score=0.5)
    named = passage(2, "Lund opened the new quay for ferries in May.", score=0.5)
    found = said("Who opened the quay for ferries?", leaning, named)
    assert found[0].passage == 1


def test_a_sentence_of_a_better_ranked_passage_comes_first() -> None:
    low = passage(1, "The fare to Lund is high.", score=0.2)
    high = passage(2, "The fare to Lund is low.", score=0.9)
    assert said("What is the fare?", low, high)[0].passage == 1


def test_a_common_word_that_is_a_value_too_is_no_label() -> None:
    held = passage(1, "Text.", header="Fares", attributes={"kind": "class"})
    asked = question("Which class of fares is there?", filterable=["kind"])
    assert label_of(held, asked, asked.request.objective) == "Fares"


def test_an_aside_stands_behind_the_label_or_in_front() -> None:
    assert labelled("Ledger", "Fares rise.", "Fares rise.", "likewise") == "Ledger, likewise: Fares rise."
    assert labelled("", "Fares rise.", "Fares rise.", "by contrast") == "By contrast: Fares rise."


def test_a_label_whose_number_is_only_a_part_of_one_in_the_text_is_left_out() -> None:
    assert labelled("Clause 2", "See Section 9.2.", "See Section 9.2.") == "See Section 9.2."
    assert labelled("Clause 2", "See 2.", "See 2 and 9.2.") == "Clause 2: See 2."


FAQ = """## How do I reset my password?

Open the settings and choose Forgotten. A link comes by mail within five minutes and is valid for one hour only.

## How do I close my account?

Write to the desk. We delete the account within a week, and all that belongs to it within thirty days."""


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("How do I reset my password?", "Open the settings and choose Forgotten."),
        ("How do I close my account?", "Write to the desk."),
    ],
)
def test_the_text_below_a_question_answers_it_and_the_question_itself_never_does(asked: str, told: str) -> None:
    first = said(asked, passage(1, FAQ))[0]
    assert told in first.text
    assert "?" not in first.text
    assert "#" not in first.text


def test_a_title_is_put_without_what_replies_and_lists_add() -> None:
    assert title_of(passage(1, "Text.", header="Re: AW: Fwd: Fares in Lund · Mail")) == "Fares in Lund"
    assert title_of(passage(1, "Text.", header="3. Fares in Lund")) == "Fares in Lund"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Who sent the mail about the holidays?", "Author: Joan Pike."),
        ("What is the priority of the mail about the holidays?", "Priority: low."),
    ],
)
def test_an_attribute_answers_what_the_text_does_not_say(asked: str, told: str) -> None:
    held = passage(1, "The mail about the holidays: the yard is closed from Friday on.")
    facts = (Block("1.author", 0, "Joan Pike", "author"), Block("1.priority", 0, "low", "priority"))
    statements = Statements(question(asked), [msgspec.structs.replace(held, facts=facts)])
    fact = statements.fact(statements.towards(statements.weights())[0])
    assert fact is not None
    assert fact.text == told


def test_no_attribute_answers_what_the_text_says() -> None:
    held = passage(1, "Joan Pike wrote the mail about the holidays.")
    facts = (Block("1.author", 0, "Ann Lee", "author"),)
    asked = "Who wrote the mail about the holidays?"
    statements = Statements(question(asked), [msgspec.structs.replace(held, facts=facts)])
    assert statements.fact(statements.towards(statements.weights())[0]) is None


@pytest.mark.parametrize("asked", ["When did the ferry to Lund sink?", "What is the fare to Lund?", "Lund"])
def test_the_statement_of_a_passage_is_the_best_of_all_its_sentences(asked: str) -> None:
    """Most sentences are not read, as they could not be the best; reading all of them gives the same."""
    held = [
        passage(1, "The ferry to Lund. Is the fare high? It sank in 1902. The fare to Lund is low. Sign up now!"),
        passage(2, "And then the ferry sank near Lund in May 1903. The ferry to Lund sank, they say, near the fare."),
        passage(3, "Nothing of it."),
    ]
    statements = Statements(question(asked), held)
    found = {statement.passage: statement for statement in statements.towards(statements.weights())}
    weights = statements.weights() / statements.weights().sum()
    table = statements.table
    for number in range(len(held)):
        rows = table.rows(number)
        place = held[number].score / max(p.score for p in held)
        said = table.sentences[rows] @ weights + PLACE * place
        said *= [statements.reads(row) for row in range(rows.start, rows.stop)]
        assert found[number].score == pytest.approx(said.max())
