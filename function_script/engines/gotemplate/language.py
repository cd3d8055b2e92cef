"""The descriptor of GoTemplate."""

from typing import Final

from function_script.engines.language import Language
from function_script.request.reader import ObjectReader
from function_script.request.values import Object

DELIMS: Final = ("{{", "}}")
"""Go's own delimiters of actions."""
_MAX_DELIMITER: Final = 16
_MISSING_KEY: Final = {"Checked": "checked", "Default": "default", "Zero": "zero", "Error": "error"}
_WARMUP: Final = """
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    script.fn.crossplane.io/composition-resource-name: warmup
data:
  name: "{{ printf "%d" 1 }}"
"""


def check_delims(fields: ObjectReader, left: str, right: str) -> None:
    """Note a delimiter that is too long."""
    for key, text in (("left", left), ("right", right)):
        if len(text) > _MAX_DELIMITER:
            fields.problems.add(fields.at(key), f"must be at most {_MAX_DELIMITER} characters")


class GoTemplateLanguage(Language):
    """Templates of Go's text/template."""

    name = "gotemplate"
    kind = "GoTemplate"
    package = __package__
    text_field = "inline"
    default_file = "main.gotmpl"
    warmup = _WARMUP
    is_template = True
    has_branches = True
    fields = ("delims",)
    options = ("missingKey", "stableValues", "crypto")
    has_json_names = True
    has_plain_data = True
    clock_functions = ("now", "ago")
    extensions = (".gotmpl", ".tmpl")
    highlight = "template"

    def parse_options(self, fields: ObjectReader, options: ObjectReader) -> Object:
        """Parse the delimiters and the options.

        A step of function-go-templating's own kind has other values of the same options, and
        ``parts``: for a text joined from several templates, each one's name and first line.
        """
        left, right = DELIMS
        delims = fields.object("delims")
        # The input has both or none, and an empty one counts as none.
        if delims is not None:
            delims.refuse_unknown("left", "right")
            own_left, own_right = delims.text("left") or "", delims.text("right") or ""
            if bool(own_left) != bool(own_right):
                missing = "right" if own_left else "left"
                delims.problems.add(delims.at(missing), "is required beside the other delimiter")
            check_delims(delims, own_left, own_right)
            left, right = own_left or left, own_right or right
        return {
            "dialect": "script",
            "delims": [left, right],
            "missingkey": options.choice("missingKey", _MISSING_KEY) or "checked",
            "stable_values": bool(options.flag("stableValues")),
            "crypto": bool(options.flag("crypto")),
        }


LANGUAGE: Final = GoTemplateLanguage()
