"""Meta documents, data and odd texts as function-go-templating reads them."""

import base64
import json

import pytest
from google.protobuf import json_format
from support.gotemplating import META, XR
from support.gotemplating_steps import (
    EXTRA,
    PREFIX,
    XR_HEAD,
    composed,
    refusal,
    request,
    respond,
    run,
    warnings,
)

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import Object

NAME = f"{PREFIX}/composition-resource-name"
# Each meta kind, and what its document adds to the response.
META_KINDS = {
    "CompositeConnectionDetails": (
        "data: {user: YWRtaW4=}",
        {"desired": {"composite": {"connection_details": {"user": "YWRtaW4="}}}},
    ),
    "ClaimConditions": (
        "conditions: [{type: Sound, status: 'True', reason: Seen}]",
        {
            "conditions": [
                {
                    "type": "Sound",
                    "status": "STATUS_CONDITION_TRUE",
                    "reason": "Seen",
                    "target": "TARGET_COMPOSITE",
                }
            ]
        },
    ),
    "Context": ("data: {key: value}", {"context": {"key": "value"}}),
    "ExtraResources": (
        "requirements: {a: {apiVersion: v1, kind: ConfigMap, matchName: some}}",
        {
            "requirements": {
                part: {"a": {"api_version": "v1", "kind": "ConfigMap", "match_name": "some"}}
                for part in ("resources", "extra_resources")
            }
        },
    ),
}
ANNOTATIONS = {
    "name": f"{NAME}: some-name",
    "empty name": f"{NAME}: ''",
    "name and readiness": f"{NAME}: some-name\n    {PREFIX}/ready: 'Perhaps'",
}


def to_object(response: pb.RunFunctionResponse) -> Object:
    """Return a response as plain data."""
    plain: Object = json_format.MessageToDict(response, preserving_proto_field_name=True)
    return plain


@pytest.mark.parametrize("annotations", ANNOTATIONS.values(), ids=ANNOTATIONS)
@pytest.mark.parametrize("kind", META_KINDS)
def test_meta_document_with_resource_name_is_meta(kind: str, annotations: str) -> None:
    """The apiVersion decides: it is not composed, and nothing of it is lost."""
    body, added = META_KINDS[kind]
    head = f"apiVersion: {META}\nkind: {kind}\n"
    document = f"{head}metadata:\n  annotations:\n    {annotations}\n{body}\n"
    response = to_object(run(document, desired={"composite": {}}))
    assert not response.get("desired", {}).get("resources")
    assert response == to_object(run(f"{head}{body}\n", desired={"composite": {}}))
    response.pop("meta")
    if kind != "CompositeConnectionDetails":
        response.pop("desired", None)
    else:
        response["desired"]["composite"].pop("resource", None)
    assert response == added


def test_own_meta_document_with_resource_name_is_meta() -> None:
    own = "script.fn.crossplane.io"
    text = f"apiVersion: meta.{own}/v1beta1\nkind: Context\ndata: {{key: value}}\n"
    text += f"metadata: {{annotations: {{{own}/composition-resource-name: a}}}}\n"
    value: Object = {"apiVersion": f"{own}/v1beta1", "kind": "GoTemplate", "source": "Inline"}
    response = to_object(respond(request("", fields={**value, "inline": text})))
    assert response["context"] == {"key": "value"}
    assert not response.get("desired", {}).get("resources")


STATUSES = [
    pytest.param("status:\n", None, {}, id="nothing"),
    pytest.param("status: null\n", {"a": 1}, {"a": 1}, id="null-over-one"),
    pytest.param("status: {}\n", None, {}, id="empty"),
    pytest.param("status: {a: {}}\n", {"a": {"b": 1}}, {"a": {"b": 1}}, id="empty-below"),
    pytest.param("", None, None, id="none"),
]


@pytest.mark.parametrize(("line", "before", "after"), STATUSES)
def test_status_of_null_is_empty(line: str, before: Object | None, after: Object | None) -> None:
    """A template renders it when all values are missing."""
    desired: Object = {**XR, **({} if before is None else {"status": before})}
    response = run(XR_HEAD + line, desired={"composite": {"resource": desired}})
    resource = json_format.MessageToDict(response.desired.composite.resource)
    assert resource.get("status") == after


METAS = [
    pytest.param({"tag": "x"}, {"tag": "x"}, id="tag"),
    pytest.param({}, None, id="nothing"),
    pytest.param(
        {"capabilities": ["CAPABILITY_CAPABILITIES"]},
        {"capabilities": ["CAPABILITY_CAPABILITIES"]},
        id="capabilities",
    ),
]


@pytest.mark.parametrize(("meta", "expected"), METAS)
def test_request_meta_omits_empty_parts(meta: Object, expected: Object | None) -> None:
    """As in protobuf JSON; in the own apiVersion both are always there."""
    text = composed("a", "seen: {{ toJson .meta | quote }}\n")
    response = run(text, meta=meta)
    assert json.loads(response.desired.resources["a"].resource["seen"]) == expected


def test_context_with_null_data_changes_nothing() -> None:
    head = f"apiVersion: {META}\nkind: Context\n"
    assert to_object(run(f"{head}data:\n", context={"a": 1}))["context"] == {"a": 1}
    assert "data: is required" in refusal(head)


def json_resource(name: str, metadata: Object | None = None, **fields: object) -> str:
    """Return a composed resource as JSON."""
    whole = {"annotations": {NAME: name}, **(metadata or {})}
    return json.dumps({"apiVersion": "v1", "kind": "CD", "metadata": whole, **fields})


TWICE = json_resource("b", x=1)[:-1] + ', "x": 2}'
STREAMS = [
    pytest.param(
        json_resource("a", metadata={"labels": {"n": 1}}) + json_resource("b"),
        ["labels"],
        id="label",
    ),
    pytest.param(
        json_resource("a") + json_resource("b", metadata={"labels": {"n": True}}),
        ["labels"],
        id="last",
    ),
    pytest.param(json_resource("a") + TWICE, ["duplicate key 'x'"], id="twice"),
    pytest.param(TWICE + json_resource("a"), ["duplicate key 'x'"], id="twice-first"),
    pytest.param(f"{json_resource('a')}\n---\n{TWICE}", ["duplicate key 'x'"], id="separated"),
    # YAML has other rules for tabs and for characters beyond 16 bits.
    pytest.param(
        json_resource("a") + TWICE.replace(" ", "\n\t"), ["duplicate key"], id="twice-tabs"
    ),
    pytest.param(
        json_resource("a") + TWICE[:-1] + ', "y": "\\ud83d\\ude00"}',
        ["duplicate key in an object: the last one counts"],
        id="twice-emoji",
    ),
    # No JSON, but a map of YAML.
    pytest.param(
        TWICE[:-1] + ",}\n---\n" + json_resource("a"), ["duplicate key 'x'"], id="twice-comma"
    ),
    pytest.param(json_resource("a") + json_resource("b"), [], id="nothing"),
]


@pytest.mark.parametrize(("text", "messages"), STREAMS)
def test_json_with_duplicate_keys_or_labels_is_a_warning(text: str, messages: list[str]) -> None:
    """Objects follow each other; the last of equal keys counts, labels have any type."""
    response = respond(request(text))
    assert sorted(response.desired.resources) == ["a", "b"]
    assert response.desired.resources["b"].resource["kind"] == "CD"
    if "twice" in str(messages):
        assert response.desired.resources["b"].resource["x"] == 2
    assert [result.severity for result in response.results] == [pb.SEVERITY_WARNING] * len(messages)
    for result, message in zip(response.results, messages, strict=True):
        assert message in result.message


def test_json_with_invalid_annotation_is_rejected_with_position() -> None:
    """It is not read as YAML instead, where two objects on a line are another mistake."""
    text = (
        json_resource("a")
        + "\n"
        + json_resource("b", metadata={"annotations": {NAME: "b", "n": 1}})
    )
    message = refusal(text)
    assert message.startswith("inline.template:2:")
    assert 'metadata.annotations["n"] must be a string, not an integer' in message


@pytest.mark.parametrize("rest", ["# a comment", " # a comment", "#", "\t# x", "\u00a0", ""])
def test_separator_with_comment_separates(rest: str) -> None:
    text = composed("a") + f"---{rest}\n" + composed("b")[4:]
    assert sorted(run(text).desired.resources) == ["a", "b"]


def test_integers_within_a_double_are_exact() -> None:
    """Others would be other numbers."""
    for number in (2**53, 2**54, -(2**60), 10**19, 2**64 - 2**11):
        response = run(composed("a", f"value: {number}\n"))
        assert int(response.desired.resources["a"].resource["value"]) == number
    for number in (2**53 + 1, 2**63 - 1):
        assert "a double cannot hold exactly" in refusal(composed("a", f"value: {number}\n"))


KEYS = [("1.5", "1.5"), ("0.123456789", "0.12345679"), ("1e30", "1e+30"), ("1e300", ".inf"),
        ("-1e300", "-.inf"), ("100000000000000000000", "1e+20"), ("1e6", "1e+06"), ("5.0", "5"),
        ("0x10", "16"), ("1_000", "1000"), ("16777217.0", "1.6777216e+07")]  # fmt: skip


@pytest.mark.parametrize(("fraction", "key"), KEYS)
def test_fraction_as_key_has_digits_of_32_bits(fraction: str, key: str) -> None:
    """As the YAML library of Kubernetes writes it."""
    response = run(composed("a", f"value: {{{fraction}: x}}\n"))
    assert [*response.desired.resources["a"].resource["value"]] == [key]


def test_fetched_resource_in_context_has_details_and_readiness() -> None:
    """With the names and numbers of Go's JSON."""
    item: Object = {
        "resource": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n"}},
        "connectionDetails": {"text": "dQ==", "bytes": base64.b64encode(b"\xff").decode()},
        "ready": "READY_TRUE",
    }
    response = run(composed("a"), requiredResources={"x": {"items": [item]}})
    assert to_object(response)["context"][EXTRA] == {
        "x": {
            "items": [
                {
                    "resource": item["resource"],
                    "connection_details": {"text": "dQ==", "bytes": "/w=="},
                    "ready": 1,
                }
            ]
        }
    }


@pytest.mark.parametrize(("text", "seconds"), [("+5m", 300), ("-5m", -300), ("", 0)])
def test_ttl_annotation_overrides_input(text: str, seconds: int) -> None:
    """An invalid duration is 0 there, and a warning here."""
    metadata = {"name": "x", "annotations": {f"{PREFIX}/ttl": text}}
    parts: Object = {"observed": {"composite": {"resource": {**XR, "metadata": metadata}}}}
    parts["fields"] = {"ttl": "20m"}
    assert respond(request(composed("a"), **parts)).meta.ttl.ToSeconds() == seconds
    assert len(warnings(composed("a"), **parts)) == (0 if text else 1)


def test_merge_annotation_has_no_effect() -> None:
    """The resource replaces that of an earlier step, and the annotation is sent, with a warning."""
    earlier: Object = {"apiVersion": "v1", "kind": "CD", "spec": {"a": 1}}
    text = composed("a", "spec: {b: 2}\n").replace("spec:", f"    {PREFIX}/merge: Merge\nspec:")
    response = respond(request(text, desired={"resources": {"a": {"resource": earlier}}}))
    (warning,) = response.results
    assert "merge" in warning.message
    resource = json_format.MessageToDict(response.desired.resources["a"].resource)
    assert resource["spec"] == {"b": 2}
    assert resource["metadata"]["annotations"] == {f"{PREFIX}/merge": "Merge"}
