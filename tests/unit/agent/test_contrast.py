import pytest

from engine.agent.offline.contrast import relation


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The tower in Lund is 300 metres tall.", "The tower in Lund is 324 metres tall."),
        ("The board approved the merger of both banks.", "The board has not approved the merger of both banks."),
        ("Sales of boats rose by 12 % in Spain.", "Sales of boats rose by 15 % in Spain."),
    ],
)
def test_other_figures_of_one_unit_or_a_negation_contrast(first: str, second: str) -> None:
    assert relation(first, second, {}) == "other"


def test_the_same_words_in_another_order_are_a_repetition() -> None:
    assert relation("Acme sold 40 boats in Spain.", "In Spain, 40 boats were sold by Acme.", {}) == "repeated"


def test_nearly_the_same_words_with_the_same_figures_say_the_same() -> None:
    first = "Acme sold 40 wooden boats in Spain, the company said."
    assert relation(first, "In Spain, Acme sold 40 wooden boats to fishermen.", {}) == "same"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Acme sold 40 boats in Spain in 2021.", "Acme sold 55 boats in Spain in 2022."),
        ("The trial of Ann Lee began in the city court.", "The trial of Ann Lee ended with a verdict against her."),
        ("Acme did not sell boats to fishermen in Spain.", "Acme sold boats to tourists on the coast of France."),
        ("The ferry takes 40 minutes and costs 5 euros.", "The ferry takes 30 minutes and costs 9 euros."),
    ],
)
def test_other_times_or_other_statements_about_the_same_stand_in_no_relation(first: str, second: str) -> None:
    assert relation(first, second, {}) == "none"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The tower is 300 metres tall.", "Wages in France rose by 3 %."),
        ("It rained in Lund.", ""),
        ("The tower opened.", "The tower closed for repairs of its lift and did not reopen until the spring."),
    ],
)
def test_sentences_about_different_things_stand_in_no_relation(first: str, second: str) -> None:
    assert relation(first, second, {}) == "none"


def test_figures_of_different_units_do_not_contrast() -> None:
    assert relation("The tower in Lund has 300 steps.", "The tower in Lund has 12 bells.", {}) != "other"


def test_the_relation_does_not_depend_on_the_order() -> None:
    a, b = "The tower in Lund is 300 metres tall.", "The tower in Lund is not tall."
    assert relation(a, b, {}) == relation(b, a, {})
