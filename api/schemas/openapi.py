"""The OpenAPI 3.1 document, made from the routes' `Operation` values and the types of their bodies."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast, get_args

import msgspec

from api.schemas.documents import DOCUMENT_SCHEMA
from api.schemas.errors import ErrorBody, ErrorCode
from api.schemas.namespaces import TypeName
from api.schemas.operation import ANY_KEY, Operation, Parameter
from api.schemas.search import ClarificationNeeded, Completed, Failed, StatusObject

TITLE = "Quarry"
VERSION = "1"
REF = "#/components/schemas/{name}"
SHARED_ERRORS: tuple[ErrorCode, ...] = ("internal_error",)
KEYED_ERRORS: tuple[ErrorCode, ...] = ("unauthenticated", "invalid_api_key", "permission_denied", "rate_limited")

_PATH_PARAMETERS: Mapping[str, dict[str, Any]] = {
    "namespace": {
        "schema": {"type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[A-Za-z0-9_.-]{1,128}$"},
        "description": "Name of the namespace.",
        "example": "articles",
    },
    "document_id": {
        "schema": {"type": "string", "minLength": 1, "maxLength": 64},
        "description": "Id of the document, percent-encoded; it may hold any character but control characters.",
        "example": "a-17",
    },
    "session_id": {
        "schema": {"type": "string", "minLength": 1},
        "description": "The `session_id` of the response before.",
        "example": "sess_0123456789abcdefABCDEF",
    },
    "request_id": {
        "schema": {"type": "string", "minLength": 1},
        "description": "The header X-Request-Id of the answer.",
        "example": "req_0123456789abcdefABCDEF",
    },
    "key_id": {
        "schema": {"type": "string", "minLength": 1},
        "description": "The key's `id`.",
        "example": "key_0123456789abcdef01234567",
    },
    "attribute": {
        "schema": {"type": "string", "minLength": 1, "maxLength": 128},
        "description": "Name of the attribute, percent-encoded.",
        "example": "source",
    },
    "file": {
        "schema": {"type": "string", "minLength": 1},
        "description": "Path of a file of the console.",
        "example": "console.css",
    },
}
_ATTRIBUTE_DEFINITION = {
    "title": "AttributeDefinition",
    "description": "What a request says of an attribute; flags that it leaves out stay as they are, `false` at first.",
    "type": "object",
    "required": ["type"],
    "properties": {
        "type": {"enum": list(get_args(TypeName))},
        "is_searchable": {"type": ["boolean", "null"], "description": "For `string` and `[]string` only."},
        "is_filterable": {"type": ["boolean", "null"], "description": "For any type but `json`."},
        "inferred": {"description": "As a namespace shows it; it says nothing here."},
    },
    "additionalProperties": False,
}
FILE_MEDIA = "application/octet-stream"
"""What a route that takes a file says that it takes; it takes any."""

_RESPONSE_HEADERS = {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}}
_MEANINGS = {
    400: "The request cannot be understood or breaks a rule.",
    401: "No valid API key.",
    403: "The key lacks the scope.",
    404: "What the request names does not exist, or belongs to another company.",
    409: "The session cannot be continued now.",
    410: "The session has expired.",
    413: "The body is too large.",
    415: "The body is of a kind that is not taken.",
    429: "Too many requests; see `Retry-After`.",
    500: "A fault inside the server.",
    503: "The server cannot take the request now; see `Retry-After`.",
}


class Entry(NamedTuple):
    """A documented route: lower-case method, path template, and what it says of itself."""

    method: str
    path: str
    operation: Operation


def openapi_document(entries: Sequence[Entry], statuses: Mapping[ErrorCode, int]) -> dict[str, Any]:
    """The document as JSON values.

    Args:
        statuses: HTTP status of each error code.
    """
    types = [kind for e in entries for kind in (e.operation.body, e.operation.answer) if not _is_schema(kind)]
    refs, components = msgspec.json.schema_components(
        [*dict.fromkeys(types), ErrorBody, StatusObject, Completed, ClarificationNeeded, Failed], ref_template=REF
    )
    known = dict(zip([*dict.fromkeys(types)], refs, strict=False))
    components |= {
        "Document": DOCUMENT_SCHEMA,
        "AttributeDefinition": _ATTRIBUTE_DEFINITION,
    }
    _refine(components)
    paths: dict[str, dict[str, Any]] = defaultdict(dict)
    for entry in sorted(entries, key=lambda e: (e.operation.tag, e.path)):
        paths[entry.path][entry.method] = _operation(entry, known, statuses)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": TITLE,
            "version": VERSION,
            "description": "Search over your own documents: answers with citations that can be checked.",
        },
        "servers": [{"url": "/"}],
        "security": [{"apiKey": []}],
        "tags": [{"name": tag} for tag in sorted({e.operation.tag for e in entries})],
        "paths": dict(paths),
        "components": {
            "securitySchemes": {
                "apiKey": {"type": "http", "scheme": "bearer", "description": "`Authorization: Bearer <API key>`"}
            },
            "headers": {
                "RequestId": {
                    "description": "Names the request in the server's log.",
                    "schema": {"type": "string", "pattern": "^req_[A-Za-z0-9_-]{8,64}$"},
                }
            },
            "schemas": dict(sorted(_named(components).items())),
        },
    }


def _refine(components: dict[str, Any]) -> None:
    """Say what the types of bodies cannot."""
    deletion = components["DeleteBody"]
    deletion["oneOf"] = [{"required": [name]} for name in deletion["properties"]]
    definitions = components["UploadBody"]["properties"]["schema"]["anyOf"][0]
    definitions["additionalProperties"] = {"$ref": REF.format(name="AttributeDefinition")}
    components["KeyBody"]["properties"]["expires_at"]["anyOf"][0]["format"] = "date-time"


def _operation(entry: Entry, known: Mapping[Any, Any], statuses: Mapping[ErrorCode, int]) -> dict[str, Any]:
    operation = entry.operation
    described: dict[str, Any] = {
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": operation.description,
        "responses": _responses(operation, known, statuses),
    }
    parameters = [_path_parameter(name) for name in re.findall(r"{(\w+)}", entry.path)]
    parameters += [_query_parameter(parameter) for parameter in operation.parameters]
    if parameters:
        described["parameters"] = parameters
    if operation.body is not None:
        content: dict[str, Any] = {"schema": known[operation.body]}
        if operation.examples:
            content["example"] = operation.examples
        described["requestBody"] = {"required": True, "content": {"application/json": content}}
    if operation.takes_file:
        described["requestBody"] = {"required": True, "content": {FILE_MEDIA: {"schema": {"title": "The file"}}}}
    if operation.scope is None:
        described["security"] = []
    else:
        needs = "Any key may ask." if operation.scope == ANY_KEY else f"Needs the scope `{operation.scope}`."
        described["description"] = f"{operation.description}\n\n{needs}".strip()
    return described


def _responses(operation: Operation, known: Mapping[Any, Any], statuses: Mapping[ErrorCode, int]) -> dict[str, Any]:
    answer = operation.answer
    schema = answer if _is_schema(answer) else known[answer]
    if answer is DOCUMENT_SCHEMA:
        schema = {"$ref": REF.format(name="Document")}
    content: dict[str, Any] = {operation.media: {"schema": schema}}
    if operation.stream:
        content["text/event-stream"] = {"schema": _STREAM}
    responses: dict[str, Any] = {
        str(operation.status): {"description": "Success.", "headers": _RESPONSE_HEADERS, "content": content}
    }
    codes = (*operation.errors, *(KEYED_ERRORS if operation.scope else ()), *SHARED_ERRORS)
    by_status: dict[int, list[str]] = defaultdict(list)
    for code in dict.fromkeys(codes):
        by_status[statuses[code]].append(code)
    for status, names in sorted(by_status.items()):
        codes_text = ", ".join(f"`{name}`" for name in names)
        responses[str(status)] = {
            "description": f"{_MEANINGS.get(status, 'It failed.')} Codes: {codes_text}.",
            "headers": _RESPONSE_HEADERS,
            "content": {"application/json": {"schema": {"$ref": REF.format(name="ErrorBody")}}},
        }
    return responses


_DATA = ("StatusObject", "Completed", "ClarificationNeeded", "ErrorObject")
_STREAM = {
    "type": "object",
    "description": (
        "One event: any number of `status` (data: StatusObject), then one `session_result` (data: Completed or "
        "ClarificationNeeded) or `error` (data: ErrorObject). The data also holds `type`, the name of the event."
    ),
    "required": ["event", "data"],
    "properties": {
        "event": {"enum": ["status", "session_result", "error"]},
        "data": {
            "type": "string",
            "description": "One line of JSON.",
            "contentMediaType": "application/json",
            "contentSchema": {"anyOf": [{"$ref": REF.format(name=name)} for name in _DATA]},
        },
    },
}


def _path_parameter(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, **_PATH_PARAMETERS[name]}


def _query_parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "required": False,
        "schema": parameter.schema,
        "description": parameter.description,
    }


def _is_schema(kind: Any) -> bool:
    return kind is None or isinstance(kind, dict)


def _named(components: dict[str, Any]) -> dict[str, Any]:
    """Constants instead of enumerations of one value: tools then tell the answers of a search apart."""
    for schema in components.values():
        for prop in cast("dict[str, Any]", schema.get("properties", {})).values():
            if isinstance(prop, dict) and len(cast("dict[str, list[Any]]", prop).get("enum", [])) == 1:
                values = cast("dict[str, Any]", prop)
                values |= {"type": "string", "const": values.pop("enum")[0]}
    return components
