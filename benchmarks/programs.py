"""The measured program, once per language: same reads, same output."""

from __future__ import annotations

API_VERSION = "script.fn.crossplane.io/v1beta1"

STARLARK_ALL = """
def main(req):
    arns = [
        entry["resource"]["status"]["atProvider"]["arn"]
        for entry in req["observed"]["resources"].values()
    ]
    return compose(req["observed"]["composite"]["resource"]["spec"], arns)
"""
STARLARK_FEW = """
def main(req):
    arns = []
    if "bucket-0000" in req["observed"]["resources"]:
        arns.append(req["observed"]["resources"]["bucket-0000"]["resource"]["status"]["atProvider"]["arn"])
    if "bucket-0001" in req["observed"]["resources"]:
        arns.append(req["observed"]["resources"]["bucket-0001"]["resource"]["status"]["atProvider"]["arn"])
    if "bucket-0002" in req["observed"]["resources"]:
        arns.append(req["observed"]["resources"]["bucket-0002"]["resource"]["status"]["atProvider"]["arn"])
    return compose(req["observed"]["composite"]["resource"]["spec"], arns)
"""
STARLARK_COMPOSE = """
def bucket(spec, index, arn):
    return {
        "apiVersion": "s3.aws.upbound.io/v1beta1",
        "kind": "Bucket",
        "metadata": {
            "labels": {"team": "storage", "index": "i%d" % index},
            "annotations": {"example.org/nonce": spec["nonce"]},
        },
        "spec": {
            "forProvider": {
                "region": spec["region"],
                "tags": {"name": "bucket-%d" % index, "source": arn, "team": "storage"},
            },
        },
    }

def compose(spec, arns):
    resources = {}
    for i in range(spec["count"]):
        arn = arns[i] if i < len(arns) else "none"
        resources["new-%d" % i] = {"resource": bucket(spec, i, arn)}
    return {
        "desired": {
            "composite": {"resource": {"status": {"touched": len(arns)}}},
            "resources": resources,
        },
    }
"""

JINJA_ALL = """
{% set all = observed.resources.values() %}
{% set arns = all | map(attribute="resource.status.atProvider.arn") | list %}
"""
JINJA_FEW = """
{% set ns = namespace(arns=[]) %}
{% for name in ["bucket-0000", "bucket-0001", "bucket-0002"] %}
{% if name in observed.resources %}
{% set ns.arns = ns.arns + [observed.resources[name].resource.status.atProvider.arn] %}
{% endif %}
{% endfor %}
{% set arns = ns.arns %}
"""
JINJA_COMPOSE = """
{% for i in range(spec.count) %}
---
apiVersion: s3.aws.upbound.io/v1beta1
kind: Bucket
metadata:
  labels:
    team: storage
    index: i{{ i }}
  annotations:
    script.fn.crossplane.io/composition-resource-name: new-{{ i }}
    example.org/nonce: {{ spec.nonce }}
spec:
  forProvider:
    region: {{ spec.region }}
    tags:
      name: bucket-{{ i }}
      source: {{ arns[i] | default("none") }}
      team: storage
{% endfor %}
---
apiVersion: {{ xr.apiVersion }}
kind: {{ xr.kind }}
status:
  touched: {{ arns | length }}
"""


GO_ALL = """
{{- $arns := list }}
{{- range $name, $entry := .observed.resources }}
{{- $arns = append $arns $entry.resource.status.atProvider.arn }}
{{- end }}
"""
GO_FEW = """
{{- $arns := list }}
{{- $resources := .observed.resources }}
{{- range $name := list "bucket-0000" "bucket-0001" "bucket-0002" }}
{{- with index $resources $name }}
{{- $arns = append $arns .resource.status.atProvider.arn }}
{{- end }}
{{- end }}
"""
GO_COMPOSE = """
{{- $xr := .observed.composite.resource }}
{{- $spec := $xr.spec }}
{{- range $i := until ($spec.count | int) }}
---
apiVersion: s3.aws.upbound.io/v1beta1
kind: Bucket
metadata:
  labels:
    team: storage
    index: i{{ $i }}
  annotations:
    gotemplating.fn.crossplane.io/composition-resource-name: new-{{ $i }}
    example.org/nonce: {{ $spec.nonce }}
spec:
  forProvider:
    region: {{ $spec.region }}
    tags:
      name: bucket-{{ $i }}
      source: {{ if lt $i (len $arns) }}{{ index $arns $i }}{{ else }}none{{ end }}
      team: storage
{{- end }}
---
apiVersion: {{ $xr.apiVersion }}
kind: {{ $xr.kind }}
status:
  touched: {{ len $arns }}
"""


def gotemplate(*, few: bool) -> dict[str, object]:
    """The GoTemplate input, in function-go-templating's own kind: both run it as it is."""
    template = (GO_FEW if few else GO_ALL) + GO_COMPOSE
    return {
        "apiVersion": "gotemplating.fn.crossplane.io/v1beta1",
        "kind": "GoTemplate",
        "source": "Inline",
        "inline": {"template": template},
    }


def starlark(*, few: bool) -> dict[str, object]:
    """The StarlarkScript input."""
    script = (STARLARK_FEW if few else STARLARK_ALL) + STARLARK_COMPOSE
    return {"apiVersion": API_VERSION, "kind": "StarlarkScript", "script": script}


def jinja(*, few: bool) -> dict[str, object]:
    """The JinjaTemplate input."""
    inline = (JINJA_FEW if few else JINJA_ALL) + JINJA_COMPOSE
    return {"apiVersion": API_VERSION, "kind": "JinjaTemplate", "inline": inline}
