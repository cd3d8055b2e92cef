"""The syntax nodes of a template. Positions count characters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from function_script.engines.gotemplate.printing import quote


class Identifier(NamedTuple):
    """A function's name."""

    position: int
    name: str


class Variable(NamedTuple):
    """``$x.a.b``; the first name keeps its dollar."""

    position: int
    names: tuple[str, ...]


class Dot(NamedTuple):
    """The cursor."""

    position: int


class Nil(NamedTuple):
    """The constant nil."""

    position: int


class Field(NamedTuple):
    """``.a.b``."""

    position: int
    names: tuple[str, ...]


class Chain(NamedTuple):
    """``(pipeline).a.b`` or ``function.a``."""

    position: int
    start: Operand
    names: tuple[str, ...]


class Bool(NamedTuple):
    """``true`` or ``false``."""

    position: int
    value: bool


class Number(NamedTuple):
    """A number under every Go type that can hold it; None where none can."""

    position: int
    text: str
    integer: int | None
    unsigned: int | None
    real: float | None
    pair: complex | None = None


class String(NamedTuple):
    """A string constant: its source and its value."""

    position: int
    quoted: str
    value: str


class Command(NamedTuple):
    """One stage of a pipeline: an operand and its arguments."""

    position: int
    words: tuple[Operand, ...]


class Pipe(NamedTuple):
    """A pipeline with the variables it declares (or assigns)."""

    position: int
    declared: tuple[Variable, ...]
    assigns: bool
    commands: tuple[Command, ...]


Operand: TypeAlias = (
    Identifier | Variable | Dot | Nil | Field | Chain | Bool | Number | String | Pipe
)


class Text(NamedTuple):
    """Text between actions."""

    position: int
    text: str


class Action(NamedTuple):
    """``{{ pipeline }}``."""

    position: int
    pipe: Pipe


class If(NamedTuple):
    """``{{ if }}``; ``otherwise`` is None without an else."""

    position: int
    pipe: Pipe
    body: list[Node]
    otherwise: list[Node] | None


class With(NamedTuple):
    """``{{ with }}``."""

    position: int
    pipe: Pipe
    body: list[Node]
    otherwise: list[Node] | None


class Range(NamedTuple):
    """``{{ range }}``."""

    position: int
    pipe: Pipe
    body: list[Node]
    otherwise: list[Node] | None


class Break(NamedTuple):
    """``{{ break }}``."""

    position: int


class Continue(NamedTuple):
    """``{{ continue }}``."""

    position: int


class Template(NamedTuple):
    """``{{ template "name" pipeline }}``."""

    position: int
    name: str
    pipe: Pipe | None


Node: TypeAlias = Text | Action | If | With | Range | Break | Continue | Template
Placed: TypeAlias = Operand | Command | Node


def walk_nodes(value: object) -> Iterator[object]:
    """Yield a node and all below it: nodes are tuples of values, nodes and lists of nodes."""
    if isinstance(value, (tuple, list)):
        yield value
        for part in value:
            yield from walk_nodes(part)


def to_source(node: Placed) -> str:
    """Return a node as Go prints it in messages: ``index .l 3``, ``(f).a``, ``$x := 1 | f``."""
    match node:
        case Command():
            return " ".join(_parenthesise(word) for word in node.words)
        case Pipe():
            commands = " | ".join(map(to_source, node.commands))
            names = ", ".join(map(to_source, node.declared))
            return f"{names} {'=' if node.assigns else ':='} {commands}" if names else commands
        case Chain():
            return ".".join((_parenthesise(node.start), *node.names))
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


def _parenthesise(node: Operand) -> str:
    return f"({to_source(node)})" if isinstance(node, Pipe) else to_source(node)
