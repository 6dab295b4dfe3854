"""Numbers of a text and what they count: as digits with scale and unit, or as words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from engine.agent.answer.number_words import number_words, parts_of_a_whole

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
time mois 2629746 an 31556952 ans 31556952 année 31556952 années 31556952 heure 3600 jour 86400 semaine 604800
time semaines 604800 hora 3600 horas 3600 día 86400 días 86400 mes 2629746 meses 2629746 año 31556952 años 31556952
time semana 604800 semanas 604800 minute 60 minuto 60 minutos 60 segundo 1 segundos 1 seconde 1 secondes 1
time monat 2629746
length meter 1 metern 1 metros 1 metro 1 mètres 1 mètre 1 kilometern 1000 kilómetros 1000 kilomètres 1000
mass gramm .001 kilogramm 1 gramos .001 kilos 1 kilo 1 tonnen 1000 toneladas 1000 tonnes 1000
power watt 1 watts 1 kilowatt 1e3
share % 1 percent 1 prozent 1 pct 1 ‰ .1
euro € 1 eur 1 euro 1 euros 1
dollar $ 1 usd 1 dollar 1 dollars 1 dólar 1 dólares 1 dollari 1
temperature c 1 grad 1 celsius 1 degrees 1 grados 1 degrés 1 gradi 1 kelvin 1
pound £ 1 gbp 1 pounds 1
yen ¥ 1 jpy 1 yen 1
crown crown 1 crowns 1 krone 1 kroner 1 kronen 1 kronor 1 koruna 1 korun 1 couronnes 1 coronas 1
franc franc 1 francs 1 franken 1 chf 1 francos 1
rupee rupee 1 rupees 1 inr 1 rupien 1
ruble ruble 1 rubles 1 rubel 1 руб 1 рублей 1
yuan yuan 1 cny 1 rmb 1 元 1
peso peso 1 pesos 1
frequency hz 1 khz 1e3 mhz 1e6 ghz 1e9
power w 1 kw 1e3 mw 1e6 gw 1e9
"""


def _pairs(cells: Sequence[str]) -> list[tuple[str, float]]:
    return [(name, float(value)) for name, value in zip(cells[::2], cells[1::2], strict=True)]


_SCALES = {name: float(row.split()[0]) for row in _SCALE_TABLE.strip().splitlines() for name in row.split()[1:]}
_UNITS = {
    name: (row.split()[0], factor)
    for row in _UNIT_TABLE.strip().splitlines()
    for name, factor in _pairs(row.split()[1:])
}
_DIGITS = r"\d(?:\d|[.,:'’](?=\d)|[ \u00a0\u202f](?=\d{3}(?!\d)))*"
_FIGURE = re.compile(
    rf"(?P<sign>[€$£¥]\s?)?(?P<before>(?:[^\W\d_]+[-.]?)?)(?P<core>{_DIGITS})(?P<after>[^\W\d_]*[\w-]*)"
    r"(?:[\s\u00a0-](?P<scale>[^\W\d_]+\.?))?(?:\s?(?:de\s|d['’]|di\s)?(?P<unit>[%‰€$£¥](?!\s?\d)|[^\W\d_]+))?"
)
_DIGIT = re.compile(r"\d")
_CURRENCIES = frozenset(["euro", "dollar", "pound", "yen", "crown", "franc", "rupee", "ruble", "yuan", "peso"])
_ROUNDING = 0.2
"""Share by which a figure that is called rough may differ; larger asks the reader more often."""
_BINARY = tuple(1.024**power for power in range(4))
"""What a kilobyte of 1,024 bytes is more than one of 1,000, and so on."""
_MONEY = frozenset("€$£¥")
_ORDINAL = frozenset(["st", "nd", "rd", "th", "er", "re", "e", "ème", "º", "ª", "s"])
_COUNTED = re.compile(r"[\s\u00a0-]{1,2}(?:(?:of an?|an?|of|de|der|einer|eines)\s|d['’])?(?P<unit>[%‰€$£¥]|[^\W\d_]+)")
_WITH_UNIT = re.compile(r"(\d)[\s\u00a0]?([^\W\d_]+(?: [^\W\d_]+)?)\b")
_AFTERNOON = re.compile(r"(?<![\d.,:])(1?\d)((?:[:.][0-5]\d)?)\s?p\.?\s?m\b\.?", re.IGNORECASE)
_TEXTS_KEPT = 2_048
_DECADE = re.compile(r"([12]\d\d0)s")


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
    written = unicodedata.normalize("NFKC", text)
    if _DIGIT.search(written) is None:
        return found
    for match in _FIGURE.finditer(written):
        before, core, after = match["before"], match["core"], match["after"]
        plain = readings_of(core)
        words = [(match["scale"] or "").rstrip("."), match["unit"] or ""]
        tail = after.casefold()
        factor, unit = 1.0, _UNITS.get((match["sign"] or "").strip())
        if tail in _SCALES and not before and (len(tail) > 1 or unit or tail == "k"):
            factor = _SCALES[tail]
        elif tail in _UNITS and not (tail == "s" and len(core) == 4):
            unit = _UNITS[tail]
        is_money = words[0] in ("M", "k") and words[1] in _MONEY
        counted = frozenset[float]()
        if words[0].casefold() in _SCALES and words[0].casefold() in _UNITS and len(words[0]) > 1:
            # The same word in two languages: eleven miles, and eleven thousand.
            counted = frozenset(value * _SCALES[words[0].casefold()] for value in plain)
        elif not tail and words[0].casefold() in _SCALES and (len(words[0]) > 1 or is_money):
            factor, words = _SCALES[words[0].casefold()], words[1:]
        if unit is None and (not tail or factor != 1.0):
            unit = next((_UNITS[w] for word in words[:1] if (w := word.casefold()) in _UNITS), None)
            if unit is None and not words[0] and len(words) > 1:
                unit = _UNITS.get(words[1].casefold())
        is_name = bool(before) or bool(tail and tail not in _ORDINAL and tail not in _SCALES and tail not in _UNITS)
        found.append(
            Figure(
                f"{before}{core}{after}",
                frozenset(value * factor for value in plain) | counted,
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
    """`text` without the scales and units that stand behind its figures, which have capitals and are no names.

    >>> without_units("It has 2 GB of memory, 12,4 Millionen Euro, 35 Grad Celsius.")
    'It has 2 of memory, 12,4, 35.'
    """
    return _WITH_UNIT.sub(_unnamed, text)


def in_24_hours(text: str) -> str:
    """`text` with times of the afternoon as clocks of 24 hours show them, figure by figure.

    >>> in_24_hours("From 9:07 p.m. to 11 pm, or 9 a.m.")
    'From 21:07 to 23, or 9 a.m.'
    """
    return _AFTERNOON.sub(lambda m: f"{int(m[1]) % 12 + 12}{m[2]}", text)


def _unnamed(match: re.Match[str]) -> str:
    words = match[2].split()
    rest = words
    while rest and (rest[0].casefold() in _UNITS or rest[0].casefold() in _SCALES):
        rest = rest[1:]
    return match[0] if len(rest) == len(words) else " ".join([match[1], *rest])


def word_figures(text: str) -> list[Figure]:
    """The numbers of `text` that are written as words, and its halves and quarters, with what they count.

    >>> [(f.text, sorted(f.readings), f.unit) for f in word_figures("Half an hour, or twenty-five people.")]
    [('Half', [0.5], ('time', 3600.0)), ('twenty-five', [25.0], None)]
    """
    written = unicodedata.normalize("NFKC", text)
    found = sorted([*number_words(written), *parts_of_a_whole(written)], key=lambda n: (n.start, -n.end))
    words: list[Figure] = []
    end = 0
    for number in found:
        if number.start < end:
            continue
        end = number.end
        counted = _COUNTED.match(written, number.end)
        unit = _UNITS.get(counted["unit"].casefold()) if counted else None
        value = frozenset([number.value])
        if unit is None and number.value < 1:
            # A share of something is no amount.
            continue
        words.append(Figure(number.text, value, value, is_scaled=False, unit=unit, is_name=False))
    return words


class _Read(NamedTuple):
    """What the figures of one text are looked up in."""

    digits: tuple[Figure, ...]
    words: tuple[Figure, ...]
    divisors: tuple[float, ...]
    """A third is what is divided by three."""


@lru_cache(maxsize=_TEXTS_KEPT)
def _read(text: str) -> _Read:
    written = unicodedata.normalize("NFKC", text)
    shares = [part.value for part in parts_of_a_whole(written)]
    words = (*word_figures(written), *map(_percent, shares))
    later = in_24_hours(written)
    digits = (*figures(written), *(figures(later) if later != written else ()))
    return _Read(digits, words, tuple(float(round(1 / share)) for share in shares))


class KnownFigures:
    """The figures of some texts, to look others up in."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)
        held = [_read(text) for text in self._texts]
        self._figures = [figure for read in held for figure in (*read.digits, *read.words)]
        self._tokens = {figure.text.casefold() for read in held for figure in read.digits}
        self.values = {value for f in self._figures for value in f.readings | f.plain}
        self.values |= {divisor for read in held for divisor in read.divisors}

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

    def is_near(self, figure: Figure) -> bool:
        """Whether a figure here is the same but for rounding."""
        return any(
            abs(mine - theirs) <= _ROUNDING * abs(theirs)
            for mine in figure.readings
            for known in self._figures
            for theirs in known.readings
        )

    def _holds_name(self, text: str) -> bool:
        squeezed = _squeezed(text)
        return bool(squeezed) and any(squeezed in _squeezed(held) for held in self._texts)

    def _changed(self, figure: Figure, candidates: Sequence[Figure]) -> tuple[str, bool] | None:
        """A figure whose digits stand here may still count something else there."""
        same_scale = [c for c in candidates if not figure.is_scaled or figure.readings & c.readings]
        if figure.is_scaled and not same_scale and not any(_same_amount(figure, c) for c in self._figures):
            return f"{figure.text} is scaled otherwise in its sources", False
        if (
            figure.unit is not None
            and candidates
            and not any(c.unit and _same_amount(figure, c) for c in self._figures)
        ):
            counted = [c.unit for c in candidates if c.unit]
            if len(counted) == len(candidates) or any(_kind(unit) == _kind(figure.unit) for unit in counted):
                return f"{figure.text} has another unit in its sources", False
        return None


def _percent(share: float) -> Figure:
    value = frozenset([round(100 * share, 1), float(round(100 * share))])
    return Figure("", value, value, is_scaled=False, unit=_UNITS["%"], is_name=False)


def _same_amount(figure: Figure, known: Figure) -> bool:
    if figure.unit and known.unit and figure.unit[0] == known.unit[0]:
        mine, theirs = figure.unit[1], known.unit[1]
        steps = _BINARY if figure.unit[0] == "bytes" else (1.0,)
        pairs = [(a * mine, b * theirs) for a in figure.readings for b in known.readings]
        return any(_near(a * step, b) or _near(a, b * step) for a, b in pairs for step in steps)
    if figure.unit and known.unit:
        return False
    return any(_near(a, b) for a in figure.readings for b in known.readings)


def _kind(unit: tuple[str, float]) -> str:
    """The family of a unit; money of all currencies is one."""
    return "money" if unit[0] in _CURRENCIES else unit[0]


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-9)


@lru_cache(maxsize=_TEXTS_KEPT)
def _squeezed(text: str) -> str:
    written = unicodedata.normalize("NFKC", text)
    return "".join(character for character in written.casefold() if character.isalnum())
