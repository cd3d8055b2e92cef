"""Run programs of the toy language."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from function_script.request.lazy import plain
from function_script.request.objects import find_path
from function_script.request.program import TemplateResult
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import ProgramError
from function_script.texts.source import span_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.request.limits import Limits
    from function_script.request.program import Program, Scope
    from function_script.texts.source import Source, Span

_PAIR: Final = re.compile(r"\S+")
_HEAD: Final = """---
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    script.fn.crossplane.io/composition-resource-name: {}
data:
"""


def expressions(program: Program) -> Iterator[tuple[str, Source]]:
    """Yield the name of each resource with its expression."""
    for name in json.loads(program.main.text):
        yield name, program.modules[name]


def evaluate(program: Program, scope: Scope, limits: Limits) -> TemplateResult:
    """Write a ConfigMap for each expression; raises ProgramError."""
    check(program, limits)
    text = ""
    spans: dict[int, Span] = {}
    for name, source in expressions(program):
        text += _HEAD.format(json.dumps(name))
        for pair in _PAIR.finditer(source.text):
            key, _, value = pair[0].partition("=")
            if value.startswith("$"):
                value = str(find_path(plain(scope.request), tuple(value[1:].split("."))))
            value = value.upper() if program.options["case"] == "upper" else value
            text += f"  {key}: {json.dumps(value)}\n"
            spans[text.count("\n")] = span_at(source, pair.start(), len(pair[0]))
    return TemplateResult(text=text, locate=spans.get)


def check(program: Program, _limits: Limits) -> None:
    """Raise ProgramError with every pair that has no key or no value."""
    problems = []
    for _, source in expressions(program):
        for pair in _PAIR.finditer(source.text):
            key, _, value = pair[0].partition("=")
            if not key or not value:
                span = span_at(source, pair.start(), len(pair[0]))
                problem = Diagnostic(message=f"cannot read {pair[0]}: it is no KEY=VALUE")
                problems.append(problem.at(source, span))
    if problems:
        raise ProgramError(*problems)


def unused_modules(program: Program, _limits: Limits) -> tuple[str, ...]:
    """Return what is no expression: nothing can load a module."""
    return tuple(program.modules.keys() - dict(expressions(program)).keys())
