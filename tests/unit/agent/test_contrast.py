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


def test_the_same_said_in_another_order_is_the_same() -> None:
    assert relation("Acme sold 40 boats in Spain.", "In Spain, 40 boats were sold by Acme.", {}) == "same"


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
