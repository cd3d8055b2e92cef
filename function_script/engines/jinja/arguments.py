"""Calls of functions and filters that fail in every run, by the types that are certain."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, cast

from jinja2 import nodes

from function_script.engines.jinja.calls import LibraryFunction, conversion_hint, signature_of
from function_script.engines.jinja.filters import FILTERS
from function_script.engines.jinja.functions import FUNCTIONS
from function_script.engines.jinja.parser import Template
from function_script.engines.jinja.policy import Violation
from function_script.engines.jinja.tokens import first_offset
from function_script.engines.lint import CONSTANT_TYPES
from function_script.engines.signatures import (
    Signature,
    explain_names,
    find_wrong_types,
)

_MAX_HOPS: Final = 5
_RESULTS: Final = {
    **dict.fromkeys(("length", "count", "int"), "integer"),
    **dict.fromkeys(("float", "round", "abs"), "number"),
    **dict.fromkeys(
        ("capitalize", "join", "lower", "replace", "string", "title", "trim", "upper"), "string"
    ),
    **dict.fromkeys(("list", "sort", "split", "unique", "items", "dictsort"), "list"),
}
_CONSTANTS: Final[dict[type, str]] = {**CONSTANT_TYPES, type(None): "null"}
_NODES: Final[dict[type[nodes.Node], str]] = {
    nodes.Compare: "boolean",
    nodes.Concat: "string",
    nodes.Dict: "object",
    nodes.List: "list",
    nodes.Not: "boolean",
    nodes.Test: "boolean",
}


def count_bindings(trees: Iterable[nodes.Template]) -> Counter[str]:
    """Return how often all templates of a program give each name a value."""
    counts: Counter[str] = Counter()
    for tree in trees:
        counts.update(node.name for node in tree.find_all(nodes.Name) if node.ctx != "load")
        counts.update(node.name for node in tree.find_all(nodes.Macro))
        counts.update(node.target for node in tree.find_all(nodes.Import))
        for each in tree.find_all(nodes.FromImport):
            counts.update(name if isinstance(name, str) else name[1] for name in each.names)
    return counts


class Types:
    """The types of the expressions of a program, by the names of JSON; "" where a run decides."""

    def __init__(self, templates: Sequence[Template]) -> None:
        trees = [template.tree for template in templates]
        self._counts = count_bindings(trees)
        tested = {
            test.node.name
            for tree in trees
            for test in tree.find_all(nodes.Test)
            if isinstance(test.node, nodes.Name)
        }
        self._values = {
            each.target.name: each.node
            for tree in trees
            for each in tree.find_all(nodes.Assign)
            if isinstance(each.target, nodes.Name)
            and self._counts[each.target.name] == 1
            and each.target.name not in tested
        }

    def is_function(self, node: nodes.Node) -> bool:
        """Report whether a node names a function that the program does not bind anew."""
        return isinstance(node, nodes.Name) and node.name in FUNCTIONS.keys() - self._counts

    def of(self, node: nodes.Node | None, hops: int = _MAX_HOPS) -> str:
        """Return the type of an expression."""
        match node:
            case nodes.Const(value=value):
                return _CONSTANTS.get(type(value), "")
            case nodes.Name(name=name) if name in self._values and hops:
                return self.of(self._values[name], hops - 1)
            case nodes.Filter(name=name) if isinstance(call := FILTERS.get(name), LibraryFunction):
                return _result_of(call)
            case nodes.Filter(name=name):
                return _RESULTS.get(name, "")
            case nodes.Call(node=nodes.Name(name=name) as function) if self.is_function(function):
                builtin = FUNCTIONS[name].call
                return _result_of(builtin) if isinstance(builtin, LibraryFunction) else ""
            case _:
                return _NODES.get(type(node), "") if node is not None else ""


def _result_of(call: LibraryFunction) -> str:
    result = call.function.signature.result.partition(" of ")[0]
    return result if result in {"boolean", "integer", "list", "object", "string"} else ""


def find(tree: nodes.Template, types: Types) -> Iterator[Violation]:
    """Yield the wrong calls of a template, one problem each; the tree has offsets."""
    for node in tree.find_all((nodes.Call, nodes.Filter)):
        if isinstance(node, nodes.Filter):
            call, name = FILTERS.get(node.name), node.name
            # In a filter block, the value is None here and a text in a run.
            arguments = [node.node, *node.args]
        elif isinstance(node, nodes.Call) and types.is_function(node.node):
            name = cast("nodes.Name", node.node).name
            call, arguments = FUNCTIONS[name].call, [*node.args]
        else:
            continue
        if call is None or node.dyn_args is not None or node.dyn_kwargs is not None:
            continue
        # The compiler counts the arguments of other filters.
        is_filter = isinstance(node, nodes.Filter)
        signature = signature_of(name, call, is_filter=is_filter)
        is_counted = not is_filter or isinstance(call, LibraryFunction)
        keywords = cast("list[nodes.Keyword]", node.kwargs)
        named = {keyword.key: keyword.value for keyword in keywords}
        problem = _find_wrong_type(node, signature, arguments, named, types)
        if problem is not None:
            yield problem
        elif is_counted and (text := explain_names(signature, len(arguments), named)):
            message, hint = text
            offset = node.lineno if is_filter else first_offset(node)
            yield Violation(offset=offset, name=name, message=message, hint=hint)


def _find_wrong_type(
    node: nodes.Call | nodes.Filter,
    signature: Signature,
    arguments: list[nodes.Expr | None],
    named: Mapping[str, nodes.Expr],
    types: Types,
) -> Violation | None:
    positional = ["string" if each is None else types.of(each) for each in arguments]
    type_of_name = {key: types.of(value) for key, value in named.items()}
    for wrong in find_wrong_types(signature, positional, type_of_name):
        argument = arguments[wrong.at] if isinstance(wrong.at, int) else named[wrong.at]
        value = argument.value if isinstance(argument, nodes.Const) else None
        # Of several arguments, some may have changed places.
        hint = conversion_hint(wrong, value) if len(arguments) + len(named) == 1 else None
        offset = node.lineno if argument is None else first_offset(argument)
        message = f"cannot call {signature.name}: {wrong.problem}"
        usage, width = f"write {signature.usage}", 1 if value is None else len(json.dumps(value))
        return Violation(offset=offset, width=width, message=message, hint=hint or usage)
    return None
