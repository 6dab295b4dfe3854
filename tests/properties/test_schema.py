"""Laws of schemas: merge, inference, and uploads in one piece or many."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidDocument, RequestError, SchemaError
from engine.model.checking import plan_upload
from engine.model.schema import Attribute, AttributePatch, AttributeType, Schema, decode_schema, merge
from engine.model.values import typed_value
from tests.strategies import EVERYTHING, documents, json_values

NAMES = ["a", "b", "c", "root_document_id"]
flags = st.none() | st.booleans()
patches = st.dictionaries(
    st.sampled_from(NAMES), st.builds(AttributePatch, st.none() | st.sampled_from(AttributeType), flags, flags)
)
schemas = st.dictionaries(
    st.sampled_from(NAMES[:3]), st.builds(Attribute, st.sampled_from(AttributeType), inferred=st.booleans())
).map(Schema)


def merged(current: Schema, patch: dict[str, AttributePatch]) -> Schema | str:
    try:
        return merge(current, patch)
    except SchemaError as fault:
        return fault.code


@given(current=schemas, patch=patches)
def test_merging_a_patch_twice_is_merging_it_once(current: Schema, patch: dict[str, AttributePatch]) -> None:
    once = merged(current, patch)
    assert isinstance(once, str) or merged(once, patch) == once


@given(current=schemas, first=patches, second=patches)
def test_once_an_attribute_is_flagged_patches_of_different_attributes_commute(
    current: Schema, first: dict[str, AttributePatch], second: dict[str, AttributePatch]
) -> None:
    current = Schema(dict(current.attributes) | {"flagged": Attribute(AttributeType.STRING, is_searchable=True)})
    second = {name: patch for name, patch in second.items() if name not in first}
    one, other = merged(current, first), merged(current, second)
    if isinstance(one, Schema) and isinstance(other, Schema):
        assert merged(one, second) == merged(other, first)


@given(current=schemas, patch=patches)
def test_what_is_searched_stays_searched_unless_it_is_switched_off(
    current: Schema, patch: dict[str, AttributePatch]
) -> None:
    after = merged(current, patch)
    if isinstance(after, Schema):
        off = {name for name, change in patch.items() if change.is_searchable is False}
        assert set(current.searchable()) - off <= set(after.searchable())


@given(current=schemas, patch=patches)
def test_what_is_shown_may_come_back(current: Schema, patch: dict[str, AttributePatch]) -> None:
    after = merged(current, patch)
    if isinstance(after, Schema):
        again = merge(after, decode_schema(msgspec.to_builtins(after.definitions())))
        assert again.definitions().keys() == after.definitions().keys()
        assert (again.searchable(), again.filterable()) == (after.searchable(), after.filterable())


@given(current=schemas, patch=patches)
def test_a_merge_removes_nothing_and_changes_no_type_but_int_to_float(
    current: Schema, patch: dict[str, AttributePatch]
) -> None:
    after = merged(current, patch)
    if isinstance(after, Schema):
        changes = {
            (old.type.element, after.attributes[name].type.element)
            for name, old in current.attributes.items()
            if after.attributes[name].type is not old.type
        }
        assert changes <= {(AttributeType.INT, AttributeType.FLOAT)}


loose = st.fixed_dictionaries(
    {"id": st.sampled_from("pqr")},
    optional={
        name: st.sampled_from([None, [], 1, 2, 1.5, "x", True, [1], [1.5], ["x"], [1, "x"], {"k": []}, [None]])
        for name in "ab"
    },
)


def outcome(current: Schema, batches: list[list[dict[str, Any]]]) -> Any:
    written: dict[str, bytes] = {}
    try:
        for batch in batches:
            current, checked = plan_upload(current, None, batch)
            written.update((each.id, each.body) for each in checked)
    except InvalidDocument as fault:
        return fault.code
    return current, written


@given(batch=st.lists(loose, max_size=5))
def test_an_upload_ends_as_its_documents_would_one_by_one(batch: list[dict[str, Any]]) -> None:
    assert outcome(Schema(), [batch]) == outcome(Schema(), [[document] for document in batch])


@given(batch=st.lists(loose, max_size=5))
def test_uploading_the_same_again_changes_nothing(batch: list[dict[str, Any]]) -> None:
    once = outcome(Schema(), [batch])
    assert outcome(Schema(), [batch, batch]) == once


@given(numbers=st.lists(st.sampled_from([1, 2, 1.5, None, []]), max_size=5), order=st.randoms(use_true_random=False))
def test_numbers_give_the_same_type_in_any_order(numbers: list[Any], order: Any) -> None:
    shuffled = numbers.copy()
    order.shuffle(shuffled)
    kinds = [
        {name: a.type for name, a in plan_upload(Schema(), None, each)[0].attributes.items()}
        for each in ([{"id": "p", "n": n} for n in some] for some in (numbers, shuffled))
    ]
    assert kinds[0] == kinds[1]


@given(batch=st.lists(documents(), max_size=4))
def test_documents_of_a_schema_are_accepted_and_kept_as_sent(batch: list[dict[str, Any]]) -> None:
    schema, checked = plan_upload(EVERYTHING, None, batch)
    assert schema == EVERYTHING
    last = {document["id"]: document for document in batch}
    assert {each.id: json.loads(each.body) for each in checked} == json.loads(json.dumps(last))


@given(batch=st.lists(documents(), max_size=4))
def test_backfilled_values_are_those_of_an_upload(batch: list[dict[str, Any]]) -> None:
    for each in plan_upload(EVERYTHING, None, batch)[1]:
        later = {n: typed_value(EVERYTHING.attributes[n].type, each.document.get(n)) for n in EVERYTHING.filterable()}
        assert {name: value for name, value in later.items() if value is not None} == each.values


@given(document=st.dictionaries(st.text(max_size=3) | st.just("id"), json_values(finite=False)) | json_values())
def test_any_json_is_a_document_or_an_invalid_document(document: Any) -> None:
    try:
        _, [checked] = plan_upload(Schema(), None, [document])
    except InvalidDocument as fault:
        path = fault.path
        assert path.startswith("documents[0]")
    else:
        assert json.loads(checked.body) == document


@given(
    raw=json_values()
    | st.dictionaries(st.text(max_size=2), st.dictionaries(st.sampled_from(["type", "x"]), json_values(max_leaves=2)))
)
def test_any_json_is_a_schema_or_a_schema_error(raw: Any) -> None:
    try:
        patch = decode_schema(raw)
    except RequestError as fault:
        code = fault.code
        assert code == "invalid_schema"
    else:
        assert set(patch) == set(raw)
