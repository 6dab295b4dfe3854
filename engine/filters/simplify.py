"""A tree of the same meaning that is cheaper to run: many equalities of one attribute become one membership.

A filter of a thousand equalities, as programs write them, costs seconds as a chain of comparisons and
milliseconds as one set.
"""

from __future__ import annotations

from engine.filters.ast import And, Contains, Equals, Filter, In, Not, Or, Scalar


def simplify(tree: Filter) -> Filter:
    """The tree with nested ``and`` and ``or`` flattened and memberships merged; it holds for the same documents."""
    match tree:
        case And(args):
            return _conjunction([simplify(arg) for arg in args])
        case Or(args):
            return _disjunction([simplify(arg) for arg in args])
        case Not(Not(arg)):
            return simplify(arg)
        case Not(arg):
            return Not(simplify(arg))
        case _:
            return tree


def _conjunction(args: list[Filter]) -> Filter:
    flat = [inner for arg in args for inner in (arg.args if isinstance(arg, And) else (arg,))]
    # not a and not b is not (a or b): the disjunction may merge.
    excluded = [arg.arg for arg in flat if isinstance(arg, Not)]
    kept: list[Filter] = [arg for arg in flat if not isinstance(arg, Not)]
    if excluded:
        kept.append(Not(_disjunction(excluded)))
    return kept[0] if len(kept) == 1 else And(tuple(kept))


def _disjunction(args: list[Filter]) -> Filter:
    flat = [inner for arg in args for inner in (arg.args if isinstance(arg, Or) else (arg,))]
    rest: list[Filter] = []
    # Insertion order, so that the same filter always gives the same SQL.
    members: dict[str, dict[Scalar, None]] = {}
    for arg in flat:
        match arg:
            case In(name, values) | Contains(name, values, "one" | "any"):
                members.setdefault(name, {}).update(dict.fromkeys(values))
            case Equals(name, value) if not isinstance(value, tuple):
                members.setdefault(name, {})[value] = None
            case _:
                rest.append(arg)
    merged: list[Filter] = [_member(name, tuple(values)) for name, values in members.items()]
    everything = merged + rest
    return everything[0] if len(everything) == 1 else Or(tuple(everything))


def _member(name: str, values: tuple[Scalar, ...]) -> Filter:
    return Equals(name, values[0]) if len(values) == 1 else In(name, values)
