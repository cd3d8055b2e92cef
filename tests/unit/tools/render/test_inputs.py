"""What is read before anything runs: XRDs, schemas, steps, and where functions are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.render_helpers import CLUSTER_XR, XR, composition, script

from function_script.errors import InputError
from function_script.objects import find_path
from function_script.tools import render
from function_script.tools.render import functions, steps, xrds
from function_script.tools.render.functions import Builtin, FunctionIndex, Remote
from function_script.tools.render.schemas import Schemas

if TYPE_CHECKING:
    from function_script.tools.render.functions import Runtime
    from function_script.values import Object

GVK = "x-kubernetes-group-version-kind"


def xrd(version: str = "v2", schema: Object | None = None, **spec: object) -> Object:
    """The definition of XR."""
    versions = [{"name": "v1", "schema": {"openAPIV3Schema": schema or {"type": "object"}}}]
    base = {"group": "example.org", "names": {"kind": "XBucket"}, "versions": versions}
    return {
        "apiVersion": f"apiextensions.crossplane.io/{version}",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": "xbuckets.example.org"},
        "spec": {**base, **spec},
    }


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
    """The XRD's scope says whether XRs are as in Crossplane v1."""
    assert xrds.is_legacy(definition) is is_legacy


@pytest.mark.parametrize(("definition", "cause"), UNFIT)
def test_an_xrd_for_another_xr_is_refused(definition: Object, cause: str) -> None:
    """It would give wrong defaults in silence."""
    inputs = render.RenderInputs(xr=XR, composition=composition({}), xrd=definition)
    with pytest.raises(InputError, match=cause):
        render.render(inputs, script())


def test_defaults_are_filled_in() -> None:
    """Absent fields get their default, also below maps and lists; what is there stays."""
    item: Object = {"type": "object", "properties": {"zone": {"default": "a"}}}
    fields: Object = {
        "region": {"default": "there"},
        "size": {"default": 3},
        "made": {"type": "object", "default": {}, "properties": {"deep": {"default": True}}},
        "absent": item,
        "list": {"type": "array", "items": item},
        "map": {"type": "object", "additionalProperties": item},
    }
    schema: Object = {"properties": {"spec": {"default": {"no": 1}, "properties": fields}}}
    spec: Object = {"region": "here", "list": [{}, {"zone": "b"}], "map": {"k": {}}}
    inputs = render.RenderInputs(
        xr={**XR, "spec": spec}, composition=composition({}), xrd=xrd(schema=schema)
    )
    assert render.render(inputs, script()).xr["spec"] == {
        "region": "here",
        "size": 3,
        "made": {"deep": True},
        "list": [{"zone": "a"}, {"zone": "b"}],
        "map": {"k": {"zone": "a"}},
    }
    assert "size" not in spec


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
    xrds.add_defaults(xr, xrd(version, schema, **said))
    assert xr["spec"] == after


def test_schemas_are_found_with_references_resolved() -> None:
    """References are replaced, also in allOf; a schema inside itself is only an object."""
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
    schemas_ = Schemas([{"components": {"schemas": schemas}}])
    meta: Object = {"type": "object", "properties": {"self": {"type": "object"}}}
    thing = schemas_.find("example.org/v1", "Thing")
    assert thing is not None
    assert thing["properties"] == {"metadata": meta, "list": {"type": "array", "items": meta}}
    assert schemas_.find("example.org/v1", "Other") is None
    assert schemas_.find("other.org/v1", "Thing") is None


def test_required_schemas_reach_the_function() -> None:
    """Both those the function asks for and those of the Composition; unknown ones are empty."""
    schema: Object = {"type": "object", GVK: [{"group": "", "version": "v1", "kind": "Thing"}]}
    document: Object = {"components": {"schemas": {"Thing": schema}}}
    requirements: Object = {"other": {"api_version": "v1", "kind": "Other"}}
    base: Object = {"requirementName": "base", "apiVersion": "v1", "kind": "Thing"}
    runner = script({"requirements": {"schemas": requirements}})
    render.render(
        render.RenderInputs(
            xr=XR,
            composition=composition({"requirements": {"requiredSchemas": [base]}}),
            schemas=[document],
        ),
        runner,
    )
    received = find_path(runner.requests[1], "required_schemas")
    assert received == {"base": {"openapi_v3": schema}, "other": {}}


def test_every_problem_of_a_composition_is_told() -> None:
    """All at once, with the paths of the fields."""
    broken = composition({"step": 3}, {"functionRef": None}, {"step": "step-1"}, mode="Resources")
    with pytest.raises(InputError) as caught:
        steps.parse(broken)
    assert [problem.message for problem in caught.value.diagnostics] == [
        'spec.mode: must be one of Pipeline, not "Resources"',
        "spec.pipeline[0].step: must be a string, not an integer",
        "spec.pipeline[1].functionRef: is required",
        'spec.pipeline[2].step: duplicate name "step-1"',
    ]


def test_newer_fields_of_steps_are_left_alone() -> None:
    """A step may give an OCI reference, or say which revision it wants."""
    reference = "registry.example.org/f@sha256:0123"
    pipeline = composition(
        {"functionRef": None, "function": reference},
        {"functionRevisionRef": {"name": "x"}},
    )
    assert [step.function for step in steps.parse(pipeline)] == [reference, "function-other"]


def test_the_composition_must_be_for_the_xr() -> None:
    """Its type reference is the XR's type, and it has the labels the XR selects."""
    other = composition(compositeTypeRef={"apiVersion": "example.org/v1", "kind": "Other"})
    with pytest.raises(InputError, match="the XR to render is XBucket"):
        render.render(render.RenderInputs(xr=XR, composition=other), script())
    selector: Object = {"compositionSelector": {"matchLabels": {"tier": "gold"}}}
    xr: Object = {**CLUSTER_XR, "spec": {"crossplane": selector}}
    with pytest.raises(InputError, match='selects label tier="gold", the Composition does not'):
        render.render(render.RenderInputs(xr=xr, composition=composition()), script())


def function(name: str, package: str = "", **annotations: str) -> Object:
    """A Function; its annotations without their prefix and with _ for -."""
    prefix = "render.crossplane.io/"
    return {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "metadata": {
            "name": name,
            "annotations": {
                prefix + key.replace("_", "-"): value for key, value in annotations.items()
            },
        },
        "spec": {"package": package},
    }


OURS: Object = {"apiVersion": "script.fn.crossplane.io/v1beta1", "kind": "StarlarkScript"}
PEER: Object = {"apiVersion": "gotemplating.fn.crossplane.io/v1beta1", "kind": "GoTemplate"}
SHAPED: Object = {"apiVersion": "x/v1", "kind": "Y", "source": "Inline", "inline": {}}
PACKAGE = "registry.example.org/team/function-script:v1.0.0"
ADDRESS = "127.0.0.1:9999"

# The Functions given (None: no file), the step, and where it is to run.
PLACES = [
    pytest.param(None, {"input": OURS}, "local", id="no-file-but-our-input"),
    pytest.param(None, {"input": PEER}, "local", id="no-file-but-an-input-we-accept"),
    pytest.param(None, {"input": SHAPED}, "local", id="no-file-but-the-fields-of-one"),
    pytest.param([function("function-other", PACKAGE)], {}, "local", id="our-package"),
    pytest.param(
        [function("function-other", PACKAGE.replace(":v1.0.0", "@sha256:0123"))],
        {},
        "local",
        id="our-package-by-digest",
    ),
    pytest.param(
        [function("function-script")],
        {"functionRef": {"name": "function-script"}},
        "local",
        id="our-name",
    ),
    pytest.param(
        [function("function-other", runtime="Development")],
        {},
        Remote(address="localhost:9443"),
        id="development",
    ),
    pytest.param(
        [function("function-other", runtime_development_target=ADDRESS)],
        {},
        Remote(address=ADDRESS),
        id="address",
    ),
    pytest.param(
        [function("function-other", runtime_development_target=f"passthrough:///{ADDRESS}")],
        {},
        Remote(address=ADDRESS),
        id="target-of-go",
    ),
    pytest.param(
        [
            function("function-other", runtime_development_target="old:1"),
            function("function-other", runtime_development_target=ADDRESS),
        ],
        {},
        Remote(address=ADDRESS),
        id="last-of-two",
    ),
]


@pytest.mark.parametrize(("manifests", "step", "place"), PLACES)
def test_where_a_function_runs(
    manifests: list[Object] | None, step: Object, place: Runtime
) -> None:
    """Ours run here, others where their Function says."""
    index = FunctionIndex(manifests=manifests, runtimes={}, annotations={})
    runtimes = functions.find_runtimes(steps.parse(composition(step)), index)
    assert list(runtimes.values()) == [place]


def test_flags_win() -> None:
    """A place from the command line beats everything, an annotation those of the file."""
    todo = steps.parse(composition({"input": OURS}))
    manifests = [function("function-other", runtime_development_target="old:1")]
    prefix = "render.crossplane.io/"
    annotations = {f"{prefix}runtime-development-target": ADDRESS}
    index = FunctionIndex(manifests=manifests, runtimes={}, annotations=annotations)
    assert functions.find_runtimes(todo, index) == {"step-0": Remote(address=ADDRESS)}
    index = FunctionIndex(
        manifests=manifests, runtimes={"function-other": "skip"}, annotations=annotations
    )
    assert functions.find_runtimes(todo, index) == {"step-0": "skip"}


REVISION: Object = {
    "functionRef": {"name": "function-other"},
    "functionRevisionRef": {"name": "function-other-4f1a"},
}
SELECTOR: Object = {"functionRevisionSelector": {"matchLabels": {"channel": "stable"}}}


@pytest.mark.parametrize(
    ("step", "name"),
    [
        pytest.param(REVISION, "function-other-4f1a", id="revision"),
        pytest.param(REVISION, "function-other", id="function-of-a-revision"),
        pytest.param(SELECTOR, "function-other", id="selector"),
        pytest.param(
            {"functionRef": None, "functionRevisionRef": {"name": "other-1"}}, "other-1", id="alone"
        ),
        pytest.param(
            {"functionRef": None, "function": "r.io/f@sha256:1"}, "r.io/f@sha256:1", id="oci"
        ),
    ],
)
def test_what_newer_steps_refer_to_may_be_given_a_place(step: Object, name: str) -> None:
    """By whichever name stands in the step; a selector's revision is not looked for."""
    fields = {
        key: value for key, value in composition(step)["spec"]["pipeline"][0].items() if value
    }
    todo = steps.parse(composition() | {"spec": {"mode": "Pipeline", "pipeline": [fields]}})
    runtimes: dict[str, Runtime] = {name: "skip"}
    assert list(functions.find_unused(todo, runtimes)) == []
    index = FunctionIndex(manifests=[], runtimes=runtimes, annotations={})
    assert list(functions.find_runtimes(todo, index).values()) == ["skip"]


def test_functions_that_run_nowhere_are_told() -> None:
    """All of them, before anything runs, with the flag that helps."""
    todo = steps.parse(composition({}, {"functionRef": {"name": "function-script-2"}}))
    index = FunctionIndex(manifests=[function("function-otter")], runtimes={}, annotations={})
    with pytest.raises(InputError) as caught:
        functions.find_runtimes(todo, index)
    first, second = caught.value.diagnostics
    assert 'FUNCTIONS has no function "function-other"' in first.message
    assert first.hint == 'did you mean "function-otter"?'
    assert first.field == "spec.pipeline[0].functionRef.name"
    assert 'where function "function-script-2" runs is unknown' in second.message
    assert "--function function-script-2=HOST:PORT" in str(second.hint)


@pytest.mark.parametrize("text", ["name", "name=", "=local", ""])
def test_a_place_needs_name_and_value(text: str) -> None:
    """Anything else is a mistake."""
    with pytest.raises(ValueError, match="is not of the form NAME=local"):
        functions.parse_runtime(text)


def test_places_are_parsed() -> None:
    """References hold colons, addresses too."""
    assert functions.parse_runtime("a=local") == ("a", "local")
    assert functions.parse_runtime("r.io/f@sha256:0=h:1") == (
        "r.io/f@sha256:0",
        Remote(address="h:1"),
    )


REGISTRY = "xpkg.example.org/team"
READY = "function-auto-ready"


@pytest.mark.parametrize(
    ("manifests", "step"),
    [
        pytest.param(None, {"functionRef": {"name": READY}}, id="no-functions"),
        pytest.param([], {"functionRef": {"name": READY}}, id="not-in-functions"),
        pytest.param([function(READY)], {"functionRef": {"name": READY}}, id="name"),
        pytest.param([function("function-other", f"{REGISTRY}/{READY}:v0.7.0")], {}, id="package"),
        pytest.param([function("function-other", f"{REGISTRY}/{READY}@sha256:0")], {}, id="digest"),
    ],
)
def test_builtin_function_runs_here(manifests: list[Object] | None, step: Object) -> None:
    index = FunctionIndex(manifests=manifests, runtimes={}, annotations={})
    (runtime,) = functions.find_runtimes(steps.parse(composition(step)), index).values()
    assert isinstance(runtime, Builtin)
    assert runtime.function.name == READY
    assert runtime.note() == "function-auto-ready v0.7.0 is built in"


def test_builtin_function_notes_another_version() -> None:
    manifests = [function(READY, f"{REGISTRY}/{READY}:v0.2.1")]
    todo = steps.parse(composition({"functionRef": {"name": READY}}))
    index = FunctionIndex(manifests=manifests, runtimes={}, annotations={})
    (runtime,) = functions.find_runtimes(todo, index).values()
    assert isinstance(runtime, Builtin)
    assert runtime.note().endswith("is built in; the Function names v0.2.1")


@pytest.mark.parametrize(
    ("manifests", "runtimes", "is_builtin"),
    [
        pytest.param([function(READY, runtime_development_target=ADDRESS)], {}, False, id="served"),
        pytest.param([function(READY)], {READY: Remote(address=ADDRESS)}, False, id="address"),
        pytest.param([function(READY)], {READY: "skip"}, False, id="skip"),
        pytest.param(
            [function(READY, runtime_development_target=ADDRESS)],
            {READY: "local"},
            True,
            id="local",
        ),
    ],
)
def test_builtin_function_yields_to_an_explicit_runtime(
    manifests: list[Object], runtimes: dict[str, Runtime], is_builtin: bool
) -> None:
    index = FunctionIndex(manifests=manifests, runtimes=runtimes, annotations={})
    todo = steps.parse(composition({"functionRef": {"name": READY}}))
    (runtime,) = functions.find_runtimes(todo, index).values()
    assert isinstance(runtime, Builtin) is is_builtin
