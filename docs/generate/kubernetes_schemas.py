"""Write the schemas of Kubernetes' own kinds from the published OpenAPI document of a release.

``python docs/generate/kubernetes_schemas.py SWAGGER VERSION`` reads the file
``api/openapi-spec/swagger.json``
of that release of Kubernetes, and writes what `validate.builtin` reads. Descriptions are left out.
"""

from __future__ import annotations

import json
import lzma
import sys
from pathlib import Path
from typing import Any, Final

FILE: Final = (
    Path(__file__).resolve().parents[2] / "function_script/tools/validate/kubernetes.json.xz"
)
_PREFIX: Final = "#/definitions/"
_SCALARS: Final = {
    ("string", None): "text",
    ("string", "byte"): "text",
    ("boolean", None): "flag",
    ("integer", "int32"): "int32",
    ("integer", "int64"): "int64",
    ("number", "double"): "number",
}
# Types with an encoding of their own, which OpenAPI does not describe.
_SPECIAL: Final = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-text",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "time",
}

Schema = dict[str, Any]  # type: ignore[explicit-any] # OpenAPI is JSON of many shapes


class Types:
    """The types that kinds refer to, each by its number: fields by name, and required names."""

    def __init__(self, definitions: dict[str, Schema]) -> None:
        self._definitions = definitions
        self._numbers: dict[str, int] = {}
        self.types: list[dict[str, object]] = []

    def refer(self, schema: Schema) -> str:
        """Return the name of a schema: a number, a scalar, or ``[]`` or ``{}`` before another."""
        if "$ref" in schema:
            return self._refer_to(schema["$ref"].removeprefix(_PREFIX))
        kind = schema.get("type")
        if kind == "array":
            return f"[]{self.refer(schema['items'])}"
        if kind == "object" and "additionalProperties" in schema:
            return f"{{}}{self.refer(schema['additionalProperties'])}"
        if kind in (None, "object"):
            return "object" if kind else "any"
        return _SCALARS[kind, schema.get("format")]

    def _refer_to(self, name: str) -> str:
        definition = self._definitions[name]
        if name in _SPECIAL:
            return _SPECIAL[name]
        if "properties" not in definition:
            return self.refer(definition)
        if name not in self._numbers:
            self._numbers[name] = len(self.types)
            entry: dict[str, object] = {}
            self.types.append(entry)
            properties = sorted(definition["properties"].items())
            entry["fields"] = {field: self.refer(schema) for field, schema in properties}
            entry["required"] = sorted(definition.get("required", ()))
        return str(self._numbers[name])


def main() -> None:
    """Read the document that the command line names, and write the file."""
    source, version = sys.argv[1:]
    definitions: dict[str, Schema] = json.loads(Path(source).read_text("utf-8"))["definitions"]
    types = Types(definitions)
    kinds: dict[str, dict[str, str]] = {}
    for name, definition in sorted(definitions.items()):
        if "metadata" not in definition.get("properties", ()):
            continue
        for key in definition.get("x-kubernetes-group-version-kind", ()):
            if not key["kind"].endswith("List"):
                api_version = f"{key['group']}/{key['version']}".removeprefix("/")
                number = types.refer({"$ref": f"{_PREFIX}{name}"})
                kinds.setdefault(api_version, {})[key["kind"]] = number
    text = json.dumps(
        {"version": version, "kinds": kinds, "types": types.types}, separators=(",", ":")
    )
    FILE.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    count = sum(map(len, kinds.values()))
    print(f"{count} kinds, {len(types.types)} types, {FILE.stat().st_size} bytes")  # noqa: T201 - a command


if __name__ == "__main__":
    main()
