"""The values of an attribute, so that a person can choose what to filter by."""

from __future__ import annotations

from typing import Any

from litestar import get
from litestar.connection import Request
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from api.routes.answers import decoded, json_answer
from api.schemas.attributes import AttributeValues, ValueCount
from api.schemas.errors import ApiError
from api.schemas.operation import OPERATION, Operation, Parameter
from api.service import service_of

TAG = "Namespaces"
MAX_LIMIT = 1_000
DEFAULT_LIMIT = 50

_PARAMETERS = (
    Parameter(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
        "At most so many values.",
    ),
    Parameter("containing", {"type": "string"}, "Only values whose text contains this, whatever the case."),
)


@get(
    "/v1/namespaces/{namespace:str}/attributes/{attribute:str}/values",
    opt={
        OPERATION: Operation(
            id="attribute_values",
            tag=TAG,
            summary="Values of an attribute",
            description=(
                "What the documents hold in a filterable attribute, the most frequent value first, with how many "
                "documents hold each. Of a list each element counts once a document. Only the 10,000 most frequent "
                "values are looked at."
            ),
            scope="read",
            answer=AttributeValues,
            parameters=_PARAMETERS,
            errors=("invalid_request", "unknown_attribute", "attribute_not_filterable", "namespace_not_found"),
        )
    },
)
async def attribute_values(
    request: Request[Any, Any, Any], namespace: FromPath[str], attribute: FromPath[str]
) -> ASGIResponse:
    """Values with their counts."""
    name, of = decoded(namespace, "namespace"), decoded(attribute, "attribute")
    query = request.query_params
    limit = _limit(query.get("limit"))
    service = service_of(request)
    quarry = await service.engine_for(request)
    containing = query.get("containing", "")
    found = await service.read(lambda: quarry.values(name, of, limit=limit, containing=containing))
    return json_answer(AttributeValues([ValueCount(value, count) for value, count in found]))


def _limit(text: str | None) -> int:
    if text is None:
        return DEFAULT_LIMIT
    # int() takes signs, spaces and other scripts' digits, which nobody means here.
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= MAX_LIMIT):
        raise ApiError("invalid_request", f"`limit` is a whole number from 1 to {MAX_LIMIT:,}.", path="limit")
    return int(text)
