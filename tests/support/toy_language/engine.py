"""Run programs of the toy language."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from function_script.request.objects import find_path
from function_script.request.program import TemplateResult, plain
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import ProgramError
from function_script.texts.source import excerpt, span_at

if TYPE_CHECKING:
    from function_script.request.limits import Limits
    from function_script.request.program import Program, Scope
    from function_script.texts.source import Span

_HEAD = """apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    script.fn.crossplane.io/composition-resource-name: config
data:
"""


def evaluate(program: Program, scope: Scope, limits: Limits) -> TemplateResult:
    """Copy the lines; raises ProgramError."""
    check(program, limits)
    lines, spans = [], []
    begin = 0
    for line in program.main.text.split("\n"):
        key, _, value = line.partition(": ")
        if value:
            if value.startswith("$"):
                value = str(find_path(plain(scope.request), tuple(value[1:].split("."))))
            value = value.upper() if program.options["case"] == "upper" else value
            lines.append(f"  {key}: {json.dumps(value)}\n")
            spans.append(span_at(program.main, begin, len(line)))
        begin += len(line) + 1

    def locate(line: int) -> Span | None:
        number = line - 1 - _HEAD.count("\n")
        return spans[number] if 0 <= number < len(spans) else None

    return TemplateResult(text=_HEAD + "".join(lines), locate=locate)


def check(program: Program, _limits: Limits) -> None:
    """Raise ProgramError with every line that is neither blank nor a key with a value."""
    problems = []
    begin = 0
    for line in program.main.text.split("\n"):
        if line and not line.partition(": ")[2]:
            span = span_at(program.main, begin, len(line))
            problems.append(
                Diagnostic(
                    message="cannot read the line: it needs a key, a colon, a space and a value",
                    span=span,
                    excerpt=excerpt(program.main, span),
                )
            )
        begin += len(line) + 1
    if problems:
        raise ProgramError(*problems)


def unused_modules(program: Program, _limits: Limits) -> tuple[str, ...]:
    """Return all modules: nothing can load one."""
    return tuple(program.modules)
