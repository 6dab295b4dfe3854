from __future__ import annotations

import pytest

from engine.ranking.asking import asks


@pytest.mark.parametrize(
    "text",
    [
        "Who built the tunnel?",
        "who built the tunnel",
        "In which year was the tunnel built",
        "Is the tunnel safe",
        "The tunnel of Pellam is how long?",
        "¿Quién construyó el túnel?",
        "من بنى النفق؟",
        "谁建造了这条隧道？",
        "Ποιος έχτισε τη σήραγγα;",
    ],
)
def test_a_question_is_known_by_its_mark_or_its_first_words(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tunnel safety Pellam",
        "Tunnels that are inspected last longer.",
        "The tunnel, when dry, is safe; the bridge is not;",
    ],
)
def test_a_statement_asks_nothing(text: str) -> None:
    assert not asks(text)
