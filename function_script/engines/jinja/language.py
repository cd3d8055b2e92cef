"""The descriptor of JinjaTemplate."""

from typing import ClassVar, Final

from function_script.engines.language import Language
from function_script.request.reader import ObjectReader
from function_script.request.values import Object

_UNDEFINED: Final = {"Lenient": "Lenient", "Strict": "Strict"}
_WARMUP: Final = """
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    script.fn.crossplane.io/composition-resource-name: warmup
data:
  name: "{{ 1 + 1 }}"
"""


class JinjaLanguage(Language):
    """Templates in Jinja."""

    name = "jinja"
    kind = "JinjaTemplate"
    package = __package__
    text_field = "inline"
    default_file = "main.j2"
    warmup = _WARMUP
    is_template = True
    has_branches = True
    options = ("undefined",)
    extensions = (".j2",)
    highlight = "template"
    file_types: ClassVar = {"*.j2": "jinja"}

    def parse_options(self, _fields: ObjectReader, options: ObjectReader) -> Object:
        """Parse ``undefined``, "Lenient" or "Strict"."""
        return {"undefined": options.choice("undefined", _UNDEFINED) or "Lenient"}


LANGUAGE: Final = JinjaLanguage()
