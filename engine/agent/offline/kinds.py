"""The kind of answer that a question asks for: a figure, a time, a name."""

from __future__ import annotations

import re

_AMOUNT = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|twenty|thirty|sixty|hundred"
    r"|thousand|million|billion|half|twice|once|daily|weekly|monthly|yearly|every|each"
    r"|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|hundert|tausend|halb\w*|täglich|jede[nmrs]?"
    r"|deux|trois|quatre|cinq|sept|huit|neuf|dix|treize|vingt|cent|mille|chaque"
    r"|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|trece|veinte|cien|mil|cada)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\d|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday|century|noon|midnight|o'clock|today|yesterday|spring|summer|autumn|winter"
    r"|day|days|week|weeks|month|months|year|years|night|morning|evening|before|after|until|when|while"
    r"|januar|februar|märz|mai|juni|juli|oktober|dezember|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|jahr\w*"
    r"|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|lundi|mardi|mercredi|jeudi"
    r"|vendredi|samedi|dimanche|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre"
    r"|diciembre|lunes|martes|miércoles|jueves|viernes|sábado|domingo)\b",
    re.IGNORECASE,
)
_PERSON = re.compile(r"(?<=\s)[^\W\d_a-z]\w+")
_SHOWN_BY = (
    (
        re.compile(
            r"\bhow (?:many|much|long|often|old|far|tall|big|large|high|deep|wide|heavy|fast)\b"
            r"|\bwie (?:viele?|lange?|oft|alt|weit|hoch|groß|tief|breit|schwer|schnell)\b"
            r"|\bcombien\b|\bcu[aá]nt[oa]s?\b",
            re.IGNORECASE,
        ),
        _AMOUNT,
    ),
    (
        re.compile(
            r"\b(?:when|what (?:year|date|time|day|month)|wann|um wie viel uhr|quand|à quelle heure|cuándo)\b",
            re.IGNORECASE,
        ),
        _TIME,
    ),
    (re.compile(r"^\W*(?:who|wer|qui|quién)\b", re.IGNORECASE), _PERSON),
)
_KIND = re.compile(
    r"\b(?:how|which|what|whose|wie|welche[rsnm]?|combien|quel(?:le)?s?|cu[aá]nt[oa]s?|qué)\s+(?:d['’])?([^\W_]+)",
    re.IGNORECASE,
)


def wanted(asked: str) -> re.Pattern[str] | None:
    """What a text shows that gives the kind of answer asked for; None where anything may.

    >>> [bool(wanted("When was it built?").search(text)) for text in ("In 1887.", "By a duke.")]
    [True, False]
    """
    return next((shown for question, shown in _SHOWN_BY if question.search(asked)), None)


def kind_words(asked: str) -> frozenset[str]:
    """Words, case folded, that say what kind of answer is wanted; an answer seldom repeats them.

    >>> sorted(kind_words("How long is the bridge, and which river does it cross?"))
    ['long', 'river']
    """
    return frozenset(match[1].casefold() for match in _KIND.finditer(asked))
