"""The Python source of a template, line by line, with the site of each line.

Generated code never reads an attribute: it handles values only through our functions. A line does
one thing that can fail, so that a traceback's line gives the template's position.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from function_script.engines.gotemplate.syntax.nodes import Placed

INDENT: Final = " "


class Site(NamedTuple):
    """The origin of a line of generated code.

    ``function`` is the function that it calls, if any. ``element``: its value comes straight from a
    range, which changes the words of an error.
    """

    node: Placed
    template: str
    function: str | None = None
    element: bool = False


class Origin(NamedTuple):
    """The origin of a value: ``names`` are the fields below ``start``, which is code.

    ``prefix`` is the template's text of the start: empty for the dot.
    """

    start: str
    prefix: str
    names: tuple[str, ...]


class Value(NamedTuple):
    """A computed expression: ``code`` is a name or a constant, safe to repeat.

    ``type`` is its Go type if that is known. ``nil``: it may be MISSING or None; ``null``: it may
    be None. ``from_pipeline``: None means no value, as at the end of a pipeline, and not a null.
    ``element``: it comes straight from a range. ``origin`` is set for values that were read by a
    chain of fields and may be absent.
    """

    code: str
    type: str = "any"
    nil: bool = True
    null: bool = True
    from_pipeline: bool = False
    element: bool = False
    origin: Origin | None = None


class Code:
    """Lines of Python, the sites of those that can fail, and the constants they use."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.sites: list[Site | None] = [None]
        self.constants: dict[str, object] = {}
        # Failures that are certain once their line is reached.
        self.failures: list[tuple[Site, str]] = []
        # Locals that are assigned again while they are visible.
        self.changing: set[str] = set()
        self._constant_names: dict[tuple[type, object], str] = {}
        # The names of computed expressions, for each of the blocks around the next line.
        self._computed: list[dict[str, str]] = [{}]
        self._indent = ""
        self._names = 0

    def line(self, text: str, site: Site | None = None) -> None:
        """Add a line; Python counts them from 1, as ``sites`` does."""
        self.lines.append(self._indent + text)
        self.sites.append(site)

    @contextmanager
    def block(self, header: str, site: Site | None = None) -> Iterator[None]:
        """Indent the lines that follow ``header``."""
        self.line(header, site)
        outer, self._indent = self._indent, self._indent + INDENT
        before = len(self.lines)
        self._computed.append({})
        yield
        self._computed.pop()
        if len(self.lines) == before:
            self.line("pass")
        self._indent = outer

    def record(self, expression: str, name: str) -> None:
        """Record that ``name`` has the value of an expression, up to the end of the block."""
        self._computed[-1][expression] = name

    def find_name(self, expression: str) -> str | None:
        """Return the name that has the value of an expression, if it is already computed."""
        for names in reversed(self._computed):
            if expression in names:
                return names[expression]
        return None

    def name(self, prefix: str = "t") -> str:
        """Return a local name that is used nowhere else."""
        self._names += 1
        return f"{prefix}{self._names}"

    def constant(self, value: object) -> str:
        """Return a global name for a value that has no literal in Python."""
        key = (type(value), value)
        if key not in self._constant_names:
            self._constant_names[key] = f"k{len(self._constant_names)}"
            self.constants[self._constant_names[key]] = value
        return self._constant_names[key]


class Scope:
    """The variables that are visible at some position."""

    def __init__(self, outer: Scope | None = None) -> None:
        self._values: dict[str, Value] = dict(outer._values) if outer is not None else {}  # noqa: SLF001 # its own kind

    def declare(self, name: str, value: Value) -> None:
        """Add a variable; it hides another one of that name."""
        self._values[name] = value

    def find(self, name: str) -> Value | None:
        """Return the variable of this name."""
        return self._values.get(name)
