"""The syntax nodes of a template, and places of operations. Positions count characters.

They are plain classes and not tuples: mypyc makes structs of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

from function_script.engines.gotemplate.printing import quote


class SyntaxNode:
    """A part of a template and its position."""

    def __init__(self, position: int) -> None:
        self.position = position


class Identifier(SyntaxNode):
    """A function's name."""

    def __init__(self, position: int, name: str) -> None:
        self.position = position
        self.name = name


class Variable(SyntaxNode):
    """``$x.a.b``; the first name keeps its dollar.

    ``declaration`` is that which a use refers to, and that of an outer block which another hides.
    """

    def __init__(
        self, position: int, names: tuple[str, ...], declaration: Variable | None = None
    ) -> None:
        self.position = position
        self.names = names
        self.declaration = declaration


class Dot(SyntaxNode):
    """The cursor."""


class Nil(SyntaxNode):
    """The constant nil."""


class Field(SyntaxNode):
    """``.a.b``."""

    def __init__(self, position: int, names: tuple[str, ...]) -> None:
        self.position = position
        self.names = names


class Chain(SyntaxNode):
    """``(pipeline).a.b`` or ``function.a``."""

    def __init__(self, position: int, start: Operand, names: tuple[str, ...]) -> None:
        self.position = position
        self.start = start
        self.names = names


class Bool(SyntaxNode):
    """``true`` or ``false``."""

    def __init__(self, position: int, value: bool) -> None:  # noqa: FBT001 # the constant
        self.position = position
        self.value = value


class Number(SyntaxNode):
    """A number under every Go type that can hold it; None where none can."""

    def __init__(self, position: int, text: str, integer: int | None, real: float | None) -> None:
        self.position = position
        self.text = text
        self.integer = integer
        self.real = real


class String(SyntaxNode):
    """A string constant: its source and its value."""

    def __init__(self, position: int, quoted: str, value: str) -> None:
        self.position = position
        self.quoted = quoted
        self.value = value


class Command(SyntaxNode):
    """One stage of a pipeline: an operand and its arguments."""

    def __init__(self, position: int, words: tuple[Operand, ...]) -> None:
        self.position = position
        self.words = words

    @property
    def function(self) -> str:
        """The function that it calls, or ""."""
        first = self.words[0]
        return first.name if isinstance(first, Identifier) else ""


class Pipe(SyntaxNode):
    """A pipeline with the variables it declares (or assigns)."""

    def __init__(
        self,
        position: int,
        declared: tuple[Variable, ...],
        assigns: bool,  # noqa: FBT001 # as the other parts of the node
        commands: tuple[Command, ...],
    ) -> None:
        self.position = position
        self.declared = declared
        self.assigns = assigns
        self.commands = commands


Operand: TypeAlias = (
    Identifier | Variable | Dot | Nil | Field | Chain | Bool | Number | String | Pipe
)


class Text(SyntaxNode):
    """Text between actions."""

    def __init__(self, position: int, text: str) -> None:
        self.position = position
        self.text = text


class Action(SyntaxNode):
    """``{{ pipeline }}``; ``left`` and ``right`` are the positions of its delimiters."""

    def __init__(self, position: int, pipe: Pipe, left: int, right: int) -> None:
        self.position = position
        self.pipe = pipe
        self.left = left
        self.right = right


class Branch(SyntaxNode):
    """A block with a pipeline; ``otherwise`` is None without an else."""

    def __init__(
        self, position: int, pipe: Pipe, body: list[Node], otherwise: list[Node] | None
    ) -> None:
        self.position = position
        self.pipe = pipe
        self.body = body
        self.otherwise = otherwise

    def else_branch(self) -> If | With | Range | None:
        """Return the branch that is the whole else, as in ``{{ else if }}``.

        Such a chain may be thousands of branches deep.
        """
        if self.otherwise is not None and len(self.otherwise) == 1:
            node = self.otherwise[0]
            if isinstance(node, (If, With, Range)):
                return node
        return None


class If(Branch):
    """``{{ if }}``."""


class With(Branch):
    """``{{ with }}``."""


class Range(Branch):
    """``{{ range }}``."""


class Break(SyntaxNode):
    """``{{ break }}``."""


class Continue(SyntaxNode):
    """``{{ continue }}``."""


class Template(SyntaxNode):
    """``{{ template "name" pipeline }}``."""

    def __init__(self, position: int, name: str, pipe: Pipe | None) -> None:
        self.position = position
        self.name = name
        self.pipe = pipe


Node: TypeAlias = Text | Action | If | With | Range | Break | Continue | Template
Placed: TypeAlias = Operand | Command | Node


def _children(node: SyntaxNode) -> Sequence[SyntaxNode]:
    """Return the nodes right below a node, in the order of the text."""
    if isinstance(node, Command):
        return node.words
    if isinstance(node, Pipe):
        return (*node.declared, *node.commands)
    if isinstance(node, Branch):
        return (node.pipe, *node.body, *(node.otherwise or ()))
    if isinstance(node, Chain):
        return (node.start,)
    if isinstance(node, (Action, Template)):
        return () if node.pipe is None else (node.pipe,)
    return ()


def walk_nodes(roots: Sequence[SyntaxNode]) -> Iterator[SyntaxNode]:
    """Yield nodes and all below them, in the order of the text."""
    # No recursion: a chain of else-ifs may be thousands of nodes deep.
    pending = [*reversed(roots)]
    while pending:
        node = pending.pop()
        yield node
        children = _children(node)
        if children:
            pending.extend(reversed(children))


def walk_trees(trees: Mapping[str, Sequence[SyntaxNode]]) -> Iterator[SyntaxNode]:
    """Yield the nodes of some templates and all below them."""
    return walk_nodes([*chain.from_iterable(trees.values())])


def to_source(node: Placed) -> str:
    """Return a node as Go prints it in messages: ``index .l 3``, ``(f).a``, ``$x := 1 | f``."""
    match node:
        case Command():
            return " ".join(argument_source(word) for word in node.words)
        case Pipe():
            commands = " | ".join(map(to_source, node.commands))
            names = ", ".join(map(to_source, node.declared))
            return f"{names} {'=' if node.assigns else ':='} {commands}" if names else commands
        case Chain():
            return ".".join((argument_source(node.start), *node.names))
        case Template():
            argument = f" {to_source(node.pipe)}" if node.pipe is not None else ""
            return f"{{{{template {quote(node.name)}{argument}}}}}"
        case Action() | If() | With() | Range():
            return to_source(node.pipe)
        case Text() | Break() | Continue():
            return ""
        case _:
            return _word_source(node)


def _word_source(
    node: Identifier | Variable | Dot | Nil | Field | Bool | Number | String,
) -> str:
    match node:
        case Identifier():
            return node.name
        case Variable():
            return ".".join(node.names)
        case Field():
            return "".join(f".{name}" for name in node.names)
        case Number():
            return node.text
        case String():
            return node.quoted
        case Bool():
            return "true" if node.value else "false"
        case _:
            return "." if isinstance(node, Dot) else "nil"


def stage_of(node: Placed) -> Placed:
    """Return the node that an error about a value names: of a pipeline, that of its last stage."""
    command = node.commands[-1] if isinstance(node, Pipe) else node
    if isinstance(command, Command) and len(command.words) == 1:
        return command.words[0]
    return command


def argument_source(node: Operand) -> str:
    """Return an operand as an argument: a pipeline is in parentheses."""
    return f"({to_source(node)})" if isinstance(node, Pipe) else to_source(node)


class Site:
    """The place of an operation: its node, and the template that has the node.

    ``function`` is the function that it calls, if any.
    """

    def __init__(self, node: Placed, template: str, function: str | None = None) -> None:
        self.node: Placed = node
        self.template: str = template
        self.function: str | None = function
