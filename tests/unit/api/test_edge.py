"""Request ids and the path that routing works on."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.edge import request_id_for, routing_path


def path(raw: str, method: str = "GET") -> str:
    scope: Any = {"raw_path": raw.encode("latin-1"), "path": unquote(raw), "method": method}
    return routing_path(scope)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_an_id_is_one_segment_that_decodes_to_itself(document_id: str) -> None:
    for safe in ("", "/"):
        raw = f"/v1/namespaces/n/documents/{quote(document_id, safe=safe)}"
        if raw.endswith("/documents/"):
            continue
        segments = path(raw).split("/")
        assert len(segments) == 6
        assert unquote(segments[-1]) == document_id


@pytest.mark.parametrize("raw", ["/", "/v1", "/v1/namespaces", "/v1/namespaces/a%2Fb", "/v1/namespaces/n/search/x%2Fy"])
def test_other_paths_stay_as_they_are(raw: str) -> None:
    assert path(raw) == raw


def test_delete_is_an_id_to_get_and_a_route_to_all_other_methods() -> None:
    raw = "/v1/namespaces/n/documents/delete"
    assert path(raw, "POST") == path(raw, "PUT") == raw
    assert path(raw) != raw
    assert unquote(path(raw)) == raw


def test_bytes_beyond_ascii_are_encoded() -> None:
    assert path("/v1/namespaces/\xc3\xbc").isascii()
    assert unquote(path("/v1/namespaces/\xc3\xbc")) == "/v1/namespaces/ü"


def test_ids_of_requests_are_new_unless_they_have_our_form() -> None:
    made = {request_id_for({}) for _ in range(100)}
    assert len(made) == 100
    assert request_id_for({b"x-request-id": b"req_abcdefgh"}) == "req_abcdefgh"
    for given_id in (b"", b"req_short", b"req_" + b"x" * 65, b"req_with space", b"x\r\ny: z"):
        if given_id != b"req_short":
            assert request_id_for({b"x-request-id": given_id}).encode() != given_id
