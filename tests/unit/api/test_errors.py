"""From exceptions to answers."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

import engine
from api.errors import PUBLIC, STATUS, describe, public_code, public_code_of, public_failure, rendered
from api.schemas.errors import ApiError, ErrorCode


def kinds() -> list[type[engine.QuarryError]]:
    return [kind for kind in vars(engine).values() if isinstance(kind, type) and issubclass(kind, engine.QuarryError)]


def test_every_code_has_a_status_and_every_status_a_code() -> None:
    assert set(STATUS) == set(get_args(ErrorCode))


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
def test_every_error_of_the_engine_has_a_public_code(kind: type[engine.QuarryError]) -> None:
    code = public_code(kind)
    assert code in STATUS
    # A code that is public by itself stays what it is.
    if kind.code in STATUS:
        assert code == kind.code
    assert public_code_of(kind.code) == code


def test_the_most_specific_ancestor_decides() -> None:
    class Rarer(engine.FilterTypeMismatch):
        pass

    class OfItsOwnKind(engine.StorageError):
        code = "of_its_own_kind"

    assert public_code(Rarer) == "filter_type_mismatch"
    assert public_code(OfItsOwnKind) == "storage_error"
    assert all(issubclass(kind, engine.QuarryError) for kind in PUBLIC)


@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        (RuntimeError("SELECT secret FROM /srv/data"), "internal_error", 500),
        (engine.StorageError("/srv/data is broken"), "storage_error", 503),
        (engine.CorruptData("/srv/data/catalog.duckdb"), "storage_error", 503),
        (engine.ReindexRequired("was embedded by another"), "internal_error", 500),
        (KeyError("secret"), "internal_error", 500),
    ],
)
def test_what_went_wrong_inside_stays_inside(error: Exception, code: str, status: int) -> None:
    answer = rendered(error, "req_12345678")
    assert (answer.code, answer.status) == (code, status)
    for leak in (b"secret", b"srv", b"SELECT", b"embedded", b"Error"):
        assert leak not in answer.body
    assert msgspec.json.decode(answer.body)["error"]["details"] == []


@pytest.mark.parametrize(
    ("error", "status", "retry"),
    [
        (engine.Overloaded("busy"), 503, True),
        (engine.EngineClosed(), 503, True),
        (engine.StorageFull("full"), 503, True),
        (engine.ModelUnavailable("gone"), 503, True),
        (engine.SearchTimeout("late"), 504, False),
        (engine.SessionBusy(), 409, True),
        (engine.SessionExpired(), 410, False),
    ],
)
def test_what_passes_by_itself_says_when_to_come_back(error: engine.QuarryError, status: int, retry: bool) -> None:
    answer = rendered(error, "req_12345678")
    assert answer.status == status
    assert ("Retry-After" in answer.headers) is retry


def test_a_failed_session_tells_clients_not_to_try_again() -> None:
    assert rendered(engine.SessionFailed(), "req_12345678").headers["x-should-retry"] == "false"


def test_details_and_headers_are_kept() -> None:
    fault = engine.InvalidDocument("bad id", path="documents[17].id")
    assert [detail.path for detail in describe(fault, "r")[0].details] == ["documents[17].id"]
    limited = ApiError("rate_limited", "slow down", headers={"Retry-After": "7"})
    assert describe(limited, "r")[1]["Retry-After"] == "7"


def test_a_failure_of_a_search_speaks_in_public_codes() -> None:
    assert public_failure("model_refused", "It declined.", "r").code == "model_unavailable"
    hidden = public_failure("corrupt_data", "/srv/data", "r")
    assert hidden.code == "storage_error"
    assert "srv" not in hidden.message
    assert public_failure("never heard of", "x", "r").code == "internal_error"
