"""Requirements of an input are stated before its program runs, on every call."""

import pytest
from support import builders

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import Object
from function_script.step import function

SETTINGS: Object = {"apiVersion": "v1", "kind": "ConfigMap", "matchName": "settings"}
FETCHED: Object = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings", "namespace": "here", "labels": {"team": "a", "x": "y"}},
    "data": {"size": "7"},
}
# It reads what it requires without asking whether it is there.
PROGRAM: Object = builders.starlark(
    "def main(req):\n"
    '    found = req["required_resources"]["settings"]["items"]\n'
    '    return {"context": {"seen": [item["resource"]["data"]["size"] for item in found]}}\n'
)
ALL = ["CAPABILITY_CAPABILITIES", "CAPABILITY_REQUIRED_RESOURCES", "CAPABILITY_REQUIRED_SCHEMAS"]


def step(resources: Object | None = None, schemas: Object | None = None) -> Object:
    """An input whose program reads ``settings``."""
    required = {"settings": SETTINGS} if resources is None else resources
    requirements: Object = {"resources": required, "schemas": schemas or {}}
    return {**PROGRAM, "requirements": requirements}


def answered(*items: Object, name: str = "settings") -> Object:
    """A request's required resources."""
    return {name: {"items": [{"resource": item} for item in items]}}


def call(step_input: Object, **parts: object) -> pb.RunFunctionResponse:
    """The response to a request with a desired resource and a key of context."""
    given: dict[str, object] = {
        "desired": {"resources": {"other": {"resource": {"kind": "Other"}}}},
        "context": {"a": 1},
        **parts,
    }
    return builders.call(builders.request(step_input, **given))


def test_requirements_without_an_answer_pass_everything_through() -> None:
    response = call(step())
    assert list(response.results) == []
    assert set(response.desired.resources) == {"other"}
    assert dict(response.context) == {"a": 1}
    assert response.meta.tag == "a-tag"
    selector = response.requirements.resources["settings"]
    assert (selector.api_version, selector.kind, selector.match_name) == (
        "v1",
        "ConfigMap",
        "settings",
    )


@pytest.mark.parametrize(("items", "seen"), [((FETCHED,), ["7"]), ((), [])])
def test_requirements_with_an_answer_run_the_program(items: tuple[Object, ...], seen: list) -> None:  # type: ignore[type-arg] # plain strings
    """Nothing found is an answer, too; the same is asked for again."""
    response = call(step(), required_resources=answered(*items))
    assert list(response.results) == []
    assert builders.to_dict(response)["context"] == {"a": 1.0, "seen": seen}
    assert response.requirements == call(step()).requirements


def test_caller_that_cannot_answer_is_an_error() -> None:
    """Waiting would never end, and its pass-through would remove what the step has made."""
    response = call(step(), meta={"capabilities": ALL[:1]})
    assert builders.fatal(response) == (
        'cannot require "settings": the caller does not provide resources '
        "(that takes a Crossplane with CAPABILITY_REQUIRED_RESOURCES)"
    )


def test_schemas_need_a_caller_that_has_them() -> None:
    schemas: Object = {"thing": {"apiVersion": "example.org/v1", "kind": "Thing"}}
    response = call(step(resources={}, schemas=schemas), meta={"capabilities": ALL[:2]})
    assert 'cannot require "thing": the caller does not provide schemas' in builders.fatal(response)


def test_schemas_are_waited_for() -> None:
    """An unknown kind is answered with an empty schema, which is an answer."""
    script = builders.starlark(
        'def main(req):\n    return {"context": {"seen": req["required_schemas"]["thing"]}}\n',
        requirements={"schemas": {"thing": {"apiVersion": "example.org/v1", "kind": "Thing"}}},
    )
    meta = {"capabilities": ALL}
    stated_requirements = call(script, meta=meta)
    assert "seen" not in stated_requirements.context
    assert stated_requirements.requirements.schemas["thing"].kind == "Thing"
    response = call(script, meta=meta, required_schemas={"thing": {}})
    assert "seen" in response.context


STALE = [
    pytest.param({"metadata": {"name": "old"}}, id="another name"),
    pytest.param({"kind": "Secret"}, id="another kind"),
    pytest.param({"apiVersion": "v2"}, id="another version"),
    pytest.param({"metadata": {"name": ["settings"]}}, id="a name that is none"),
]


@pytest.mark.parametrize("other", STALE)
def test_object_fetched_for_another_selector_is_no_answer(other: Object) -> None:
    """Crossplane hands over the last reconcile's at first, before it sees what is asked now."""
    response = call(step(), required_resources=answered({**FETCHED, **other}))
    assert "seen" not in response.context
    assert list(response.results) == []


OTHERS = [
    pytest.param({"matchName": "settings", "namespace": "there"}, id="another namespace"),
    pytest.param({"matchLabels": {"team": "b"}}, id="another label"),
    pytest.param({"matchLabels": {"team": "a", "more": "x"}}, id="one label more"),
]


@pytest.mark.parametrize("selection", OTHERS)
def test_answer_has_the_namespace_and_the_labels(selection: Object) -> None:
    """Else it is another reconcile's."""
    required: Object = {"settings": {"apiVersion": "v1", "kind": "ConfigMap", **selection}}
    response = call(step(resources=required), required_resources=answered(FETCHED))
    assert "seen" not in response.context
    assert list(response.results) == []


@pytest.mark.parametrize("selection", [{"matchLabels": {"team": "a"}}, {"matchLabels": {}}])
def test_answer_may_have_more_labels(selection: Object) -> None:
    """And items of a list need not say their kind."""
    required: Object = {"settings": {"apiVersion": "v1", "kind": "ConfigMap", **selection}}
    bare = {key: FETCHED[key] for key in ("metadata", "data")}
    for item in (FETCHED, bare):
        response = call(step(resources=required), required_resources=answered(item))
        assert list(response.context["seen"]) == ["7"]


def test_answer_of_a_cluster_scoped_kind_has_no_namespace() -> None:
    """To wait once more would remove what is composed."""
    required: Object = {"settings": {**SETTINGS, "namespace": "here"}}
    cluster_scoped = {**FETCHED, "metadata": {"name": "settings"}}
    response = call(step(resources=required), required_resources=answered(cluster_scoped))
    assert list(response.context["seen"]) == ["7"]


def test_waiting_hands_on_the_very_state() -> None:
    """Desired state and context of earlier steps, whatever they hold."""
    message = builders.request(
        step(), desired={"resources": {"a": {"resource": builders.XR, "ready": "READY_TRUE"}}}
    )
    unknown = b"\xfa\x07\x03new"
    message.desired.MergeFromString(unknown)
    response = builders.call(message)
    sent, received = message.desired, response.desired
    assert received.SerializeToString(deterministic=True) == sent.SerializeToString(
        deterministic=True
    )
    assert response.context == message.context
    assert response.meta.ttl.ToSeconds() == function.WAITING_SECONDS


FROM_XR: list[object] = [
    pytest.param(
        {"fromFieldPath": {"matchName": "spec.size", "namespace": "metadata.namespace"}},
        {"match_name": "small", "namespace": "here"},
        id="name and namespace",
    ),
    pytest.param(
        {"matchLabels": {"a": "b"}, "fromFieldPath": {"matchLabels": {"size": "spec.size"}}},
        {"match_labels": {"labels": {"a": "b", "size": "small"}}},
        id="labels of both",
    ),
    pytest.param({"matchLabels": {}}, {"match_labels": {}}, id="all of a kind"),
]


@pytest.mark.parametrize(("selection", "expected"), FROM_XR)
def test_values_come_from_the_xr(selection: Object, expected: Object) -> None:
    """A path leads to a text in the observed composite resource."""
    required: Object = {"settings": {"apiVersion": "v1", "kind": "ConfigMap", **selection}}
    found = builders.to_dict(call(step(resources=required)))["requirements"]
    assert isinstance(found, dict)
    selector = {"api_version": "v1", "kind": "ConfigMap", **expected}
    assert found["resources"] == {"settings": selector}


MISSING: Object = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "fromFieldPath": {"matchName": "spec.ref.name"},
}


def test_path_without_a_text_is_an_error() -> None:
    assert builders.fatal(call(step(resources={"settings": MISSING}))) == (
        "input.requirements.resources.settings.fromFieldPath.matchName: "
        'the XR has no text at "spec.ref.name" '
        "(with `optional: true` it is not asked for until the XR has)"
    )


@pytest.mark.parametrize(
    ("path", "is_misspelt"), [("metadata.nmae", True), ("spec.count", False), ("spec.cuont", True)]
)
def test_path_that_is_misspelt_has_its_name(path: str, is_misspelt: bool) -> None:
    required: Object = {**MISSING, "fromFieldPath": {"matchName": path}}
    text = builders.fatal(call(step(resources={"settings": required})))
    assert ("did you mean" in text) is is_misspelt


def test_operation_has_no_xr_to_take_values_from() -> None:
    message = builders.request(step(resources={"settings": MISSING}))
    message.ClearField("observed")
    assert "there is no XR, for this is an Operation" in builders.fatal(builders.call(message))


def test_optional_one_is_left_out() -> None:
    response = call(
        {
            **builders.starlark('def main(req):\n    return {"context": {"ran": True}}\n'),
            "requirements": {"resources": {"settings": {**MISSING, "optional": True}}},
        }
    )
    assert "ran" in response.context
    assert not response.HasField("requirements")


REQUIRING = """
def main(req):
    return {"requirements": {"resources": {
        "settings": {"api_version": "v1", "kind": "ConfigMap", "match_name": "%s"},
        "more": {"api_version": "v1", "kind": "Secret", "match_name": "more"},
    }}}
"""


def test_program_may_require_more() -> None:
    """Both are asked for; saying the same twice is no mistake."""
    both = builders.starlark(
        REQUIRING % "settings", requirements={"resources": {"settings": SETTINGS}}
    )
    response = call(both, required_resources=answered(FETCHED))
    assert set(response.requirements.resources) == {"settings", "more"}


def test_name_of_two_requirements_is_an_error() -> None:
    both = builders.starlark(
        REQUIRING % "other", requirements={"resources": {"settings": SETTINGS}}
    )
    response = call(both, required_resources=answered(FETCHED))
    assert builders.fatal(response).startswith(
        'requirement "settings" is declared by the input as ConfigMap of v1 named "settings", '
        'and asked for by the program as ConfigMap of v1 named "other"'
    )


def test_empty_requirements_are_no_message() -> None:
    """A message that is there and empty would look like a change, and cost a call."""
    response = call({**builders.starlark("def main(req):\n    return {}\n"), "requirements": {}})
    assert not response.HasField("requirements")
