"""Operations: their values, their sites, their stack."""

import pytest

from function_script.engines.gotemplate import programs
from function_script.engines.gotemplate.errors import GoError, LimitExceededError
from function_script.engines.gotemplate.run import MAIN, Run
from function_script.engines.gotemplate.syntax import nodes
from function_script.request.limits import Limits
from function_script.texts.source import Source


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


@pytest.mark.parametrize("value", [pytest.param("text", id="text"), 1, 1.5, True, ["a"]])
@pytest.mark.parametrize("name", ["__class__", "__init__", "append", "real", "upper", "fields"])
def test_attributes_of_values_are_out_of_reach(value: object, name: str) -> None:
    """Names of templates are keys of maps, and Python's objects have none."""
    for text in (f"{{{{ .v.{name} }}}}", f"{{{{ .v.{name} 1 }}}}", f"{{{{ (index .v).{name} }}}}"):
        with pytest.raises(GoError, match=name):
            render(text, {"v": value})
    assert render(f"{{{{ .v.{name} }}}}", {"v": {}}) == "<no value>"


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


def recursion(expression: str, depth: int) -> str:
    """A template that includes itself so many times, by an expression with a call of its own."""
    define = f'{{{{ define "a" }}}}{"{{ if . }}" * 30}{{{{ {expression} }}}}{"{{ end }}" * 30}'
    return f'{define}{{{{ end }}}}{{{{ include "a" {depth} }}}}'


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param('include "a" (sub . 1)', id="alone"),
        pytest.param('include "a" (sub . 1) | indent 0', id="stage"),
        pytest.param('quote (include "a" (sub . 1)) | len | not', id="parentheses"),
        pytest.param('template "a" (sub . 1)', id="template"),
    ],
)
def test_templates_call_each_other_to_the_limit(expression: str) -> None:
    """Nested in blocks as deep as the parser admits; also in plain Python."""
    deep = 150 if "quote" in expression else 199
    render(recursion(expression, deep))
    run = start(recursion(expression, 201))
    with pytest.raises((LimitExceededError, RecursionError)):
        run.render(None, [])
    assert run.error_sites()
