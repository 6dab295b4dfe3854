"""A document's attribute values as blocks that can be cited like sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

import msgspec

from engine.agent.answer.support import attribute_value
from engine.agent.steps import Block, ReadingPassage
from engine.model.document import ROOT_ATTRIBUTE, JsonValue
from engine.model.schema import Schema

MAX_VALUE = 300
"""Characters shown of a value; a longer one is cut, and cited as far as it is shown."""
MAX_ELEMENTS = 8
"""Elements of a list that are shown."""
MAX_FACTS = 60
MAX_BEFORE = 200
"""Characters shown of what stands before a passage."""
_IDS = ("id", ROOT_ATTRIBUTE)


def facts_of(document: Mapping[str, JsonValue], schema: Schema, label: int) -> tuple[Block, ...]:
    """The values of all attributes that the schema declares, in its order; ids and searched texts are left out.

    A searched text longer than `MAX_VALUE` is shown by its passages instead.

    Args:
        label: of the passage that they are shown with; it makes their ids unique.
    """
    found = [
        Block(f"{label}.{attribute}", 0, text, attribute)
        for name, declared in schema.attributes.items()
        if name not in _IDS
        for attribute, text in _texts(name, document.get(name), is_searched=declared.is_searchable)
    ]
    return tuple(found[:MAX_FACTS])


def with_facts(
    passage: ReadingPassage, documents: Mapping[str, Mapping[str, JsonValue]], schema: Schema
) -> ReadingPassage:
    """The passage with the facts of its document, and with what stands before it."""
    held = passage.passage
    document = documents.get(held.document_id, {})
    text = attribute_value(document, held.attribute) or ""
    before = text[max(0, held.start - MAX_BEFORE) : held.start].strip()
    if held.start > MAX_BEFORE:
        before = before.partition(" ")[2] or before
    # The passage's own text stands in its sentences.
    facts = tuple(f for f in facts_of(document, schema, held.label) if f.attribute != held.attribute)
    return msgspec.structs.replace(passage, facts=facts, before=before)


def _texts(name: str, value: JsonValue, *, is_searched: bool) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for position, element in enumerate(cast("list[JsonValue]", value)[:MAX_ELEMENTS]):
            if not isinstance(element, list):
                yield from _texts(f"{name}[{position}]", element, is_searched=is_searched)
    elif isinstance(value, str):
        if value.strip() and not (is_searched and len(value) > MAX_VALUE):
            yield name, value[:MAX_VALUE]
    elif isinstance(value, (bool, int, float)):
        yield name, msgspec.json.encode(value).decode()
