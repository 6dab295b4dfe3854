"""Which language a text is in: by its script, and by function words where several languages share one.

Good enough to choose a stemmer for a passage, which is all that it is for: a wrong guess costs a missed inflection.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache

from engine.analysis.language import languages

UNDETERMINED = "und"
"""The code for a text whose language is not told, as ISO 639-2 has it."""

_SAMPLED_CHARACTERS = 1_000
_SCRIPT_CHARACTERS = 400
_SAMPLED_LETTERS = 128
_LEAST_SHARE = 0.05
"""Less evidence a word than this is no evidence: two words of a list of names may stand in any profile."""

_BEYOND_LATIN = re.compile("[\u0370-\u1cff\u1f00-\u1fff\u2c80-\u2dff\u2e80-\U0003ffff]")
_BLOCK_BITS = 7

# Blocks of 128 code points that are of one script, or near enough: block number to what it stands for.
_SCRIPT_RANGES: tuple[tuple[int, int, str], ...] = (
    (0x0370, 0x03FF, "el"),
    (0x0400, 0x057F, "cyrillic"),
    (0x0580, 0x05FF, "he"),
    (0x0600, 0x077F, "arabic"),
    (0x0900, 0x097F, "hi"),
    (0x0980, 0x09FF, "bn"),
    (0x0A00, 0x0A7F, "pa"),
    (0x0A80, 0x0AFF, "gu"),
    (0x0B80, 0x0BFF, "ta"),
    (0x0C00, 0x0C7F, "te"),
    (0x0C80, 0x0CFF, "kn"),
    (0x0D00, 0x0D7F, "ml"),
    (0x0D80, 0x0DFF, "si"),
    (0x0E00, 0x0E7F, "th"),
    (0x0E80, 0x0EFF, "lo"),
    (0x0F00, 0x0FFF, "bo"),
    (0x1000, 0x107F, "my"),
    (0x1080, 0x10FF, "ka"),
    (0x1100, 0x11FF, "ko"),
    (0x1200, 0x137F, "am"),
    (0x1780, 0x17FF, "km"),
    (0x1F00, 0x1FFF, "el"),
    (0x3000, 0x30FF, "kana"),
    (0x3400, 0x9FFF, "han"),
    (0xAC00, 0xD7FF, "ko"),
    (0xF900, 0xFAFF, "han"),
    (0xFB80, 0xFDFF, "arabic"),
    (0x20000, 0x3FFFF, "han"),
)
_SCRIPT_OF: dict[int, str] = {
    block: script
    for first, last, script in _SCRIPT_RANGES
    for block in range(first >> _BLOCK_BITS, (last >> _BLOCK_BITS) + 1)
}
_CYRILLIC_LETTERS = (
    (re.compile("[әғқңөүұһ]"), UNDETERMINED),
    (re.compile("[ўѓќѕ]"), UNDETERMINED),
    (re.compile("[іїєґ]"), "uk"),
    (re.compile("[јљњћђџ]"), "sr"),
    (re.compile("[ыэё]"), "ru"),
)
"""Letters that tell the languages of a script apart, most telling first; Kazakh, Belarusian and others have no code."""

_ARMENIAN = re.compile("[\u0531-\u0587]")
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa\uff66-\uff9d]")
_PERSIAN = re.compile("[پچژگکی]")
_URDU = re.compile("[ٹڈڑںےۓھہ]")


def _weights(profiles: Mapping[str, str]) -> dict[str, tuple[tuple[str, float], ...]]:
    """Word → the languages that it speaks for; a word of n languages gives each 1/n²."""
    languages: dict[str, list[str]] = {}
    for language, listed in profiles.items():
        for word in dict.fromkeys(listed.split()):
            languages.setdefault(word, []).append(language)
    return {w: tuple((language, 1 / len(found) ** 2) for language in found) for w, found in languages.items()}


@cache
def _profiles(script: str) -> Mapping[str, tuple[tuple[str, float], ...]]:
    """The frequent words of the languages of a script that several of them share."""
    common = {code: held.common for code, held in languages().items() if held.common}
    return _weights({c: words for c, words in common.items() if (script == "cyrillic") == ("а" <= words[0] <= "я")})


def detect_language(text: str) -> str:
    """ISO 639-1 code of the language of `text`, or ``und``; only the first 1,000 characters are looked at.

    Texts in Latin letters, except those without any function word of the languages that are known here, and in
    Cyrillic are told by words, others by script, so that Hindi stands for all that is written in Devanagari.

    >>> [detect_language(t) for t in ("the cat is on the mat", "Der Hund ist nicht im Haus", "これは本です", "42")]
    ['en', 'de', 'ja', 'und']
    """
    sample = text[:_SAMPLED_CHARACTERS]
    if not sample.isascii():
        script = _script(sample[:_SCRIPT_CHARACTERS])
        if script == "cyrillic":
            return "hy" if _ARMENIAN.search(sample) else _cyrillic(sample.lower())
        if script:
            return _by_script(script, sample)
    return _by_words(sample.lower().split(), _profiles("latin"))


def _script(sample: str) -> str:
    """The script of most letters, as `_SCRIPT_RANGES` names it; empty for Latin."""
    others = _BEYOND_LATIN.findall(sample)
    looked_at = others[:_SAMPLED_LETTERS]
    counts = Counter([_SCRIPT_OF.get(ord(letter) >> _BLOCK_BITS, "") for letter in looked_at])
    counts.pop("", None)
    if not counts:
        return ""
    script, found = counts.most_common(1)[0]
    seen = len(others) * found / len(looked_at)
    # An ideograph says as much as a few letters: a Chinese text full of Latin names is Chinese.
    weight = 3 if script in {"han", "kana", "ko"} else 1
    letters = sum(map(str.isalpha, sample)) - len(others)
    return script if seen * weight >= letters else ""


def _by_script(script: str, sample: str) -> str:
    if script in {"han", "kana"}:
        return "ja" if len(_KANA.findall(sample)) * 12 > len(sample) else "zh"
    if script == "arabic":
        if len(_URDU.findall(sample)) * 25 > len(sample):
            return "ur"
        return "fa" if len(_PERSIAN.findall(sample)) * 20 > len(sample) else "ar"
    return script


def _cyrillic(sample: str) -> str:
    for letters, language in _CYRILLIC_LETTERS:
        if letters.search(sample):
            return language
    found = _by_words(sample.split(), _profiles("cyrillic"))
    return "ru" if found == UNDETERMINED else found


def _by_words(words: list[str], weights: Mapping[str, tuple[tuple[str, float], ...]]) -> str:
    # Marks stay on the words: few function words stand next to one, and taking them off would cost half of the time.
    scores: dict[str, float] = {}
    for told in map(weights.get, words):
        if told is not None:
            for language, weight in told:
                scores[language] = scores.get(language, 0.0) + weight
    if not scores:
        return UNDETERMINED
    best = max(scores, key=lambda language: (scores[language], language))
    return best if scores[best] >= _LEAST_SHARE * len(words) else UNDETERMINED
