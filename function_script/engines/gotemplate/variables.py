"""Variables of a template that are declared and never read, by the rules of Go's scopes."""

from collections.abc import Iterable
from typing import Final, TypeAlias

from function_script.engines.gotemplate.syntax import nodes


class Declaration:
    """A declaration of a variable. ``hides_another``: an outer block has one of that name."""

    __slots__ = ("hides_another", "is_read", "variable")

    def __init__(self, variable: nodes.Variable, *, hides_another: bool) -> None:
        self.variable = variable
        self.hides_another = hides_another
        self.is_read = False


# None: a variable of a range or a with.
_Scope: TypeAlias = dict[str, Declaration | None]


def find_lost(root: Iterable[nodes.Node]) -> list[Declaration]:
    """Return the declarations in actions that nothing reads; not those of range and with.

    A name that begins with an underscore is meant to be unread.
    """
    walker = _Walker()
    walker.walk_body(root, {})
    return [
        each
        for each in walker.declarations
        if not each.is_read and not each.variable.names[0].startswith("$_")
    ]


class _Walker:
    """Walks nodes with the visible declarations by name; a block has a copy of the outer scope."""

    def __init__(self) -> None:
        self.declarations: list[Declaration] = []

    def walk_body(self, body: Iterable[nodes.Node], visible: _Scope) -> None:
        """Walk a block; what it declares ends with it."""
        scope = dict(visible)
        for node in body:
            match node:
                case nodes.Action(pipe=pipe):
                    self.walk_pipe(pipe, scope)
                    if not pipe.assigns:
                        self.declare(pipe, scope, visible)
                case nodes.Template(pipe=pipe) if pipe is not None:
                    self.walk_pipe(pipe, scope)
                case nodes.If() | nodes.With() | nodes.Range():
                    self.walk_branch(node, scope)
                case _:
                    pass

    def walk_branch(self, node: nodes.If | nodes.With | nodes.Range, visible: _Scope) -> None:
        """Walk both bodies; a variable of the condition is theirs."""
        self.walk_pipe(node.pipe, visible)
        scope = dict(visible)
        if not node.pipe.assigns:
            for variable in node.pipe.declared:
                scope[variable.names[0]] = None
        self.walk_body(node.body, scope)
        self.walk_body(node.otherwise or (), scope)

    def declare(self, pipe: nodes.Pipe, scope: _Scope, outer: _Scope) -> None:
        """Add the variables of an action to their block."""
        for variable in pipe.declared:
            name = variable.names[0]
            declaration = Declaration(variable, hides_another=outer.get(name) is not None)
            scope[name] = declaration
            if not _has_effect(pipe):
                self.declarations.append(declaration)

    def walk_pipe(self, pipe: nodes.Pipe, scope: _Scope) -> None:
        """Note the variables that a pipeline reads."""
        for part in nodes.walk_nodes(pipe.commands):
            declaration = scope.get(part.names[0]) if isinstance(part, nodes.Variable) else None
            if declaration is not None:
                declaration.is_read = True


_EFFECTS: Final = frozenset({"set", "unset", "fail", "merge", "mergeOverwrite", "mustMerge"})


def _has_effect(pipe: nodes.Pipe) -> bool:
    """Report whether a pipeline is written for what it does and not for its value."""
    return any(
        isinstance(part, nodes.Identifier) and part.name in _EFFECTS
        for part in nodes.walk_nodes(pipe)
    )
