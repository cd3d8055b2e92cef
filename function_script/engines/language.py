"""The descriptor of a language: everything that inputs, server and tools ask of one.

A folder below ``engines`` holds a language: ``language.py`` builds the descriptor, ``engine.py``
runs programs, ``lint.py`` reads them for `check`, ``plain.py`` renders plain data (optional).
Files beside them are a starter project (``starter/``) and a snippet for editors (``snippet.yaml``).
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

    from function_script.engines.lint import Lint
    from function_script.fields import ObjectReader
    from function_script.limits import Limits
    from function_script.program import Program, Scope, ScriptResult, TemplateResult
    from function_script.values import Object

# Names of the protocol, as protobuf's JSON spells them.
_JSON_NAMES: Final = {
    "connection_details": "connectionDetails",
    "extra_resources": "extraResources",
    "required_resources": "requiredResources",
    "required_schemas": "requiredSchemas",
}


class Engine(Protocol):
    """The functions of a language's module ``engine``."""

    def evaluate(
        self, program: Program, scope: Scope, limits: Limits
    ) -> TemplateResult | ScriptResult:
        """Compile (or take from the cache) and run; raises nothing but FatalError."""

    def check(self, program: Program, limits: Limits) -> None:
        """Compile only; raises FatalError with every problem that shows without running."""

    def unused_modules(self, program: Program, limits: Limits) -> tuple[str, ...]:
        """Return the names of modules that a program which passes ``check`` never uses."""


class PlainRenderer(Protocol):
    """The function of a language's module ``plain``."""

    def render_program(self, program: Program, data: Object) -> str:
        """Render a program without modules, ``data`` its root value; raises ProgramError."""


def _no_options(_fields: ObjectReader, _options: ObjectReader) -> Object:
    return {}


# Several times cheaper than asking the import system for a module that is there.
_import: Callable[[str], ModuleType] = cache(importlib.import_module)


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A language. Only its module ``language`` is imported until a program needs the others.

    ``name`` is the language in logs, metrics and ``init --language``; ``kind`` is its input's.
    ``package`` is the import path of its folder.

    ``text_field`` is the field of the input that holds the text, ``default_file`` the file that a
    program in files begins with. ``fields`` are fields that only this kind has, ``options`` the
    fields below ``options``; ``parse_options`` reads both (the input, its ``options``) and gives
    ``Program.options``, whose shape is private to the language.

    ``is_template``: it renders text. ``sorts_keys``: the engine sorts the keys of the request, so
    the caller need not. ``has_json_names``: programs read the request's fields in camelCase.
    ``has_plain_data``: the folder has a module ``plain``.

    ``warmup`` is a program for a worker's first run: it composes one resource.
    ``file_types`` maps patterns of file names to the language that VS Code shows them in,
    ``editor_files`` paths in a project to files of the folder. ``highlight`` is how the playground
    colours programs, ``extensions`` are the ends of their files' names.
    """

    name: str
    kind: str
    package: str
    text_field: Literal["script", "inline"]
    default_file: str
    warmup: str
    is_template: bool
    fields: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    parse_options: Callable[[ObjectReader, ObjectReader], Object] = _no_options
    sorts_keys: bool = False
    has_json_names: bool = False
    has_plain_data: bool = False
    extensions: tuple[str, ...] = ()
    highlight: Literal["script", "template", "text"] = "text"
    file_types: Mapping[str, str] = field(default_factory=dict)
    editor_files: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Language({self.name})"

    @property
    def engine_module(self) -> str:
        """The import path of the module that runs programs."""
        return f"{self.package}.engine"

    @property
    def engine(self) -> Engine:
        """The functions that run and compile programs."""
        return cast("Engine", _import(self.engine_module))

    @property
    def lint(self) -> Lint:
        """The analyses that `check` makes of programs that compile."""
        return cast("Lint", _import(f"{self.package}.lint").LINT)

    @property
    def plain(self) -> PlainRenderer:
        """The function that renders plain data; only where ``has_plain_data``."""
        return cast("PlainRenderer", _import(f"{self.package}.plain"))

    def request_field(self, name: str) -> str:
        """Return the name that programs use for a field of the request."""
        return _JSON_NAMES.get(name, name) if self.has_json_names else name
