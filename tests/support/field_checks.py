"""Compositions of an XR whose XRD stands beside them, and the fields that `check` finds wrong."""

from functools import partial
from pathlib import Path

from support import check_helpers, one_step
from support.check_helpers import PIPELINE, composition, pointed_at, template

from function_script.request.values import Object
from function_script.tools.check import checker, definitions
from function_script.tools.project import Project

XRD = one_step.xrd(
    """\
spec:
  type: object
  properties:
    size: {type: integer}
    disks:
      type: array
      items: {type: object, properties: {name: {type: string}}}
    labels: {type: object, additionalProperties: {type: string}}
    owners:
      additionalProperties: {type: object, properties: {team: {type: string}}}
    free: {type: object, x-kubernetes-preserve-unknown-fields: true}
    port: {x-kubernetes-int-or-string: true}
    owner:
      type: object
      properties:
        team: {type: string}
        shown: {type: boolean}
        mode: {type: string, enum: [fast, slow]}
        level: {type: integer, enum: [1, 2]}
        limit: {x-kubernetes-int-or-string: true, enum: [1, none]}
status:
  type: object
  properties:
    address: {type: string}""",
    "Thing",
)
CRD = one_step.crd(
    "status: {type: object, properties: {networkId: {type: string}}}", "Network", "net.example.org"
)
REFERENCE = "  compositeTypeRef: {apiVersion: example.org/v1, kind: Thing}\n  pipeline:\n"
XR = "observed.composite.resource"
OBJECT: Object = {
    "apiVersion": "example.org/v1",
    "kind": "Thing",
    "metadata": {"name": "x"},
    "spec": {"size": 1},
}


def found(path: Path, text: str, *, crds: bool = False) -> list[tuple[str, str | None]]:
    """The paths that do not exist and what is said to mend each; for a step of a Thing."""
    file = path / "composition.yaml"
    file.write_text(composition(text).replace(PIPELINE, REFERENCE))
    (path / "xrd.yaml").write_text(XRD)
    (path / "network.yaml").write_text(CRD)
    schemas = definitions.load(None, [path / "network.yaml"] if crds else [], Project([path]))
    report = checker.check([str(file)], None, schemas)
    # A line that only reads a field sets a name that nothing else reads, and composes nothing.
    others = ("doubtful", "unknown-resource")
    findings = [finding for finding in report.findings if finding.rule not in others]
    assert {finding.rule for finding in findings} <= {"unknown-field", "guarded-field"}
    for finding in findings:
        problem = finding.diagnostic
        last = problem.message.split(" ")[0].rpartition(".")[2]
        assert last in pointed_at(finding)[: problem.span.width]
    return [(f.diagnostic.message.split(" ")[0], f.diagnostic.hint) for f in findings]


def script(*lines: str) -> str:
    """A script with these lines in `main`."""
    return check_helpers.script(*lines, "return {}")


jinja = partial(template, "JinjaTemplate")
go = partial(template, "GoTemplate")
GET = 'xr = req["observed"]["composite"]["resource"]'
