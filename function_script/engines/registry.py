"""The registry of languages: their descriptors by name."""

import importlib
from collections.abc import Mapping
from typing import Final, cast

from function_script import engines
from function_script.engines.language import Language

LANGUAGES: Final[Mapping[str, Language]] = {
    name: cast("Language", importlib.import_module(f"{engines.__name__}.{name}.language").LANGUAGE)
    for name in engines.NAMES
}
ENGINE_MODULES: Final = tuple(language.engine_module for language in LANGUAGES.values())
"""Import paths of the engines, for a process that runs programs of all languages."""
