"""What names the sources of a script bind, and to what: functions, loaded functions, or anything.

Called by the analysis of a script's reach. Names are those of all sources together, whatever
their scope: two variables of one name count as one.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function: its name, its parameters that take positions, and all its named parameters."""

    name: str
    positional: Sequence[str]
    named: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bindings:
    """``others`` are names that assignments, loops and parameters bind to anything."""

    functions: Mapping[str, list[Function]]
    loaded: Mapping[str, set[str]]
    others: frozenset[str]

    @classmethod
    def of(cls, trees: Iterable[ast.Module]) -> Bindings:
        """The names of these sources."""
        functions: dict[str, list[Function]] = {}
        loaded: dict[str, set[str]] = {}
        others = set()
        for node in (node for tree in trees for node in ast.walk(tree)):
            match node:
                case ast.FunctionDef(name=name):
                    functions.setdefault(name, []).append(_function(node))
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    others.add(name)
                case ast.Call(func=ast.Name(id="load")):
                    for name, symbol in _loads(node):
                        loaded.setdefault(name, set()).add(symbol)
                case _:
                    pass
        return cls(functions=functions, loaded=loaded, others=frozenset(others))

    def defined(self, name: str) -> list[Function]:
        """The functions that a name may stand for."""
        return [
            function for alias in self._aliases(name) for function in self.functions.get(alias, [])
        ]

    def is_certain(self, name: str) -> bool:
        """Whether a name stands for nothing but the functions that are defined."""
        aliases = self._aliases(name)
        return not aliases & self.others and all(
            alias in self.functions or alias in self.loaded for alias in aliases
        )

    def is_bound(self, name: str) -> bool:
        """Whether the sources give this name a meaning of their own."""
        return name in self.functions or name in self.loaded or name in self.others

    def _aliases(self, name: str) -> set[str]:
        """The name, and what it is called in the modules it may be loaded from."""
        names, pending = {name}, [name]
        while pending:
            new = self.loaded.get(pending.pop(), set()) - names
            names |= new
            pending += new
        return names


def _function(node: ast.FunctionDef) -> Function:
    positional = [arg.arg for arg in [*node.args.posonlyargs, *node.args.args]]
    keywords = [arg.arg for arg in node.args.kwonlyargs]
    return Function(name=node.name, positional=positional, named=frozenset(positional + keywords))


def _loads(call: ast.Call) -> list[tuple[str, str]]:
    """The name that each symbol of a load statement gets, and its name in the module."""
    same = [(arg.value, arg.value) for arg in call.args[1:] if isinstance(arg, ast.Constant)]
    renamed = [
        (keyword.arg, keyword.value.value)
        for keyword in call.keywords
        if isinstance(keyword.value, ast.Constant)
    ]
    return [(str(name), str(symbol)) for name, symbol in [*same, *renamed]]
