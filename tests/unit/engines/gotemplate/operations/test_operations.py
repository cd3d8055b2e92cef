"""Operations: their values, their sites, their stack."""

import ast

import pytest
from support.paths import ROOT

from function_script.engines.gotemplate import programs
from function_script.engines.gotemplate.errors import GoError, LimitExceededError
from function_script.engines.gotemplate.run import MAIN, Run
from function_script.engines.gotemplate.syntax import nodes
from function_script.limits import Limits
from function_script.source import Source

FOLDER = ROOT / "function_script" / "engines" / "gotemplate" / "operations"
# Names of objects of our own: operations, frames, runs, functions, modules, errors.
OWN = {
    *("self", "frame", "run", "statements", "function", "callee", "handler", "error"),
    *("argument", "operand"),
    *("errors", "missing", "operator", "printing", "runtime", "values"),
    *("Accepts", "Injects"),
}
# Methods of lists, texts and maps, whose type is tested before.
METHODS = {"append", "get", "join"}


def compile_program(text: str, settings: programs.Settings | None = None) -> programs.LoadedProgram:
    """A compiled program of one text."""
    source = Source(name="inline", text=text)
    return programs.compile_program(
        programs.Sources(((MAIN, source),), settings or programs.Settings())
    )


def start(text: str, settings: programs.Settings | None = None) -> Run:
    """A run of a program."""
    return Run(compile_program(text, settings).program, Limits(), "")


def render(text: str, data: object = None) -> str:
    """The text of a template."""
    parts: list[str] = []
    start(text).render(data, parts)
    return "".join(parts)


def failing_places(text: str) -> list[str]:
    """The nodes that run when a template fails, the innermost last."""
    run = start(text)
    with pytest.raises((GoError, LimitExceededError)):
        run.render({}, [])
    return [f"{site.template}: {nodes.to_source(site.node)}" for site in run.error_sites()]


def test_operations_read_no_attributes_of_values() -> None:
    """Python's objects are out of an author's reach: names of templates are keys only."""
    reads = 0
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Name):
                assert node.id not in {"getattr", "setattr", "eval", "exec", "vars"}
            if not isinstance(node, ast.Attribute):
                continue
            reads += 1
            root = node.value
            while isinstance(root, (ast.Attribute, ast.Subscript)):
                root = root.value
            is_own = isinstance(root, ast.Name) and root.id in OWN
            is_constructor = isinstance(root, ast.Call) and ast.unparse(root) == "super()"
            assert is_own or is_constructor or node.attr in METHODS, ast.unparse(node)
    assert reads > 200


@pytest.mark.parametrize(
    ("text", "places"),
    [
        pytest.param("{{ index 1 2 }}", ["manifests: index 1 2"], id="call"),
        pytest.param(
            '{{ define "a" }}{{ index 1 2 }}{{ end }}{{ template "a" }}',
            ['manifests: {{template "a"}}', "a: index 1 2"],
            id="template",
        ),
        pytest.param(
            '{{ define "a" }}{{ .b.c.d }}{{ end }}{{ include "a" 1 | quote }}',
            ['manifests: include "a" 1', "a: .b.c.d"],
            id="include",
        ),
        pytest.param(
            '{{ define "a" }}{{ upper "x" }}{{ end }}{{ template "a" }}{{ index 1 2 }}',
            ["manifests: index 1 2"],
            id="after a template that ended",
        ),
        pytest.param(
            '{{ define "a" }}x{{ end }}{{ index (include "a" .) (len 5) }}',
            ["manifests: len 5"],
            id="after an include that ended",
        ),
    ],
)
def test_sites_of_an_error_are_those_that_run(text: str, places: list[str]) -> None:
    assert failing_places(text) == places


def test_templates_call_each_other_to_the_limit() -> None:
    """Nested in blocks and parentheses as deep as the parser admits; also in plain Python."""
    opening, closing = "{{ if . }}" * 30, "{{ end }}" * 30
    expression = '(printf "%s" ' * 10 + '(include "a" (sub . 1))' + ")" * 10
    define = f'{{{{ define "a" }}}}{opening}{{{{ {expression} }}}}{closing}{{{{ end }}}}'
    assert render(f'{define}{{{{ include "a" 199 }}}}') == ""
    run = start(f'{define}{{{{ include "a" 201 }}}}')
    with pytest.raises(LimitExceededError, match="nested 201 deep"):
        run.render(None, [])
    assert len(run.error_sites()) == 201


@pytest.mark.parametrize(
    "name", ["default", "empty", "list", "dict", "eq", "printf", "print", "quote", "hasKey"]
)
def test_shortcuts_are_functions(name: str) -> None:
    """An operation in place of a function is of a function that exists."""
    assert name in programs.Settings().func_map()
