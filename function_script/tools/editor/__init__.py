"""Files that help editors with Compositions: a JSON schema, a stub for scripts, and snippets.

All are generated from the function's own definitions and written into a project.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Final

from function_script import documents
from function_script.errors import InputError
from function_script.source import Source
from function_script.tools import manifests
from function_script.tools.editor import schema

if TYPE_CHECKING:
    from pathlib import Path

    from function_script.values import Object

SCHEMA: Final = ".vscode/function-script.schema.json"
SNIPPETS: Final = ".vscode/function-script.code-snippets"
SETTINGS: Final = ".vscode/settings.json"
# Pyright and editors built on it take the names in it for built in.
STUB: Final = "typings/__builtins__.pyi"
MODELINE: Final = "# yaml-language-server: $schema="

_SETTINGS: Final[Object] = {
    "yaml.schemas": {f"./{SCHEMA}": ["*composition*.yaml", "*operation*.yaml"]},
    "files.associations": {"*.star": "python", "*.j2": "jinja"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The files that were written, and the user's own files that were kept."""

    paths: tuple[Path, ...]
    kept: tuple[Path, ...]


def write(directory: Path) -> Written:
    """Write the files into a project; existing settings are kept. Raises InputError."""
    texts = build()
    kept = tuple(path for path in (directory / SETTINGS,) if path.exists())
    paths = tuple(path for name in texts if (path := directory / name) not in kept)
    try:
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts[path.relative_to(directory).as_posix()], encoding="utf-8")
    except OSError as error:
        raise InputError.of(f'cannot write to "{directory}": {error.strerror}') from error
    return Written(paths=paths, kept=kept)


def build() -> dict[str, str]:
    """Return the texts of all files by their path in the project."""
    stub = resources.files("function_script") / "engines" / "starlark" / "prelude.pyi"
    return {
        SCHEMA: _to_json(schema.build()),
        SNIPPETS: _to_json(snippets()),
        SETTINGS: _to_json(_SETTINGS),
        STUB: stub.read_text("utf-8"),
    }


def snippets() -> Object:
    """Return the snippets in VS Code's format."""
    text = (resources.files(__package__) / "snippets.yaml").read_text("utf-8")
    found: Object = {}
    for document in documents.read_source(Source(name="snippets.yaml", text=text)):
        value = document.value
        found[manifests.text_at(value, "name")] = {
            "scope": "yaml",
            "prefix": manifests.text_at(value, "prefix"),
            "description": manifests.text_at(value, "name"),
            "body": [*manifests.text_at(value, "body").rstrip("\n").split("\n")],
        }
    return found


def _to_json(value: Object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
