"""Bodies: decoding and its messages."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.bodies import decode_body
from api.schemas.documents import UploadBody
from api.schemas.errors import ApiError
from api.schemas.search import SearchBody

SEARCHES = msgspec.json.Decoder(SearchBody)
UPLOADS = msgspec.json.Decoder(UploadBody)


def refusal_of(decoder: msgspec.json.Decoder, body: bytes) -> str:
    try:
        decode_body(decoder, body)
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
        decode_body(SEARCHES, body)
    assert words in refused.value.message
    assert [detail.path for detail in refused.value.details] == ([path] if path else [])
