"""An upload before it is written: every document checked against the schema that the upload leads to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import msgspec

from engine.errors import InvalidDocument
from engine.model.document import ROOT_ATTRIBUTE, DocumentBody
from engine.model.ids import check_document_id
from engine.model.inference import infer_schema
from engine.model.schema import Attribute, AttributePatch, AttributeType, Schema, TypedValue, merge
from engine.model.values import COERCIONS, ValueMismatch, check_json, describe, is_empty_list

MAX_DOCUMENT_BYTES = 8 * 1024 * 1024
"""The longest document, as JSON."""

MAX_JSON_DEPTH = 64
"""Lists and objects inside one another, in one attribute value."""

_encode = msgspec.json.Encoder().encode


class CheckedDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A document that fits its schema.

    Attributes:
        root_id: its ``root_document_id``, None when absent.
        body: the document as JSON, order and values as uploaded.
        values: typed values of the filterable attributes, missing ones left out.
    """

    id: str
    root_id: str | None
    body: bytes
    document: DocumentBody
    values: Mapping[str, TypedValue]


def plan_upload(
    current: Schema,
    patch: Mapping[str, AttributePatch] | None,
    documents: Sequence[Mapping[str, object]],
    *,
    start: int = 0,
) -> tuple[Schema, list[CheckedDocument]]:
    """The schema after the upload, and the documents to write: distinct ids, the last of each, by first appearance.

    Every document is checked, those that a later one replaces included: a batch ends as its documents one by one would.

    Args:
        start: number of the first document, for paths such as ``documents[17].year``.

    Raises:
        SchemaConflict, InvalidSchema: from the patch.
        InvalidDocument: with path, expected and got.
    """
    schema = merge(current, patch) if patch else current
    bodies = [_as_object(document, number) for number, document in enumerate(documents, start)]
    schema = infer_schema(schema, bodies, start=start)
    # JSON columns are left out: their check is another one.
    coercions = {name: COERCIONS[a.type] for name, a in schema.attributes.items() if a.type is not AttributeType.JSON}
    filterable = frozenset(schema.filterable())
    checked: dict[str, CheckedDocument] = {}
    for number, document in enumerate(bodies, start):
        document_id = check_document_id(document.get("id"), path=f"documents[{number}].id")
        body = _body(document, number)
        values: dict[str, TypedValue] = {}
        for name, value in document.items():
            if value is None or name == "id":
                continue
            coerce = coercions.get(name)
            try:
                if coerce is None:
                    check_json(value, max_depth=MAX_JSON_DEPTH)
                    continue
                typed = coerce(value)
            except ValueMismatch as fault:
                if _waits(value, schema.attributes.get(name)):
                    continue
                raise _misfit(f"documents[{number}].{name}{fault.at}", fault) from None
            if name in filterable:
                values[name] = typed
        root = document.get(ROOT_ATTRIBUTE)
        checked[document_id] = CheckedDocument(
            id=document_id,
            root_id=cast("str | None", root),
            body=body,
            document=cast("DocumentBody", document),
            values=values,
        )
    return schema, list(checked.values())


def _as_object(document: object, number: int) -> dict[str, object]:
    if type(document) is dict:
        return cast("dict[str, object]", document)
    if isinstance(document, Mapping):
        return dict(cast("Mapping[str, object]", document))
    raise InvalidDocument(
        f"A document is an object of attributes, not {describe(document)}.", path=f"documents[{number}]"
    )


def _waits(value: object, attribute: Attribute | None) -> bool:
    """``[]`` says nothing about a type, so it is no value, rather than a fault, where the type was only inferred."""
    return is_empty_list(value) and attribute is not None and attribute.inferred


def _body(document: dict[str, object], number: int) -> bytes:
    try:
        body = _encode(document)
    except (UnicodeError, OverflowError, TypeError, ValueError, RecursionError):
        raise _unencodable(document, number) from None
    if len(body) > MAX_DOCUMENT_BYTES:
        raise InvalidDocument(
            f"A document has at most {MAX_DOCUMENT_BYTES:,} bytes of JSON, not {len(body):,}.",
            path=f"documents[{number}]",
        )
    return body


def _unencodable(document: dict[str, object], number: int) -> InvalidDocument:
    """The error that names why and where a document cannot be JSON."""
    for name, value in document.items():
        path = f"documents[{number}].{name}"
        try:
            check_json(value, max_depth=MAX_JSON_DEPTH)
        except ValueMismatch as fault:
            return _misfit(path + fault.at, fault)
        try:
            _encode(value)
        except UnicodeError:
            return InvalidDocument(f"{path} must be valid Unicode: it holds half of a surrogate pair.", path=path)
    return InvalidDocument("The document cannot be written as JSON.", path=f"documents[{number}]")


def _misfit(path: str, fault: ValueMismatch) -> InvalidDocument:
    path = path.encode(errors="replace").decode()
    return InvalidDocument(f"{path}: expected {fault.expected}, got {fault.got}.", path=path)
