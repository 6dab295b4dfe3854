import asyncio
from typing import Any

import msgspec

from engine.agent.offline.clarify import OfflineClarifier
from engine.agent.steps import ClarificationDraft, Evidence, Plan, PlannedQuery, ReadingPassage, SubQuestion
from engine.question.turn import Question
from tests.unit.agent import made
from tests.unit.agent.made import plan, question

ASKED = "How long does the warranty of the kettle last?"


def manual(label: int, model: str, months: int) -> ReadingPassage:
    text = (
        f"This is the manual of the {model} for your kitchen. "
        f"The warranty of the kettle lasts {months} months from purchase."
    )
    return made.passage(label, text, header=f"{model} manual", attributes={"model": model, "language": "English"})


KETTLES = [manual(1, "Aurora 300", 24), manual(2, "Dune Mini", 12)]


def ask(
    held: list[ReadingPassage], asked: Question | None = None, planned: Plan | None = None
) -> ClarificationDraft | None:
    asked = asked or question(ASKED, multiturn=True, filterable=["model", "language"])
    unread = [Evidence(p, (), 0.0) for p in held]
    return asyncio.run(OfflineClarifier().clarify(asked, planned or plan(asked.request.objective), unread))


def asking(objective: str, **more: Any) -> Question:
    return question(objective, multiturn=True, filterable=["model", "language"], **more)


def test_documents_that_answer_differently_are_offered_by_the_attribute_that_tells_them_apart() -> None:
    asked = ask(KETTLES)
    assert asked is not None
    assert asked.clarification.question == "Which model do you mean?"
    assert asked.narrowing == {"Aurora 300": {"model": "Aurora 300"}, "Dune Mini": {"model": "Dune Mini"}}


def test_the_attribute_that_leaves_nothing_unsettled_is_asked_for() -> None:
    kettles = [
        msgspec.structs.replace(kettle, attributes={**kettle.attributes, "maker": maker})
        for kettle, maker in zip([*KETTLES, manual(3, "Tide One", 36)], ("Fell", "Gorse", "Fell"), strict=True)
    ]
    asked = ask(kettles, question(ASKED, multiturn=True, filterable=["maker", "model"]))
    assert asked is not None
    assert sorted(asked.clarification.options) == ["Aurora 300", "Dune Mini", "Tide One"]


def test_nothing_is_asked_without_multiturn() -> None:
    assert ask(KETTLES, question(ASKED, filterable=["model"])) is None


def test_nothing_is_asked_where_the_question_names_the_value() -> None:
    assert ask(KETTLES, asking("How long does the warranty of the Aurora 300 kettle last?")) is None


def test_nothing_is_asked_where_the_context_names_the_value() -> None:
    assert ask(KETTLES, asking(ASKED, context="My Dune Mini broke.")) is None


def test_nothing_is_asked_under_a_long_context() -> None:
    assert ask(KETTLES, asking(ASKED, context="We cook a lot. " * 60)) is None


def test_nothing_is_asked_of_a_question_across_all_values() -> None:
    assert ask(KETTLES, asking("Compare the warranty of the kettles")) is None


def test_nothing_is_asked_where_the_values_are_the_answer() -> None:
    assert ask(KETTLES, asking("Which model has a kettle warranty?")) is None


def test_nothing_is_asked_where_both_say_the_same() -> None:
    assert ask([manual(1, "Aurora 300", 24), manual(2, "Dune Mini", 24)]) is None


def test_nothing_is_asked_where_only_one_document_answers() -> None:
    other = made.passage(
        2, "The Dune Mini is a lamp. It is red and stands on three legs.", attributes={"model": "Dune Mini"}
    )
    assert ask([KETTLES[0], other]) is None


def test_nothing_is_asked_about_an_attribute_that_the_plan_narrows() -> None:
    narrowed = PlannedQuery(ASKED, narrowing={"$and": [{"model": "Dune Mini"}]})
    assert ask(KETTLES, planned=Plan((SubQuestion(ASKED),), (narrowed,))) is None


def test_sources_that_report_one_event_are_no_readings() -> None:
    news = [
        made.passage(
            1,
            "Officials said on Friday that the old tram bridge reopens in May. Traffic was heavy.",
            attributes={"paper": "Daily Ledger"},
        ),
        made.passage(
            2,
            "In May the tram bridge will open to the public once more, to the joy of shops nearby.",
            attributes={"paper": "Morning Courier"},
        ),
    ]
    asked = question("When does the tram bridge open?", multiturn=True, filterable=["paper"])
    assert ask(news, asked) is None


def test_people_who_share_a_name_are_told_apart_by_title() -> None:
    people = [
        made.passage(1, "Robert Hale was a chemist. He studied in Leeds.", header="Robert Hale (chemist)"),
        made.passage(2, "Robert Hale was a footballer. He scored 30 goals.", header="Robert Hale (footballer)"),
    ]
    asked = ask(people, question("Who was Robert Hale?", multiturn=True))
    assert asked is not None
    assert asked.clarification.options == ("Robert Hale (chemist)", "Robert Hale (footballer)")
    assert asked.narrowing["Robert Hale (chemist)"] == {"id": "d1"}


def test_five_options_are_offered_at_most() -> None:
    many = [manual(n, f"Model {name}", 10 + n) for n, name in enumerate("ABCDEFGH", 1)]
    asked = ask(many)
    assert asked is not None
    assert len(asked.clarification.options) == 5
