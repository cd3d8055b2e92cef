"""Dependencies on composed resources that no step composes: what has one is never created.

Called by the rules. Only where every name that the pipeline's programs give is written out in
them; unsure means silent.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from function_script import objects
from function_script.engines.starlark.analysis import syntax
from function_script.source import span_at
from function_script.tools import manifests, step_inputs
from function_script.tools.check import names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from function_script.documents import Document
    from function_script.inputs import Step
    from function_script.source import Source, Span

# Functions that compose nothing, by the end of their usual names.
_IDLE: Final = ("auto-ready", "environment-configs", "extra-resources", "sequencer")
_MENTION: Final = re.compile(r"composition-resource-name|setResourceNameAnnotation")
_NAME: Final = re.compile(
    r"composition-resource-name[\"']?: *[\"']?(?P<key>[\w.-]+)[\"']?(?=[ ,}]|$)"
    r"|setResourceNameAnnotation +\"(?P<call>[\w.-]+)\" *-?\}",
    re.MULTILINE,
)
# What stands at the beginning of an action that writes no document of its own.
_CONTROL: Final = re.compile(
    r"-? *(?:if|else|end|range|with|define|block|break|continue|template|include +\"|/\*"
    r"|\$\w+ *:?=)"
)
_DEPENDS_ON: Final = re.compile(r"^ +[\w.]+/depends-on: *[\"']?(?P<value>[^\"'#\n]+)", re.MULTILINE)
_DECODING: Final = re.compile(r"decode|from_?(?:json|yaml)|parse", re.IGNORECASE)


def find_composed(document: Document, steps: Sequence[Step]) -> frozenset[str] | None:
    """The names of all resources that a Composition's steps compose, of which ``steps`` are ours.

    None: they are only known when it runs.
    """
    if manifests.text_at(document.value, "kind") != "Composition" or not steps:
        return None
    pipeline = objects.find_path(document.value, ("spec", "pipeline"))
    others = [step for step in pipeline if not _is_ours(step)] if isinstance(pipeline, list) else []
    if not all(map(_is_idle, others)):
        return None
    found = [
        _in_script(source.text) if step.language == "starlark" else _in_template(source.text, step)
        for step in steps
        for source in (step.program.main, *step.program.modules.values())
    ]
    if None in found or not all(step.program.main.text for step in steps):
        return None
    return frozenset().union(*(each for each in found if each))


def _is_ours(step: object) -> bool:
    value = step.get("input") if isinstance(step, dict) else None
    return isinstance(value, dict) and step_inputs.is_ours(value)


def _is_idle(step: object) -> bool:
    found = manifests.text_at(step, "functionRef", "name") if isinstance(step, dict) else ""
    return found.endswith(_IDLE)


def _in_template(text: str, step: Step) -> set[str] | None:
    found = [match["key"] or match["call"] for match in _NAME.finditer(text)]
    if len(found) != len(_MENTION.findall(text)):
        return None
    for mark in names.marks(step):
        for line in text.split("\n"):
            # Such an action may write whole documents. Tags and comments of Jinja do not.
            is_output = line.startswith(mark) and mark not in {"{%", "{#"}
            if is_output and not _CONTROL.match(line, len(mark)):
                return None
    return set(found)


def _in_script(text: str) -> set[str] | None:
    tree = syntax.parse(text)
    if tree is None:
        return None
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    found = [_names(node, parents) for node in ast.walk(tree)]
    return None if None in found else set().union(*(each for each in found if each))


def _names(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> set[str] | None:
    """The names that a node gives to resources; None: they are only known when it runs."""
    match node:
        case ast.Call(func=ast.Attribute(attr="resource"), args=[first, *_]):
            return _texts([first])
        case ast.Call(func=ast.Attribute(attr="resource")) | ast.keyword(arg="resources"):
            return None
        case ast.Attribute(attr="resource") if getattr(parents[node], "func", None) is not node:
            return None
        case ast.Call(func=function) if _DECODING.search(ast.unparse(function)):
            return None
        case ast.Constant(value=str(text)) if text == "resources" or "desired.resources" in text:
            return _below(node, parents)
        case _:
            return set()


def _below(key: ast.Constant, parents: Mapping[ast.AST, ast.AST]) -> set[str] | None:
    """The names in what stands at ``key``."""
    parent = parents[key]
    match parent:
        case ast.Dict(keys=keys, values=values) if key in keys:
            value = values[keys.index(key)]
            return _texts(value.keys) if isinstance(value, ast.Dict) else None
        case ast.Subscript(value=base) | ast.Call(func=base) if "observed" in ast.unparse(base):
            return set()
        case ast.Subscript() if isinstance(outer := parents[parent], ast.Subscript):
            return _texts([outer.slice]) if outer.value is parent else None
        case _:
            return None


def _texts(found: Iterable[ast.expr | None]) -> set[str] | None:
    texts: set[str] = set()
    for node in found:
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            return None
        texts.add(node.value)
    return texts


def find_mentioned(source: Source, step: Step) -> Iterator[tuple[str, Span]]:
    """The names that one source of a program depends on, where they are written out."""
    if step.language == "starlark":
        yield from _mentioned_in_script(source)
        return
    for match in _DEPENDS_ON.finditer(source.text):
        value = match["value"]
        if value.startswith(("|", ">")) or any(mark in value for mark in names.marks(step)):
            continue
        for part in re.finditer(r"[^\s,][^,]*", value):
            name = part[0].partition(":")[0].strip()
            begin = match.start("value") + part.start()
            yield name, span_at(source, begin, len(name))


def _mentioned_in_script(source: Source) -> Iterator[tuple[str, Span]]:
    tree = syntax.parse(source.text)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.keyword) and node.arg == "depends_on":
            yield from _constants(node.value, source)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "depends_on":
                    yield from _constants(value, source)


def _constants(found: ast.expr, source: Source) -> Iterator[tuple[str, Span]]:
    for node in found.elts if isinstance(found, ast.List) else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.partition(":")[0].strip(), syntax.span_of(node, source)
