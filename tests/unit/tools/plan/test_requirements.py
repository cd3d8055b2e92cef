"""Plans of XRs whose steps require objects that the dump has, may have, or cannot have."""

import json
from typing import Final

import pytest
from support.plans import COMPOSITION, XRD, Plan, buckets, crd, xr

from function_script.request.values import Object

CONFIG: Object = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a", "namespace": "default"},
}
SECRET: Object = {**CONFIG, "kind": "Secret"}
DEFINITION: Final = "apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition"


def require(plan: Plan, selector: str, part: str = "requiredResources") -> None:
    """Edit a Composition with a step that requires something."""
    text = f"    requirements:\n      {part}:\n      - {{requirementName: b, {selector}}}\n"
    plan.change(
        ("size: 1", "size: 2"), before=COMPOSITION.replace("    input:\n", f"{text}    input:\n")
    )


def of_snapshot(*manifests: Object) -> str:
    """A dump for which everything was read."""
    items = [XRD, xr(), *buckets(), *manifests]
    return json.dumps({"apiVersion": "v1", "kind": "List", "unread": {}, "items": items})


def lack(kind: str) -> str:
    """The reason for an object that is not there."""
    return f'unknown: the dump lacks {kind} "b", which a step requires\n'


PLANNED: Final = "change: 2 objects of 1 XR: spec.size: "
OWN: Final = "apiVersion: v1, kind: ConfigMap, namespace: default, name: "
SECRETS: Final = "apiVersion: v1, kind: Secret, namespace: default"
SOME: Final = "unknown: a step requires {} objects, and the dump has some alone\n"
# What a step requires, and the begin of the plan with a dump by hand and with one of `snapshot`.
SELECTORS = {
    "there": (f"{OWN}a", PLANNED, PLANNED),
    "not there": (f"{OWN}b", lack("ConfigMap"), PLANNED),
    "all": ("apiVersion: v1, kind: ConfigMap, matchLabels: {a: b}", PLANNED, PLANNED),
    "version": (
        "apiVersion: v2/v2, kind: ConfigMap",
        "unknown: a step requires ConfigMap objects, and the dump has none\n",
        "unknown: a step requires ConfigMap objects, and the dump has none\n",
    ),
    "other version": (
        f"{DEFINITION.replace('v1,', 'v1beta1,')}, name: buckets.s3.example.org",
        "unknown: a step requires CustomResourceDefinition objects as ",
        "unknown: a step requires CustomResourceDefinition objects as ",
    ),
    "Secret": (f"{SECRETS}, name: b", lack("Secret"), lack("Secret")),
    "Secrets": (f"{SECRETS}, matchLabels: {{a: b}}", PLANNED, SOME.format("Secret")),
    "CRD": (
        f"{DEFINITION}, name: b",
        lack("CustomResourceDefinition"),
        lack("CustomResourceDefinition"),
    ),
}


@pytest.mark.parametrize(("selector", "by_hand", "read"), SELECTORS.values(), ids=SELECTORS)
def test_object_that_the_dump_may_lack_makes_the_xr_unknown(
    plan: Plan, selector: str, by_hand: str, read: str
) -> None:
    """`snapshot` reads kinds as a whole, but for Secrets and CRDs."""
    require(plan, selector)
    live = [CONFIG, SECRET, crd()]
    assert plan(xr(), *buckets(), *live).startswith(by_hand)
    assert plan.of_dump(of_snapshot(*live), "--before", "old").out.startswith(read)


def test_schema_is_in_no_dump(plan: Plan) -> None:
    require(plan, "apiVersion: v1, kind: ConfigMap", "requiredSchemas")
    assert plan(xr(), *buckets()).startswith("unknown: a step requires the schema of ConfigMap\n")
