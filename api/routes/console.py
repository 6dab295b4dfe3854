"""The console: static files under ``api/console/``, held in memory, with a policy that lets nothing else in."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

from litestar import get
from litestar.connection import Request
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from api.routes.answers import json_answer
from api.schemas.errors import ApiError
from api.schemas.operation import OPERATION, Operation

TAG = "Operation"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Scripts, styles and pictures are the server's own files; no code may turn a string into HTML or script."""

INDEX = "index.html"
_MEDIA = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}


class _File(NamedTuple):
    body: bytes
    media: str
    tag: str


def _read(folder: Traversable, prefix: str = "") -> dict[str, _File]:
    found: dict[str, _File] = {}
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            found |= _read(entry, f"{name}/")
        elif (media := _MEDIA.get(name.rpartition(".")[2])) is not None:
            body = entry.read_bytes()
            found[name] = _File(body, media, f'"{hashlib.sha256(body).hexdigest()[:24]}"')
    return found


# Read once: a request names an entry of this table, never a path of the disk.
_FILES = _read(files("api") / "console")


_BEGINNINGS = {
    "service": "quarry",
    "documentation": "/docs",
    "openapi": "/openapi.json",
    "console": "/console",
    "search": "/v1/namespaces/{namespace}/search",
}


@get(
    "/",
    opt={
        OPERATION: Operation(
            id="root",
            tag=TAG,
            summary="Where to begin",
            description="Sends browsers to `/console`; tells programs where to look. Needs no key.",
            answer={"type": "object", "additionalProperties": {"type": "string"}},
        )
    },
)
async def root(request: Request[Any, Any, Any]) -> ASGIResponse:
    """A person who typed the address of the server wants the console."""
    if "text/html" not in request.headers.get("accept", ""):
        return json_answer(_BEGINNINGS)
    return ASGIResponse(status_code=307, headers={"Location": "/console", "Vary": "Accept"}, media_type="text/html")


def _described(operation_id: str, summary: str, media: str = "text/html") -> dict[str, Any]:
    operation = Operation(
        id=operation_id,
        tag=TAG,
        summary=summary,
        description="Needs no key; the page asks for one and uses `/v1` with it.",
        answer={"type": "string"},
        media=media,
        errors=("not_found",),
    )
    return {OPERATION: operation}


@get("/console", opt=_described("console", "The console"))
async def console(request: Request[Any, Any, Any]) -> ASGIResponse:
    """The page itself."""
    return _answer(request, INDEX)


@get("/console/{file:path}", opt=_described("console_file", "A file of the console", "*/*"))
async def console_file(request: Request[Any, Any, Any], file: FromPath[str]) -> ASGIResponse:
    """A script, a style or a picture of the page."""
    return _answer(request, str(file).strip("/") or INDEX)


def _answer(request: Request[Any, Any, Any], name: str) -> ASGIResponse:
    found = _FILES.get(name)
    if found is None:
        raise ApiError("not_found", "There is no such file.")
    headers = {
        "Cache-Control": "no-cache",
        "ETag": found.tag,
        "Content-Security-Policy": POLICY,
        "Cross-Origin-Opener-Policy": "same-origin",
    }
    if request.headers.get("if-none-match") == found.tag:
        return ASGIResponse(body=b"", status_code=304, headers=headers, media_type=found.media)
    return ASGIResponse(body=found.body, headers=headers, media_type=found.media)
