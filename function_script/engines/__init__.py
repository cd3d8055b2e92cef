"""The registry of languages. Adding one is a folder, its name here and a CRD of its input."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final, cast

from function_script.engines.language import Language

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ENGINE_MODULES", "LANGUAGES", "Language"]

_FOLDERS: Final = (
    "starlark",
    "jinja",
    "gotemplate",
)
LANGUAGES: Final[Mapping[str, Language]] = {
    folder: cast("Language", importlib.import_module(f"{__name__}.{folder}.language").LANGUAGE)
    for folder in _FOLDERS
}
"""Every language by its name, which is its folder's."""
ENGINE_MODULES: Final = tuple(language.engine_module for language in LANGUAGES.values())
"""Import paths of the engines, for a process that runs programs of all languages."""
