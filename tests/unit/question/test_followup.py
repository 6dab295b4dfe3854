import pytest

from engine.model.search import SearchRequest
from engine.question.followup import Asked, follow_up, is_elliptic
from engine.question.turn import Question, Turn

OBJECTIVE = "How did sales of Acme in Spain develop in 2021?"


def question(message: str, *before: str) -> Question:
    turns = tuple(Turn(said, "") for said in (OBJECTIVE, *before)) if message else ()
    return Question(SearchRequest(objective=OBJECTIVE, context="business"), turns, message)


def test_the_first_turn_asks_the_objective() -> None:
    assert question("").text == OBJECTIVE


def test_a_message_of_a_few_words_is_asked_of_what_came_before() -> None:
    assert question("and what about Portugal?").text == f"{OBJECTIVE} Portugal?"


def test_a_date_in_the_message_takes_the_place_of_the_earlier_one() -> None:
    assert question("and between 2018 and 2019?").text == (
        "How did sales of Acme in Spain develop? between 2018 and 2019?"
    )


def test_short_messages_add_up_over_turns() -> None:
    text = question("in 2022?", "only online").text
    assert "online" in text
    assert "2022" in text
    assert "2021" not in text


def test_a_message_that_names_its_own_subject_stands_alone() -> None:
    message = "Which suppliers of steel did the railway in Norway choose for the new bridge?"
    assert question(message).text == message


def test_an_option_that_repeats_words_of_the_objective_adds_nothing() -> None:
    asked = Asked(OBJECTIVE, OBJECTIVE, OBJECTIVE)
    assert follow_up(asked, "sales of Acme") == asked


def test_a_message_that_asks_by_itself_takes_subject_and_names_along_as_words_that_count_less() -> None:
    turns = (Turn("Who leads the pottery evenings?", "Ada Quill leads them [1]."),)
    asked = Question(SearchRequest(objective=turns[0].message, context="a club"), turns, "What is her number?")
    assert asked.text == "What is her number, Ada Quill, leads, pottery, evenings"
    carried = {term.word: term.is_carried for term in asked.terms.terms}
    assert not carried["number"]
    assert carried["quill"]
    assert carried["evening"]


def test_an_answer_that_cites_nothing_has_no_names_to_take_along() -> None:
    turns = (Turn("Who leads the pottery evenings?", "Not found: Ada Quill was asked for."),)
    asked = Question(SearchRequest(objective=turns[0].message, context="a club"), turns, "What is her number?")
    assert "Quill" not in asked.text


@pytest.mark.parametrize("message", ["Why?", "What did he say about that later?", "the second one", "及时雨"])
def test_what_cannot_be_understood_alone_is_elliptic(message: str) -> None:
    assert is_elliptic(message, "en")
