"""What the operator of a running server asks of it."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from litestar import post
from litestar.connection import Request
from litestar.response.base import ASGIResponse

from api.auth import require_operator
from api.routes.answers import json_answer
from api.schemas.backups import BackupObject
from api.schemas.errors import ApiError
from api.schemas.operation import OPERATION, Operation
from api.service import key_of, service_of
from engine import Engine


@post(
    "/v1/admin/backup",
    status_code=200,
    opt={
        OPERATION: Operation(
            id="backup",
            tag="Operation",
            summary="Back up the data directory",
            description=(
                "Copies all companies' data into a new folder under `QUARRY_BACKUPS`, while searches and writes go on. "
                "For admin keys of the company `default`. Takes no body."
            ),
            scope="admin",
            answer=BackupObject,
            errors=("invalid_request", "overloaded", "storage_error"),
        )
    },
)
async def backup(request: Request[Any, Any, Any]) -> ASGIResponse:
    """A copy of everything, made now."""
    require_operator(key_of(request))
    service = service_of(request)
    folder = service.settings.backups
    if folder is None:
        raise ApiError("invalid_request", "This server was started without `QUARRY_BACKUPS`, a folder for backups.")
    if service.backing_up.locked():
        raise ApiError("overloaded", "Another backup is being made.")
    async with service.backing_up:
        return json_answer(await service.read(lambda: _made(service.engine, folder)))


def _made(quarry: Engine, folder: Path) -> BackupObject:
    name = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    target = folder / name
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        quarry.backup(target)
        sizes = [file.stat().st_size for file in target.rglob("*") if file.is_file()]
    except OSError as error:
        raise ApiError("storage_error", "The backup cannot be written into its folder.") from error
    namespaces = sum(1 for entry in (target / "namespaces").iterdir() if entry.is_dir())
    return BackupObject(name, sum(sizes), namespaces)
