import numpy as np

from engine.ranking.mentions import name_mentions
from engine.ranking.passage_terms import PassageTerms, TermTexts
from engine.text.headers import without_qualifier


def ids(*terms: int) -> list[int]:
    return list(terms)


def mentions(names, bodies, documents, strengths=None) -> list[float]:
    given = np.linspace(1.0, 0.1, len(bodies)) if strengths is None else np.array(strengths)
    passages = PassageTerms(
        np.arange(len(bodies)),
        tuple(documents),
        TermTexts.of(bodies),
        TermTexts.of([[] for _ in bodies]),
        TermTexts.of([name for of in names for name in of]),
        np.array([at for at, of in enumerate(names) for _ in of], np.int64),
    )
    return name_mentions(passages, given.astype(np.float32)).tolist()


def test_a_document_that_the_best_passage_names_is_lifted() -> None:
    bodies = [ids(1, 7, 8, 2), ids(5, 5), ids(6)]
    assert mentions([[ids(3)], [ids(7, 8)], [ids(9)]], bodies, ["a", "b", "c"], [1.0, 0.5, 0.4]) == [0.0, 1.0, 0.0]


def test_a_name_must_stand_word_for_word_and_in_order() -> None:
    bodies = [ids(8, 7, 1, 7, 2, 8), ids(5)]
    assert mentions([[ids(3)], [ids(7, 8)]], bodies, ["a", "b"]) == [0.0, 0.0]


def test_a_name_does_not_run_from_one_text_into_the_next() -> None:
    bodies = [ids(1, 7), ids(8, 2), ids(5)]
    assert mentions([[ids(3)], [ids(4)], [ids(7, 8)]], bodies, ["a", "b", "c"]) == [0.0, 0.0, 0.0]


def test_of_names_that_begin_alike_only_those_that_stand_there_count() -> None:
    bodies = [ids(7, 8, 7, 9), ids(5), ids(6), ids(6)]
    names = [[ids(3)], [ids(7, 9)], [ids(7, 8, 9)], [ids(7, 8)]]
    assert mentions(names, bodies, ["a", "b", "c", "d"], [1.0, 0.5, 0.4, 0.3]) == [0.0, 1.0, 0.0, 1.0]


def test_a_document_does_not_name_itself() -> None:
    assert mentions([[ids(7)], [ids(7)]], [ids(7), ids(7)], ["a", "a"]) == [0.0, 0.0]


def test_a_name_that_two_documents_share_names_neither() -> None:
    bodies = [ids(7), ids(1), ids(2)]
    assert mentions([[ids(3)], [ids(7)], [ids(7)]], bodies, ["a", "b", "c"]) == [0.0, 0.0, 0.0]


def test_a_name_that_stands_everywhere_tells_nothing() -> None:
    bodies = [ids(7, n) for n in range(8)]
    names = [[ids(100 + n)] for n in range(7)] + [[ids(7)]]
    assert mentions(names, bodies, list("abcdefgh")) == [0.0] * 8


def test_a_weaker_passage_names_less() -> None:
    bodies = [ids(1), ids(7), ids(2)]
    assert mentions([[ids(3)], [ids(4)], [ids(7)]], bodies, ["a", "b", "c"], [1.0, 0.5, 0.2])[2] == 0.25


def test_any_of_several_names_will_do() -> None:
    bodies = [ids(1, 8), ids(2)]
    assert mentions([[], [ids(9), ids(8)]], bodies, ["a", "b"])[1] == 1.0


def test_only_brackets_at_the_end_are_a_qualifier() -> None:
    assert [without_qualifier(t) for t in ("Mercury (planet)", "(500) Days", "A [b] c", "Alien (film)（1979）")] == [
        "Mercury",
        "(500) Days",
        "A [b] c",
        "Alien (film)",
    ]
