"""Starter projects: one small platform API in each language, with tests.

Called by `init`, which writes them, and by the playground. The Composition is a file in
the language's folder, the others are below here.
"""

from __future__ import annotations

import re
from importlib import resources
from typing import TYPE_CHECKING

from function_script import release
from function_script.engines.registry import LANGUAGES
from function_script.errors import InputError
from function_script.tools.starters.origins import Origins, parse_package

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path


def load(language: str, origins: Origins | None = None) -> dict[str, str]:
    """Return the texts of a starter by their path in the project; ``language`` is one of LANGUAGES.

    Without ``origins`` they name the package of the release.
    """
    folder = resources.files(LANGUAGES[language].package) / "starter"
    texts = {**_texts(folder), **_texts(resources.files(__package__) / "common")}
    substitutions = (origins or Origins(package=parse_package(release.REFERENCE))).substitutions
    words = re.compile(rf"\b(?:{'|'.join(substitutions)})\b")
    return {
        name: words.sub(lambda match: substitutions[match[0]], text)
        for name, text in sorted(texts.items())
    }


def write(language: str, directory: Path, origins: Origins | None = None) -> list[Path]:
    """Write a starter into ``directory``; the files. Raises InputError rather than overwrite."""
    texts = load(language, origins)
    paths = [directory / name for name in texts]
    there = [path for path in paths if path.exists()]
    if there:
        raise InputError.of(
            f'cannot begin a project in "{directory}": "{there[0].name}" is there already',
            hint="name a new directory: function-script init my-project",
        )
    try:
        for path, text in zip(paths, texts.values(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError.of(f'cannot begin a project in "{directory}": {error.strerror}') from error
    return paths


def _texts(folder: Traversable, prefix: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for item in folder.iterdir():
        if item.is_dir():
            found |= _texts(item, f"{prefix}{item.name}/")
        else:
            found[prefix + item.name] = item.read_text("utf-8")
    return found
