"""The descriptor of a language: everything that inputs, server and tools ask of one.

A folder below ``engines`` holds a language: ``language.py`` builds the descriptor, ``engine.py``
runs programs, ``lint.py`` reads them for `check`, ``manual.py`` lists their names for `docs`,
``plain.py`` renders plain data (optional), and ``branches.py`` tells which branches a run enters
(optional). The folder also has the Compositions of new projects
(``starter/``) and a snippet for editors (``snippet.yaml``).
"""

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import ClassVar, Final, Literal, Protocol, cast

from function_script.engines.lint import Lint
from function_script.request.limits import Limits
from function_script.request.program import (
    Branch,
    Program,
    Scope,
    ScriptResult,
    TemplateResult,
)
from function_script.request.reader import ObjectReader
from function_script.request.values import Object

# Names of the protocol, as protobuf's JSON spells them.
_JSON_NAMES: Final = {
    "connection_details": "connectionDetails",
    "extra_resources": "extraResources",
    "required_resources": "requiredResources",
    "required_schemas": "requiredSchemas",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A name with its meaning.

    ``section`` is the kind of name, such as filters. ``usage`` shows how it is written, if that is
    more than the name. ``details`` are further lines, and ``aliases`` names that no list has.
    """

    name: str
    section: str
    summary: str
    usage: str = ""
    details: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Return the usage, or else the name."""
        return self.usage or self.name

    @property
    def short_name(self) -> str:
        """Return the name without the object that it belongs to, such as rsp."""
        return self.name.rpartition(".")[2]


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


# Several times cheaper than asking the import system for a module that is there.
_import: Callable[[str], ModuleType] = cache(importlib.import_module)


class Language:
    """A language: a subclass sets the attributes, and its only instance is the descriptor."""

    name: str
    """The language in logs, metrics and ``init --language``; its folder's name."""
    kind: str
    """The kind of its input."""
    package: str
    """The import path of its folder."""

    text_field: str
    """The field of the input with the text of a program."""
    has_named_texts = False
    """A program is several texts: the field is an object of texts by name, all of them modules.

    ``Program.main`` has them as JSON then: engines read the names there, and the texts of modules.
    """
    default_file: str
    """The file that a program in files begins with; "" if a program is several texts."""
    fields: tuple[str, ...] = ()
    """Fields of the input that only this kind has."""
    options: tuple[str, ...] = ()
    """Fields below ``options`` that only this kind has."""

    is_template: bool
    """Programs render text, and return no values."""
    sorts_keys = False
    """The engine sorts the keys of the request, so the caller need not."""
    has_json_names = False
    """Programs read the request's fields in camelCase."""
    has_plain_data = False
    """The folder has a module ``plain``."""
    has_branches = False
    """The folder has a module ``branches``."""
    clock_functions: tuple[str, ...] = ()
    """Functions that read the clock."""
    warmup: ClassVar[str | Mapping[str, str]]
    """The text field for a worker's first run: it composes one resource."""

    extensions: tuple[str, ...] = ()
    """The ends of names of files with programs."""
    highlight: Literal["script", "template", "text"] = "text"
    """The colours of programs in the playground."""
    file_types: ClassVar[Mapping[str, str]] = {}
    """VS Code's languages by patterns of file names."""
    editor_files: ClassVar[Mapping[str, str]] = {}
    """Files of the folder that `editor` writes, by their paths in a project."""

    def parse_options(self, _fields: ObjectReader, _options: ObjectReader) -> Object:
        """Parse the language's own fields of an input and of its ``options``.

        Notes problems. The result becomes ``Program.options``, of which only the engine knows the
        shape.
        """
        return {}

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

    def list_entries(self) -> Iterator[Entry]:
        """Yield the entries of the manual: each name that programs use, but not the library's."""
        return cast("Iterator[Entry]", _import(f"{self.package}.manual").entries())

    def find_branches(self, program: Program, scope: Scope, limits: Limits) -> Sequence[Branch]:
        """Run a program once more; return its branches, none if that is not possible.

        Only where ``has_branches``.
        """
        find = _import(f"{self.package}.branches").find
        return cast("Sequence[Branch]", find(program, scope, limits))

    def render_plain(self, program: Program, data: Object) -> str:
        """Render a program without modules, ``data`` its root value; raises ProgramError.

        Only where ``has_plain_data``.
        """
        return cast("str", _import(f"{self.package}.plain").render_program(program, data))

    def request_field(self, name: str) -> str:
        """Return the name that programs use for a field of the request."""
        return _JSON_NAMES.get(name, name) if self.has_json_names else name


def read_table(package: str) -> Iterator[Entry]:
    """Read the entries in a language's ``manual.yaml``."""
    from importlib import resources  # noqa: PLC0415 - slow, and no run needs it

    from function_script import documents  # noqa: PLC0415 - slow, and `docs` alone reads tables

    sections = documents.read_value((resources.files(package) / "manual.yaml").read_text("utf-8"))
    for section, names in sections.items() if isinstance(sections, dict) else ():
        for name, summary in names.items() if isinstance(names, dict) else ():
            yield Entry(name=name, section=section, summary=str(summary))
