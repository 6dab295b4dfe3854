"""Both errors of the gate, held to what was measured; and the classes of correct statements that it once kept back."""

from __future__ import annotations

import pytest

from benchmarks.gate import SECOND, STATEMENTS, Judged, judged
from engine.agent.answer.gate import Sources, faults_of
from engine.agent.answer.negation import turned_around
from engine.agent.answer.number_words import number_words, parts_of_a_whole
from engine.agent.drafts import Computed


@pytest.fixture(scope="module")
def rows() -> list[Judged]:
    return [row for path in (STATEMENTS, SECOND) for row in judged(path)]


def test_correct_statements_are_never_surely_kept_back(rows: list[Judged]) -> None:
    correct = [row for row in rows if row.kind == "true"]
    assert len(correct) > 150
    assert [row.text for row in correct if row.is_surely_kept_back] == []


def test_few_correct_statements_are_doubted(rows: list[Judged]) -> None:
    correct = [row for row in rows if row.kind == "true"]
    assert sum(bool(row.faults) for row in correct) <= 0.06 * len(correct)


@pytest.mark.parametrize(
    ("kinds", "least"),
    [(["address", "quotation", "date", "name"], 1.0), (["number"], 0.95), (["unit"], 0.85), (["denial"], 0.85)],
    ids=lambda value: "-".join(value) if isinstance(value, list) else "",
)
def test_wrong_statements_are_found_out_by_their_kind(rows: list[Judged], kinds: list[str], least: float) -> None:
    wrong = [row for row in rows if row.kind in kinds]
    assert len(wrong) > 20
    assert sum(bool(row.faults) for row in wrong) >= least * len(wrong)


def faults(text: str, *sources: str, computed: tuple[Computed, ...] = ()) -> list[tuple[str, bool]]:
    return [tuple(fault) for fault in faults_of(text, Sources(sources), computed, is_written=True)]


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("It took 120 days.", "Duró ciento veinte días."),
        ("It has 48 seats.", "Er hat achtundvierzig Sitze."),
        ("It lasted 30 minutes.", "It lasted half an hour."),
        ("It weighs half a kilogram.", "It weighs 500 g."),
        ("He owns 25 % of it.", "He owns a quarter of it."),
        ("He owns 75 percent.", "Er besitzt drei Viertel."),
        ("It cost 7.3 M€.", "Costó 7,3 millones de euros."),
        ("It is 11 miles away.", "It lies eleven miles off."),
        ("It began at 9:07 p.m.", "It began at 21:07."),
        ("It closes at 20:00.", "It closes at 8:00 p.m."),
        ("Sales rose from €41.9m to €48.2m.", "Sales rose to €48.2 million from €41.9 million."),
        ("Es reicht bis 35 Grad Celsius.", "Es reicht bis +35 °C."),
        ("Es fasst 12,4 Millionen Liter Wasser.", "Es fasst 12.400.000 Liter Wasser."),
        ("It has 3 out of 4.", "It has 3 and 4."),
        ("It has 2,048 MB.", "It has 2 GB."),
        ("As it turned out 2019 was dry.", "2019 was a dry year."),
        ("It opened on 4 Oct 2019.", "Abriu em 4 out 2019."),
    ],
)
def test_the_same_said_otherwise_passes(text: str, source: str) -> None:
    assert faults(text, source) == []


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("It took thirty hours.", "It took thirty minutes."),
        ("Die Mauer ist 47 cm hoch.", "Die Mauer ist 47 Meter hoch."),
        ("Costó 7,3 millones de dólares.", "Costó 7,3 millones de euros."),
        ("It cost 12 million euros.", "It cost 12 million crowns."),
        ("It took 121 days.", "Duró ciento veinte días."),
        ("He owns 30 % of it.", "He owns a quarter of it."),
        ("It began at 9:08 p.m.", "It began at 21:07."),
        ("It began at 9:07 a.m.", "It began at 21:07."),
    ],
)
def test_what_counts_something_else_does_not_pass(text: str, source: str) -> None:
    assert faults(text, source)


def test_a_year_completes_a_date_only_where_a_source_names_it() -> None:
    assert faults("It was on 10 July 2024.", "It was on 10 July.", "published: 2024-07-01") == []
    assert faults("It was on 10 July 2023.", "It was on 10 July.", "published: 2024-07-01")


@pytest.mark.parametrize(
    ("value", "kind", "terms"),
    [
        ("7,500", "difference", ("112,000", "104,500")),
        ("560 MB", "difference", ("1.2 GB", "640 MB")),
        ("11.1 million", "product", ("18.5 million", "60 %")),
    ],
)
def test_what_is_computed_is_read_in_every_way_its_terms_may_be_read(
    value: str, kind: str, terms: tuple[str, ...]
) -> None:
    text = f"It makes {value}."
    source = f"There were {terms[0]} and then {terms[1]}."
    assert faults(text, source, computed=(Computed(value, kind, terms),)) == []  # type: ignore[arg-type]
    wrong = (Computed(value, "sum", terms),)
    assert faults(text, source, computed=wrong)


def test_a_number_of_general_knowledge_in_a_computation_is_a_doubt() -> None:
    declared = (Computed("1,140", "product", ("95", "12")),)
    found = faults("It costs 1,140 a year.", "It costs 95 a month.", computed=declared)
    assert [is_sure for _, is_sure in found] == [False]
    invented = (Computed("1,235", "product", ("95", "13")),)
    assert any(is_sure for _, is_sure in faults("It costs 1,235.", "It costs 95.", computed=invented))


@pytest.mark.parametrize(
    ("text", "excerpt", "turned"),
    [
        ("The rent may rise.", "The rent may not rise.", True),
        ("The rent may not rise.", "The rent may rise.", True),
        ("Children do not travel free.", "Children travel free.", True),
        ("The room is locked.", "The room is locked, since nobody keeps watch.", False),
        ("It does not cover damage by water.", "Excluded is damage by water.", False),
        ("Das Gerät darf ins Bad.", "Das Gerät darf nicht ins Schlafzimmer.", False),
        ("Das Moor darf betreten werden.", "Das Moor darf nicht betreten werden.", True),
        ("El alcalde promete nuevos cruceros.", "El alcalde no promete nuevos cruceros.", True),
        ("没有人受伤。", "有人受伤。", True),
    ],
)
def test_what_is_denied_is_compared_and_not_that_something_is(text: str, excerpt: str, *, turned: bool) -> None:
    assert bool(turned_around(text, [excerpt])) is turned


def test_an_honorific_ends_no_sentence() -> None:
    german = "Zur Vorsitzenden wurde Frau Dr. Ilse Hartmann gewählt, Kassenwart bleibt Jörg Beck im Verein."
    assert faults("Dr. Elke Neumann ist Vorsitzende.", german)
    assert faults("Dr. Ilse Hartmann ist Vorsitzende.", german) == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("two hundred and five", [205]),
        ("zweihundertfünfzig", [250]),
        ("treinta y cinco", [35]),
        ("quatre-vingt, dix-huit, soixante-dix", [80, 18, 70]),
        ("five thousand", [5000]),
        ("twenty and thirty", [20, 30]),
        ("once upon a time one of a hundred wandered", []),
        ("wunderbar, hunderte", []),
    ],
)
def test_numbers_in_words_are_read_whole(text: str, values: list[float]) -> None:
    assert [number.value for number in number_words(text)] == values


def test_parts_are_shares() -> None:
    assert [part.value for part in parts_of_a_whole("die Hälfte, drei Viertel, un quart")] == [0.5, 0.75, 0.25]


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("It drew about 12,500 people.", False),
        ("Es kamen rund 12.500 Leute.", False),
        ("It drew more than 12,000 people.", False),
        ("It drew 12,500 people.", True),
        ("It drew about 20,000 people.", True),
    ],
)
def test_a_rounded_figure_is_a_doubt_where_it_is_called_one(text: str, *, sure: bool) -> None:
    found = faults(text, "It drew 12,480 people.")
    assert found
    assert any(is_sure for _, is_sure in found) is sure
