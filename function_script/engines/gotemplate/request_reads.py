"""Fields of the request that a template certainly reads: chains of fields from the request on.

Follows the dot into `with` and `range`, and variables that are declared once. It does not follow
the data of named templates.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from function_script.engines.gotemplate import programs
from function_script.engines.gotemplate.positions import find_span, read_source_parts
from function_script.engines.gotemplate.syntax.nodes import (
    Action,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    If,
    Pipe,
    Range,
    String,
    Variable,
    With,
    walk_nodes,
)
from function_script.engines.reads import ANY, FieldAccess, guarded, unchanged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from function_script.engines.gotemplate.positions import SourcePart
    from function_script.engines.gotemplate.syntax.nodes import Node, Operand
    from function_script.objects import Path
    from function_script.program import Program
    from function_script.source import Source

_XR: Final = ("observed", "composite", "resource")
# Functions that change their first argument.
_MUTATING: Final = frozenset(
    {"set", "unset", "merge", "mergeOverwrite", "mustMerge", "mustMergeOverwrite"}
)
# Functions whose arguments may be missing.
_TESTS: Final = frozenset(
    [
        *("all", "and", "any", "coalesce", "default", "dig", "empty", "eq", "get", "hasKey"),
        *("kindIs", "ne", "not", "or", "ternary"),
    ]
)
# Values of `missingkey` that let a template print a missing value.
_LENIENT: Final = ("default", "zero")


def find(program: Program) -> list[FieldAccess]:
    """Return the lookups in the main template of a program that compiles."""
    root = programs.parse_main(program)
    walk = _Walk(program.main, read_source_parts(program.options), _count_declarations(root))
    walk.nodes(root, ())
    reads = guarded(unchanged(walk.reads, walk.changed_paths), walk.tested_paths)
    if programs.read_settings(program.options).missing not in _LENIENT:
        return reads
    # A missing value passes, also a field of it, unless `index` looks into it.
    return [
        read._replace(is_guarded=read.is_guarded or read.path not in walk.indexed_paths)
        for read in reads
    ]


def _count_declarations(root: Iterable[object]) -> Counter[str]:
    """Count the declarations and assignments of each variable."""
    names: Counter[str] = Counter()
    for part in walk_nodes(list(root)):
        if isinstance(part, Pipe):
            names.update(variable.names[0] for variable in part.declared)
    return names


class _Walk:
    """Walks a template with the dot's path, None where it is unknown."""

    def __init__(
        self, source: Source, parts: tuple[SourcePart, ...], declared: Counter[str]
    ) -> None:
        self.reads: list[FieldAccess] = []
        self.changed_paths: list[Path] = []
        self.tested_paths: set[Path] = set()
        self.indexed_paths: set[Path] = set()
        self._is_testing = False
        self._source = source
        self._sections = parts
        self._declared = declared
        self._variables: dict[str, Path | None] = {"$": ()}

    def nodes(self, nodes: Iterable[Node], dot: Path | None) -> None:
        """Walk a list of nodes and everything below it."""
        for node in nodes:
            match node:
                case Action(pipe=pipe):
                    self._pipe(pipe, dot)
                case If(pipe=pipe, body=body, otherwise=otherwise):
                    self._test(pipe, dot)
                    self._bodies(body, otherwise, dot, dot)
                case With(pipe=pipe, body=body, otherwise=otherwise):
                    self._bodies(body, otherwise, self._test(pipe, dot), dot)
                case Range(pipe=pipe, body=body, otherwise=otherwise):
                    self._bodies(body, otherwise, self._range(pipe, dot), dot)
                case _:
                    pass

    def _bodies(
        self, body: list[Node], otherwise: list[Node] | None, dot: Path | None, outer: Path | None
    ) -> None:
        self.nodes(body, dot)
        self.nodes(otherwise or (), outer)

    def _range(self, pipe: Pipe, dot: Path | None) -> Path | None:
        """Return the path of an item; the last variable is one, too."""
        path = self._pipe(pipe._replace(declared=()), dot)
        item = None if path is None else (*path, ANY)
        if pipe.declared:
            self._declare(pipe.declared[-1], item)
        return item

    def _declare(self, variable: Variable, path: Path | None) -> None:
        name = variable.names[0]
        self._variables[name] = path if self._declared[name] == 1 else None

    def _test(self, pipe: Pipe, dot: Path | None) -> Path | None:
        """Walk a pipeline whose value may be missing; see ``_pipe``."""
        was_testing, self._is_testing = self._is_testing, True
        path = self._pipe(pipe, dot)
        self._is_testing = was_testing
        return path

    def _pipe(self, pipe: Pipe, dot: Path | None) -> Path | None:
        """Add the fields that a pipeline reads; return the path of its value in the request."""
        path: Path | None = None
        was_testing = self._is_testing
        for number, command in enumerate(pipe.commands):
            following = pipe.commands[number + 1 :]
            self._is_testing = was_testing or any(_function(each) in _TESTS for each in following)
            command_path = self._command(command, dot)
            is_default = number > 0 and _function(command) == "default"
            path = path if is_default else command_path if number == 0 else None
        self._is_testing = was_testing
        for variable in pipe.declared:
            self._declare(variable, path)
        return path

    def _command(self, command: Command, dot: Path | None) -> Path | None:
        function = _function(command)
        was_testing = self._is_testing
        self._is_testing = was_testing or function in _TESTS
        paths = [self._operand(word, dot) for word in command.words]
        if self._is_testing:
            self.tested_paths.update(path for path in paths if path is not None)
        self._is_testing = was_testing
        if not function:
            return paths[0] if len(paths) == 1 else None
        if function in _MUTATING:
            self.changed_paths.extend(path for path in paths[1:2] if path is not None)
        return self._call_path(command, paths)

    def _call_path(self, command: Command, paths: list[Path | None]) -> Path | None:
        """Return the path of the value of a call."""
        match command.words[1:]:
            case [_] if _function(command) == "getCompositeResource" and paths[1] == ():
                return _XR
            case [_, *keys] if _function(command) in {"index", "get"} and paths[1] is not None:
                path = paths[1]
                for key in keys:
                    if _function(command) == "index":
                        self.indexed_paths.add(path)
                    path = (*path, key.value if isinstance(key, String) else ANY)
                    if isinstance(key, String):
                        self._add_access(path, key.position, len(key.quoted))
                return path
            case [_, String(value=key)] if _function(command) == "hasKey" and paths[1] is not None:
                self.tested_paths.add((*paths[1], key))
            case [_, _] if _function(command) == "default":
                return paths[2]
        return None

    def _operand(self, word: Operand, dot: Path | None) -> Path | None:
        match word:
            case Dot():
                return dot
            case Pipe():
                return self._pipe(word, dot)
            case Field(position=position, names=names):
                return self._chain(dot, names, position)
            case Variable(position=position, names=(name, *names)):
                return self._chain(self._variables.get(name), tuple(names), position)
            case Chain(position=position, start=start, names=names):
                return self._chain(self._operand(start, dot), names, position)
            case _:
                pass
        return None

    def _chain(self, path: Path | None, names: tuple[str, ...], position: int) -> Path | None:
        if path is None:
            return None
        start = self._first(names, position)
        for name in names:
            path = (*path, name)
            index = self._source.text.find(f".{name}", start)
            start = index + len(name) if index >= 0 else start
            self._add_access(path, index + 1, len(name))
        return path

    def _first(self, names: tuple[str, ...], position: int) -> int:
        """Find the start of a chain: Go's position is that of its second field, if it has one."""
        if not names:
            return position
        start = self._source.text.rfind(f".{names[0]}", 0, position + len(names[0]) + 1)
        return start if start >= 0 else position

    def _add_access(self, path: Path, position: int, width: int) -> None:
        if self._is_testing:
            self.tested_paths.add(path)
        location = find_span(self._source, position, width, self._sections)
        self.reads.append(FieldAccess(path, location.source, location.span))


def _function(command: Command) -> str:
    first = command.words[0]
    return first.name if isinstance(first, Identifier) else ""
