"""The engines, a folder for each language. Adding one is a folder, its name here and a CRD.

Imports nothing: the command line reads the names at its start.
"""

from typing import Final

NAMES: Final = (
    "starlark",
    "jinja",
    "gotemplate",
)
"""The names of the languages, which are those of their folders."""
