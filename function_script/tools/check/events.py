"""Results that a program emits on every call: as events they say nothing, and bury what does.

Called by the rules. Looks at what stands in no condition and no loop; unsure means silent.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from function_script.engines.starlark.analysis import syntax
from function_script.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from function_script.inputs import Step
    from function_script.source import Source

_KIND: Final = re.compile(r"kind: *[\"']?Results[\"']? *$")
_META: Final = re.compile(r"apiVersion: *[\"']?meta\.script\.fn\.crossplane\.io/")
_FATAL: Final = re.compile(r"severity: *[\"']?(?:SEVERITY_FATAL|Fatal)\b")
_EMITTING: Final = frozenset({"event", "warning"})


def find_constant(step: Step) -> Iterator[Span]:
    """The places of such results in a step's main source; the program must compile."""
    source = step.program.main
    if step.language == "starlark":
        yield from _in_script(source)
    elif step.language == "jinja":
        from function_script.engines.jinja import static_text as jinja  # noqa: PLC0415 - one of three

        yield from _in_text(jinja.static_parts(step.program), source)
    else:
        from function_script.engines.gotemplate import static_text as go  # noqa: PLC0415 - one of three

        if "parts" not in step.program.options:
            yield from _in_text(go.static_parts(step.program), source)


def _in_text(pieces: Iterable[tuple[int, str]], source: Source) -> Iterator[Span]:
    lines: dict[int, str] = defaultdict(str)
    for line, text in pieces:
        for number, part in enumerate(text.split("\n"), line):
            lines[number] += part
    document: dict[int, str] = {}
    for number in [*sorted(lines), 0]:
        if number == 0 or lines[number].startswith("---"):
            yield from _in_document(document, source)
            document = {}
        else:
            document[number] = lines[number]


def _in_document(lines: dict[int, str], source: Source) -> Iterator[Span]:
    kinds = [number for number, line in lines.items() if _KIND.match(line)]
    begin = next((number for number, line in lines.items() if line.startswith("results:")), 0)
    is_meta = any(map(_META.match, lines.values()))
    items = [n for n, line in lines.items() if n > begin and line.lstrip().startswith("- ")]
    if len(kinds) == 1 and begin and is_meta and items:
        written = source.text.split("\n")[kinds[0] - 1].rstrip()
        if _KIND.match(written) and not any(map(_FATAL.search, lines.values())):
            yield Span(name=source.name, line=kinds[0], column=1, width=len(written))


def _in_script(source: Source) -> Iterator[Span]:
    tree = syntax.parse(source.text)
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.FunctionDef) and node.name == "main":
            yield from _in_main(node, source)


def _in_main(main: ast.FunctionDef, source: Source) -> Iterator[Span]:
    """What every call comes to: statements of `main` itself, up to one that may leave it."""
    for statement in main.body:
        match statement:
            case ast.Return(value=ast.Dict() as response):
                for result in _results(response):
                    yield syntax.span_of(result, source)
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(), attr=name)) as call
            ) if name in _EMITTING:
                yield syntax.span_of(call, source)
        if any(isinstance(node, ast.Return) for node in ast.walk(statement)):
            return


def _results(response: ast.Dict) -> Iterator[ast.Dict]:
    for key, value in zip(response.keys, response.values, strict=True):
        if isinstance(key, ast.Constant) and key.value == "results" and isinstance(value, ast.List):
            for item in value.elts:
                if isinstance(item, ast.Dict) and "atal" not in ast.unparse(item):
                    yield item
