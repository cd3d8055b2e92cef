"""Composed resources whose ``metadata.name`` is written out: every XR would want that one object.

Called by the rules. Templates are read line by line, for they are no YAML yet; scripts by their
syntax tree. Both say nothing when in doubt.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from function_script.engines.starlark.analysis import syntax
from function_script.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from function_script.inputs import Step
    from function_script.source import Source

_FIELD: Final = re.compile(
    r"(?P<indent> *)(?P<key>[A-Za-z]+):(?:[ \t]+(?P<value>[^\s#].*?))?(?:[ \t]+#.*)?\s*"
)
_NAMED: Final = ("composition-resource-name", "setResourceNameAnnotation")
# What a value begins with that is no plain or quoted text: blocks, anchors, flow, comments.
_NO_TEXT: Final = tuple("|>&*!{[#")
_JINJA: Final = ("{{", "{%", "{#")


def find_constant(source: Source, step: Step) -> Iterator[Span]:
    """The names in one source of a step's program."""
    if step.language == "starlark":
        yield from _in_script(source)
    else:
        yield from _in_template(source, marks(step))


def marks(step: Step) -> Sequence[str]:
    """What begins an action in a template."""
    delims = step.program.options.get("delims")
    return (str(delims[0]),) if isinstance(delims, list) else _JINJA


def _in_template(source: Source, marks: Sequence[str]) -> Iterator[Span]:
    lines = source.text.split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("---")]
    for first, end in zip([0, *starts], [*starts, len(lines)], strict=True):
        document = lines[first:end]
        if any(named in line for line in document for named in _NAMED):
            for number, field in _names(document):
                if not any(mark in field["value"] for mark in marks):
                    yield Span(
                        name=source.name,
                        line=first + number + 1,
                        column=field.start("value") + 1,
                        width=len(field["value"]),
                    )


def _names(document: Sequence[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """The fields ``name`` right below ``metadata``, with their 0-based lines."""
    section, indent = "", ""
    for number, line in enumerate(document):
        field = _FIELD.fullmatch(line)
        if field is None:
            continue
        if not field["indent"]:
            section, indent = field["key"], ""
        elif section == "metadata":
            indent = indent or field["indent"]
            is_name = field["indent"] == indent and field["key"] == "name"
            if is_name and field["value"] and not field["value"].startswith(_NO_TEXT):
                yield number, field


def _in_script(source: Source) -> Iterator[Span]:
    tree = syntax.parse(source.text)
    if tree is None:
        return
    for name in _object_names(tree):
        yield syntax.span_of(name, source)


def _object_names(node: ast.AST) -> Iterator[ast.Constant]:
    """Names of Kubernetes objects; objects inside of others, such as manifests, are left alone."""
    fields = _fields(node) if isinstance(node, ast.Dict) else {}
    if {"apiVersion", "kind"} <= fields.keys():
        metadata = fields.get("metadata")
        name = _fields(metadata).get("name") if isinstance(metadata, ast.Dict) else None
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield name
        return
    for child in ast.iter_child_nodes(node):
        yield from _object_names(child)


def _fields(node: ast.Dict) -> dict[str, ast.expr]:
    return {
        key.value: value
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }
