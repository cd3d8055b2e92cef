"""Files that help editors with Compositions: a JSON schema, a stub for scripts, and snippets.

All are generated from the function's own definitions and written into a project.
"""

import json
import os
from importlib import resources
from pathlib import Path
from typing import Final

from function_script import documents
from function_script.engines.registry import LANGUAGES
from function_script.request.values import Object
from function_script.texts.source import Source
from function_script.tools import manifests
from function_script.tools.editor import schema
from function_script.tools.project import create

SCHEMA: Final = ".vscode/function-script.schema.json"
SNIPPETS: Final = ".vscode/function-script.code-snippets"
SETTINGS: Final = ".vscode/settings.json"
MODELINE: Final = "# yaml-language-server: $schema="

_SETTINGS: Final[Object] = {
    "yaml.schemas": {f"./{SCHEMA}": ["*composition*.yaml", "*operation*.yaml"]},
    "files.associations": {
        pattern: type_
        for language in LANGUAGES.values()
        for pattern, type_ in language.file_types.items()
    },
}


def write(directory: Path) -> list[Path]:
    """Write the files into a project, and return them; existing settings are kept.

    Raises InputError.
    """
    texts = build()
    if os.path.lexists(directory / SETTINGS):
        del texts[SETTINGS]
    project = create(directory)
    for name, text in texts.items():
        project.write(directory / name, text.encode(), makes_parents=True)
    return [directory / name for name in texts]


def build() -> dict[str, str]:
    """Return the texts of all files by their path in the project."""
    return {
        SCHEMA: _to_json(schema.build()),
        SNIPPETS: _to_json(snippets()),
        SETTINGS: _to_json(_SETTINGS),
        **{
            path: (resources.files(language.package) / name).read_text("utf-8")
            for language in LANGUAGES.values()
            for path, name in language.editor_files.items()
        },
    }


def snippets() -> Object:
    """Return the snippets in VS Code's format."""
    files = [
        *(resources.files(each.package) / "snippet.yaml" for each in LANGUAGES.values()),
        resources.files(__package__) / "snippets.yaml",
    ]
    return {
        manifests.text_at(document.value, "name"): {
            "scope": "yaml",
            "prefix": manifests.text_at(document.value, "prefix"),
            "description": manifests.text_at(document.value, "name"),
            "body": [*manifests.text_at(document.value, "body").rstrip("\n").split("\n")],
        }
        for file in files
        for document in documents.read_source(Source(name=file.name, text=file.read_text("utf-8")))
    }


def _to_json(value: Object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
