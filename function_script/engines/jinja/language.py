"""The descriptor of JinjaTemplate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script.engines.language import Language

if TYPE_CHECKING:
    from function_script.fields import ObjectReader
    from function_script.values import Object

_UNDEFINED: Final = {"Lenient": "Lenient", "Strict": "Strict"}
_WARMUP: Final = """
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    script.fn.crossplane.io/composition-resource-name: rehearsal
data:
  name: {{ 1 + 1 }}
"""


def _parse_options(_: ObjectReader, options: ObjectReader) -> Object:
    return {"undefined": options.choice("undefined", _UNDEFINED) or "Lenient"}


LANGUAGE: Final = Language(
    name="jinja",
    kind="JinjaTemplate",
    package=__package__,
    text_field="inline",
    default_file="main.j2",
    warmup=_WARMUP,
    is_template=True,
    options=("undefined",),
    parse_options=_parse_options,
    extensions=(".j2",),
    highlight="template",
    file_types={"*.j2": "jinja"},
)
