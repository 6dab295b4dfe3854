from __future__ import annotations

import pytest

from engine.agent.offline.mentions import ValueDictionary
from tests.unit.agent.examples_offline import attributes, papers


def named(text: str, dictionary: ValueDictionary | None = None) -> list[tuple[str, tuple[object, ...]]]:
    held = dictionary or ValueDictionary(papers().values)
    return [(mention.attribute, mention.values) for mention in held.mentions(text)]


@pytest.mark.parametrize(
    "text",
    [
        "the Harbour Gazette says",
        "Harbour Gazette's view",
        "in 'harbour gazette'",
        "HarbourGazette wrote",
        "Harbour-Gazette",
    ],
)
def test_a_name_is_found_whatever_its_case_spaces_and_marks(text: str) -> None:
    assert named(text) == [("newspaper", ("Harbour Gazette",))]


def test_the_part_before_a_separator_names_all_that_share_it() -> None:
    assert named("What did BBN report?") == [("newspaper", ("BBN | World Affairs", "BBN | Sport"))]


def test_the_whole_name_beats_its_part() -> None:
    assert named("What did BBN | Sport report?") == [("newspaper", ("BBN | Sport",))]


def test_an_article_may_be_missing_where_the_name_is_written_as_one() -> None:
    assert named("What did Beacon reporters say?") == [("newspaper", ("The Beacon",))]
    assert named("Who lit the beacon on the hill?") == []


@pytest.mark.parametrize("text", ["How is business in the harbour?", "Is sport healthy?"])
def test_a_common_word_narrows_nothing(text: str) -> None:
    assert named(text) == []


@pytest.mark.parametrize("text", ["news of the business desk", "the desk: sport"])
def test_a_common_word_beside_the_name_of_its_attribute_does(text: str) -> None:
    assert [attribute for attribute, _ in named(text)] == ["desk"]


def test_a_longer_name_holds_the_shorter_of_another_attribute() -> None:
    dictionary = ValueDictionary(attributes(paper=("string", {"New York Post": 3}), city=("string", {"New York": 5})))
    assert named("the New York Post", dictionary) == [("paper", ("New York Post",))]


def test_one_name_that_is_a_value_of_two_attributes_is_found_as_both() -> None:
    dictionary = ValueDictionary(attributes(paper=("string", {"Reuters": 3}), author=("string", {"Reuters": 5})))
    assert [attribute for attribute, _ in named("what Reuters says", dictionary)] == ["author", "paper"]


def test_a_number_needs_the_name_of_its_attribute() -> None:
    dictionary = ValueDictionary(attributes(season=("int", {3: 10, 4: 10})))
    assert named("Who wins season 3?", dictionary) == [("season", (3,))]
    assert named("Who wins 3 prizes?", dictionary) == []


def test_a_name_without_spaces_is_found_inside_a_sentence() -> None:
    dictionary = ValueDictionary(attributes(city=("string", {"東京": 2, "大阪": 2})))
    assert named("東京の天気は?", dictionary) == [("city", ("東京",))]


def test_a_domain_may_be_left_out() -> None:
    dictionary = ValueDictionary(attributes(site=("string", {"Sportwire.com": 2})))
    assert named("as Sportwire has it", dictionary) == [("site", ("Sportwire.com",))]


def test_a_mention_says_where_it_stands_and_how_many_documents_it_means() -> None:
    text = "Did The Beacon or BBN say so?"
    beacon, network = ValueDictionary(papers().values).mentions(text)
    assert text[beacon.start : beacon.stop] == "The Beacon"
    assert (beacon.documents, network.documents) == (30, 30)


def test_where_every_document_has_its_own_value_the_first_word_names_none() -> None:
    titles = {f"Tunnel: what happened in town {n}": 1 for n in range(30)}
    dictionary = ValueDictionary(attributes(title=("string", titles)))
    assert named("Is the Tunnel safe?", dictionary) == []
    assert named("Tunnel: what happened in town 7", dictionary) == [("title", ("Tunnel: what happened in town 7",))]
