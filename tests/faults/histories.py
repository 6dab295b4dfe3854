"""Whether what clients saw of one document can be put in an order: is a history of a register linearizable?

An operation takes effect at one moment between its call and its return. One whose return was never seen (the server was
killed) takes effect at any moment after its call, or never. The search is that of Wing and Gong (1993) with the
memory of Lowe (2017): a set of operations done, and a value, are tried once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

NEVER = float("inf")


class Op(NamedTuple):
    """One call on one document.

    Attributes:
        call, end: times of one clock; `end` is `NEVER` where no answer came.
        is_read: False for what puts `value` there.
        value: what was read or written; None is no document.
    """

    call: float
    end: float
    is_read: bool
    value: object


def is_linearizable(history: Sequence[Op], first: object = None) -> bool:
    """Whether some order of the operations explains every read; `first` is the value before them.

    Each write puts a value of its own there, but for deletions.

    >>> write, late, early = Op(0, 1, False, "a"), Op(2, 3, True, "a"), Op(2, 3, True, None)
    >>> is_linearizable([write, late]), is_linearizable([write, early])
    (True, False)
    """
    ops = sorted(_settled(history))
    certain = sum(1 << n for n, op in enumerate(ops) if op.end != NEVER)
    tried: set[tuple[int, object]] = set()
    stack = [(0, first)]
    while stack:
        done, value = stack.pop()
        done = _with_reads(ops, done, value)
        if done & certain == certain:
            return True
        if (done, value) in tried:
            continue
        tried.add((done, value))
        stack += [(done | 1 << n, ops[n].value) for n in _possible(ops, done) if not ops[n].is_read]
    return False


def _settled(history: Sequence[Op]) -> Iterator[Op]:
    """The history with as few operations as can be of which nobody knows when they took effect.

    Each of those would double the search. A read without an answer saw nothing. A write without an answer took effect
    before the end of any read that saw its value; where none did, it may as well never have been.
    """
    seen: dict[object, float] = {}
    for op in history:
        if op.is_read:
            seen[op.value] = min(op.end, seen.get(op.value, NEVER))
    for op in history:
        if op.end != NEVER or (op.value is None and not op.is_read):
            yield op
        elif not op.is_read and op.value in seen:
            yield op._replace(end=seen[op.value])


def _possible(ops: Sequence[Op], done: int) -> list[int]:
    """Which may take effect next: those that were called before any other that is left had ended."""
    left = [n for n in range(len(ops)) if not done >> n & 1]
    soonest = min((ops[n].end for n in left), default=NEVER)
    return [n for n in left if ops[n].call <= soonest]


def _with_reads(ops: Sequence[Op], done: int, value: object) -> int:
    """`done` with every read of `value` that may take effect now: none of them can be better off later."""
    while found := [n for n in _possible(ops, done) if ops[n].is_read and ops[n].value == value]:
        for n in found:
            done |= 1 << n
    return done
