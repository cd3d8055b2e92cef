"""Known mistakes of function-go-templating that this function does not make, in its apiVersion.

The numbers are those of the list of its mistakes; those that concern no response (logs, caches,
documentation) have their tests elsewhere.
"""

import base64
import re
from pathlib import Path

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
from function_script.request.limits import Limits
from function_script.request.values import Object


def test_01_readiness_of_earlier_step_stays() -> None:
    desired = {"composite": {"resource": XR, "ready": "READY_TRUE"}}
    assert run(composed("a"), desired=desired).desired.composite.ready == pb.READY_TRUE


def test_02_state_without_changes_is_byte_identical() -> None:
    message = pb.RunFunctionRequest.FromString(request(composed("a")))
    message.desired.resources["b"].MergeFromString(
        b"\x0a\x0b\x0a\x09\x0a\x01n\x12\x04\x1a\x02ok\xfa\x3f\x01x"
    )
    before = message.desired.resources["b"].SerializeToString()
    after = respond(message.SerializeToString()).desired
    assert after.resources["b"].SerializeToString() == before
    assert after.composite == pb.Resource(resource={})
    assert sorted(after.resources) == ["a", "b"]


def test_03_resource_name_used_twice_is_a_warning() -> None:
    """One of the resources is lost."""
    text = composed("a", "size: 1\n") + composed("b") + composed("a", "size: 2\n")
    (message,) = warnings(text)
    assert message.startswith("inline.template:19:5: ")
    assert 'resource name "a" is used before, and the last one counts' in message
    assert respond(request(text)).desired.resources["a"].resource["size"] == 2


def test_04_selector_has_labels_and_namespace() -> None:
    """A requirement with a namespace is a use of its name, too."""
    document = extra("apiVersion: v1, kind: K, matchLabels: {a: b}, namespace: ns")
    selector = run(document).requirements.resources["things"]
    assert (dict(selector.match_labels.labels), selector.namespace) == ({"a": "b"}, "ns")
    again = extra("apiVersion: v1, kind: K, matchName: x")
    assert 'requirement "things" is used twice' in refusal(document + again)


SELECTORS = [
    pytest.param("matchName: a, kind: K", "things.apiVersion: is required", id="apiVersion"),
    pytest.param("matchName: a, apiVersion: v1", "things.kind: is required", id="kind"),
]
DOUBTFUL_SELECTORS = [
    pytest.param("kind: K", "asks for every object of the kind", id="neither"),
    pytest.param("kind: K, matchName: a, matchLabels: {}", "the name counts", id="both"),
    pytest.param("kind: K, matchNam: a", 'did you mean "matchName"', id="typo"),
]


@pytest.mark.parametrize(("selector", "message"), SELECTORS)
def test_05_selector_without_type_is_rejected(selector: str, message: str) -> None:
    assert message in refusal(extra(selector))


@pytest.mark.parametrize(("selector", "message"), DOUBTFUL_SELECTORS)
def test_05_selector_of_unintended_objects_is_a_warning(selector: str, message: str) -> None:
    assert message in warnings(extra(f"apiVersion: v1, {selector}"))[0]


def test_05_selector_with_empty_labels_has_no_warning() -> None:
    selector = run(extra("apiVersion: v1, kind: K, matchLabels: {}")).requirements.resources[
        "things"
    ]
    assert selector.WhichOneof("match") == "match_labels"


def test_06_requirement_is_sent_once() -> None:
    """A caller without capabilities gets the older field as well."""
    document = extra("apiVersion: v1, kind: K, matchName: a")
    assert sorted(run(document).requirements.extra_resources) == ["things"]
    capabilities = ["CAPABILITY_CAPABILITIES", "CAPABILITY_REQUIRED_RESOURCES"]
    requirements = run(document, meta={"capabilities": capabilities}).requirements
    assert sorted(requirements.resources) == ["things"]
    assert not requirements.extra_resources


@pytest.mark.parametrize("context", [{}, {"a": {"x": "1"}}], ids=["empty", "there"])
def test_08_context_documents_are_merged(context: Object) -> None:
    text = meta("Context", "data: {a: {b: '1'}}") + meta("Context", "data: {a: {c: '1'}}")
    after = json_format.MessageToDict(run(text, context=context).context)
    assert after == {"a": {**context.get("a", {}), "b": "1", "c": "1"}}


def test_09_fatal_result_changes_nothing() -> None:
    text = meta("Context", "data: {a: '1'}") + composed("a") + "---\napiVersion: v1\nkind: CD\n"
    response = respond(request(text, context={"b": "2"}))
    assert json_format.MessageToDict(response.context) == {"b": "2"}
    assert not response.HasField("desired")


def test_11_invalid_ttl_is_reported() -> None:
    (message,) = warnings(composed("a"), fields={"ttl": "soon"})
    assert message.startswith('input.ttl: is not looked at: cannot parse duration "soon"')
    metadata = {"name": "x", "annotations": {f"{PREFIX}/ttl": "soon"}}
    observed = {"composite": {"resource": {**XR, "metadata": metadata}}}
    (message,) = warnings(composed("a"), observed=observed)
    assert '/ttl" counts as 0: cannot parse duration "soon"' in message
    assert respond(request(composed("a"), observed=observed)).meta.ttl.ToSeconds() == 0


def test_12_input_with_ignored_fields_is_a_warning() -> None:
    templates: Object = {"inline": {"template": composed("a"), "templates": [composed("b")]}}
    fields: Object = {**templates, "delims": {"left": "[["}, "fileSystem": {"dirPath": "x"}}
    assert warnings("", fields=fields) == [
        "input.fileSystem: is not looked at, for source is Inline",
        "input.inline.templates: is not looked at, for template is set",
        "input.delims: is not looked at without right",
    ]
    assert [*respond(request("", fields=fields)).desired.resources] == ["a"]


META_FIELDS = [
    pytest.param("ClaimConditions", "conditions: [{type: A, status: Maybe}]",
                 "conditions[0].status: must be one of False, True, Unknown", id="status"),
    pytest.param("ClaimConditions", "conditions: [{type: A, status: 'True', target: Both}]",
                 "conditions[0].target: must be one of Composite, CompositeAndClaim", id="target"),
    pytest.param("CompositeConnectionDetails", "data: {a: 'no base64'}",
                 "data.a: is no base64", id="base64"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "rest", "message"), META_FIELDS)
def test_13_meta_document_with_invalid_value_is_a_warning(
    kind: str, rest: str, message: str
) -> None:
    assert message in warnings(meta(kind, rest))[0]


def test_14_ignored_fields_of_xr_are_a_warning() -> None:
    """A field that equals the observed one is not a change."""
    text = (
        XR_HEAD + "metadata: {name: cool-xr, labels: {a: b}}\nspec: {count: %d}\nstatus: {a: b}\n"
    )
    (warning,) = warnings(text % 3)
    assert warning.endswith(": of the XR only status can be set, not metadata.labels, spec")
    assert warnings(XR_HEAD + "spec: {count: 2}\nstatus: {a: b}\n") == []


def test_15_document_with_other_version_of_xr_is_rejected() -> None:
    assert "has the XR's kind but not its apiVersion example.org/v1" in refusal(
        XR_HEAD.replace("v1", "v2")
    )


def test_16_missing_value_is_a_warning_or_an_error() -> None:
    text = composed("a", "spec:\n  a: {{ .nope }}\n  b: x # {{ .nope }}\n")
    (message,) = warnings(text)
    assert message.startswith('inline.template:8:9: "<no value>" was written')
    error = refusal(text, fields={"options": ["missingkey=error"]})
    assert error.startswith("inline.template:8:9: ")
    empty = refusal(text.replace(".nope", "dict.nope"), fields={"options": ["missingkey=error"]})
    assert "has no field nope (there is no value here yet: " in empty


def test_20_credentials_are_readable_after_changes_of_the_request() -> None:
    data = {"k": base64.b64encode(b"value").decode()}
    text = '{{ $_ := set . "observed" "x" }}{{ (getCredentialData . "c").k | toString }}'
    credentials = {"c": {"credentialData": {"data": data}}}
    assert sorted(run(composed(text), credentials=credentials).desired.resources) == ["value"]


def test_21_random_values_are_stable() -> None:
    text = composed('{{ randAlphaNum 8 }}-{{ randAlphaNum 8 }}-{{ randomChoice "a" "b" }}')

    def names(uid: str) -> str:
        observed = {"composite": {"resource": {**XR, "metadata": {"uid": uid}}}}
        (name,) = run(text, observed=observed).desired.resources
        return name

    assert names("one") == names("one") != names("two")
    first, second, _ = names("one").split("-")
    assert first != second


PLACES = [
    pytest.param(("ok: 1", "a\nb\n{{ fail `x` }}"), ["inline.templates[1]:3:4: "], id="run"),
    pytest.param(
        ("{{ one }}", "\n{{ two }}"),
        ["inline.templates[0]:1:4: ", "inline.templates[1]:2:4: "],
        id="all-errors",
    ),
    pytest.param(
        (composed("a"), composed("b", "spec:\n  a: [\n")), ["inline.templates[1]:"], id="yaml"
    ),
]


@pytest.mark.parametrize(("templates", "places"), PLACES)
def test_23_error_names_item_of_template_list_and_line(
    templates: tuple[str, ...], places: list[str]
) -> None:
    message = refusal(*templates)
    assert message.startswith(places[0])
    assert all(place in message for place in places)


@pytest.mark.parametrize(("kind", "rest", "message"), [
    pytest.param("Nope", "",
                 "ClaimConditions, CompositeConnectionDetails, Context, ExtraResources", id="kind"),
    pytest.param("ClaimConditions", "conditions: [{type: A, status: 'True', target: 1}]",
                 "conditions[0].target: must be a string", id="type"),
])  # fmt: skip
def test_24_meta_document_that_cannot_be_read_is_an_error(
    kind: str, rest: str, message: str
) -> None:
    assert message in refusal(meta(kind, rest))


TEXTS = [
    pytest.param("spec:\n  a: 1\n  a: 2\n", "duplicate key 'a'", "9", id="25-key-twice"),
    pytest.param("  labels: {a: on}\n", 'labels["a"] must be a string', "7", id="26-boolean"),
    pytest.param("  labels: {a: 0123}\n", 'labels["a"] must be a string', "7", id="26-octal"),
    pytest.param(
        "  labels: {a: 1}\n",
        "(quote it in YAML, or make it a text in a script)",
        "7",
        id="27-labels",
    ),
    pytest.param("  name: 123\n", "metadata.name: must be a string", "7", id="27-name"),
]


@pytest.mark.parametrize(("rest", "message", "line"), TEXTS)
def test_25_to_27_yaml_keeps_types_and_reports_losses(rest: str, message: str, line: str) -> None:
    (warning,) = warnings(composed("a", rest))
    assert warning.startswith(f"inline.template:{line}:")
    assert message in warning


def test_27_invalid_names_and_labels_are_warnings() -> None:
    """Crossplane goes on without the resource, which may be valid next time."""
    messages = warnings(composed("a", "  name: A\n  labels: {a: b c, d: null}\n"))
    name = 'resource "a": metadata.name: invalid name "A"'
    label = 'resource "a": metadata.labels["a"]: invalid label value "b c"'
    for message, text in zip(messages, (name, label), strict=True):
        assert re.match(rf"inline\.template:\d+:\d+: {re.escape(text)}", message)


def test_27_list_is_rejected_with_hint() -> None:
    """Its items can be composed, the List cannot."""
    assert "write its items as documents" in refusal("apiVersion: v1\nkind: List\nitems: []\n")


DIRECTORIES = [
    pytest.param("/etc", "below the program root", id="outside"),
    pytest.param("empty", "holds no template", id="empty"),
    pytest.param("hidden", "holds no template", id="hidden-files-only"),
]


@pytest.mark.parametrize(("path", "message"), DIRECTORIES)
def test_29_directory_outside_or_empty_is_rejected(tmp_path: Path, path: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / ".a").write_text("a")
    fields: Object = {"source": "FileSystem", "inline": None, "fileSystem": {"dirPath": path}}
    response = respond(request("", fields=fields), Limits(program_root=str(tmp_path)))
    assert message in response.results[0].message


ITEM = {"resource": {"kind": "K"}}
COPIES = [
    pytest.param({"x": {"items": [ITEM]}, "y": {"items": [ITEM]}}, {}, id="nothing-matched"),
    pytest.param({"x": {"items": [ITEM, ITEM], "more": 1.0}}, {}, id="another-field"),
    pytest.param({"x": [{"kind": "K"}]}, {"items": [ITEM]}, id="another-shape"),
    pytest.param("text", {"items": [ITEM]}, id="no-object"),
    pytest.param(None, {}, id="no-key"),
]


@pytest.mark.parametrize(("earlier", "fetched"), COPIES)
@pytest.mark.parametrize("part", ["required_resources", "extra_resources"])
def test_10_fetched_resources_replace_those_of_earlier_steps(
    part: str, earlier: object, fetched: Object
) -> None:
    """Nothing stays of a name that is fetched now, nor of what a document says of it."""
    context: Object = {"b": "2"} if earlier is None else {EXTRA: earlier, "b": "2"}
    text = meta("Context", f"data: {{{EXTRA}: {{x: {{a: '1'}}, z: '1'}}}}")
    response = run(text, context=context, **{part: {"x": fetched}})
    others = earlier if isinstance(earlier, dict) else {}
    assert json_format.MessageToDict(response.context) == {
        EXTRA: {**others, "z": "1", "x": fetched},
        "b": "2",
    }
