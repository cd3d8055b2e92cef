"""What is read before anything runs: XRDs, schemas and steps."""

import pytest
from support.render_helpers import CLUSTER_XR, composition, render_once, script, xrd

from function_script.request.objects import find_path
from function_script.request.values import Object
from function_script.texts.errors import InputError
from function_script.tools.render import steps
from function_script.tools.render import xr as xrs
from function_script.tools.render.requirements import find_schema

GVK = "x-kubernetes-group-version-kind"


LEGACY = [
    pytest.param(None, False, id="no-xrd-is-modern"),
    pytest.param(xrd("v1"), True, id="v1-by-default"),
    pytest.param(xrd("v1", scope="Cluster"), False, id="v1-with-another-scope"),
    pytest.param(xrd("v2"), False, id="v2-by-default"),
    pytest.param(xrd("v2", scope="LegacyCluster"), True, id="v2-says-so"),
]

UNFIT = [
    pytest.param(xrd(group="other.org"), "it defines XBucket of other.org", id="group"),
    pytest.param(xrd(names={"kind": "Other"}), "it defines Other of example.org", id="kind"),
    pytest.param(xrd("v3"), "it must be a CompositeResourceDefinition", id="version"),
    pytest.param(xrd(versions=[]), "it has no version example.org/v1", id="no-such-version"),
]


@pytest.mark.parametrize(("definition", "is_legacy"), LEGACY)
def test_legacy(definition: Object | None, is_legacy: bool) -> None:
    assert xrs.is_legacy(definition) is is_legacy


@pytest.mark.parametrize(("definition", "cause"), UNFIT)
def test_xrd_for_another_xr_is_refused(definition: Object, cause: str) -> None:
    """It would give wrong defaults in silence."""
    with pytest.raises(InputError, match=cause):
        render_once(xrd=definition)


BELOW: Object = {"crossplane": {"type": "object", "properties": {"other": {"default": "a"}}}}
POLICY: Object = {"compositionUpdatePolicy": {"default": "a"}}
MACHINERY = [
    pytest.param("v2", {}, BELOW, {"crossplane": {}}, {"crossplane": {}}, id="modern"),
    pytest.param(
        "v2",
        {"defaultCompositionUpdatePolicy": "Automatic"},
        BELOW,
        {"crossplane": {}},
        {"crossplane": {"compositionUpdatePolicy": "Automatic"}},
        id="default-of-a-modern-xrd",
    ),
    pytest.param("v1", {}, POLICY, {}, {}, id="legacy"),
    pytest.param(
        "v1",
        {"defaultCompositionUpdatePolicy": "Manual"},
        POLICY,
        {},
        {"compositionUpdatePolicy": "Manual"},
        id="default-of-a-legacy-xrd",
    ),
]


@pytest.mark.parametrize(("version", "said", "fields", "before", "after"), MACHINERY)
def test_crossplane_s_own_fields_are_as_crossplane_defines_them(
    version: str, said: Object, fields: Object, before: Object, after: Object
) -> None:
    """What an author writes of them in an XRD does not count, as in a cluster."""
    schema: Object = {"properties": {"spec": {"properties": fields}}}
    xr: Object = {"apiVersion": "example.org/v1", "kind": "XBucket", "spec": {**before}}
    assert xrs.complete(xr, xrd(version, schema, **said))["spec"] == after


def test_schemas_are_found_with_references_resolved() -> None:
    ref = "#/components/schemas/"
    schemas: Object = {
        "Meta": {"type": "object", "properties": {"self": {"$ref": f"{ref}Meta"}}},
        "Thing": {
            "type": "object",
            "properties": {
                "metadata": {"allOf": [{"$ref": f"{ref}Meta"}], "description": "gone"},
                "list": {"type": "array", "items": {"$ref": f"{ref}Meta"}},
            },
            GVK: [{"group": "example.org", "version": "v1", "kind": "Thing"}],
        },
    }
    documents: list[Object] = [{"components": {"schemas": schemas}}]
    meta: Object = {"type": "object", "properties": {"self": {"type": "object"}}}
    thing = find_schema(documents, "example.org/v1", "Thing")
    assert thing["properties"] == {"metadata": meta, "list": {"type": "array", "items": meta}}
    assert find_schema(documents, "example.org/v1", "Other") is None
    assert find_schema(documents, "other.org/v1", "Thing") is None


def test_required_schemas_reach_the_function() -> None:
    schema: Object = {"type": "object", GVK: [{"group": "", "version": "v1", "kind": "Thing"}]}
    document: Object = {"components": {"schemas": {"Thing": schema}}}
    requirements: Object = {"other": {"api_version": "v1", "kind": "Other"}}
    base: Object = {"requirementName": "base", "apiVersion": "v1", "kind": "Thing"}
    runner = script({"requirements": {"schemas": requirements}})
    render_once(
        runner,
        composition=composition({"requirements": {"requiredSchemas": [base]}}),
        schemas=[document],
    )
    received = find_path(runner.requests[1], "required_schemas")
    assert received == {"base": {"openapi_v3": schema}, "other": {}}


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"mode": "Resources"}, id="mode"),
        pytest.param({"mode": None, "pipeline": None, "resources": []}, id="no-mode"),
    ],
)
def test_mode_resources_names_the_official_converter(fields: Object) -> None:
    with pytest.raises(InputError, match="which only Crossplane 1 runs") as caught:
        steps.parse(composition(**fields))
    assert "crossplane beta convert pipeline-composition" in str(caught.value.diagnostics[0].hint)


def test_problem_of_a_composition_is_told() -> None:
    broken = composition({"step": 3}, {"functionRef": None}, {"step": "step-1"}, mode="Scripts")
    with pytest.raises(InputError) as caught:
        steps.parse(broken)
    assert [problem.message for problem in caught.value.diagnostics] == [
        'spec.mode: must be one of Pipeline, not "Scripts"',
        "spec.pipeline[0].step: must be a string, not an integer",
        "spec.pipeline[1].functionRef: is required",
        'spec.pipeline[2].step: duplicate name "step-1"',
    ]


SECRET: Object = {"name": "a", "source": "Secret"}
OBJECTS: Object = {"requirementName": "a", "apiVersion": "v1", "kind": "A"}
FRAMES: dict[str, tuple[Object, str]] = {
    "source": ({"credentials": [{"name": "a"}]}, "credentials[0].source: is required"),
    "secret": ({"credentials": [{**SECRET, "secretref": {}}]}, "credentials[0].secretref: there"),
    "credentials": ({"credential": []}, "credential: unknown field"),
    "requirements": ({"requirement": {}}, "requirement: unknown field"),
    "resources": ({"requirements": {"resources": []}}, "requirements.resources: unknown field"),
    "selector": (
        {"requirements": {"requiredResources": [{**OBJECTS, "name": "a", "matchLabels": {}}]}},
        "requirements.requiredResources[0]: needs exactly one of name and matchLabels",
    ),
}


@pytest.mark.parametrize(("step", "message"), FRAMES.values(), ids=FRAMES)
def test_mistake_beside_the_input_of_a_step_is_told(step: Object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        steps.parse(composition(step))
    (problem,) = caught.value.diagnostics
    assert problem.message.startswith(f"spec.pipeline[0].{message}")


def test_composition_must_be_one_that_the_xr_selects() -> None:
    selector: Object = {"compositionSelector": {"matchLabels": {"tier": "gold"}}}
    xr: Object = {**CLUSTER_XR, "spec": {"crossplane": selector}}
    with pytest.raises(InputError, match='selects label tier="gold", the Composition does not'):
        render_once(xr=xr, composition=composition())
