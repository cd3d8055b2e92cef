"""Find the program of a case: the Composition above it, one that it names, or a step's input."""

import os
from pathlib import Path
from typing import Final

from function_script import objects
from function_script.documents import Document
from function_script.reader import ObjectReader
from function_script.tools import sources
from function_script.tools.cases.loader import ObjectLoader
from function_script.tools.cases.model import Program
from function_script.tools.render import error_positions, functions
from function_script.tools.render.steps import Step
from function_script.values import Object, Value

_FILE: Final = "composition.yaml"
# The root of a repository; directories above it are not searched.
_BOUNDARY: Final = ".git"


def find_directory(loader: ObjectLoader, fields: ObjectReader) -> Path | None:
    """Return the directory of the Composition; None if the Composition is in the case."""
    composition = fields.value.get("composition")
    if isinstance(composition, str):
        return loader.path(composition).parent
    if composition is not None or fields.value.get("input") is not None:
        return None
    here = loader.directory.resolve()
    for directory in (here, *here.parents):
        if (directory / _FILE).is_file():
            # People see the path as they would type it.
            relative = Path(os.path.relpath(directory))
            return directory if ".." in relative.parts else relative
        if (directory / _BOUNDARY).exists():
            break
    return None


def read(
    loader: ObjectLoader, fields: ObjectReader, directory: Path | None, xr: Object | None
) -> Program | None:
    """Load the Composition, or build one around ``input`` for this XR."""
    if fields.value.get("input") is not None:
        if fields.value.get("composition") is not None:
            fields.problems.add("input", "there can be a Composition or an input, not both")
        return _input(loader, fields, xr or {})
    path = None if directory is None else directory / _FILE
    item = loader.one(fields, "composition", path)
    if item is None:
        if path is None and fields.value.get("composition") is None:
            text = f"is required, as there is no {_FILE} in this directory or above"
            fields.problems.add("composition", text)
        return None
    if isinstance(item, Document):
        return _program(item.value, item, ())
    return _program(item, loader.document, ("composition",))


def read_request(loader: ObjectLoader, fields: ObjectReader, step_input: Value) -> Program | None:
    """Build a Composition around the input of a request, or around ``input`` instead."""
    if fields.value.get("input") is not None:
        return _input(loader, fields, {})
    return Program(
        composition=_composition_around(step_input if isinstance(step_input, dict) else {}, {}),
        document=loader.document,
        find_input=lambda _: ("request", "input"),
        root=_root(loader.document),
    )


def _program(composition: Object, document: Document, at: objects.Path) -> Program:
    def find_input(step: Step) -> objects.Path:
        return (*at, *error_positions.composition_input_path(step))

    return Program(
        composition=composition, document=document, find_input=find_input, root=_root(document)
    )


def _input(loader: ObjectLoader, fields: ObjectReader, xr: Object) -> Program | None:
    item = loader.one(fields, "input", None)
    if item is None:
        return None
    is_file = isinstance(item, Document)
    document = item if isinstance(item, Document) else loader.document
    value = item.value if isinstance(item, Document) else item
    return Program(
        composition=_composition_around(value, xr),
        document=document,
        find_input=lambda _: () if is_file else ("input",),
        root=_root(document),
    )


def _composition_around(value: Object, xr: Object) -> Object:
    api_version, kind = objects.api_version_and_kind(xr)
    step: Object = {"step": "input", "functionRef": {"name": functions.OURS}, "input": value}
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "input"},
        "spec": {
            "compositeTypeRef": {"apiVersion": api_version, "kind": kind},
            "mode": "Pipeline",
            "pipeline": [step],
        },
    }


def _root(document: Document) -> Path | None:
    """Return the directory of programs in files, beside the file that names them."""
    source = document.origin.source
    return None if source is None else sources.programs_beside(Path(source.name))
