"""Pipelines: the order of evaluation, reads that are used again, depth."""

import pytest

from function_script.engines.gotemplate.plain import GoFailure, render_text
from function_script.engines.gotemplate.programs import Settings, Sources, compile_program
from function_script.engines.gotemplate.run import MAIN, Run
from function_script.limits import Limits
from function_script.source import Source


def steps(text: str) -> int:
    """The steps that a template takes."""
    loaded = compile_program(Sources(((MAIN, Source(name="inline", text=text)),), Settings()))
    run = Run(loaded.program, Limits(), "")
    run.render({"a": {"b": 1}}, [])
    return Limits().steps - run._steps


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


def test_chain_of_fields_is_read_once() -> None:
    """The second read costs no step, unless it is in another branch or the data may change."""
    once = steps("{{ range until 10 }}{{ $.a.b }}{{ end }}")
    again = steps("{{ range until 10 }}{{ $.a.b }}{{ $.a.b }}{{ end }}")
    other = steps("{{ range until 10 }}{{ if 1 }}{{ $.a.b }}{{ end }}{{ $.a.b }}{{ end }}")
    assert again - once == 10
    assert other - once == 30


def test_turn_of_a_loop_costs_its_operations() -> None:
    small = steps("{{ range until 10 }}{{ . }}{{ end }}")
    assert steps("{{ range until 10 }}{{ . }}{{ add . 1 }}{{ end }}") - small == 20


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
    """A deep one is compiled to a list of statements."""
    depth = 20
    deep = render_text("{{ " + opening * depth + "1" + closing * depth + " }}", {})
    half = "{{ $x := " + opening * (depth // 2) + "1" + closing * (depth // 2) + " }}"
    flat = half + "{{ " + opening * (depth // 2) + "$x" + closing * (depth // 2) + " }}"
    assert deep == render_text(flat, {})


def test_deep_expression_stops_where_it_fails() -> None:
    text = "{{ " + "(printf `%s` " * 30 + ".a.b.c" + ")" * 30 + " }}"
    with pytest.raises(GoFailure, match=r"<\.a\.b\.c>: can't evaluate field c"):
        render_text(text, {"a": {"b": 1}})
