"""Starter projects: one small platform API in each language, with tests.

Called by `init`, which writes them, and by the playground. Their files are real ones, below here.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

from function_script.errors import InputError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path


def load(language: str) -> dict[str, str]:
    """The texts of a starter by their path in the project; ``language`` is one of ENGINES."""
    root = resources.files(__package__)
    texts = {**_texts(root / language), **_texts(root / "common")}
    return dict(sorted(texts.items()))


def write(language: str, directory: Path) -> list[Path]:
    """Write a starter into ``directory``; the files. Raises InputError rather than overwrite."""
    texts = load(language)
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
