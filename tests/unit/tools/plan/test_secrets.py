"""Plans over dumps with Secrets: masked by `snapshot`, or with canaries for values."""

import base64

import pytest
from support.plans import COMPOSITION, Plan, buckets, crd, details, xr

from function_script.request.values import Object

CANARY = "canary-in-a-mine"
ENCODED = base64.b64encode(CANARY.encode()).decode()
CREDENTIALS = """\
    credentials:
    - name: login
      source: Secret
      secretRef: {name: secret, namespace: default}
    input:
"""
REQUIRED = """\
    requirements:
      requiredResources:
      - {requirementName: all, apiVersion: v1, kind: Secret}
    input:
"""


def secret(value: str = ENCODED, name: str = "secret", **annotations: str) -> Object:
    """The Secret of connection details, credentials and requirements."""
    metadata = {"name": name, "namespace": "default", "uid": name, "annotations": {**annotations}}
    data = {"password": value}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}


def masked(mask: str = "cmVkYWN0ZWQx", name: str = "secret", **annotations: str) -> Object:
    """The Secret as `snapshot` writes it."""
    mark = {"script.fn.crossplane.io/masked": "true"}
    return secret(mask, name, **mark, **annotations)


def composed() -> list[Object]:
    """The composed resources and the XR, which composes the Secret, too."""
    own = masked(**{"crossplane.io/composition-resource-name": "secret"})
    reference = {"apiVersion": "v1", "kind": "Secret", "name": "secret", "namespace": "default"}
    live = xr()
    live["spec"]["crossplane"]["resourceRefs"].append(reference)
    return [live, *buckets(), own]


REQUIRED_VALUE = "get_required_resources('all')[0].data.password"
DETAIL = "observed.resources['bucket-0'].connection_details.password"
READS = {
    "connection details": ([], [xr(), *details("secret"), masked()], DETAIL),
    "composed": ([], composed(), "observed.resources.secret.resource.data.password"),
    "required": ([REQUIRED], [xr(), *buckets(), masked()], REQUIRED_VALUE),
}


def plan_size(plan: Plan, size: str, inputs: list[str], *manifests: Object) -> str:
    """Plan another size, with these fields of the step before its input."""
    plan.change(("size: 1", f"size: {size}"), *(("    input:\n", each) for each in inputs))
    return plan(*manifests)


@pytest.mark.parametrize(("inputs", "manifests", "value"), READS.values(), ids=READS)
@pytest.mark.parametrize("form", ["{{ @ }}", "{{ (@) | length }}", "{{ 1 if @ else 2 }}"])
def test_masked_value_that_a_program_reads_makes_the_xr_unknown(
    plan: Plan, inputs: list[str], manifests: list[Object], value: str, form: str
) -> None:
    """The program may test the value alone."""
    text = plan_size(plan, form.replace("@", value), inputs, *manifests)
    assert text.startswith("unknown: a step reads data of a Secret, which the dump has masked\n")


MASKS = {
    "equal": ("cmVkYWN0ZWQx", "change: 2 objects of 1 XR: spec.size: 1 becomes 3"),
    "different": ("cmVkYWN0ZWQy", "unknown: a step reads data of a Secret"),
}


@pytest.mark.parametrize(("mask", "expected"), MASKS.values(), ids=MASKS)
def test_masked_values_that_a_program_compares_are_equal_or_make_the_xr_unknown(
    plan: Plan, mask: str, expected: str
) -> None:
    """A mask stands for one value."""
    values = (f"get_required_resources('all')[{index}].data.password" for index in range(2))
    size = f"{{{{ 3 if {' == '.join(values)} else 2 }}}}"
    manifests = [xr(), *buckets(), masked(), masked(mask, "other")]
    assert plan_size(plan, size, [REQUIRED], *manifests).startswith(expected)


@pytest.mark.parametrize(("inputs", "manifests", "value"), READS.values(), ids=READS)
def test_masked_value_that_no_program_reads_is_no_obstacle(
    plan: Plan, inputs: list[str], manifests: list[Object], value: str
) -> None:
    """The values of the XR are printed."""
    text = plan_size(plan, f"{{# {value} #}}2", inputs, *manifests)
    assert "spec.size: 1 becomes 2" in text


def test_masked_credentials_make_the_xr_unknown(plan: Plan) -> None:
    text = plan_size(plan, "2", [CREDENTIALS], xr(), *buckets(), masked())
    assert text.startswith('unknown: Secret "secret" with credentials is masked in the dump\n')


SOURCES = {
    "connection details": ([], DETAIL),
    "credentials": ([CREDENTIALS], "get_credential_data('login').password"),
    "required": ([REQUIRED], REQUIRED_VALUE),
}
LEAKS = {
    "value": "size: {{ %s }}",
    "other form": "size: {{ %s | b64encode }}",
    "part": "size: {{ %s[2:9] }}",
    "failure": "size: {{ fail('no ' ~ %s) }}",
    "error": "size: {{ {}[%s] }}",
    "refusal": "region: {{ %s }}",
    "name": "size: 1\n        ---\n        apiVersion: v1\n        kind: Pod\n        metadata:\n"
    "          name: {{ %s | lower }}\n          annotations:\n"
    "            script.fn.crossplane.io/composition-resource-name: other",
    "resource name": "size: 1\n        ---\n        apiVersion: v1\n        kind: Pod\n"
    "        metadata:\n          annotations:\n"
    "            script.fn.crossplane.io/composition-resource-name: {{ %s }}",
    "key": "size: {{ {%s: 1} | to_json }}",
    "key of a field": "size: 1\n          {{ %s }}: 1",
    "key of the status": "size: 1\n        ---\n        apiVersion: example.org/v1\n"
    "        kind: XBucket\n        status:\n          {{ %s }}: 1",
    "invalid name": "size: 1\n        ---\n        apiVersion: v1\n        kind: Pod\n"
    "        metadata:\n          name: _{{ %s }}\n          annotations:\n"
    "            script.fn.crossplane.io/composition-resource-name: other",
}
OUTPUTS = [
    *(
        pytest.param("connection details", leak, form, id=f"{leak}-{form}")
        for leak in LEAKS
        for form in ("text", "json")
    ),
    *(
        pytest.param(source, leak, "markdown", id=f"{source}-{leak}")
        for source in SOURCES
        for leak in ("value", "failure")
    ),
]


@pytest.mark.parametrize(("source", "leak", "form"), OUTPUTS)
def test_canary_is_in_no_output(plan: Plan, source: str, leak: str, form: str) -> None:
    """No part of it is there, nor another form."""
    inputs, value = SOURCES[source]
    before = COMPOSITION
    for each in inputs:
        before = before.replace("    input:\n", each)
    plan.change(("size: 1", LEAKS[leak].replace("%s", value)), before=before)
    # The rule quotes the value.
    rule = {"rule": "self == oldSelf", "messageExpression": "'no ' + self"}
    definition = crd({"region": {"type": "string", "x-kubernetes-validations": [rule]}})
    printed = plan(xr(count=1), details("secret")[0], secret(), definition, flags=("-o", form))
    assert "hidden" in printed
    assert not any(word in printed for word in ("canary", "nary-in", ENCODED[:8]))
