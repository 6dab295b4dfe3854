"""Replies of a model service, read within a bound. Imports `httpx2`, so it is imported late itself."""

from __future__ import annotations

from typing import Any, cast

import httpx2

MOST_BYTES = 8 * 2**20
"""The largest reply, decoded. A compressed one of a few megabytes can hold gigabytes."""

_OF_THE_WIRE = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class _Bounded(httpx2.AsyncClient):
    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        options["stream"] = True
        response = await super().send(request, **options)
        body = bytearray()
        try:
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > MOST_BYTES:
                    raise httpx2.DecodingError(f"a reply of more than {MOST_BYTES:,} bytes", request=request)
        finally:
            await response.aclose()
        kept = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in _OF_THE_WIRE]
        read = httpx2.Response(
            response.status_code, headers=kept, content=bytes(body), request=request, extensions=response.extensions
        )
        read.elapsed = response.elapsed
        return read


def bounded_client(of: type[httpx2.AsyncClient]) -> httpx2.AsyncClient:
    """A client as `of` makes them, an SDK's own class; a reply beyond `MOST_BYTES` is a fault of the connection."""
    return cast("httpx2.AsyncClient", type("BoundedClient", (_Bounded, of), {})())
