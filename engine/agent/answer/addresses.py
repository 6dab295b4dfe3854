"""Addresses and commands in a text: what a reader could be led to open, to write to or to run."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_TRAILING = ".,;:!?)]}\"'»”’›"
_SINGLE_LETTER_DOMAINS = "com|org|net|co|io|me|ly|to|ai|dev|app"
_LABEL = r"[^\W_](?:[\w-]*[^\W_])?"
_ADDRESS = re.compile(
    # With a scheme, also one that is spelled to pass.
    r"\b(?:https?|hxxps?|ftps?|file|data|javascript|vbscript|mailto|tel|ssh|git)\s*:\s*(?=\S)\S+"
    r"|\bwww\.\S+"
    # E-mail.
    rf"|[\w.+-]+\s?@\s?{_LABEL}(?:\.{_LABEL})+"
    # A dot that is spelled to pass: evil[.]example, evil (dot) example.
    rf"|{_LABEL}\s?(?:\[\.\]|\(\.\)|\[dot\]|\(dot\))\s?{_LABEL}"
    # A domain as it is read aloud, and the name of an account.
    rf"|{_LABEL}\s(?:dot|punkt|punto|ponto|point)\s(?:com|org|net|io|info|biz)\b|{_LABEL}\spunkt\s(?:de|ch)\b"
    r"|(?<![\w@.])@[^\W\d]\w{2,}"
    # A bare domain, or one with a path.
    rf"|(?<![\w.@-])(?=[\w.-]*[^\W\d_][\w-]*\.)(?:{_LABEL}\.)*{_LABEL}\.[^\W\d_]{{2,24}}(?![\w-])(?:[:/]\S*)?",
    re.IGNORECASE,
)
_WIDE_DOT = re.compile(r"(?<=[A-Za-z0-9-])[。｡·](?=[A-Za-z])")
"""Browsers take these for the dot of a domain."""
_SPOKEN = re.compile(r"\s(?:dot|punkt|punto|ponto|point)\s", re.IGNORECASE)
_ONE_LETTER = re.compile(rf"(?:[^\W_]\.)+(?!(?:{_SINGLE_LETTER_DOMAINS})\b)[^\W\d_]+", re.IGNORECASE)
_COMMAND = re.compile(
    r"`[^`\n]+`"
    r"|(?<!\S)(?:sudo|curl|wget|powershell|chmod|chown|ssh|scp|bash|eval"
    r"|pip3? install|npm (?:i|install)|npx|apt(?:-get)? install|brew install|docker (?:run|pull)|git clone)\s+\S+"
    r"|(?<!\S)--[A-Za-z][\w-]+(?:=\S+)?"
    r"|(?<!\S)-[A-Za-z]{1,3}(?=[\s.,;]|$)"
    r"|(?<!\S)(?:~|\.{1,2})?/(?:[\w.-]+/)*[\w.-]{2,}"
    r"|\b[A-Za-z]:\\\S+"
    r"|\$\(|&&|\|\||(?<=\s)\|(?=\s)|(?<=\s)>{1,2}(?=\s)"
)


def folded(text: str) -> str:
    """Compatible forms made one, case and white space folded: how texts are compared for standing in each other."""
    return " ".join(unicodedata.normalize("NFKC", text).split()).casefold()


def strange_addresses(text: str, sources: Iterable[str]) -> list[str]:
    """Addresses and commands of `text` that stand in none of `sources`, in order.

    >>> strange_addresses("See evil.example or mail a@b.example, then run rm -rf.", ["Mail a@b.example."])
    ['evil.example', '-rf']
    >>> strange_addresses("It was built in Pellam, e.g. by hand (see U.S. records).", [])
    []
    """
    written = _WIDE_DOT.sub(".", unicodedata.normalize("NFKC", text))
    found = [match.group().rstrip(_TRAILING) for match in _ADDRESS.finditer(written) if _is_address(match.group())]
    found += [match.group().strip("`").rstrip(_TRAILING) or match.group() for match in _COMMAND.finditer(written)]
    held = [folded(source) for source in sources] if found else []
    return [address for address in dict.fromkeys(found) if not any(folded(address) in source for source in held)]


def _is_address(found: str) -> bool:
    """A sentence that begins without a space before it, and abbreviations such as "z.B", are none."""
    if _SPOKEN.search(found) or "@" in found or ":" in found or "/" in found or "[" in found or "(" in found:
        return True
    last = found.rstrip(_TRAILING).rsplit(".", 1)[-1]
    if last != last.lower() and last != last.upper():
        return False
    return _ONE_LETTER.fullmatch(found.rstrip(_TRAILING)) is None
