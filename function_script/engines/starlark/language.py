"""The descriptor of StarlarkScript."""

from typing import ClassVar, Final

from function_script.engines.language import Language

_WARMUP: Final = """
def main(req):
    name = req["observed"]["composite"]["resource"]["metadata"]["name"]
    resource = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"name": name}}
    return {"desired": {"resources": {"warmup": {"resource": resource}}}}
"""


class StarlarkLanguage(Language):
    """Scripts, which return a response."""

    name = "starlark"
    kind = "StarlarkScript"
    package = __package__
    text_field = "script"
    default_file = "main.star"
    warmup = _WARMUP
    is_template = False
    has_branches = True
    # The decoder of JSON does it.
    sorts_keys = True
    extensions = (".star",)
    highlight = "script"
    file_types: ClassVar = {"*.star": "python"}
    # Pyright and editors built on it take the names in such a file for built in.
    editor_files: ClassVar = {"typings/__builtins__.pyi": "prelude.pyi"}


LANGUAGE: Final = StarlarkLanguage()
