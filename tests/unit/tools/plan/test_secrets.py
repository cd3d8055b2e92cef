"""Plans over dumps with Secrets: masked by `snapshot`, or with canaries for values."""

import base64
import json
from pathlib import Path

import pytest
from support.plans import COMPOSITION, buckets, change, crd, plan, xr

from function_script.request.values import Object
from function_script.tools.manifests import object_at

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


def secret(value: str = ENCODED, **annotations: str) -> Object:
    """The Secret of connection details, credentials and requirements."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": "secret",
            "namespace": "default",
            "uid": "secret",
            "annotations": {**annotations},
        },
        "data": {"password": value},
    }


def masked() -> Object:
    """The Secret as `snapshot` writes it."""
    return secret("cmVkYWN0ZWQx", **{"script.fn.crossplane.io/masked": "true"})


def detailed() -> list[Object]:
    """The composed resources, one of which has connection details."""
    live = buckets()
    reference = {"name": "secret", "namespace": "default"}
    live[0]["spec"] = {"writeConnectionSecretToRef": reference, "region": "eu", "size": 1}
    return live


def composed() -> list[Object]:
    """The composed resources and the XR, which composes the Secret, too."""
    live = xr()
    text = json.dumps(live).replace(
        '"resourceRefs": [',
        '"resourceRefs": [{"apiVersion": "v1", "kind": "Secret", "name": "secret", '
        '"namespace": "default"}, ',
    )
    own = masked()
    metadata = own["metadata"]
    assert isinstance(metadata, dict)
    annotations = metadata["annotations"]
    assert isinstance(annotations, dict)
    annotations["crossplane.io/composition-resource-name"] = "secret"
    return [json.loads(text), *buckets(), own]


REQUIRED_VALUE = "get_required_resources('all')[0].data.password"
DETAIL = "observed.resources['bucket-0'].connection_details.password"
READS = [
    pytest.param([], [xr(), *detailed(), masked()], DETAIL, id="connection details"),
    pytest.param([], composed(), "observed.resources.secret.resource.data.password", id="composed"),
    pytest.param([REQUIRED], [xr(), *buckets(), masked()], REQUIRED_VALUE, id="required"),
]


@pytest.mark.parametrize(("edits", "manifests", "value"), READS)
@pytest.mark.parametrize(
    "form", ["{value}", "{{{{ ({value}) | length }}}}", "{{{{ 1 if {value} else 2 }}}}"]
)
def test_masked_value_that_a_program_reads_makes_the_xr_unknown(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    edits: list[str],
    manifests: list[Object],
    value: str,
    form: str,
) -> None:
    """Also if it tests the value alone."""
    part = form.format(value=value) if "{{" in form else f"{{{{ {value} }}}}"
    change(project, ("size: 1", f"size: {part}"), *(("    input:\n", each) for each in edits))
    text = plan(capsys, *manifests)
    assert text.startswith("unknown: a step reads data of a Secret, which the dump has masked\n")


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        pytest.param(
            "cmVkYWN0ZWQx", "change: 2 objects of 1 XR: spec.size: 1 becomes 3", id="equal"
        ),
        pytest.param("cmVkYWN0ZWQy", "unknown: a step reads data of a Secret", id="different"),
    ],
)
def test_masked_values_that_a_program_compares_are_equal_or_make_the_xr_unknown(
    project: Path, capsys: pytest.CaptureFixture[str], mask: str, expected: str
) -> None:
    """A mask stands for one value."""
    other = secret(mask, **{"script.fn.crossplane.io/masked": "true"})
    other["metadata"] = {**object_at(other, "metadata"), "name": "other", "uid": "other"}
    values = (f"get_required_resources('all')[{index}].data.password" for index in range(2))
    size = f"size: {{{{ 3 if {' == '.join(values)} else 2 }}}}"
    change(project, ("size: 1", size), ("    input:\n", REQUIRED))
    assert plan(capsys, xr(), *buckets(), masked(), other).startswith(expected)


@pytest.mark.parametrize(("edits", "manifests", "value"), READS)
def test_masked_value_that_no_program_reads_is_no_obstacle(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    edits: list[str],
    manifests: list[Object],
    value: str,
) -> None:
    """The values of the XR are printed."""
    count = f"{{# {value} #}}2"
    change(project, ("size: 1", f"size: {count}"), *(("    input:\n", each) for each in edits))
    assert "spec.size: 1 becomes 2" in plan(capsys, *manifests)


def test_masked_credentials_make_the_xr_unknown(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(project, ("    input:\n", CREDENTIALS), ("size: 1", "size: 2"))
    text = plan(capsys, xr(), *buckets(), masked())
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
def test_canary_is_in_no_output(
    project: Path, capsys: pytest.CaptureFixture[str], source: str, leak: str, form: str
) -> None:
    """Nor a part of it, nor another form."""
    inputs, value = SOURCES[source]
    edits = [("    input:\n", each) for each in inputs]
    text = COMPOSITION.replace(*edits[0]) if edits else COMPOSITION
    (project / "old" / "composition.yaml").write_text(text)
    change(project, ("size: 1", LEAKS[leak].replace("%s", value)), *edits)
    # The rule quotes the value.
    rule = {"rule": "self == oldSelf", "messageExpression": "'no ' + self"}
    rules = f'"region": {{"x-kubernetes-validations": [{json.dumps(rule)}], '
    definition = json.loads(json.dumps(crd()).replace('"region": {', rules))
    printed = plan(capsys, xr(count=1), detailed()[0], secret(), definition, flags=("-o", form))
    assert "hidden" in printed
    assert not any(word in printed for word in ("canary", "nary-in", ENCODED[:8]))
