"""Starter projects in each language, with tests: a small platform API, or one from an example XR.

The Compositions are files in the language's folder, the other files are below this package.
"""

import os
import re
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from function_script.engines.registry import LANGUAGES
from function_script.texts import release
from function_script.texts.errors import InputError
from function_script.tools.project import create
from function_script.tools.starters import example_project
from function_script.tools.starters.api import Api
from function_script.tools.starters.origins import Origins, parse_package


def load(
    language: str,
    origins: Origins | None = None,
    project: Api | example_project.Example | None = None,
) -> dict[str, str]:
    """Return the texts of a starter by their path in the project; ``language`` is one of LANGUAGES.

    ``project`` is its API, or an example of an XR. Without ``origins`` the texts name the package
    of the release.
    """
    folder = resources.files(LANGUAGES[language].package) / "starter"
    texts = _texts(resources.files(__package__) / "common")
    if isinstance(project, example_project.Example):
        texts |= _texts(folder / "from_xr")
        api, own = project.api, example_project.files(project)
    else:
        texts |= _texts(folder / "app") | _texts(resources.files(__package__) / "app")
        api, own = project or Api(), {}
    origins = origins or Origins(package=parse_package(release.REFERENCE))
    substitutions = {**api.substitutions, **origins.substitutions}
    words = re.compile(rf"\b(?:{'|'.join(substitutions)})\b")
    substituted = {
        name: words.sub(lambda match: substitutions[match[0]], text) for name, text in texts.items()
    }
    return dict(sorted({**substituted, **own}.items()))


def write(
    language: str,
    directory: Path,
    origins: Origins | None = None,
    project: Api | example_project.Example | None = None,
) -> list[Path]:
    """Write a starter into ``directory``, and return the files.

    Raises InputError if one exists. An example that is the project's xr.yaml already stays there.
    """
    texts = load(language, origins, project)
    if isinstance(project, example_project.Example):
        own, other = directory / "xr.yaml", Path(project.path)
        if own.exists() and other.exists() and own.samefile(other):
            del texts["xr.yaml"]
    paths = [directory / name for name in texts]
    existing = [path for path in paths if os.path.lexists(path)]
    if existing:
        raise InputError.of(
            f'cannot begin a project in "{directory}": "{existing[0].name}" is there already',
            hint="name a new directory: function-script init my-project",
        )
    files = create(directory)
    for path, text in zip(paths, texts.values(), strict=True):
        files.write(path, text.encode(), makes_parents=True)
    return paths


def _texts(folder: Traversable, prefix: str = "") -> dict[str, str]:
    texts: dict[str, str] = {}
    for item in folder.iterdir():
        if item.is_dir():
            texts |= _texts(item, f"{prefix}{item.name}/")
        else:
            texts[prefix + item.name] = item.read_text("utf-8")
    return texts
