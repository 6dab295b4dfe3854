from pathlib import Path

import pytest

from engine.analysis.language import FOLDER, Language, language, languages, neutral, read_language
from engine.question.kinds import shows, wanted
from engine.question.terms import asked_terms

ESTONIAN = """
name = "Estonian"
common = "ja on ei et kui see ka mis aga oli"
stop = "ja on ei et kui see ka mis aga oli mille kes"
asking = "mis kes millal kus kuidas miks mitu"
time = ["millal", "mis aastal"]
times = "aasta aastal kuu päev"
leaning = ["see", "ta"]
"""


@pytest.mark.parametrize("code", sorted(languages()))
def test_every_file_is_read_and_whole(code: str) -> None:
    held = languages()[code]
    assert held.name
    assert len(held.months) in (0, 12)
    for field in ("amount", "time", "person", "leaning", "opens", "negation", "boilerplate"):
        held.pattern(field)
    if held.says is not None:
        assert "{sought}" in held.says.not_found
        assert "{label}" in held.says.more


def test_a_language_is_added_by_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "et.toml"
    file.write_text(ESTONIAN, encoding="utf-8")
    monkeypatch.setitem(languages(), "et", read_language(file))
    assert language("et").name == "Estonian"
    assert wanted("Millal sild avati?", "et") == "time"
    assert shows("time", "Sild avati 1887. aastal.", "et") == 1
    assert "millal" in language("et").empty


def test_a_language_without_a_file_is_read_by_the_neutral_rules() -> None:
    assert language("xx") == Language("xx", "xx")
    assert asked_terms("Millal sild avati?", {}).terms
    assert neutral().never_last


def test_an_unknown_field_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "et.toml"
    file.write_text('name = "Estonian"\nstops = "ja"\n', encoding="utf-8")
    with pytest.raises(ValueError, match="stops"):
        read_language(file)


def test_the_files_ship_with_the_package() -> None:
    assert (FOLDER / "en.toml").is_file()
