"""Rows of the decisions: authentication and keys."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from tests.api.rows import row
from tests.api.serving import ROOT_KEY, Api, ProcessServer, error_of


@row("Authentication and keys: Missing or malformed `Authorization`")
@pytest.mark.parametrize("value", [None, "", "Bearer", "Basic cm9vdA==", ROOT_KEY, "Bearer a b", "bearerx"])
def test_without_a_bearer_key_nothing_is_answered(api: Api, value: str | None) -> None:
    headers = {} if value is None else {"Authorization": value}
    answer = httpx.get(f"{api.url}/v1/namespaces", headers=headers)
    assert error_of(answer) == (401, "unauthenticated")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@row("Authentication and keys: Missing or malformed `Authorization`")
def test_two_authorization_headers_are_malformed(api: Api) -> None:
    headers = [("Authorization", f"Bearer {ROOT_KEY}"), ("Authorization", "Bearer other-key")]
    assert error_of(httpx.get(f"{api.url}/v1/namespaces", headers=headers)) == (401, "unauthenticated")


@row("Authentication and keys: Unknown, revoked or expired key")
def test_unknown_revoked_and_expired_keys_are_told_apart_by_nobody(api: Api) -> None:
    made = api.post("/v1/api_keys", json={"name": "to be revoked"}).json()
    assert api.delete(f"/v1/api_keys/{made['api_key']['id']}").json() == {"success": True}
    soon = (datetime.now(UTC) + timedelta(seconds=0.4)).isoformat()
    expiring = api.new_key(expires_at=soon)
    while api.with_key(expiring).get("/v1/namespaces").status_code == 200:
        pass
    answers = [api.with_key(key).get("/v1/namespaces") for key in ("qk_unknown", made["raw_key"], expiring)]
    assert {error_of(answer) for answer in answers} == {(401, "invalid_api_key")}
    assert {answer.headers["WWW-Authenticate"] for answer in answers} == {'Bearer error="invalid_token"'}
    assert len({answer.json()["error"]["message"] for answer in answers}) == 1


@row("Authentication and keys: Key lacks the scope")
def test_a_key_without_the_scope_is_refused(api: Api, articles: str) -> None:
    reader = api.with_key(api.new_key(scopes=["read"]))
    assert reader.get(f"/v1/namespaces/{articles}").status_code == 200
    assert error_of(reader.search(articles)) == (403, "permission_denied")
    assert error_of(reader.upload(articles, {"id": "x"})) == (403, "permission_denied")
    assert error_of(reader.get("/v1/api_keys")) == (403, "permission_denied")


@row("Authentication and keys: Order of checks")
def test_checks_come_in_order(api: Api) -> None:
    nobody = api.with_key(None)
    # Authentication goes before the route, the method, the media type and the body.
    assert error_of(nobody.get("/v1/no/such/route")) == (401, "unauthenticated")
    assert error_of(nobody.put("/v1/namespaces")) == (401, "unauthenticated")
    assert error_of(nobody.post("/v1/namespaces/none/search", content=b"{")) == (401, "unauthenticated")
    # The route before the media type,
    assert error_of(api.post("/v1/no/such/route", content=b"x")) == (404, "not_found")
    # the media type before the body,
    text = {"Content-Type": "text/plain"}
    assert error_of(api.post("/v1/namespaces/none/search", content=b"{", headers=text)) == (
        415,
        "unsupported_media_type",
    )
    # and the body before the namespace.
    assert error_of(api.post("/v1/namespaces/none/search", json={})) == (400, "invalid_request")
    assert error_of(api.search("none")) == (404, "namespace_not_found")


@row("Authentication and keys: First key")
def test_the_key_in_the_settings_is_an_admin_of_the_default_company(api: Api, articles: str) -> None:
    assert api.get("/v1/api_keys").status_code == 200
    company = api.get(f"/v1/namespaces/{articles}").json()
    assert (company["company_id"], company["company_name"]) == (1, "default")


@row("Authentication and keys: Routes")
def test_keys_are_made_listed_and_deleted(api: Api) -> None:
    answer = api.post("/v1/api_keys", json={"name": "indexer", "scopes": ["read", "write"], "unknown": 1})
    assert answer.status_code == 201
    assert answer.headers["Cache-Control"] == "no-store"
    made = answer.json()
    assert sorted(made) == ["api_key", "raw_key"]
    key = made["api_key"]
    assert sorted(key) == [
        "created_at",
        "created_by",
        "expires_at",
        "id",
        "key_prefix",
        "key_suffix",
        "last_used_at",
        "name",
        "scopes",
    ]
    assert made["raw_key"].startswith(key["key_prefix"])
    assert made["raw_key"].endswith(key["key_suffix"])
    assert (key["name"], key["scopes"], key["expires_at"], key["last_used_at"]) == (
        "indexer",
        ["read", "write"],
        None,
        None,
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", key["created_at"])
    assert isinstance(key["created_by"], str)
    listed = api.get("/v1/api_keys")
    assert key in listed.json()["api_keys"]
    assert made["raw_key"] not in listed.text
    assert api.delete(f"/v1/api_keys/{key['id']}").json() == {"success": True}
    assert error_of(api.delete(f"/v1/api_keys/{key['id']}")) == (404, "api_key_not_found")
    assert error_of(api.with_key(made["raw_key"]).get("/v1/namespaces")) == (401, "invalid_api_key")


@row("Authentication and keys: Routes")
def test_using_a_key_shows_in_the_list(api: Api) -> None:
    made = api.post("/v1/api_keys", json={"name": "used"}).json()
    api.with_key(made["raw_key"]).get("/v1/namespaces")
    listed = {key["id"]: key for key in api.get("/v1/api_keys").json()["api_keys"]}
    assert listed[made["api_key"]["id"]]["last_used_at"] is not None


@row("Authentication and keys: Storage")
def test_a_raw_key_is_stored_nowhere(api: Api, server: ProcessServer) -> None:
    raw = api.new_key(name="only its digest is kept")
    assert len(raw) >= 43
    folder = Path(server.log).parent
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if raw.encode() in path.read_bytes()]


@row("Authentication and keys: Scopes")
def test_a_key_may_do_everything_but_admin_unless_told_otherwise(api: Api) -> None:
    made = api.post("/v1/api_keys", json={"name": "plain"}).json()
    assert sorted(made["api_key"]["scopes"]) == ["read", "search", "write"]
    assert error_of(api.with_key(made["raw_key"]).get("/v1/api_keys")) == (403, "permission_denied")
    admin = api.with_key(api.new_key(scopes=["admin"]))
    assert admin.get("/v1/namespaces").status_code == 200
    assert admin.get("/v1/api_keys").status_code == 200
    assert error_of(api.post("/v1/api_keys", json={"name": "x", "scopes": ["root"]})) == (400, "invalid_request")
    assert error_of(api.post("/v1/api_keys", json={"name": "x", "scopes": []})) == (400, "invalid_request")


@row("Authentication and keys: Health")
def test_health_needs_no_key(api: Api) -> None:
    nobody = api.with_key(None)
    assert nobody.get("/healthz").json() == {"status": "ok"}
    assert nobody.get("/readyz").json() == {"status": "ready"}
    assert error_of(api.get("/v1/healthz")) == (404, "not_found")
