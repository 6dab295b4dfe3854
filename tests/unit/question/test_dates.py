from __future__ import annotations

from datetime import date

import pytest

from engine.question.dates import dates_in

TODAY = date(2024, 6, 15)


def found(text: str) -> list[tuple[str, str]]:
    return [(str(mention.first), str(mention.end)) for mention in dates_in(text, TODAY)]


@pytest.mark.parametrize(
    ("text", "first", "end"),
    [
        ("on October 22, 2023", "2023-10-22", "2023-10-23"),
        ("on 22 October 2023", "2023-10-22", "2023-10-23"),
        ("on the 22nd of October 2023", "2023-10-22", "2023-10-23"),
        ("on 2023-10-22", "2023-10-22", "2023-10-23"),
        ("at 2023-10-22T10:00:00Z", "2023-10-22", "2023-10-23"),
        ("in December 2023", "2023-12-01", "2024-01-01"),
        ("in Sept. 2023", "2023-09-01", "2023-10-01"),
        ("in 2022", "2022-01-01", "2023-01-01"),
        ("after October 2023", "2023-11-01", "None"),
        ("since 2020", "2020-01-01", "None"),
        ("before 5 May 2020", "None", "2020-05-06"),
        ("between 2019 and 2021", "2019-01-01", "2022-01-01"),
        ("from 3 May 2020 to 7 June 2021", "2020-05-03", "2021-06-08"),
        ("after October 4, 2023, and before November 1, 2023", "2023-10-04", "2023-11-02"),
        ("last year", "2023-01-01", "2024-01-01"),
        ("this month", "2024-06-01", "2024-07-01"),
        ("last month", "2024-05-01", "2024-06-01"),
        ("yesterday", "2024-06-14", "2024-06-15"),
        ("last week", "2024-06-03", "2024-06-10"),
        ("in March", "2024-03-01", "2024-04-01"),
        ("since August", "2023-08-01", "None"),
        ("between 1 and 15 March", "2024-03-01", "2024-03-16"),
        ("from 10 to 21 August 2023", "2023-08-10", "2023-08-22"),
        ("on 22/10/2023", "2023-10-22", "2023-10-23"),
        ("on 22.10.2023", "2023-10-22", "2023-10-23"),
        ("in Q3 2023", "2023-07-01", "2023-10-01"),
        ("in the first quarter of 2024", "2024-01-01", "2024-04-01"),
        ("last quarter", "2024-01-01", "2024-04-01"),
        ("in the last 30 days", "2024-05-16", "2024-06-16"),
        ("2019–2021", "2019-01-01", "2022-01-01"),
    ],
)
def test_a_date_or_range_is_read(text: str, first: str, end: str) -> None:
    assert found(f"What happened {text}?") == [(first, end)]


def test_a_day_without_a_year_is_the_latest_that_has_been() -> None:
    assert found("on June 3rd") == [("2024-06-03", "2024-06-04")]
    assert found("on December 3rd") == [("2023-12-03", "2023-12-04")]


@pytest.mark.parametrize(
    ("code", "text", "first", "end"),
    [
        ("de", "im März 2024", "2024-03-01", "2024-04-01"),
        ("de", "seit dem 5. Mai", "2024-05-05", "None"),
        ("de", "vom 9. bis 13. März", "2024-03-09", "2024-03-14"),
        ("de", "am 3.4.2024", "2024-04-03", "2024-04-04"),
        ("de", "im ersten Quartal 2024", "2024-01-01", "2024-04-01"),
        ("de", "letzten Monat", "2024-05-01", "2024-06-01"),
        ("de", "vor 2020", "None", "2020-01-01"),
        ("es", "el 5 de mayo de 2024", "2024-05-05", "2024-05-06"),
        ("es", "desde marzo", "2024-03-01", "None"),
        ("es", "el año pasado", "2023-01-01", "2024-01-01"),
        ("fr", "en mars 2024", "2024-03-01", "2024-04-01"),
        ("fr", "le mois dernier", "2024-05-01", "2024-06-01"),
        ("ru", "с 5 по 10 мая", "2024-05-05", "2024-05-11"),
        ("ru", "в марте", "2024-03-01", "2024-04-01"),
        ("tr", "Mart 2024'ten beri", "2024-03-01", "None"),
        ("tr", "geçen ay", "2024-05-01", "2024-06-01"),
        ("zh", "2024年3月之后", "2024-04-01", "None"),
        ("zh", "上个月", "2024-05-01", "2024-06-01"),
        ("ar", "في مارس 2024", "2024-03-01", "2024-04-01"),
        ("hi", "पिछले महीने", "2024-05-01", "2024-06-01"),
        ("ja", "2024年3月以降", "2024-04-01", "None"),
    ],
)
def test_a_date_is_read_in_the_language_of_the_question(code: str, text: str, first: str, end: str) -> None:
    found = [(str(m.first), str(m.end)) for m in dates_in(text, TODAY, code)]
    assert found == [(first, end)]


def test_a_day_to_come_is_meant_where_the_documents_reach_so_far() -> None:
    (mention,) = dates_in("on June 20", TODAY, latest=date(2024, 7, 1))
    assert mention.first == date(2024, 6, 20)


@pytest.mark.parametrize(
    "text",
    [
        "version 2.10",
        "on 03/04/2024",
        "may I march on?",
        "5.6.1",
        "3 months",
        "the last one",
        "in 3 days",
        "5000 people",
        "room 2022",
        "the 1990s",
        "in the 2020s",
    ],
)
def test_what_is_no_date_is_left_alone(text: str) -> None:
    assert found(text) == []


def test_a_date_says_where_it_stands() -> None:
    text = "Sales in May 2022 rose"
    (mention,) = dates_in(text, TODAY)
    assert text[mention.start : mention.stop] == "May 2022"
