from __future__ import annotations

import pytest

from engine.agent.options import meant
from engine.analysis.language import languages

BRIDGES = ["Pellam bridge", "Orrin bridge", "Dunmere ferry"]


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ("Orrin bridge", 1),
        ("I meant the bridge of Orrin, sorry", 1),
        ("the ferry", 2),
        ("the second one", 1),
        ("2", 1),
        ("b", 1),
        ("the last one", 2),
        ("das zweite bitte", 1),
        ("la segunda", 1),
        ("le deuxième", 1),
        ("второй", 1),
        ("第二个", 1),
        ("二番目です", 1),
        ("الثاني", 1),
        ("दूसरा वाला", 1),
        ("ikinci olan", 1),
        ("al doilea", 1),
        ("thứ hai", 1),
        ("두번째", 1),
    ],
)
def test_an_option_is_meant_by_its_words_or_its_place(message: str, place: int) -> None:
    assert meant(message, BRIDGES) == BRIDGES[place]


@pytest.mark.parametrize("message", ["bridge", "neither", "a ferry or the Orrin one?", "the seventh", "", "?!"])
def test_what_is_not_clear_means_none(message: str) -> None:
    assert meant(message, BRIDGES) is None


@pytest.mark.parametrize("code", sorted(code for code, held in languages().items() if held.ordinals))
def test_every_language_with_ordinals_chooses_by_place(code: str) -> None:
    held = languages()[code]
    for place, forms in enumerate(held.ordinals[:3]):
        assert meant(forms.split()[0].replace("_", " "), BRIDGES) == BRIDGES[place], forms
    assert meant(held.final.split()[0].replace("_", " "), BRIDGES) == BRIDGES[2]
