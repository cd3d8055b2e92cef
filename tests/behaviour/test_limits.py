"""Every limit: what reaches it is told which one it was and who set it, in every language."""

from dataclasses import fields, replace

import click
import pytest
from support import builders

from function_script.cli.serve import serve
from function_script.request.limits import BUILT_IN, LIMITS, Limits
from function_script.request.values import Object
from function_script.step import function

SMALL = Limits(
    steps=500,
    documents=3,
    nodes=60,
    depth=8,
    source_bytes=2_000,
    output_bytes=20_000,
    timeout_seconds=0.3,
)
WIDE = replace(SMALL, steps=1_000_000, nodes=200_000, output_bytes=1 << 22)


def document(name: str, data: str = "") -> str:
    """A document of a composed resource."""
    note = f"{builders.API_VERSION.partition('/')[0]}/composition-resource-name"
    return f"---\nkind: A\napiVersion: v1\nmetadata: {{annotations: {{{note}: {name}}}}}\n{data}\n"


def returning(value: str) -> Object:
    """A StarlarkScript whose context is that."""
    return builders.starlark(f'def main(req):\n    return {{"context": {{"a": {value}}}}}\n')


FOUR = "".join(document(name) for name in "abcd")
DEEP = document("a", "data: " + "[" * 12 + "]" * 12)
MANY = document("a", "data: [" + "1, " * 80 + "]")
LARGE = document("a", "data: " + "x" * 30_000)
NARROWABLE = [
    pytest.param("documents", builders.jinja(FOUR), id="documents, Jinja"),
    pytest.param("documents", builders.gotemplate(FOUR), id="documents, Go"),
    pytest.param("depth", builders.jinja(DEEP), id="depth, Jinja"),
    pytest.param("depth", builders.gotemplate(DEEP), id="depth, Go"),
    pytest.param("depth", returning("[" * 12 + "]" * 12), id="depth, Starlark"),
    pytest.param("nodes", builders.jinja(MANY), id="nodes, Jinja"),
    pytest.param("nodes", builders.gotemplate(MANY), id="nodes, Go"),
    pytest.param("nodes", returning("list(range(80))"), id="nodes, Starlark"),
    pytest.param(
        "steps", builders.jinja("{% for i in range(900) %}{% endfor %}"), id="steps, Jinja"
    ),
    pytest.param("steps", builders.gotemplate("{{ range until 900 }}{{ end }}"), id="steps, Go"),
    pytest.param("output", returning('"x" * 30000'), id="output, Starlark"),
    pytest.param("output", builders.jinja("{{ 'x' * 30000 }}"), id="output, Jinja"),
    pytest.param("output", builders.gotemplate('{{ repeat 30000 "x" }}'), id="output, Go"),
    pytest.param(
        "time",
        builders.starlark("def main(req):\n    for i in range(1000000000):\n        pass\n"),
        id="time, Starlark",
    ),
]
BY_FLAG_ONLY = [
    pytest.param("source", builders.jinja("x" * 3_000), id="source, Jinja"),
    pytest.param("source", builders.gotemplate("x" * 3_000), id="source, Go"),
    pytest.param("source", builders.starlark("#" * 3_000), id="source, Starlark"),
]
IN_INPUT = {
    "time": ("timeout", "300ms"),
    "memory": ("memory", "1Mi"),
    "output": ("output", 20_000),
}


def reach_limit(step_input: Object, ceilings: Limits) -> tuple[str, str]:
    """The limit in the info for the log, and the FATAL's message."""
    data = builders.request(step_input).SerializeToString()
    answer = function.handle(data, ceilings, lambda _: None)
    response = builders.pb.RunFunctionResponse.FromString(answer.response)
    return answer.info.limit, response.results[0].message


@pytest.mark.parametrize(("name", "step_input"), NARROWABLE + BY_FLAG_ONLY)
def test_ceiling_names_itself_and_its_flag(name: str, step_input: Object) -> None:
    only = replace(WIDE, **{LIMITS[name].field: getattr(SMALL, LIMITS[name].field)})
    limit_name, message = reach_limit(step_input, only)
    assert limit_name == name
    assert message.endswith(f"set by {LIMITS[name].flag})")


@pytest.mark.parametrize(("name", "step_input"), NARROWABLE)
def test_narrowed_limit_names_the_field_of_the_input(name: str, step_input: Object) -> None:
    key, value = IN_INPUT.get(name, (name, getattr(SMALL, LIMITS[name].field)))
    narrowed = {**step_input, "limits": {key: value}}
    limit_name, message = reach_limit(narrowed, replace(Limits(), timeout_seconds=1.0))
    assert limit_name == name
    assert message.endswith(f"set by {LIMITS[name].path})")


RECURSIVE = '{{ define "a" }}{{ template "a" }}{{ end }}{{ template "a" }}'
NESTED = """
{%- set box = namespace(value=[]) -%}
{%- for _ in range(120) %}{% set box.value = [box.value] %}{% endfor -%}
{{ box.value }}"""
BUILT_IN_BOUNDS = [
    pytest.param(builders.jinja("{{ 'x' * 3000000 }}"), id="a long text, Jinja"),
    pytest.param(builders.jinja(NESTED), id="a deep value, Jinja"),
    pytest.param(builders.gotemplate(RECURSIVE), id="templates within templates, Go"),
]


@pytest.mark.parametrize("ceilings", [Limits(), replace(Limits(), depth=60)], ids=["wide", "60"])
@pytest.mark.parametrize("step_input", BUILT_IN_BOUNDS)
def test_built_in_bound_is_attributed_to_no_setting(step_input: Object, ceilings: Limits) -> None:
    """A bound that nobody can set names no flag, whatever words its message has."""
    name, message = reach_limit(step_input, ceilings)
    assert name == BUILT_IN
    assert "set by" not in message


def test_limit_has_a_flag_and_a_name() -> None:
    """Every field of Limits that bounds a size is in the table, with a flag of the server."""
    settings = {"program_root", "default_source", "default_options", "default_ttl_seconds"}
    assert {limit.field for limit in LIMITS.values()} == {f.name for f in fields(Limits)} - settings
    reached = {case.values[0] for case in [*NARROWABLE, *BY_FLAG_ONLY]}
    # Workers that use too much memory are in tests of the pool.
    assert LIMITS.keys() - reached == {"memory"}
    flags = {
        name for option in serve.params if isinstance(option, click.Option) for name in option.opts
    }
    assert {limit.flag for limit in LIMITS.values()} <= flags
    defaults = {option.opts[0]: option for option in serve.params}
    for limit in LIMITS.values():
        option = defaults[limit.flag]
        default = option.type.convert(option.get_default(click.Context(serve)), option, None)
        assert default == getattr(Limits(), limit.field)
