"""The texts of a project with one step: an XR, its XRD, and its Composition with one program."""

from textwrap import dedent, indent

XR = "apiVersion: example.org/v1\nkind: XThing\nmetadata: {name: demo}\n"
PIPELINE = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: things}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: XThing}
  mode: Pipeline
  pipeline:
"""
"""A Composition for `XR` as far as its steps."""
HEAD = f"""\
{PIPELINE}\
  - step: one
    functionRef: {{name: function-script}}
    input:
"""
"""A Composition for `XR` as far as the fields of its input."""


def composition(kind: str, program: str, *, field: str = "inline", fields: str = "") -> str:
    """A Composition for `XR`: ``program`` in ``field`` of an input, with ``fields`` as YAML."""
    return PIPELINE + step("one", kind, program, field=field, fields=fields)


def step(name: str, kind: str, program: str, *, field: str = "inline", fields: str = "") -> str:
    """A step for a `PIPELINE`: ``program`` in ``field`` of an input, with ``fields`` as YAML."""
    head = f"apiVersion: script.fn.crossplane.io/v1beta1\nkind: {kind}\n{fields}{field}: |\n"
    text = indent(head + indent(dedent(program), "  "), " " * 6)
    return HEAD.removeprefix(PIPELINE).replace("one", name, 1) + text


def xrd(properties: str, kind: str = "XThing", group: str = "example.org") -> str:
    """An XRD of that kind in v1, with these properties of its schema as YAML."""
    head = """\
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
"""
    return head + _definition(properties, kind, group, "v1", "referenceable")


def crd(properties: str, kind: str, group: str = "example.org", version: str = "v1") -> str:
    """A CRD of that kind in one version, with these properties of its schema as YAML."""
    head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
    return head + _definition(properties, kind, group, version, "storage")


def _definition(properties: str, kind: str, group: str, version: str, flag: str) -> str:
    head = f"""\
metadata: {{name: {kind.lower()}s.{group}}}
spec:
  group: {group}
  names: {{kind: {kind}, plural: {kind.lower()}s}}
  versions:
  - name: {version}
    served: true
    {flag}: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
"""
    return head + indent(properties, " " * 10) + "\n"
