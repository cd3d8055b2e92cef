"""The functionConfig: the Composition, or the single input of ours, that a run evaluates."""

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from function_script import documents, inputs
from function_script.request import objects
from function_script.request.reader import format_path
from function_script.request.values import Object
from function_script.texts.errors import FatalError, InputError
from function_script.texts.source import Source
from function_script.tools import bounded, manifests
from function_script.tools.author_positions import file_of
from function_script.tools.krm import resource_list
from function_script.tools.project import SUFFIXES, Project
from function_script.tools.render.loading import PipelinePaths
from function_script.tools.render.positions import Origin
from function_script.tools.render.runtimes.local import compose_input

_HINT: Final = (
    "give a Composition, an input such as a JinjaTemplate, or a ConfigMap with the YAML of one of "
    "both under a key of its data"
)
# The files beside a functionConfig are compared with it, to show positions in its author's file.
_MAX_FILES: Final = 200
_MAX_FILE_BYTES: Final = 1 << 20
# The place of an input of ours in the Composition that is made of it.
_STEP: Final[objects.Path] = ("spec", "pipeline", 0, "input")


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """The program that a run evaluates.

    ``value`` is a Composition or an input. ``config`` is the functionConfig that holds it at
    ``path``: as an object, or as the text of a ConfigMap. ``document`` has its positions, in the
    file of its author if that was found; ``programs`` is the directory of programs in files.
    """

    value: Object
    config: Object
    path: objects.Path
    document: documents.Document | None
    programs: Path | None

    @property
    def origin(self) -> Origin | None:
        """Return the author's file, for the positions of values."""
        if self.document is None:
            return None
        return Origin(document=self.document, programs=self.programs, is_input=self.is_step)

    @property
    def type(self) -> tuple[str, str] | None:
        """Return the type of XRs that a Composition is for; None for an input."""
        return None if self.is_step else manifests.composed_type(self.value)

    @property
    def is_step(self) -> bool:
        """Report whether it is a single step, which adds to what is there."""
        return not _is_composition(self.value)

    def composition(self, xr: Object) -> Object:
        """Return the Composition to run for an XR."""
        if not self.is_step:
            return self.value
        name = manifests.name(self.value) or manifests.name(self.config)
        return compose_input(self.value, xr, name or "input")

    def own_path(self, path: objects.Path) -> objects.Path:
        """Return the path in ``value`` of a path in the Composition that ran."""
        if not self.is_step:
            return path
        return path[len(_STEP) :] if path[: len(_STEP)] == _STEP else ()


def read(config: Object | None, paths: PipelinePaths) -> Program:
    """Read a functionConfig; its author's file may be in the current directory.

    Raises FatalError.
    """
    if config is None:
        raise InputError.of("cannot run: the ResourceList has no functionConfig", hint=_HINT)
    value = resource_list.without_transport(config)
    origin = _find_origin(config, value, paths.project)
    if origin is not None:
        config = resource_list.with_file(config, str(file_of(origin)), origin.number - 1)
    whole = Program(value=value, config=config, path=(), document=origin, programs=paths.programs)
    if _is_runnable(value):
        return whole
    if objects.api_version_and_kind(value) != ("v1", "ConfigMap"):
        raise InputError.of(
            f"cannot run {manifests.describe(value)} of {objects.api_version_and_kind(value)[0]}: "
            "it is no program of ours",
            hint=_HINT,
        )
    data = manifests.texts_at(value, "data")
    texts = []
    for key, text in data.items():
        inner = Source(name=format_path(("data", key)), text=text)
        document = _read_text(inner, origin, ("data", key))
        if document is not None and _is_runnable(document.value):
            texts.append((key, document))
    if len(texts) != 1:
        raise InputError.of(
            f'cannot run ConfigMap "{manifests.name(value)}": {len(texts)} values of its data '
            "are a Composition or an input of ours, instead of one",
            hint=_HINT,
        )
    ((key, document),) = texts
    return replace(whole, value=document.value, path=("data", key), document=document)


def _is_composition(value: Object) -> bool:
    return objects.api_version_and_kind(value) == manifests.COMPOSITION


def _is_runnable(value: Object) -> bool:
    return _is_composition(value) or inputs.has_our_type(value)


def _read_text(
    source: Source, origin: documents.Document | None, path: objects.Path
) -> documents.Document | None:
    """Read a value of a ConfigMap, with its positions in the file of its author if possible."""
    outer = None if origin is None else documents.find_embedded_text(origin.text, path)
    if outer is not None and origin is not None:
        # Blank lines and columns before it give every line of the text its place in the file.
        margin = " " * outer.indentation
        above = "\n" * (outer.first_line + origin.first_line - 2)
        body = "".join(f"{margin}{line}" for line in source.text.splitlines(keepends=True))
        source = Source(name=str(file_of(origin)), text=above + body)
    try:
        inner = bounded.read_documents(source)
    except FatalError:
        return None
    return inner[0] if len(inner) == 1 else None


def _find_origin(config: Object, value: Object, project: Project) -> documents.Document | None:
    """Return the functionConfig in the file of its author: an equal object, or None."""
    file = resource_list.file_of(config)
    paths = [] if file is None else [Path(str(file["path"]))]
    paths = [path for path in paths if not path.is_absolute() and ".." not in path.parts]
    with suppress(InputError):
        paths += project.find_files(Path(), SUFFIXES, is_deep=False)[:_MAX_FILES]
    for path in paths:
        try:
            if path.stat().st_size > _MAX_FILE_BYTES:
                continue
            candidates = bounded.read_documents(project.load(path))
        except (FatalError, OSError):
            continue
        for document in candidates:
            if resource_list.without_transport(document.value) == value:
                return document
    return None
