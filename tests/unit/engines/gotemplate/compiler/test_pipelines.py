"""Pipelines: the order of evaluation, the cost of a loop's turn, depth."""

import pytest

from function_script.engines.gotemplate.errors import LimitExceededError
from function_script.engines.gotemplate.plain import GoFailure, render_text
from function_script.engines.gotemplate.programs import Settings, Sources, compile_program
from function_script.engines.gotemplate.run import MAIN, Run
from function_script.request.limits import Limits
from function_script.texts.source import Source


def render_within(text: str, steps: int) -> None:
    """Render a template that may take so many steps."""
    loaded = compile_program(Sources(((MAIN, Source(name="inline", text=text)),), Settings()))
    Run(loaded.program, Limits(steps=steps), "").render(
        {"a": {"b": 1}, "hundred": list(range(100)), "two": [1, 2]}, []
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("{{ .x | default .a.b }}", "1", id="argument"),
        pytest.param("{{ ($y := 1) | printf `%d %d` $y }}", "1 1", id="declared"),
        pytest.param("{{ $x := 1 }}{{ ($x = 2) | printf `%d %d` $x }}", "2 2", id="assigned"),
        pytest.param("{{ $x := 1 }}{{ printf `%d %d` $x ($x = 2) }}", "1 2", id="assigned later"),
        pytest.param("{{ $x := 1 }}{{ $x | printf `%d %d` ($x = 2) }}", "2 1", id="final"),
        pytest.param(
            "{{ define `t` }}{{ end }}"
            "{{ $x := 1 }}{{ $x | printf `%d%d%s%d` ($x = 2) $x (include `t` .) }}",
            "221",
            id="flat",
        ),
        pytest.param("{{ .a.b | printf `%v %v` .a.b }}", "1 1", id="read again"),
        pytest.param("{{ .a.b | and (eq .a.b 1) }}", "1", id="and"),
        pytest.param("{{ .x | or .x .a.b }}", "1", id="or"),
    ],
)
def test_value_of_a_pipeline_is_computed_first(text: str, expected: str) -> None:
    assert render_text(text, {"a": {"b": 1}}) == expected


def test_operands_behind_the_one_that_decides_are_not_computed() -> None:
    assert render_text("{{ and 0 (index 1 2) }}{{ or 1 (index 1 2) }}", {}) == "01"
    with pytest.raises(GoFailure, match="index"):
        render_text("{{ index 1 2 | and 0 }}", {})


@pytest.mark.parametrize(
    ("body", "cost"),
    [
        pytest.param("", 1, id="nothing"),
        pytest.param("{{ . }}", 2, id="action"),
        pytest.param("a{{ .  }}", 3, id="text and action"),
        pytest.param("{{ add . (mul 2 3) }}", 4, id="calls"),
        pytest.param("{{ if $.a.b }}a{{ else if . }}b{{ end }}", 5, id="branches"),
        pytest.param("{{ $x := $.a.b }}", 2, id="variable"),
        pytest.param("{{ range $.two }}a{{ end }}", 1 + 2 + 2 * 2, id="loop"),
    ],
)
def test_turn_of_a_loop_costs_a_step_and_what_its_body_has(body: str, cost: int) -> None:
    """The steps are summed up now and then."""
    text = f"{{{{ range .hundred }}}}{body}{{{{ end }}}}"
    render_within(text, 100 * cost)
    with pytest.raises(LimitExceededError, match=r"more than .* steps"):
        render_within(text, 100 * cost - 50)


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        pytest.param("(add 1 ", ")", id="calls"),
        pytest.param("(and 1 ", ")", id="and"),
        pytest.param("(or 0 ", ")", id="or"),
        pytest.param("(1 | add ", ")", id="stages"),
        pytest.param("(index (list ", ") 0)", id="lists"),
    ],
)
def test_deep_expression_has_the_value_of_a_flat_one(opening: str, closing: str) -> None:
    depth = 20
    deep = render_text("{{ " + opening * depth + "1" + closing * depth + " }}", {})
    half = "{{ $x := " + opening * (depth // 2) + "1" + closing * (depth // 2) + " }}"
    flat = half + "{{ " + opening * (depth // 2) + "$x" + closing * (depth // 2) + " }}"
    assert deep == render_text(flat, {})


def test_deep_expression_stops_where_it_fails() -> None:
    text = "{{ " + "(printf `%s` " * 30 + ".a.b.c" + ")" * 30 + " }}"
    with pytest.raises(GoFailure, match=r"<\.a\.b\.c>: can't evaluate field c"):
        render_text(text, {"a": {"b": 1}})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{{ 1" + " | add 1" * 200 + " }}", id="stages"),
        pytest.param(
            "{{ (1" + " | add 1" * 99 + ")" + " | add 1" * 100 + " }}", id="in parentheses"
        ),
        pytest.param("{{ if 1" + " | add 1" * 200 + " }}{{ end }}", id="condition"),
        pytest.param("{{ range 1" + " | add 1" * 200 + " }}{{ end }}", id="range"),
    ],
)
def test_pipeline_is_nested_200_deep_at_most(text: str) -> None:
    with pytest.raises(GoFailure, match="it is nested 201 deep, the limit is 200"):
        render_text(text, {})


def test_pipeline_of_180_stages_is_computed() -> None:
    assert render_text("{{ 1" + " | add 1" * 180 + " }}", {}) == "181"
