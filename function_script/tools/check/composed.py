"""Which kind a program composes under which name, where both are written out.

Called by the rules, for what is observed under a name is of the kind that was composed. Names with
two kinds are left out.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from function_script.engines.starlark.analysis import syntax

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from function_script.inputs import Step

Kind = tuple[str, str]

_NAME: Final = re.compile(
    r"^ +(?:[\w.]+/composition-resource-name: *[\"']?(?P<key>[\w.-]+)[\"']? *"
    r"|\{\{-? *setResourceNameAnnotation +\"(?P<call>[\w.-]+)\" *-?\}\} *)$",
    re.MULTILINE,
)
_FIELD: Final = r"^{}: *[\"']?([\w./-]+)[\"']? *$"
_API_VERSION: Final = re.compile(_FIELD.format("apiVersion"), re.MULTILINE)
_KIND: Final = re.compile(_FIELD.format("kind"), re.MULTILINE)
_SEPARATOR: Final = re.compile(r"^---.*$", re.MULTILINE)


def find_kinds(steps: Iterable[Step]) -> dict[str, Kind]:
    """The apiVersion and kind of resources by name."""
    found: dict[str, set[Kind]] = {}
    for step in steps:
        for source in (step.program.main, *step.program.modules.values()):
            is_script = step.language == "starlark"
            pairs = _in_script(source.text) if is_script else _in_template(source.text)
            for name, kind in pairs:
                found.setdefault(name, set()).add(kind)
    return {name: next(iter(kinds)) for name, kinds in found.items() if len(kinds) == 1}


def _in_template(text: str) -> Iterator[tuple[str, Kind]]:
    for document in _SEPARATOR.split(text):
        names = {match["key"] or match["call"] for match in _NAME.finditer(document)}
        versions = set(_API_VERSION.findall(document))
        kinds = set(_KIND.findall(document))
        if len(names) == len(versions) == len(kinds) == 1:
            yield names.pop(), (versions.pop(), kinds.pop())


def _in_script(text: str) -> Iterator[tuple[str, Kind]]:
    tree = syntax.parse(text)
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.Dict():
                pairs = _entries(node)
            case ast.Call(
                func=ast.Attribute(attr="resource"),
                args=[ast.Constant(value=str(name)), ast.Dict() as body, *_],
            ):
                pairs = [(name, body)]
            case _:
                continue
        for name, body in pairs:
            fields = dict(_entries(body))
            entry = fields.get("resource")
            version, kind = _texts(entry if isinstance(entry, ast.Dict) else body)
            if version and kind:
                yield name, (version, kind)


def _entries(node: ast.Dict) -> list[tuple[str, ast.Dict]]:
    """The entries of a dict that are dicts themselves, by their written keys."""
    return [
        (key.value, value)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant)
        and isinstance(key.value, str)
        and isinstance(value, ast.Dict)
    ]


def _texts(node: ast.Dict) -> tuple[str, str]:
    found = {
        key.value: value.value
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(value, ast.Constant)
    }
    version, kind = found.get("apiVersion"), found.get("kind")
    if isinstance(version, str) and isinstance(kind, str):
        return version, kind
    return "", ""
