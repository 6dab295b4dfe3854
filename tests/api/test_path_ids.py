"""Ids in paths: whatever can be uploaded can be fetched, byte for byte."""

from __future__ import annotations

from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.api.serving import ROOT_KEY, Api, error_of, raw_exchange

NAMESPACE = "path-ids"
IDS = [
    "a/b",
    "a//b",
    "/",
    "//",
    "/a/",
    "a/",
    "a%2Fb",
    "%2F",
    "%",
    "%%",
    "...",
    "..a",
    "./",
    "../x",
    "../../v1/namespaces",
    "a b",
    " a ",
    "a+b",
    "a?b",
    "a#b",
    "a&b=c",
    "delete",
    "delete/",
    "list",
    "a;b",
    "a:b",
    "a\\b",
    "ü",
    "u\u0308",
    "漢字",
    "😀",
    "\u202e",
    "\u00a0",
    "{document_id}",
    "'\"`<>",
    "-",
    "_",
    "~",
]


def fetch(api: Api, path: str) -> tuple[int, bytes]:
    """Status and body for a path that is sent as it is."""
    request = (
        f"GET {path} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {ROOT_KEY}\r\nConnection: close\r\n\r\n"
    ).encode()
    head, _, body = raw_exchange(api.url, request).partition(b"\r\n\r\n")
    return int(head.split()[1]), body


@pytest.fixture(scope="module")
def uploaded(api: Api) -> Api:
    assert api.upload(NAMESPACE, *({"id": i} for i in IDS)).json() == {"documents_upserted": len(IDS)}
    return api


@pytest.mark.parametrize("document_id", IDS)
def test_an_encoded_id_is_found(uploaded: Api, document_id: str) -> None:
    status, body = fetch(uploaded, f"/v1/namespaces/{NAMESPACE}/documents/{quote(document_id, safe='')}")
    assert (status, body) == (200, b'{"id":%b}' % _encoded(document_id))


@pytest.mark.parametrize("document_id", [i for i in IDS if "/" in i.strip("/") and "%" not in i])
def test_a_slash_may_also_stand_as_it_is(uploaded: Api, document_id: str) -> None:
    status, body = fetch(uploaded, f"/v1/namespaces/{NAMESPACE}/documents/{quote(document_id, safe='/')}")
    assert (status, body) == (200, b'{"id":%b}' % _encoded(document_id))


def _encoded(text: str) -> bytes:

    return msgspec.json.encode(text)


@settings(max_examples=40)
@given(
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=64).filter(
        lambda i: i not in {".", ".."}
    )
)
def test_any_id_that_is_taken_is_found(uploaded: Api, document_id: str) -> None:
    assert uploaded.upload(NAMESPACE, {"id": document_id, "n": 1}).status_code == 200
    status, body = fetch(uploaded, f"/v1/namespaces/{NAMESPACE}/documents/{quote(document_id, safe='')}")
    assert (status, body) == (200, b'{"id":%b,"n":1}' % _encoded(document_id))


@pytest.mark.parametrize("path", ["%00", "%0A", "x" * 65, "%F0%9F%98%80" * 65, "none"])
def test_an_id_that_cannot_be_is_not_found(uploaded: Api, path: str) -> None:
    status, _ = fetch(uploaded, f"/v1/namespaces/{NAMESPACE}/documents/{path}")
    assert status == 404


@pytest.mark.parametrize("path", ["%FF", "%C0%80", "%ED%A0%80"])
def test_an_id_that_is_not_utf8_is_refused(uploaded: Api, path: str) -> None:
    answer = uploaded.get(f"/v1/namespaces/{NAMESPACE}/documents/{path}")
    assert error_of(answer) == (400, "invalid_request")


def test_the_collection_with_a_slash_is_a_document_without_an_id(uploaded: Api) -> None:
    assert error_of(uploaded.get(f"/v1/namespaces/{NAMESPACE}/documents/")) == (404, "document_not_found")


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_path_without_the_name_of_its_namespace_means_no_other(uploaded: Api, method: str) -> None:
    uploaded.upload("documents", {"id": "kept"})
    answer = uploaded.request(method, "/v1/namespaces//documents", json={"document_ids": ["nope"]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")
    assert uploaded.get("/v1/namespaces/documents/documents/kept").status_code == 200


def test_slashes_in_front_do_not_hide_the_key(uploaded: Api) -> None:
    assert uploaded.get(f"{uploaded.base_url}//v1/namespaces").status_code == 200
