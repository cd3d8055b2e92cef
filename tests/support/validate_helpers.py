"""Files to validate, as tests need them: a CRD, an object of its kind, and where to put both."""

from pathlib import Path

from function_script.request.values import Object, Value
from function_script.tools.validate.command import validate
from function_script.tools.validate.packages import PackageSchemas
from function_script.tools.validate.report import Report

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.org}
spec:
  group: example.org
  names: {kind: Thing}
  versions:
    - name: v1
      schema:
        openAPIV3Schema:
          type: object
          properties:
            apiVersion: {type: string}
            kind: {type: string}
            metadata: {type: object}
            spec:
              type: object
              required: [size]
              properties:
                size: {type: string, default: s}
                count: {type: integer}
              x-kubernetes-validations:
                - rule: "!has(self.count) || self.count > 0"
                  message: count must be positive
"""
GOOD = """\
apiVersion: example.org/v1
kind: Thing
metadata: {name: good, namespace: here}
spec: {}
"""
OTHER = "apiVersion: example.org/v1\nkind: Other\nmetadata: {name: other}\n"


def obj(**properties: Value) -> Object:
    """The schema of an object with these fields."""
    return {"type": "object", "properties": properties}


def write(directory: Path, **texts: str) -> list[str]:
    """Files with these texts; their paths."""
    paths = []
    for name, text in texts.items():
        path = directory / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        paths.append(str(path))
    return paths


def check(directory: Path, *texts: str, extensions: str = CRD) -> Report:
    """The report on some resources."""
    schemas = write(directory / "extensions", crd=extensions)
    resources = write(
        directory / "resources", **{f"r{number}": text for number, text in enumerate(texts)}
    )
    return validate(schemas, resources, packages=PackageSchemas(cache=directory / "cache"))
