"""A value into stretches of whole sentences, each within a number of tokens, of about one size."""

from __future__ import annotations

from bisect import bisect_left

from engine.text.long_spans import append_trimmed, split_long
from engine.text.sentences import sentence_bounds
from engine.text.tokens import count_tokens

_CERTAIN_GAPS = frozenset(" \n\r\t")
"""White space in front of which no token of the vocabulary ends in the middle: counts on both sides add up."""

_PARAGRAPH_PREFERENCE = 0.3
"""A cut between paragraphs may stand this share of the limit further from the even size."""

_SPACE_SLACK = 8
"""More tokens than a word can gain by losing the space in front of it."""

_CHARACTERS_A_TOKEN = 4.5
"""More characters a token than prose has: what is longer than so many times the limit is not counted whole first."""


def pack(text: str, max_tokens: int, overlap: int = 0) -> list[tuple[int, int]]:
    """Stretches ``(start, end)`` of `text` of at most `max_tokens`, in order, that hold all of it but white space.

    Cuts are between sentences, at the ends of paragraphs where one is near; a sentence too long by itself is cut by
    `split_long`. The stretches are balanced: what does not fit into one is halved rather than cut off at the limit,
    because a last stretch of three words would match queries by its shortness alone.

    Args:
        text: any text; blank gives nothing.
        max_tokens: by `count_tokens`, >= 16.
        overlap: tokens at the end of a stretch that may be repeated, in whole sentences, at the start of the next.
    """
    if max_tokens < 16:
        raise ValueError(f"max_tokens must be >= 16, got {max_tokens}")
    whole: list[tuple[int, int]] = []
    append_trimmed(whole, text, 0, len(text))
    if not whole:
        return []
    start, end = whole[0]
    if end - start <= _CHARACTERS_A_TOKEN * max_tokens:
        if end - start <= max_tokens and text.isascii():
            return whole  # a token is at least one byte
        if count_tokens(text[start:end]) <= max_tokens:
            return whole
    return _packed(text, sentence_bounds(text), max_tokens, overlap)


def _packed(text: str, sentences: list[tuple[int, int]], max_tokens: int, overlap: int) -> list[tuple[int, int]]:
    units, ends_at, certain = _counted(text, sentences, max_tokens)
    packed: list[tuple[int, int]] = []
    first, last = 0, -1
    while last < len(units) - 1:
        start, end = units[first]
        # `ends_at` counts the white space before a sentence with it; in front of a stretch there is none.
        before = ends_at[first] - count_tokens(text[start:end])
        last = _last_of_next(text, units, ends_at, max(first, last + 1), before, max_tokens)
        packed.append((start, units[last][1]))
        first = _stepped_back(ends_at, first, last, max_tokens, overlap)
    return packed if certain and not overlap else _verified(text, packed, max_tokens)


def _stepped_back(ends_at: list[int], first: int, last: int, max_tokens: int, overlap: int) -> int:
    """Where the stretch after ``[first, last]`` begins: at ``last + 1``, or earlier by as much as `overlap` allows."""
    begin = last + 1
    while begin > first + 1 and last + 1 < len(ends_at):
        repeated = ends_at[last] - ends_at[begin - 2]
        if repeated > overlap or ends_at[last + 1] - ends_at[begin - 2] > max_tokens:
            break
        begin -= 1
    return begin


def _counted(text: str, units: list[tuple[int, int]], max_tokens: int) -> tuple[list[tuple[int, int]], list[int], bool]:
    """Units that each fit, the tokens from the first up to the end of each, and whether these sums are exact."""
    fitting: list[tuple[int, int]] = []
    ends_at: list[int] = []
    total = 0
    certain = True
    previous = units[0][0]
    for start, end in units:
        tokens = count_tokens(text[previous:end])
        # Close to the limit the exact count decides: without the space in front a word may take more tokens.
        if tokens > max_tokens - _SPACE_SLACK:
            for piece in _fitting(text, start, end, max_tokens):
                total += count_tokens(text[previous : piece[1]])
                certain = certain and text[previous] in _CERTAIN_GAPS
                fitting.append(piece)
                ends_at.append(total)
                previous = piece[1]
            continue
        if text[previous] not in _CERTAIN_GAPS and fitting:
            certain = False
        total += tokens
        fitting.append((start, end))
        ends_at.append(total)
        previous = end
    return fitting, ends_at, certain


def _last_of_next(
    text: str, units: list[tuple[int, int]], ends_at: list[int], at_least: int, before: int, max_tokens: int
) -> int:
    """The last unit of the stretch that begins where `before` tokens have passed; at least unit `at_least`."""
    remaining = ends_at[-1] - before
    if remaining <= max_tokens:
        return len(units) - 1
    even = remaining / -(-remaining // max_tokens)
    best, least = at_least, float("inf")
    for last in range(max(at_least, bisect_left(ends_at, before + even / 2)), len(units)):
        tokens = ends_at[last] - before
        if tokens > max_tokens:
            break
        distance = abs(even - tokens)
        if last + 1 < len(units) and text.count("\n", units[last][1], units[last + 1][0]) > 1:
            distance -= _PARAGRAPH_PREFERENCE * max_tokens
        if distance <= least:
            best, least = last, distance
    return best


def _fitting(text: str, start: int, end: int, max_tokens: int) -> list[tuple[int, int]]:
    """Pieces of one sentence that each fit."""
    tokens = count_tokens(text[start:end])
    if tokens <= max_tokens or end - start == 1:
        return [(start, end)]
    limit = max(1, min((end - start) * max_tokens * 19 // (tokens * 20), (end - start) * 3 // 4))
    pieces = split_long(text, start, end, limit)
    return [fitting for first, last in pieces for fitting in _fitting(text, first, last, max_tokens)]


def _verified(text: str, packed: list[tuple[int, int]], max_tokens: int) -> list[tuple[int, int]]:
    """`packed` with every stretch counted whole: merges across a cut without white space can add a token or two."""
    pieces: list[tuple[int, int]] = []
    for start, end in packed:
        for piece in _fitting(text, start, end, max_tokens):
            # A piece of the overlap alone would only repeat.
            if not pieces or piece[1] > pieces[-1][1]:
                pieces.append(piece)
    return pieces
