import pytest

from engine.agent.offline.asked_terms import SOFT, asked_terms, rarity_at_large
from engine.agent.offline.coverage import coverage_of
from engine.agent.offline.kinds import wanted
from engine.agent.offline.likeness import MOST, Likeness
from engine.embedding.registry import load_embedder
from tests.unit.agent.made import passage

CATS = "Cats sleep about 13 hours a day, mostly around noon."


def words_of(question: str) -> list[str]:
    return [term.word for term in asked_terms(question, {}, 0).terms]


@pytest.mark.parametrize(
    ("question", "content"),
    [
        ("How long do cats sleep?", ["long", "cats", "sleep"]),
        ("Who was it?", ["who", "was", "it"]),
        ("Wie lange schlafen die Katzen?", ["lange", "schlafen", "katzen"]),
        ("Quand le pont a-t-il été ouvert ?", ["pont", "ouvert"]),
        ("¿Cuándo se abrió el puente?", ["abrió", "puente"]),
        ("Что такое мост?", ["мост"]),
    ],
)
def test_function_and_question_words_have_no_content_unless_there_is_nothing_else(
    question: str, content: list[str]
) -> None:
    assert words_of(question) == content


def test_a_word_that_says_what_kind_of_answer_is_wanted_counts_little() -> None:
    shares = {term.word: term.share for term in asked_terms("How long do cats sleep?", {}, 0).terms}
    assert shares == {"long": SOFT, "cats": 1.0, "sleep": 1.0}


def test_a_name_is_never_a_kind_of_answer() -> None:
    shares = {term.word: term.share for term in asked_terms("What Apple sold", {}, 0).terms}
    assert shares["apple"] == 1.0


def test_rarity_of_three_notes_hardly_counts() -> None:
    misleading = {"cat": 0.1, "sleep": 2.0}
    few = {t.word: t.weight for t in asked_terms("cats sleep", misleading, 3).terms}
    many = {t.word: t.weight for t in asked_terms("cats sleep", misleading, 100_000).terms}
    assert few["cats"] > few["sleep"]
    assert many["cats"] < many["sleep"]


@pytest.mark.parametrize(("common", "rare"), [("the", "bridge"), ("long", "quokka"), ("day", "antidisestablishment")])
def test_a_rarer_word_is_rarer_at_large(common: str, rare: str) -> None:
    assert 0 < rarity_at_large(common) < rarity_at_large(rare)


def test_a_question_is_stemmed_in_its_own_language() -> None:
    german = passage(1, "Die Katzen schlafen am Nachmittag in der Sonne.")
    assert coverage_of("Wo schläft die Katze am Nachmittag?", [german], {}).passage > 0.5


@pytest.mark.parametrize(
    ("question", "shown", "other"),
    [
        ("How many eggs?", "Two eggs.", "The eggs."),
        ("When is it open?", "It opens on Monday.", "It is closed."),
        ("Who built it?", "It was built by Ada Marsh.", "It was built by hand."),
        ("Combien de livres ?", "Il prête cinq livres.", "Il prête des livres."),
        ("Wann ist es offen?", "Es ist im August offen.", "Es ist offen."),
        ("¿Cuándo cierra?", "Cierra en agosto.", "Cierra bien."),
    ],
)
def test_the_kind_of_answer_is_seen(question: str, shown: str, other: str) -> None:
    shows = wanted(question)
    assert shows is not None
    assert shows.search(shown)
    assert not shows.search(other)


def test_coverage_says_whether_the_best_sentence_shows_the_kind() -> None:
    assert coverage_of("How long do cats sleep?", [passage(1, CATS)], {}).kind == 1
    assert coverage_of("Who do cats sleep with?", [passage(1, CATS.lower())], {}).kind == -1
    assert coverage_of("Why do cats sleep?", [passage(1, CATS)], {}).kind == 0


@pytest.fixture(scope="module")
def likeness() -> Likeness:
    return Likeness(load_embedder("wordllama"))


@pytest.mark.parametrize(("asked", "held"), [("slept", "sleep"), ("cost", "price"), ("brücke", "brücken")])
def test_words_of_like_meaning_count(likeness: Likeness, asked: str, held: str) -> None:
    assert 0.5 < likeness.credits([asked], [frozenset({held, "garden"})])[0, 0] <= MOST + 1e-6


@pytest.mark.parametrize(("asked", "held"), [("cats", "dogs"), ("mars", "saturn"), ("bridge", "tunnel")])
def test_words_of_one_field_do_not(likeness: Likeness, asked: str, held: str) -> None:
    assert likeness.credits([asked], [frozenset({held})])[0, 0] == 0


def test_each_text_is_credited_by_its_own_words(likeness: Likeness) -> None:
    texts = [frozenset({"price"}), frozenset[str](), frozenset({"garden"})]
    found = likeness.credits(["cost", "garden"], texts)
    assert found.shape == (3, 2)
    assert (found > 0).tolist() == [[True, False], [False, False], [False, True]]


def test_likeness_never_lowers_coverage(likeness: Likeness) -> None:
    held = [passage(1, CATS)]
    plain = coverage_of("How long have cats slept?", held, {})
    liked = coverage_of("How long have cats slept?", held, {}, likeness=likeness)
    assert liked.passage > plain.passage
    assert liked.sentence > plain.sentence
