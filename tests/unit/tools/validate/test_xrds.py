import pytest
import yaml
from support import one_step, render_helpers

from function_script.request.values import Object, Value
from function_script.tools import structural_schema
from function_script.tools.validate import openapi
from function_script.tools.validate.catalog import Catalog

SPEC: Object = {
    "type": "object",
    "required": ["size"],
    "properties": {"size": {"type": "string", "enum": ["s", "m"]}},
}
STATUS: Object = {"type": "object", "properties": {"ready": {"type": "integer"}}}


SCHEMA: Object = {"type": "object", "properties": {"spec": SPEC, "status": STATUS}}


def xrd(version: str = "v2", **spec: Value) -> Object:
    """An XRD of XBucket with a claim's names if they are given."""
    return render_helpers.xrd(version, SCHEMA, **spec)


def problems(definition: Object, kind: str = "XBucket", **parts: Value) -> list[str]:
    """Return the problems of an object of the XRD, unknown fields included."""
    schema = Catalog([definition]).find("example.org/v1", kind)
    value: Object = {"apiVersion": "example.org/v1", "kind": kind, "metadata": {}, **parts}
    result = [problem.message for problem in openapi.check(value, schema)[0]]
    return result + [
        f"unknown {path}" for path, _ in structural_schema.unknown_fields(value, schema)
    ]


REFERENCES: list[Value] = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "x"}]
CONDITION: Object = {
    "type": "Ready",
    "status": "True",
    "reason": "Available",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}

ALLOWED = {
    "modern": (xrd(), {"crossplane": {"resourceRefs": REFERENCES}}),
    "composition": (xrd(), {"crossplane": {"compositionRef": {"name": "x"}}}),
    "v1-is-legacy": (xrd("v1"), {"resourceRefs": REFERENCES}),
    "claim-ref": (xrd("v1"), {"claimRef": {**REFERENCES[0], "namespace": "n"}}),
    "v1-cluster": (xrd("v1", scope="Cluster"), {"crossplane": {"resourceRefs": REFERENCES}}),
    "v2-legacy": (xrd(scope="LegacyCluster"), {"resourceRefs": REFERENCES}),
}


@pytest.mark.parametrize(("definition", "machinery"), ALLOWED.values(), ids=ALLOWED)
def test_machinery_stands_where_the_scope_says(definition: Object, machinery: Object) -> None:
    """Modern XRs have it below spec.crossplane, legacy ones directly below spec."""
    assert problems(definition, spec={"size": "s", **machinery}) == []


def test_machinery_of_the_other_kind_is_unknown() -> None:
    spec: Object = {"size": "s", "crossplane": {}}
    assert problems(xrd("v1"), spec=spec) == ["unknown spec.crossplane"]
    assert problems(xrd(), spec={"size": "s", "claimRef": {}}) == ["unknown spec.claimRef"]


def test_namespaced_xr_references_its_own_namespace() -> None:
    reference: Object = {"apiVersion": "v1", "kind": "X", "name": "x", "namespace": "n"}
    spec: Object = {"size": "s", "crossplane": {"resourceRefs": [reference]}}
    assert problems(xrd(scope="Cluster"), spec=spec) == []
    assert problems(xrd(), spec=spec) == ["unknown spec.crossplane.resourceRefs[0].namespace"]


def test_status_has_conditions() -> None:
    assert problems(xrd(), spec={"size": "s"}, status={"conditions": [CONDITION]}) == []
    details: Object = {"connectionDetails": {"lastPublishedTime": "2026-01-01T00:00:00Z"}}
    assert problems(xrd("v1"), spec={"size": "s"}, status=details) == []
    assert problems(xrd(), spec={"size": "s"}, status=details) == [
        "unknown status.connectionDetails"
    ]


def test_names_fit_a_label() -> None:
    name = "x" * 64
    (message,) = problems(xrd(), metadata={"name": name}, spec={"size": "s"})
    assert message == "metadata.name: Too long: may not be more than 63 bytes"
    assert problems(xrd(), metadata={"name": name[:63]}, spec={"size": "s"}) == []


def test_claim_has_a_schema_of_its_own() -> None:
    definition = xrd("v1", claimNames={"kind": "Thing", "plural": "things"})
    spec: Object = {"size": "s", "writeConnectionSecretToRef": {"name": "x"}}
    assert problems(definition, "Thing", spec=spec) == []
    assert problems(definition, spec=spec) == [
        "spec.writeConnectionSecretToRef.namespace: Required value"
    ]


def test_policies_have_the_xrds_defaults() -> None:
    definition = xrd(
        "v1",
        claimNames={"kind": "Thing"},
        defaultCompositionUpdatePolicy="Manual",
        defaultCompositeDeletePolicy="Foreground",
    )
    catalog = Catalog([definition])
    for kind, field, policy in (
        ("XBucket", "compositionUpdatePolicy", "Manual"),
        ("Thing", "compositeDeletePolicy", "Foreground"),
    ):
        value: Object = {"spec": {"size": "s"}}
        structural_schema.add_defaults(value, catalog.find("example.org/v1", kind) or {})
        assert value["spec"][field] == policy


def test_last_of_two_definitions_counts() -> None:
    """The official command does the same."""
    crd = yaml.safe_load(one_step.crd("spec: {type: object}", "XBucket"))
    catalog = Catalog([xrd(), crd])
    schema = {"type": "object", "properties": {"spec": {"type": "object"}}}
    assert catalog.find("example.org/v1", "XBucket") == schema
    assert catalog.find("example.org/v2", "XBucket") is None
