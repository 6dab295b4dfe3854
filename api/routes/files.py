"""Files that become documents: PDF, office files, mail, Markdown, tables and more."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from typing import IO, Any, cast

from litestar import post
from litestar.connection import Request
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from api.bodies import receive_file
from api.files.kinds import kind_of, known_endings
from api.files.pieces import Options, UnreadableFile
from api.files.report import Report
from api.files.uploaded import store_file
from api.routes.answers import decoded, json_answer
from api.schemas.errors import ApiError
from api.schemas.files import MOST_LISTED, FileAnswer, RefusedPlace
from api.schemas.operation import OPERATION, Operation, Parameter
from api.service import note_usage, service_of
from api.usage import UsageNote

MAX_NAME = 1_024


@post(
    "/v1/namespaces/{namespace:str}/files",
    status_code=200,
    opt={
        OPERATION: Operation(
            id="upload_file",
            tag="Documents",
            summary="Upload a file",
            description=(
                "The body is the file itself. It becomes documents as `quarry ingest` makes them: a section, a page or "
                "a row each. Under the same name it replaces what it was before. Documents are stored in batches; what "
                "cannot be used is named, and the rest is stored. The namespace is made when it does not exist."
            ),
            scope="write",
            takes_file=True,
            answer=FileAnswer,
            parameters=(
                Parameter(
                    "name",
                    {"type": "string", "minLength": 1, "maxLength": MAX_NAME, "examples": ["manuals/pump.pdf"]},
                    "The file's name, with folders if you like; its ending says what kind of file it is. Ids begin "
                    "with it.",
                ),
                Parameter("encoding", {"type": "string"}, "Of a text file; guessed by default."),
                Parameter("separator", {"type": "string"}, "Between the cells of a table; guessed by default."),
            ),
            errors=(
                "invalid_request",
                "invalid_document",
                "invalid_schema",
                "schema_conflict",
                "payload_too_large",
                "unsupported_media_type",
                "storage_error",
                "overloaded",
            ),
        )
    },
)
async def upload_file(request: Request[Any, Any, Any], namespace: FromPath[str]) -> ASGIResponse:
    """Store a file's documents; durable and findable when the answer is sent."""
    space = decoded(namespace, "namespace")
    name = _name(request)
    kind = kind_of(name.rsplit("/", 1)[-1])
    if kind is None:
        message = f"Files called like this are not read; these are: {known_endings()}, and source code."
        raise ApiError("unsupported_media_type", message, path="name")
    options = Options(encoding=_given(request, "encoding"), separator=_separator(request))
    service = service_of(request)
    quarry = await service.engine_for(request)
    file = tempfile.TemporaryFile(prefix="quarry-")  # noqa: SIM115 - the thread that reads it closes it
    held = 0

    def hold(size: int) -> None:
        nonlocal held
        service.files.hold(size)
        held += size

    def stored(size: int) -> Report:
        with file:
            return store_file(quarry, space, kind, name, cast("Any", file), size, options)

    try:
        size = await receive_file(request, service.settings.upload_bytes, cast("IO[bytes]", file), hold)
    except BaseException:
        file.close()
        service.files.free(held)
        raise
    # What was begun is finished, also when the client has gone.
    report = await asyncio.shield(asyncio.ensure_future(_converted(request, lambda: stored(size), held)))
    note_usage(request, UsageNote("upload_file", space))
    return json_answer(_answer(report))


async def _converted(request: Request[Any, Any, Any], call: Callable[[], Report], held: int) -> Report:
    service = service_of(request)
    try:
        return await service.convert(call)
    except UnreadableFile as error:
        raise ApiError("invalid_document", f"The file cannot be used: {error}.", path="name") from error
    finally:
        service.files.free(held)


def _answer(report: Report) -> FileAnswer:
    return FileAnswer(
        documents_upserted=report.documents,
        documents_deleted=report.removed,
        skipped=next(iter(report.skipped), None),
        refused=[RefusedPlace(each.place, each.reason) for each in report.refused[:MOST_LISTED]],
        refused_count=report.refused_count,
        notes=report.notes[:MOST_LISTED],
    )


def _name(request: Request[Any, Any, Any]) -> str:
    name = (_given(request, "name") or "").strip("/")
    if not name.strip() or len(name) > MAX_NAME:
        raise ApiError("invalid_request", f"`name` is the file's name, of 1 to {MAX_NAME:,} characters.", path="name")
    return name


def _separator(request: Request[Any, Any, Any]) -> str | None:
    given = _given(request, "separator")
    if given is not None and (len(given) != 1 or given in '"\r\n'):
        raise ApiError("invalid_request", "`separator` is one character.", path="separator")
    return given


def _given(request: Request[Any, Any, Any], name: str) -> str | None:
    values = request.query_params.getall(name, [])
    return values[-1] if values and values[-1] else None
