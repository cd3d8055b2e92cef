"""Starter projects: a small platform API in each language, with tests.

The Composition is a file in the language's folder, the other files are below this package.
"""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from function_script import release
from function_script.engines.registry import LANGUAGES
from function_script.errors import InputError
from function_script.tools.starters.origins import Origins, parse_package

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


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
    """Write a starter into ``directory``, and return the files. Raises InputError if one exists."""
    texts = load(language, origins)
    paths = [directory / name for name in texts]
    existing = [path for path in paths if path.exists()]
    if existing:
        raise InputError.of(
            f'cannot begin a project in "{directory}": "{existing[0].name}" is there already',
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
    texts: dict[str, str] = {}
    for item in folder.iterdir():
        if item.is_dir():
            texts |= _texts(item, f"{prefix}{item.name}/")
        else:
            texts[prefix + item.name] = item.read_text("utf-8")
    return texts
