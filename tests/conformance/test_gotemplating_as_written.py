"""Resources in the apiVersion of function-go-templating are sent as that function sends them."""

import base64

import pytest
from google.protobuf import json_format
from support.gotemplating import XR
from support.gotemplating_steps import (
    EXTRA,
    PREFIX,
    XR_HEAD,
    composed,
    extra,
    meta,
    refusal,
    request,
    respond,
    run,
    warnings,
)

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import Object


def composed_object(text: str) -> Object:
    """Return the desired resource ``a`` of a template."""
    resource = respond(request(text)).desired.resources["a"].resource
    plain: Object = json_format.MessageToDict(resource)
    return plain


WRITTEN = [
    pytest.param("spec:\n  a: null\n  b: {c: null}\n", {"spec": {"a": None, "b": {"c": None}}},
                 id="nulls"),
    pytest.param("data:\n", {"data": None}, id="nothing-behind-a-key"),
    pytest.param("status: {a: b}\n", {"status": {"a": "b"}}, id="status"),
    pytest.param("spec: {a: b}\nspec: {c: d}\n", {"spec": {"c": "d"}}, id="key-twice"),
    pytest.param("spec: {a: &x {b: c}, a: *x}\n", {"spec": {"a": {"b": "c"}}}, id="anchor-twice"),
]  # fmt: skip


@pytest.mark.parametrize(("rest", "fields"), WRITTEN)
def test_fields_of_resource_are_sent_verbatim(rest: str, fields: Object) -> None:
    resource = composed_object(composed("a", rest))
    assert {key: resource[key] for key in fields} == fields


METADATA = [
    pytest.param("creationTimestamp: null", {"creationTimestamp": None}, id="of-the-server"),
    pytest.param("labels: {a: 1, b: x}", {"labels": {"a": 1, "b": "x"}}, id="labels-of-any-type"),
    pytest.param("labels: [a]", {"labels": ["a"]}, id="labels-that-are-no-map"),
    pytest.param("labels: {a: null}", {"labels": {"a": None}}, id="null-label"),
]


@pytest.mark.parametrize(("line", "fields"), METADATA)
def test_metadata_of_resource_is_sent_verbatim(line: str, fields: Object) -> None:
    """Crossplane checks it, as it does for function-go-templating."""
    metadata = composed_object(composed("a", f"  {line}\n"))["metadata"]
    assert metadata == {"annotations": {}, **fields}


def test_annotations_other_than_name_and_readiness_are_sent() -> None:
    extra_annotations = f"    {PREFIX}/ready: 'True'\n    {PREFIX}/other: x\n    {PREFIX}/b: z\n"
    annotations = composed_object(composed("a", extra_annotations))["metadata"]
    assert annotations == {"annotations": {f"{PREFIX}/other": "x", f"{PREFIX}/b": "z"}}


def test_ttl_of_a_composed_xr_is_known() -> None:
    """Its own Composition reads the annotation."""
    assert warnings(composed("a", f"    {PREFIX}/ttl: 30s\n")) == []


def test_warnings_of_cached_text_are_sent_each_time() -> None:
    text = composed("a", "spec: {x: 1, x: 2}\n") + composed("a", "  labels: {a: on}\n")
    messages = [warnings(text) for _ in range(3)]
    assert len(messages[0]) == 3
    assert messages[1:] == messages[:1] * 2


def test_warnings_beyond_three_are_counted_only() -> None:
    """The template runs again for each position, in every reconcile."""
    messages = warnings(composed("a", "spec: {x: 1, x: 2}\n") * 40)
    assert len(messages) == 4
    assert messages[-1] == "76 more warnings like these"


def test_warnings_of_large_map_with_duplicate_keys_take_no_time() -> None:
    keys = "{{ range until 6000 }}  k{{ . }}: 1\n{{ end }}"
    assert len(warnings(composed("a", f"data:\n{keys}{keys}"))) == 4


def test_status_of_xr_keeps_nulls() -> None:
    text = f"---\n{XR_HEAD}status: {{a: null, b: {{c: null}}}}\n"
    resource = json_format.MessageToDict(run(text).desired.composite.resource)
    assert resource["status"] == {"a": None, "b": {"c": None}}


SEEN_LATER = [
    pytest.param("# nothing", "{}", id="nothing"),
    pytest.param(f"{XR_HEAD}status: {{a: b}}\n", '{"status":{"a":"b"}}', id="status"),
]


@pytest.mark.parametrize(("first", "expected"), SEEN_LATER)
def test_desired_xr_is_sent_even_without_changes(first: str, expected: str) -> None:
    """Templates of later steps read it without a check."""
    desired = json_format.MessageToDict(respond(request(first)).desired)
    second = composed("a", "data: {seen: {{ .desired.composite.resource | toJson | quote }}}\n")
    resource = run(second, desired=desired).desired.resources["a"].resource
    assert resource["data"]["seen"] == expected


def test_desired_xr_of_operation_is_absent() -> None:
    response = respond(request(composed("a"), observed={}))
    assert not response.desired.HasField("composite")


def test_readiness_in_other_spellings_is_rejected() -> None:
    """function-go-templating rejects them, too."""
    for text in ("true", "READY_TRUE", ""):
        assert "must be one of" in refusal(composed("a", f'    {PREFIX}/ready: "{text}"\n'))


STATUSES = [
    pytest.param("'true'", pb.STATUS_CONDITION_UNKNOWN, id="small-letters"),
    pytest.param("STATUS_CONDITION_TRUE", pb.STATUS_CONDITION_UNKNOWN, id="protocol"),
    pytest.param("'True'", pb.STATUS_CONDITION_TRUE, id="exact"),
]


@pytest.mark.parametrize(("text", "status"), STATUSES)
def test_condition_with_invalid_status_is_unknown(text: str, status: int) -> None:
    response = respond(
        request(meta("ClaimConditions", f"conditions: [{{type: A, status: {text}}}]"))
    )
    (condition,) = (each for each in response.conditions if each.type == "A")
    assert condition.status == status
    assert bool(response.results) is (status == pb.STATUS_CONDITION_UNKNOWN)


def test_condition_with_boolean_status_is_rejected() -> None:
    text = meta("ClaimConditions", "conditions: [{type: A, status: true}]")
    assert "conditions[0].status: must be a string" in refusal(text)


DETAILS = [
    pytest.param("aGVsbG8=", b"hello", id="base64"),
    pytest.param("aGVs bG8=", b"hel", id="up-to-a-blank"),
    pytest.param("aGVsbG8=aGVs", b"hello", id="up-to-the-padding"),
    pytest.param("aGVsb", b"hel", id="without-padding"),
    pytest.param("<no value>", b"", id="missing-value"),
    pytest.param("", b"", id="empty"),
    pytest.param("aGVs\\nbG8=", b"hello", id="line-break"),
]


@pytest.mark.parametrize(("text", "value"), DETAILS)
def test_connection_detail_with_invalid_base64_takes_valid_beginning(
    text: str, value: bytes
) -> None:
    """A value that does not exist yet must not stop the resources that create it."""
    response = respond(request(meta("CompositeConnectionDetails", f'data: {{a: "{text}"}}')))
    assert dict(response.desired.composite.connection_details) == {"a": value}
    is_whole = base64.b64encode(value).decode() == text.replace("\\n", "")
    assert bool(response.results) is not is_whole


def test_connection_detail_that_is_no_string_drops_all_with_warning() -> None:
    text = meta("CompositeConnectionDetails", "data: {a: null, b: aGVsbG8=}")
    assert not respond(request(text)).desired.composite.connection_details
    assert [message.rpartition(": ")[2] for message in warnings(text)] == [
        "must be a string, not null",
        "is left out as a whole",
    ]


def test_selector_with_null_label_has_empty_string() -> None:
    """Go decodes null into an empty string."""
    requirements = run(extra("apiVersion: v1, kind: K, matchLabels: {a: null}")).requirements
    assert dict(requirements.resources["things"].match_labels.labels) == {"a": ""}


def test_context_has_empty_object_for_requirement_without_items() -> None:
    required = {"none": {}, "some": {"items": [{"resource": XR}]}}
    context = json_format.MessageToDict(run("# nothing", requiredResources=required).context)
    assert context == {EXTRA: {"none": {}, "some": {"items": [{"resource": XR}]}}}
