"""The registry of languages: their descriptors by name."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final, cast

from function_script import engines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.engines.language import Language

LANGUAGES: Final[Mapping[str, Language]] = {
    name: cast("Language", importlib.import_module(f"{engines.__name__}.{name}.language").LANGUAGE)
    for name in engines.NAMES
}
ENGINE_MODULES: Final = tuple(language.engine_module for language in LANGUAGES.values())
"""Import paths of the engines, for a process that runs programs of all languages."""
