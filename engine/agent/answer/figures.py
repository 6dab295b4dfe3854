"""Numbers of a text and what they count: as digits with scale and unit, or as words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_SCALE_TABLE = """
1e2 hundred hundert cientos
1e3 k thousand thousands tausend mille milliers miles mil migliaia duizend тысяч тысячи тыс bin 千
1e4 万 萬 만
1e5 lakh लाख
1e6 m mn mio million millions millionen millón millones milione milioni milhão milhões miljoen миллион миллиона
1e6 миллионов млн milyon 百万 मिलियन
1e7 crore करोड़
1e8 亿 億 억
1e9 bn billion billions milliarde milliarden mrd milliard milliards miljard миллиард миллиардов млрд milyar
1e12 trillion trillions tn billionen
"""
_UNIT_TABLE = """
bytes b 1 byte 1 bytes 1 kb 1e3 mb 1e6 gb 1e9 tb 1e12 kib 1024 mib 1048576 gib 1073741824 tib 1099511627776
length mm .001 cm .01 m 1 metre 1 metres 1 meter 1 meters 1 km 1000 kilometre 1000 kilometres 1000 kilometer 1000
length kilometers 1000 mile 1609.344 miles 1609.344 mi 1609.344 ft .3048 feet .3048 inch .0254 inches .0254
mass mg 1e-6 g .001 gram .001 grams .001 kg 1 kilogram 1 kilograms 1 t 1000 tonne 1000 tonnes 1000 lb .45359237
time ms .001 s 1 sec 1 second 1 seconds 1 min 60 mins 60 minute 60 minutes 60 h 3600 hr 3600 hour 3600 hours 3600
time day 86400 days 86400 week 604800 weeks 604800 month 2629746 months 2629746 year 31556952 years 31556952
time sekunden 1 minuten 60 stunde 3600 stunden 3600 tag 86400 tage 86400 tagen 86400 woche 604800 wochen 604800
time monate 2629746 monaten 2629746 jahr 31556952 jahre 31556952 jahren 31556952 heures 3600 jours 86400
time mois 2629746 ans 31556952 horas 3600 días 86400 meses 2629746 años 31556952
share % 1 percent 1 prozent 1 pct 1 ‰ .1
euro € 1 eur 1 euro 1 euros 1
dollar $ 1 usd 1 dollar 1 dollars 1
pound £ 1 gbp 1 pounds 1
yen ¥ 1 jpy 1 yen 1
frequency hz 1 khz 1e3 mhz 1e6 ghz 1e9
power w 1 kw 1e3 mw 1e6 gw 1e9
"""
_WORD_TABLE = """
two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 ten 10 eleven 11 twelve 12 thirteen 13 fourteen 14 fifteen 15
sixteen 16 seventeen 17 eighteen 18 nineteen 19 twenty 20 thirty 30 forty 40 fifty 50 sixty 60 seventy 70 eighty 80
ninety 90 dozen 12 second 2 third 3 fourth 4 fifth 5 sixth 6 seventh 7 eighth 8 ninth 9 tenth 10
zwei 2 drei 3 vier 4 fünf 5 sechs 6 sieben 7 acht 8 neun 9 zehn 10 zwölf 12 dreizehn 13 vierzehn 14 fünfzehn 15
sechzehn 16 siebzehn 17 achtzehn 18 neunzehn 19 zwanzig 20 dreißig 30 vierzig 40 fünfzig 50 sechzig 60 siebzig 70
achtzig 80 neunzig 90 dutzend 12 zweite 2 dritte 3 vierte 4 fünfte 5
deux 2 trois 3 quatre 4 cinq 5 sept 7 huit 8 neuf 9 dix 10 onze 11 douze 12 treize 13 quatorze 14 quinze 15 seize 16
vingt 20 trente 30 quarante 40 cinquante 50 soixante 60
dos 2 tres 3 cuatro 4 cinco 5 seis 6 siete 7 ocho 8 nueve 9 diez 10 doce 12 trece 13 catorce 14 quince 15 veinte 20
treinta 30 cuarenta 40 cincuenta 50 sesenta 60 setenta 70 ochenta 80 noventa 90
tre 3 quattro 4 cinque 5 sette 7 otto 8 nove 9 dieci 10 undici 11 dodici 12 venti 20 trenta 30
dois 2 duas 2 três 3 quatro 4 sete 7 oito 8 dez 10 doze 12 vinte 20 trinta 30
twee 2 drie 3 vijf 5 zes 6 zeven 7 negen 9 tien 10 twaalf 12 twintig 20 dertig 30
два 2 две 2 три 3 четыре 4 пять 5 шесть 6 семь 7 восемь 8 девять 9 десять 10 двенадцать 12 двадцать 20 тридцать 30
iki 2 üç 3 dört 4 beş 5 altı 6 yedi 7 sekiz 8 dokuz 9 yirmi 20 otuz 30 kırk 40 elli 50
"""


def _pairs(cells: Sequence[str]) -> list[tuple[str, float]]:
    return [(name, float(value)) for name, value in zip(cells[::2], cells[1::2], strict=True)]


_SCALES = {name: float(row.split()[0]) for row in _SCALE_TABLE.strip().splitlines() for name in row.split()[1:]}
_UNITS = {
    name: (row.split()[0], factor)
    for row in _UNIT_TABLE.strip().splitlines()
    for name, factor in _pairs(row.split()[1:])
}
_WORDS = dict(_pairs(_WORD_TABLE.split()))
_DIGITS = r"\d(?:\d|[.,:'’](?=\d)|[ \u00a0\u202f](?=\d{3}(?!\d)))*"
_FIGURE = re.compile(
    rf"(?P<sign>[€$£¥]\s?)?(?P<before>(?:[^\W\d_]+[-.]?)?)(?P<core>{_DIGITS})(?P<after>[^\W\d_]*[\w-]*)"
    r"(?:[\s\u00a0-](?P<scale>[^\W\d_]+\.?))?(?:\s?(?P<unit>[%‰€$£¥]|[^\W\d_]+))?"
)
_ORDINAL = frozenset(["st", "nd", "rd", "th", "er", "re", "e", "ème", "º", "ª", "s"])
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)?")
_WITH_UNIT = re.compile(r"(\d)[\s\u00a0]?([^\W\d_]+)\b")
_DECADE = re.compile(r"([12]\d\d0)s")
_TENS = frozenset(float(value) for value in range(20, 100, 10))


class Figure(NamedTuple):
    """A number where it stands.

    Attributes:
        text: as written, scale and unit left out.
        readings: what the digits may mean: ``1.234`` is read in two ways. The scale is multiplied in.
        plain: the same without the scale.
        is_scaled: a word such as "million" follows, or a letter such as "k".
        unit: family and factor to the family's base; None where the unit is not known or there is none.
        is_name: letters stand right before the digits, as in ``ext4``.
    """

    text: str
    readings: frozenset[float]
    plain: frozenset[float]
    is_scaled: bool
    unit: tuple[str, float] | None
    is_name: bool


def figures(text: str) -> list[Figure]:
    """The numbers of `text` that are written in digits, in order.

    >>> [(f.text, sorted(f.readings), f.unit) for f in figures("It cost $1.5 million, or 12 GB.")]
    [('1.5', [1500000.0], ('dollar', 1.0)), ('12', [12.0], ('bytes', 1000000000.0))]
    """
    found: list[Figure] = []
    for match in _FIGURE.finditer(unicodedata.normalize("NFKC", text)):
        before, core, after = match["before"], match["core"], match["after"]
        plain = readings_of(core)
        words = [(match["scale"] or "").rstrip("."), match["unit"] or ""]
        tail = after.casefold()
        factor, unit = 1.0, _UNITS.get((match["sign"] or "").strip())
        if tail in _SCALES and not before and (len(tail) > 1 or unit or tail == "k"):
            factor = _SCALES[tail]
        elif tail in _UNITS and not (tail == "s" and len(core) == 4):
            unit = _UNITS[tail]
        if not tail and words[0].casefold() in _SCALES and len(words[0]) > 1:
            factor, words = _SCALES[words[0].casefold()], words[1:]
        if unit is None and (not tail or factor != 1.0):
            unit = next((_UNITS[w] for word in words[:1] if (w := word.casefold()) in _UNITS), None)
            if unit is None and not words[0] and len(words) > 1:
                unit = _UNITS.get(words[1].casefold())
        is_name = bool(before) or bool(tail and tail not in _ORDINAL and tail not in _SCALES and tail not in _UNITS)
        found.append(
            Figure(
                f"{before}{core}{after}",
                frozenset(value * factor for value in plain),
                plain,
                factor != 1.0,
                unit,
                is_name,
            )
        )
    return found


def readings_of(digits: str) -> frozenset[float]:
    """What digits with separators may mean.

    >>> sorted(readings_of("1.234")), sorted(readings_of("12,5")), sorted(readings_of("1,234,567.8"))
    ([1.234, 1234.0], [12.5], [1234567.8])
    """
    bare = re.sub(r"[ \u00a0\u202f'’]", "", digits)
    if bare.isdigit():
        return frozenset([float(bare)])
    if ":" in bare or (bare.count(".") > 1 and bare.count(",") == 0 and not re.fullmatch(r"\d{1,3}(?:\.\d{3})+", bare)):
        # A time or a version: it has no value but stands for itself.
        return frozenset()
    readings: set[float] = set()
    for group, point in ((",", "."), (".", ",")):
        whole, _, rest = bare.partition(point)
        if point in rest or group in rest:
            continue
        if group in whole and not re.fullmatch(rf"\d{{1,3}}(?:{re.escape(group)}\d{{2,3}})+", whole):
            continue
        readings.add(float(f"{whole.replace(group, '')}.{rest or 0}"))
    return frozenset(readings)


def without_units(text: str) -> str:
    """`text` without the units that stand behind its figures, which have capitals and are no names.

    >>> without_units("It has 2 GB of memory.")
    'It has 2 of memory.'
    """
    return _WITH_UNIT.sub(lambda m: m[1] if m[2].casefold() in _UNITS else m[0], text)


def number_words(text: str) -> list[tuple[str, float]]:
    """Numbers from two upwards that are written as words, with their values; a compound of tens and ones is one.

    >>> number_words("Twenty-five people, two dogs, one cat.")
    [('Twenty-five', 25.0), ('two', 2.0)]
    """
    found: list[tuple[str, float]] = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text)):
        parts = [_WORDS.get(part) for part in word.casefold().split("-")]
        known = [part for part in parts if part is not None]
        if len(known) == 2 and known[0] in _TENS and known[1] < 10:
            found.append((word, float(sum(known))))
        elif known and len(known) == 1:
            found.append((word, float(known[0])))
    return found


class KnownFigures:
    """The figures of some texts, to look others up in."""

    def __init__(self, texts: Iterable[str]) -> None:
        held = [unicodedata.normalize("NFKC", text) for text in texts]
        self._figures = [figure for text in held for figure in figures(text)]
        self._squeezed = [_squeezed(text) for text in held]
        self._words = {value for text in held for _, value in number_words(text)}
        self._tokens = {figure.text.casefold() for figure in self._figures}
        self.values = {value for f in self._figures for value in f.readings | f.plain} | self._words

    def fault(self, figure: Figure) -> tuple[str, bool] | None:
        """Why `figure` does not stand here, and whether its digits stand nowhere at all; None when it stands."""
        if figure.text.casefold() in self._tokens or (figure.is_name and self._holds_name(figure.text)):
            mine = [known for known in self._figures if known.text.casefold() == figure.text.casefold()]
            return self._changed(figure, mine or self._figures)
        if (decade := _DECADE.fullmatch(figure.text)) and any(0 <= v - int(decade[1]) < 10 for v in self.values):
            return None
        if figure.is_name and figure.unit is None:
            return f"{figure.text} stands nowhere in what it cites", True
        if not figure.readings and not self._holds_name(figure.text):
            return f"the number {figure.text} stands in none of its sources", True
        converted = [known for known in self._figures if _same_amount(figure, known)]
        if converted:
            return None
        if not figure.is_scaled and (figure.plain & self.values):
            mine = [known for known in self._figures if figure.plain & (known.plain | known.readings)]
            return self._changed(figure, mine)
        return f"the number {figure.text} stands in none of its sources", True

    def has_value(self, value: float) -> bool:
        """Whether a number word's value stands here, as digits or as a word."""
        return any(abs(value - known) < 1e-9 for known in self.values)

    def _holds_name(self, text: str) -> bool:
        squeezed = _squeezed(text)
        return bool(squeezed) and any(squeezed in held for held in self._squeezed)

    def _changed(self, figure: Figure, candidates: Sequence[Figure]) -> tuple[str, bool] | None:
        """A figure whose digits stand here may still count something else there."""
        same_scale = [c for c in candidates if not figure.is_scaled or figure.readings & c.readings]
        if figure.is_scaled and not same_scale and not any(_same_amount(figure, c) for c in self._figures):
            return f"{figure.text} is scaled otherwise in its sources", False
        if figure.unit is not None and candidates and all(c.unit and not _same_amount(figure, c) for c in candidates):
            if any(_same_amount(figure, c) for c in self._figures):
                return None
            return f"{figure.text} has another unit in its sources", False
        return None


def _same_amount(figure: Figure, known: Figure) -> bool:
    if figure.unit and known.unit and figure.unit[0] == known.unit[0]:
        mine, theirs = figure.unit[1], known.unit[1]
        return any(_near(a * mine, b * theirs) for a in figure.readings for b in known.readings)
    if figure.unit and known.unit:
        return False
    return any(_near(a, b) for a in figure.readings for b in known.readings)


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-9)


def _squeezed(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
