"""Operations: what they reach, and their stack."""

import pytest

from function_script.engines.gotemplate.errors import LimitExceededError
from function_script.engines.gotemplate.plain import GoFailure, render_text
from function_script.engines.gotemplate.programs import Settings, Sources, compile_program
from function_script.engines.gotemplate.run import MAIN, Run
from function_script.request.limits import Limits
from function_script.texts.source import Source


@pytest.mark.parametrize("value", [pytest.param("text", id="text"), 1, 1.5, True, ["a"]])
@pytest.mark.parametrize("name", ["__class__", "__init__", "append", "real", "upper", "fields"])
def test_attributes_of_values_are_out_of_reach(value: object, name: str) -> None:
    """Names of templates are keys of maps, and Python's objects have none."""
    for text in (f"{{{{ .v.{name} }}}}", f"{{{{ .v.{name} 1 }}}}", f"{{{{ (index .v).{name} }}}}"):
        with pytest.raises(GoFailure, match=name):
            render_text(text, {"v": value})
    assert render_text(f"{{{{ .v.{name} }}}}", {"v": {}}) == "<no value>"


def recursion(expression: str, depth: int) -> Run:
    """A run that includes a template in itself so many times, by an expression with a call."""
    define = f'{{{{ define "a" }}}}{"{{ if . }}" * 30}{{{{ {expression} }}}}{"{{ end }}" * 30}'
    text = f'{define}{{{{ end }}}}{{{{ include "a" {depth} }}}}'
    sources = Sources(((MAIN, Source(name="inline", text=text)),), Settings())
    return Run(compile_program(sources).program, Limits(), "")


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
    """Blocks are nested as deep as the parser admits; the stack has room in plain Python, too."""
    deep = 150 if "quote" in expression else 199
    recursion(expression, deep).render(None, [])
    run = recursion(expression, 201)
    with pytest.raises((LimitExceededError, RecursionError)):
        run.render(None, [])
    assert run.error_sites()
