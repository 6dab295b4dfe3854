"""The gate: numbers, quotations and names of a draft that do not stand in what they cite are reported as problems."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.agent.answer.names import strange_names
from engine.agent.answer.support import Supported
from engine.agent.steps import AnswerDraft, Problem

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_QUOTED = re.compile(r"[“\"«„]([^“”\"«»„]{3,}?)[”\"»“]")


def problems_of(draft: AnswerDraft, supported: Sequence[Supported | None], asked: Sequence[str] = ()) -> list[Problem]:
    """What in the draft's own words does not stand in the excerpts it cites.

    Args:
        asked: the client's own texts; a name may come from there too.
    """
    problems: list[Problem] = []
    for index, held in enumerate(supported):
        if held is not None and (reason := _unsupported(held.finding, [held], asked)):
            problems.append(Problem("finding", index, reason))
    for index, sentence in enumerate(draft.sentences):
        cited = [held for n in sentence.findings if 0 <= n < len(supported) and (held := supported[n]) is not None]
        if not cited:
            problems.append(Problem("sentence", index, "none of the findings it cites has an excerpt"))
        elif reason := _unsupported(sentence.text, cited, asked):
            problems.append(Problem("sentence", index, reason))
    return problems


def _unsupported(text: str, cited: Sequence[Supported], asked: Sequence[str]) -> str:
    excerpts = [excerpt for held in cited for excerpt in held.excerpts]
    if reason := unsupported(text, excerpts):
        return reason
    strange = strange_names(text, [*excerpts, *(around for held in cited for around in held.around), *asked])
    return f"the name {strange[0]} stands nowhere in what it cites" if strange else ""


def unsupported(text: str, excerpts: Sequence[str]) -> str:
    """Why `text` says more than `excerpts`: a number or a quotation that stands in none; empty when none does.

    >>> unsupported("It rose by 12 % in 2023.", ["Sales rose by 12 % last year."])
    'the number 2023 stands in none of its excerpts'
    """
    held = " ".join(_folded(excerpt) for excerpt in excerpts)
    numbers = {number.strip(".,:") for number in _NUMBER.findall(held)}
    for number in _NUMBER.findall(text):
        if number.strip(".,:") not in numbers:
            return f"the number {number} stands in none of its excerpts"
    for quoted in _QUOTED.findall(text):
        if _folded(quoted).strip(" .,;:!?") not in held:
            return f"the quotation “{quoted}” stands in none of its excerpts"
    return ""


def _folded(text: str) -> str:
    return " ".join(text.replace("’", "'").replace("‘", "'").split()).casefold()
