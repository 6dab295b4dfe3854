"""Numbers that are written as words, compounds of several words included, and parts of a whole."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

_WORD_TABLE = """
one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 ten 10 eleven 11 twelve 12 thirteen 13 fourteen 14
fifteen 15 sixteen 16 seventeen 17 eighteen 18 nineteen 19 twenty 20 thirty 30 forty 40 fifty 50 sixty 60 seventy 70
eighty 80 ninety 90 dozen 12 second 2 third 3 fourth 4 fifth 5 sixth 6 seventh 7 eighth 8 ninth 9 tenth 10
twice 2 thrice 3 hundred 100 thousand 1000
ein 1 eins 1 zwei 2 drei 3 vier 4 fünf 5 sechs 6 sieben 7 acht 8 neun 9 zehn 10 elf 11 zwölf 12 dreizehn 13 vierzehn 14
fünfzehn 15 sechzehn 16 siebzehn 17 achtzehn 18 neunzehn 19 zwanzig 20 dreißig 30 vierzig 40 fünfzig 50 sechzig 60
siebzig 70 achtzig 80 neunzig 90 dutzend 12 zweite 2 dritte 3 vierte 4 fünfte 5 zweimal 2 dreimal 3 viermal 4
hundert 100 tausend 1000
deux 2 trois 3 quatre 4 cinq 5 sept 7 huit 8 neuf 9 dix 10 onze 11 douze 12 treize 13 quatorze 14 quinze 15 seize 16
vingt 20 trente 30 quarante 40 cinquante 50 soixante 60 cent 100 cents 100
dos 2 tres 3 cuatro 4 cinco 5 seis 6 siete 7 ocho 8 nueve 9 diez 10 once 11 doce 12 trece 13 catorce 14 quince 15
dieciséis 16 diecisiete 17 dieciocho 18 diecinueve 19 veinte 20 veintiuno 21 veintidós 22 veintitrés 23 veinticuatro 24
veinticinco 25 veintiséis 26 veintisiete 27 veintiocho 28 veintinueve 29 treinta 30 cuarenta 40 cincuenta 50 sesenta 60
setenta 70 ochenta 80 noventa 90 cien 100 ciento 100 doscientos 200 doscientas 200 trescientos 300 trescientas 300
cuatrocientos 400 quinientos 500
tre 3 quattro 4 cinque 5 sette 7 otto 8 nove 9 dieci 10 undici 11 dodici 12 venti 20 trenta 30
dois 2 duas 2 três 3 quatro 4 sete 7 oito 8 dez 10 doze 12 vinte 20 trinta 30
twee 2 drie 3 vijf 5 zes 6 zeven 7 negen 9 tien 10 twaalf 12 twintig 20 dertig 30
два 2 две 2 три 3 четыре 4 пять 5 шесть 6 семь 7 восемь 8 девять 9 десять 10 двенадцать 12 двадцать 20 тридцать 30
iki 2 üç 3 dört 4 beş 5 altı 6 yedi 7 sekiz 8 dokuz 9 yirmi 20 otuz 30 kırk 40 elli 50
"""
_PART_TABLE = """
0.5 half halves halbe halber halbes halben hälfte demi demie moitié medio media mitad metà mezzo mezza metade meia helft
0.25 quarter quarters viertel vierteln quart quarts cuarto cuarta quarto
0.3333333333333333 third thirds drittel dritteln tiers tercio tercios terzo terço
0.2 fifth fifths fünftel cinquième quinto quinta
0.1 tenth tenths zehntel dixième décimo décima
"""
_CELLS = _WORD_TABLE.split()
_WORDS = {name: int(value) for name, value in zip(_CELLS[::2], _CELLS[1::2], strict=True)}
_PARTS = {name: float(row.split()[0]) for row in _PART_TABLE.strip().splitlines() for name in row.split()[1:]}
_JOINING = frozenset(["and", "und", "y", "et", "e", "en"])
# "once" is eleven in Spanish and no number in English; "cent" and "second" may be money and time.
_AMBIGUOUS = frozenset(["once", "media", "medio", "cent", "cents"])
_LONE = frozenset([1, 100, 1000])
"""Values whose words say something else as often, or stand for a scale: alone they are no figure."""
_GERMAN = re.compile(
    r"(?:(?P<h>ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun)?(?P<hundert>hundert))?(?:und)?"
    r"(?:(?P<o>ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun)und(?P<t>zwanzig|dreißig|vierzig|fünfzig|sechzig|siebzig"
    r"|achtzig|neunzig)|(?P<r>[a-zäöüß]+))?"
)
_WORD = re.compile(r"[^\W\d_]+")


class NumberWord(NamedTuple):
    """A number in words where it stands."""

    text: str
    value: float
    start: int
    end: int


def number_words(text: str) -> list[NumberWord]:
    """Numbers from two upwards that are written as words; what is said in several words is one.

    >>> [(n.text, n.value) for n in number_words("Twenty-five, one hundred and twenty, achtundvierzig.")]
    [('Twenty-five', 25.0), ('one hundred and twenty', 120.0), ('achtundvierzig', 48.0)]
    """
    written = unicodedata.normalize("NFKC", text)
    words = list(_WORD.finditer(written))
    found: list[NumberWord] = []
    at = 0
    while at < len(words):
        taken, value = _compound(written, words, at)
        if taken and (taken > 1 or value not in _LONE) and not (taken == 1 and _is_ambiguous(words[at])):
            end = words[at + taken - 1].end()
            found.append(NumberWord(written[words[at].start() : end], float(value), words[at].start(), end))
        at += max(1, taken)
    return found


def parts_of_a_whole(text: str) -> list[NumberWord]:
    """Halves, thirds and quarters, as shares; ``three quarters`` is one.

    >>> [(n.text, n.value) for n in parts_of_a_whole("Half of it, and three quarters of the rest.")]
    [('Half', 0.5), ('three quarters', 0.75)]
    """
    written = unicodedata.normalize("NFKC", text)
    words = list(_WORD.finditer(written))
    found: list[NumberWord] = []
    for place, word in enumerate(words):
        share = _PARTS.get(word.group().casefold())
        if share is None:
            continue
        start, before = word.start(), words[place - 1] if place else None
        times = _value(before.group()) if before is not None and before.end() + 1 == word.start() else None
        if before is not None and times is not None and 1 < times < 10:
            start, share = before.start(), share * times
        found.append(NumberWord(written[start : word.end()], share, start, word.end()))
    return found


def _compound(text: str, words: list[re.Match[str]], at: int) -> tuple[int, int]:
    """How many words from `at` on make one number, and its value; none gives 0."""
    total, last, taken, place = 0, 0, 0, at
    while place < len(words):
        word = words[place].group().casefold()
        is_next = place == at or text[words[place - 1].end() : words[place].start()] in (" ", "-", "\u00a0")
        if not is_next:
            break
        if taken and word in _JOINING:
            place += 1
            continue
        value = _value(word)
        if value is None or (taken and not _continues(total, last, value)):
            break
        if taken and ((value in (100, 1000) and total < value) or (total, value) == (4, 20)):
            total *= value
        else:
            total += value
        last, place = value, place + 1
        taken = place - at
    return taken, total


def _continues(total: int, last: int, value: int) -> bool:
    """Whether a number may go on: tens before ones, what is smaller behind hundreds, a factor before them."""
    if value in (100, 1000):
        return 0 < total < value and last < 100
    if last >= 100:
        return value < 100
    if (total, value) == (4, 20) or (last == 10 and 7 <= value <= 9):
        # As French has it: four twenties, ten-seven.
        return True
    return (last >= 20 and last % 10 == 0 and value < 10) or (last in (20, 60) and value < 20 and total < 100)


def _value(word: str) -> int | None:
    folded = word.casefold()
    if (known := _WORDS.get(folded)) is not None:
        return known
    if "hundert" not in folded and "und" not in folded:
        return None
    match = _GERMAN.fullmatch(folded)
    if match is None or not (match["hundert"] or match["o"]):
        return None
    rest = _WORDS.get(match["r"]) if match["r"] else 0
    if rest is None or rest >= 100:
        return None
    hundreds = 100 * _WORDS.get(match["h"] or "ein", 1) if match["hundert"] else 0
    ones = _WORDS[match["o"]] + _WORDS[match["t"]] if match["o"] else 0
    return hundreds + ones + rest


def _is_ambiguous(word: re.Match[str]) -> bool:
    return word.group().casefold() in _AMBIGUOUS
