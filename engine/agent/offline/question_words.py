"""Words with which a question is put, by language: they ask, and say nothing of the subject."""

from __future__ import annotations

import re
from functools import cache

from engine.agent.offline.words import FRAME_WORDS, FUNCTION_WORDS
from engine.lexical.analyzer import DEFAULT_LANGUAGE, STEMMERS, query_terms
from engine.text.function_words import CYRILLIC, LATIN
from engine.text.language import detect_language

_REQUESTS = (
    "tell give find explain describe list show know summarise summarize summary overview please want need look looking"
    " search information info detail details question help understand learn talk say says said about"
)
_ASKED = {
    "de": "wer wen wem wessen was wann wo wohin woher wie wieso weshalb warum welche welcher welches welchen welchem"
    " viel viele oft gibt es mein meine meinen meiner darf kann muss soll werden wurden war waren",
    "fr": "qui que qu quoi quand où comment combien pourquoi quel quelle quels quelles il elle on est-ce t l d j n s c"
    " peut puis faut doit mon ma mes trouve y a été je me",
    "es": "quién quiénes qué cuándo dónde adónde cómo cuánto cuánta cuántos cuántas cuál cuáles hay puedo puede debo"
    " mi mis está son fue yo",
    "it": "chi che cosa quando dove come quanto quanta quanti quante perché quale quali c è l d si può devo mio mia",
    "pt": "quem que quando onde como quanto quanta quantos quantas por qual quais há posso pode devo meu minha",
    "nl": "wie wat wanneer waar hoe hoeveel waarom welk welke er zijn mijn mag moet",
    "sv": "vem vad när var hur varför vilken vilket vilka finns min mitt mina får måste",
    "da": "hvem hvad hvornår hvor hvordan hvorfor hvilken hvilket hvilke findes min mit mine må",
    "no": "hvem hva når hvor hvordan hvorfor hvilken hvilket hvilke finnes min mitt mine må",
    "ru": "кто кого что когда где куда откуда как почему зачем сколько какой какая какое какие мой моя мои ли есть",
}
"""Beside the function words that languages are told apart by."""
_WORD = re.compile(r"[^\W\d_]+")


def question_language(asked: str) -> str:
    """The language of a question, a key of `STEMMERS`; English when undecided.

    A question is often too short for the function words by which texts are told apart; its question words tell then.

    >>> [question_language(q) for q in ("¿Cuándo se abrió el puente?", "Combien coûte l'entrée ?", "Opening hours")]
    ['es', 'fr', 'en']
    """
    detected = detect_language(asked)
    if detected in STEMMERS:
        return detected
    words = set(_WORD.findall(asked.casefold()))
    votes = {language: len(words & profile) for language, profile in _profiles().items()}
    best = max(votes, key=votes.__getitem__)
    return best if votes[best] > len(words & FUNCTION_WORDS) else DEFAULT_LANGUAGE


@cache
def _profiles() -> dict[str, frozenset[str]]:
    """Language → the words that ask in it, and its function words."""
    return {
        language: frozenset(f"{asking} {LATIN.get(language, '')} {CYRILLIC.get(language, '')}".split())
        for language, asking in _ASKED.items()
    }


@cache
def without_content(language: str) -> frozenset[str]:
    """Index terms, in English and in `language`, that say nothing of a subject.

    They are function words, words that ask, and words by which a question speaks of its sources.
    """
    english = frozenset(query_terms(" ".join([*sorted(FUNCTION_WORDS | FRAME_WORDS), _REQUESTS]))) | FUNCTION_WORDS
    if language == DEFAULT_LANGUAGE:
        return english
    own = " ".join(words.get(language, "") for words in (LATIN, CYRILLIC, _ASKED))
    return english | frozenset(query_terms(own, (language, DEFAULT_LANGUAGE)))
