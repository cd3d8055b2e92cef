"""Fields of the request that a template certainly reads: chains of fields from the request on.

Follows the dot into `with` and `range`, into named templates that all their calls give one part of
the request, and variables that are never assigned again.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from function_script.engines.gotemplate import programs, registry
from function_script.engines.gotemplate.arguments import CONSTANTS
from function_script.engines.gotemplate.positions import SourceSpan, find_span
from function_script.engines.gotemplate.syntax import nodes
from function_script.engines.lint import ANY, CONDITION, FieldAccess, FieldComparison
from function_script.request.objects import Path
from function_script.request.program import Program
from function_script.texts.source import Source

_XR: Final = ("observed", "composite", "resource")
# Functions whose arguments may be missing.
_TESTS: Final = frozenset(
    [
        *("all", "and", "any", "coalesce", "default", "dig", "empty", "eq", "get", "hasKey"),
        *("kindIs", "ne", "not", "or", "ternary"),
    ]
)
_MAX_SOURCES: Final = 20
GETTERS: Final = {
    "getComposedConnectionDetails": ("observed", "resources", "connectionDetails"),
    "getComposedResource": ("observed", "resources", "resource"),
    "getExtraResources": ("requiredResources", "items"),
}
"""Functions that take a name: what is above and below it in the request."""
# Functions that take keys, and do without what these name.
_ASKING: Final = frozenset({"dig", "hasKey"})
_COMPARISONS: Final = frozenset({"eq", "ne"})
# Defaults without a value of their own.
_EMPTY: Final = frozenset({"dict", "(dict)", "list", "(list)", "nil"})


class _Variable(NamedTuple):
    """The path of a variable's value, None where it is unknown, and what the value is made of."""

    path: Path | None = None
    sources: frozenset[Path] = frozenset()


class _Named(NamedTuple):
    """A template by its name, and the text that it is in."""

    name: str
    source: Source
    body: Sequence[nodes.Node]


class Walker:
    """Walks a template with the dot's path, None where it is unknown.

    Variables in ``assigned`` get another value somewhere, and have no path.
    """

    def __init__(self, program: Program, assigned: frozenset[str]) -> None:
        self.reads: list[FieldAccess] = []
        self.comparisons: list[FieldComparison] = []
        self.changed_paths: list[Path] = []
        self.parts: list[SourceSpan] = []
        self.tested_paths: set[Path] = set()
        self.indexed_paths: set[Path] = set()
        self.calls: dict[str, list[Path | None]] = {}
        self._is_testing = False
        self._source = programs.main_source(program)
        self._assigned = assigned
        self._variables = {"$": _Variable(path=())}

    def walk_template(self, source: Source, body: Iterable[nodes.Node], dot: Path) -> None:
        """Walk a named template, whose data is ``dot``."""
        self._source = source
        self._variables = {"$": _Variable(path=dot)}
        self.walk_body(body, dot)

    def walk_body(self, body: Iterable[nodes.Node], dot: Path | None) -> None:
        """Walk the nodes of a body and everything below them."""
        for node in body:
            match node:
                case nodes.Action(pipe=pipe):
                    self._walk_pipe(pipe, dot)
                case nodes.If() | nodes.With() | nodes.Range():
                    self._walk_branch(node, dot)
                case nodes.Template(name=name, pipe=pipe):
                    path = None if pipe is None else self._walk_pipe(pipe, dot)
                    self.calls.setdefault(name, []).append(path)
                case _:
                    pass

    def _walk_branch(self, node: nodes.If | nodes.With | nodes.Range, dot: Path | None) -> None:
        """Walk a branch and those that are its else."""
        outside = self._variables
        while True:
            self._variables = {**self._variables}
            inner_dot = self._walk_head(node, dot)
            # An else sees the variables of the head, and not those of the body.
            of_head = {**self._variables}
            self.walk_body(node.body, inner_dot)
            self._variables = of_head
            following = node.else_branch()
            if following is None:
                self.walk_body(node.otherwise or (), dot)
                self._variables = outside
                return
            node = following

    def _walk_head(
        self, node: nodes.If | nodes.With | nodes.Range, dot: Path | None
    ) -> Path | None:
        """Walk the pipeline of a branch; return the dot of its body."""
        pipe = node.pipe
        if isinstance(node, nodes.If):
            self._walk_test(pipe, dot)
            return dot
        if isinstance(node, nodes.With):
            return self._walk_test(pipe, dot)
        # Without its variables: those of a range are items of the value.
        value = nodes.Pipe(pipe.position, (), pipe.assigns, pipe.commands)
        first_read = len(self.reads)
        path = self._walk_pipe(value, dot)
        item = None if path is None else (*path, ANY)
        if pipe.declared:
            # The last variable is an item, too.
            self._set_variable(pipe.declared[-1].names[0], item, first_read)
        return item

    def _set_variable(self, name: str, path: Path | None, first_read: int) -> None:
        sources = frozenset(read.path for read in self.reads[first_read:][:_MAX_SOURCES])
        self._variables[name] = _Variable(*(() if name in self._assigned else (path, sources)))

    def _walk_test(self, pipe: nodes.Pipe, dot: Path | None) -> Path | None:
        """Walk a pipeline whose value may be missing; see ``_walk_pipe``."""
        was_testing, self._is_testing = self._is_testing, True
        path = self._walk_pipe(pipe, dot)
        self._is_testing = was_testing
        return path

    def _walk_pipe(self, pipe: nodes.Pipe, dot: Path | None) -> Path | None:
        """Add the fields that a pipeline reads; return the path of its value in the request."""
        path: Path | None = None
        first_read = len(self.reads)
        was_testing = self._is_testing
        for stage, command in enumerate(pipe.commands):
            # A test at the end of a pipe also takes what is missing at its beginning.
            following = pipe.commands[stage + 1 :]
            self._is_testing = was_testing or any(
                following_command.function in _TESTS for following_command in following
            )
            command_path = self._walk_command(command, dot)
            is_default = stage > 0 and command.function == "default"
            if is_default:
                self._add_comparisons(path, command.words[1:2], is_default=True)
            if stage > 0 and path is not None and command.function in _COMPARISONS:
                # The value of the pipe is the last argument.
                self._add_comparisons(path, command.words[1:2])
            path = path if is_default else command_path if stage == 0 else None
        self._is_testing = was_testing
        for variable in pipe.declared:
            self._set_variable(variable.names[0], path, first_read)
        return path

    def _walk_command(self, command: nodes.Command, dot: Path | None) -> Path | None:
        function = command.function
        was_testing = self._is_testing
        self._is_testing = was_testing or function in _TESTS
        paths = [self._walk_operand(word, dot) for word in command.words]
        if self._is_testing:
            self.tested_paths.update(path for path in paths if path is not None)
        self._is_testing = was_testing
        if not function:
            return paths[0] if len(paths) == 1 else None
        if function in GETTERS and any(paths[1:2]):
            match command.words[1:]:
                # One argument alone is the name, in our own dialect.
                case [nodes.Dot() | nodes.Variable() as word, _]:
                    width = len(nodes.to_source(word))
                    self.parts.append(find_span(self._source, word.position, width))
                case _:
                    pass
        if function in _COMPARISONS:
            self._add_comparisons(paths[1] if paths[1:] else None, command.words[2:])
            for path in paths[2:]:
                self._add_comparisons(path, command.words[1:2])
        match command.words[1:]:
            case [constant, _] if function == "default":
                self._add_comparisons(paths[2], [constant], is_default=True)
            case [_, constant] if function == "or":
                self._add_comparisons(paths[1], [constant], is_default=True)
            case _:
                pass
        if function in registry.MUTATING:
            self.changed_paths.extend(path for path in paths[1:2] if path is not None)
        return self._call_path(command, paths)

    def _add_comparisons(
        self, path: Path | None, words: Sequence[nodes.Operand], *, is_default: bool = False
    ) -> None:
        """Add the comparisons of a field with constants, or what takes its place."""
        for word in words:
            value, text = _constant_of(word), nodes.to_source(word)
            is_own = value is not None or (is_default and text not in _EMPTY)
            if path is not None and is_own:
                at = find_span(self._source, word.position, len(text))
                comparison = FieldComparison(path, value, at.source, at.span, is_default)
                self.comparisons.append(comparison)

    def _call_path(self, command: nodes.Command, paths: list[Path | None]) -> Path | None:
        """Return the path of the value of a call."""
        match command.words[1:]:
            case [nodes.String(value=name), _] if command.function == "include":
                self.calls.setdefault(name, []).append(paths[2])
            case [_] if command.function == "getCompositeResource" and paths[1] == ():
                return _XR
            case [*_, nodes.String(value=name)] if command.function in GETTERS and not any(
                paths[1:-1]
            ):
                *above, below = GETTERS[command.function]
                return (*above, name, below)
            case [_, *keys] if command.function in {"index", "get"} and paths[1] is not None:
                return self._look_up(paths[1], keys, command.function)
            case [_, nodes.String() as key] if (
                command.function == "hasKey" and paths[1] is not None
            ):
                self._look_up(paths[1], [key], command.function)
            case [_, _] if command.function == "getResourceCondition":
                return (CONDITION,)
            case [_, _] if command.function == "default":
                return paths[2]
            case [*keys, default, _] if command.function == "dig" and paths[-1] is not None:
                path = self._look_up(paths[-1], keys, command.function)
                # A text or a number in its place is none of the field's.
                if isinstance(default, CONSTANTS):
                    return None
                self._add_comparisons(path, [default], is_default=True)
                return path
        return None

    def _look_up(self, path: Path, keys: Iterable[nodes.Operand], function: str) -> Path:
        """Add the lookups of a function that takes keys; return the path of its value."""
        for key in keys:
            if function == "index":
                self.indexed_paths.add(path)
            path = (*path, key.value if isinstance(key, nodes.String) else ANY)
            if function in _ASKING:
                self.tested_paths.add(path)
            if isinstance(key, nodes.String):
                self._add_access(path, key.position, len(key.quoted))
        return path

    def _walk_operand(self, word: nodes.Operand, dot: Path | None) -> Path | None:
        match word:
            case nodes.Dot(position=position):
                self._add_uses(position, dot)
                return dot
            case nodes.Pipe():
                return self._walk_pipe(word, dot)
            case nodes.Field(position=position, names=names):
                return self._walk_chain(dot, names, position)
            case nodes.Variable(position=position, names=(name, *names)):
                variable = self._variables.get(name, _Variable())
                if not names:
                    self._add_uses(position, variable.path, *variable.sources)
                return self._walk_chain(variable.path, tuple(names), position)
            case nodes.Chain(position=position, start=start, names=names):
                return self._walk_chain(self._walk_operand(start, dot), names, position)
            case _:
                pass
        return None

    def _walk_chain(self, path: Path | None, names: tuple[str, ...], position: int) -> Path | None:
        if path is None:
            return None
        if path == (CONDITION,):
            # The fields of Go's own type.
            return (*path, *(f"{name[:1].lower()}{name[1:]}" for name in names))
        for name in names:
            path = (*path, name)
            position = self._source.text.find(f".{name}", position) + 1
            self._add_access(path, position, len(name))
        return path

    def _add_access(self, path: Path, position: int, width: int) -> None:
        if self._is_testing:
            self.tested_paths.add(path)
        location = find_span(self._source, position, width)
        self.reads.append(FieldAccess(path, location.source, location.span))

    def _add_uses(self, position: int, *paths: Path | None) -> None:
        location = find_span(self._source, position, 1)
        self.reads += (
            FieldAccess(path, location.source, location.span, is_use=True) for path in paths if path
        )


def _constant_of(word: nodes.Operand) -> str | float | None:
    """Return the value of a constant; None for another operand."""
    match word:
        case nodes.String(value=value) | nodes.Bool(value=value):
            return value
        case nodes.Number(text=text, integer=integer) if text[0] != "'":
            return 0.0 if integer is None else integer
        case _:
            return None


def walk(program: Program) -> Walker:
    """Return what the templates of a program certainly do with the request."""
    texts = programs.parse_texts(program)
    bodies = [_Named(name, source, body) for source, trees in texts for name, body in trees.items()]
    assigned = frozenset(
        variable.names[0]
        for part in nodes.walk_nodes([node for each in bodies for node in each.body])
        if isinstance(part, nodes.Pipe) and part.assigns
        for variable in part.declared
    )
    walker = Walker(program, assigned)
    walker.walk_body(programs.parse_main(program), ())
    names = Counter(each.name for each in bodies)
    counts = [programs.count_uses(trees) for _, trees in texts]
    uses = sum((each for each in counts if each is not None), Counter[str]())
    waiting = [each for each in bodies if names[each.name] == 1 and uses[each.name]]
    # A template whose name is computed may be any of them.
    if None not in counts:
        _walk_named(walker, waiting, uses)
    return walker


def _walk_named(walker: Walker, waiting: list[_Named], uses: Mapping[str, int]) -> None:
    """Walk the templates of which each use is a call that was walked, with the same part."""
    while waiting:
        ready = [
            each for each in waiting if len(walker.calls.get(each.name, ())) == uses[each.name]
        ]
        for each in ready:
            first, *others = walker.calls[each.name]
            if first is not None and all(path == first for path in others):
                walker.walk_template(each.source, each.body, first)
        # The templates that they call may be ready then.
        waiting = [each for each in waiting if each not in ready] if ready else []
