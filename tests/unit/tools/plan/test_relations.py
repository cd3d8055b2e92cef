"""Plans of XRs that depend on what the change makes of other XRs."""

import pytest
from support.plans import COMPOSITION, Plan, buckets, xr

SHARED = """\
        {% endfor %}
        ---
        apiVersion: s3.example.org/v1
        kind: Bucket
        metadata:
          name: NAME
          annotations: {script.fn.crossplane.io/composition-resource-name: shared}
"""


def share(name: str) -> tuple[str, str]:
    """Return an edit that adds an object with a name."""
    return "        {% endfor %}\n", SHARED.replace("NAME", name)


def test_object_that_two_xrs_add_is_unknown(plan: Plan) -> None:
    live = [xr(), *buckets(), xr("other", 1), *buckets("other", 1)]
    plan.change(share("a"))
    text = plan(*live)
    reason = 'unknown: another XR adds Bucket "a", too'
    assert f"{reason}\n  = XBucket/demo\n  = XBucket/other\n" in text
    assert "2 XRs looked at, 2 unknown.\n" in text
    plan.change(share("{{ observed.composite.resource.metadata.name }}"))
    assert "Plan: 2 to add, 0 to change, 0 to destroy.\n2 XRs looked at.\n" in plan(*live)


BUCKET = "apiVersion: s3.example.org/v1, kind: Bucket"
# What a step of another XR requires, and whether that is unknown.
SELECTORS = {
    "by name": (f"{BUCKET}, name: demo-0", True),
    "another name": (f"{BUCKET}, name: other-0", False),
    "by labels": (f"{BUCKET}, matchLabels: {{team: a}}", True),
    "other labels": (f"{BUCKET}, matchLabels: {{team: b}}", False),
    "all": (BUCKET, True),
    "in a namespace": (f"{BUCKET}, namespace: other", False),
}


@pytest.mark.parametrize(("selector", "is_unknown"), SELECTORS.values(), ids=SELECTORS)
def test_object_that_a_step_requires_and_another_xr_edits_is_unknown(
    plan: Plan, selector: str, *, is_unknown: bool
) -> None:
    """The XR is reconciled again when that has changed. Its own changes are in the plan, too."""
    item = f"      - {{requirementName: b, {selector}}}\n"
    required = f"    requirements:\n      requiredResources:\n{item}"
    other = COMPOSITION.replace("name: buckets", "name: others")
    other = other.replace("    input:\n", f"{required}    input:\n")
    plan.write("others.yaml", other, other.replace("size: 1", "size: 3"))
    plan.change(("size: 1", "size: 2"))
    reader = xr("other", 1, compositionRef={"name": "others"})
    live = buckets(count=1)
    live[0]["metadata"]["labels"] = {"team": "a"}
    text = plan(xr(count=1), *live, reader, *buckets("other", 1))
    reason = 'a step requires Bucket "demo-0", which the change of another XR edits'
    assert (f"unknown: {reason}\n  = XBucket/other\n" in text) == is_unknown
    assert "Plan: 0 to add, 2 to change, 0 to destroy.\n" in text
