"""Bodies: decoding and its messages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.bodies import BodyDecoder
from api.schemas.documents import UploadBody
from api.schemas.errors import ApiError
from api.schemas.search import SearchBody

SEARCHES = BodyDecoder(SearchBody)
UPLOADS = BodyDecoder(UploadBody)


def refusal_of(decoder: BodyDecoder[Any], body: bytes) -> str:
    try:
        decoder.decode(body)
    except ApiError as error:
        return error.code
    return ""


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_a_refusal(body: bytes) -> None:
    assert refusal_of(SEARCHES, body) in {"", "invalid_json", "invalid_request"}


@pytest.mark.parametrize("depth", [10, 500, 5_000, 200_000])
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_depth_never_breaks_anything(depth: int, opening: bytes, closing: bytes) -> None:
    body = b'{"documents":[{"id":"a","x":' + opening * depth + b"1" + closing * depth + b"}]}"
    assert refusal_of(UPLOADS, body) in ({""} if depth <= 500 else {"", "invalid_json"})


@pytest.mark.parametrize(
    ("body", "path", "words"),
    [
        (b'{"context":"x"}', "objective", "missing required field"),
        (b'{"objective":1,"context":"x"}', "objective", "Expected `str`, got `int`"),
        (b'{"objective":" ","context":"x"}', "objective", "not blank"),
        (b'{"objective":"x","context":"x","stream":"yes"}', "stream", "Expected `bool`"),
        (b"[]", "", "Expected `object`, got `array`"),
    ],
)
def test_a_refusal_names_the_place_and_what_was_expected(body: bytes, path: str, words: str) -> None:
    with pytest.raises(ApiError) as refused:
        SEARCHES.decode(body)
    assert words in refused.value.message
    assert [detail.path for detail in refused.value.details] == ([path] if path else [])


@pytest.mark.parametrize(
    ("field", "meant"),
    [
        ("filter", "filters"),
        ("Filters", "filters"),
        ("fitlers", "filters"),
        ("objetcive", "objective"),
        ("streams", "stream"),
    ],
)
def test_a_field_that_is_nearly_a_known_one_is_refused(field: str, meant: str) -> None:
    body = f'{{"objective":"x","context":"x","unheard":1,"{field}":null}}'.encode()
    with pytest.raises(ApiError, match=f"did you mean `{meant}`") as refused:
        SEARCHES.decode(body)
    assert refused.value.code == "invalid_request"
    assert [detail.path for detail in refused.value.details] == [field]


def test_a_field_that_is_none_of_ours_is_ignored_but_what_else_is_wrong_is_not() -> None:
    assert SEARCHES.decode(b'{"objective":"x","context":"y","unheard":{"objective":3}}').context == "y"
    for body, code in (
        (b'{"unheard":1,"objective":"x"}', "invalid_request"),
        (b'{"unheard":1,"objective":"x","context":"x"', "invalid_json"),
        (b'{"unheard":1,"objective":"x","context":"\xff"}', "invalid_json"),
        (b'{"\xff":1,"objective":"x","context":"x"}', "invalid_json"),
        (b'{"unheard":' + b"[" * 50_000 + b"]" * 50_000 + b',"objective":"x","context":"x"}', "invalid_json"),
    ):
        assert refusal_of(SEARCHES, body) == code
