from dataclasses import replace
from pathlib import Path

import pytest
from support import input_steps

from function_script import inputs
from function_script.request.limits import Limits
from function_script.request.values import Object, Value
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError

OURS = "script.fn.crossplane.io/v1beta1"


def go(**fields: Value) -> Object:
    """A GoTemplate of function-go-templating."""
    return {
        "apiVersion": "gotemplating.fn.crossplane.io/v1beta1",
        "kind": "GoTemplate",
        "source": "Inline",
        **fields,
    }


def external_state(environment: Object) -> inputs.ProgramSources:
    """A request with this environment in its context."""
    context: Object = {"apiextensions.crossplane.io/environment": environment}
    return inputs.ProgramSources(
        context=context.get, required=lambda *_: None, remote=lambda _: None
    )


def problem_of(value: Object, environment: Object | None = None) -> Diagnostic:
    """The only problem of an input."""
    with pytest.raises(InputError) as caught:
        input_steps.parse(value, Limits(), external_state(environment or {}))
    (problem,) = caught.value.diagnostics
    return problem


def test_template_runs_in_that_functions_dialect() -> None:
    """Its rules hold, and its functions of chance need no option."""
    step = input_steps.parse(go(inline={"template": "a: 1"}), Limits())
    assert (step.language.name, step.dialect) == ("gotemplate", "gotemplating")
    assert step.program.main.name == "inline.template"
    assert step.program.options == {
        "dialect": "gotemplating",
        "delims": ["{{", "}}"],
        "missingkey": "default",
        "stable_values": True,
        "crypto": True,
    }
    assert step.program.parts == ()


SHAPES: list[Object] = [
    {"source": "FileSystem", "fileSystem": {"dirPath": "d"}, "ttl": "", "options": []},
    {"source": "Inline", "inline": {"templates": ["a"]}, "delims": {}, "metadata": {}},
    {"source": "Inline", "inline": {"template": "a"}, "mistake": 1},
    {"source": ""},
]


@pytest.mark.parametrize("value", SHAPES, ids=str)
def test_shape_tells_the_input_of_that_function(value: Object) -> None:
    """Each place of a template; a field too many is a mistake in such an input."""
    assert inputs.find_kind({"apiVersion": "x/v1", "kind": "Y", **value}) == inputs.PEERS


OTHERS: list[Object] = [
    {"apiVersion": "starlark.fn.crossplane.io/v1alpha1", "kind": "StarlarkInput", "spec": {}},
    {"apiVersion": "hcl.fn.crossplane.io/v1beta1", "kind": "HclInput", "hcl": "resource x {}"},
    {"apiVersion": "template.fn.crossplane.io/v1beta1", "kind": "Input", "export": {}},
    {"apiVersion": "a/v1", "kind": "B", "source": "a program"},
    {"apiVersion": "a/v1", "kind": "B", "source": "Inline", "inline": "a program"},
    {"apiVersion": "a/v1", "kind": "B", "source": "Inline", "program": "a program"},
    {"apiVersion": "a/v1", "kind": "B"},
]


@pytest.mark.parametrize("value", OTHERS, ids=str)
def test_inputs_of_other_functions_are_refused(value: Object) -> None:
    message = f'input.apiVersion: cannot run {value["kind"]} of "{value["apiVersion"]}"'
    assert problem_of(value).message == message
    assert not inputs.is_meant_for_us(value)


@pytest.mark.parametrize("kind", ["StarlarkScript", "JinjaTemplate"])
def test_kind_of_ours_in_another_group_is_told_its_own(kind: str) -> None:
    """Also where it has the fields of that function's input."""
    value: Object = {"source": "Inline", "inline": {"template": "a"}}
    value |= {"apiVersion": "starlark.example.org/v1", "kind": kind}
    problem = problem_of(value)
    assert problem.message == (
        f'input.apiVersion: is "starlark.example.org/v1", but {kind} is one of '
        "script.fn.crossplane.io/v1beta1"
    )
    assert problem.hint == "write `apiVersion: script.fn.crossplane.io/v1beta1`"
    assert inputs.is_meant_for_us(value)


def test_text_as_inline_is_ours() -> None:
    """A GoTemplate of a misspelt apiVersion is not taken for one of that function."""
    value: Object = {"apiVersion": "scripts.fn.crossplane.io/v1beta1", "kind": "GoTemplate"}
    assert problem_of({**value, "inline": "a: 1"}).message == (
        'input.apiVersion: is "scripts.fn.crossplane.io/v1beta1", but a GoTemplate with text as '
        f"inline is one of {OURS}"
    )


REMOTE: list[Object] = [
    {"apiVersion": "example.org/v1", "kind": "GoTemplate", "remote": "git://example.org/x"},
    {"apiVersion": "example.org/v1", "kind": "Any", "source": "Remote", "remote": {"oci": {}}},
]


@pytest.mark.parametrize("value", REMOTE, ids=str)
def test_remote_programs_need_our_api_version(value: Object) -> None:
    problem = problem_of(value)
    field = "source" if value.get("source") == "Remote" else "remote"
    assert problem.message == (
        f"input.{field}: cannot fetch a program for an input of function-go-templating"
    )
    assert problem.hint is not None
    for word in (f"apiVersion: {OURS}", "oci: {ref: HOST/REPOSITORY@sha256:…", "commit: …"):
        assert word in problem.hint
    assert inputs.is_meant_for_us(value)


TTLS = [
    ("", None),
    ("5m", 300.0),
    ("+5m", 300.0),
    ("-5m", -300.0),
    ("-0", 0.0),
    (".5s", 0.5),
    ("1h1m1s", 3661.0),
]


@pytest.mark.parametrize(("text", "seconds"), TTLS)
def test_ttl_is_a_duration_of_gos(text: str, seconds: float | None) -> None:
    """Marshalling that function's Go type writes an empty one; Go's durations have signs."""
    step = input_steps.parse(go(inline={"template": "a"}, ttl=text), Limits())
    assert (step.ttl_seconds, step.doubts) == (seconds, ())


NOT_LOOKED_AT = [
    pytest.param(
        {"delims": {"right": "]]"}}, "input.delims: is not looked at without left", id="delimiter"
    ),
    *(
        pytest.param(
            {"ttl": text},
            f'input.ttl: is not looked at: cannot parse duration "{text}": write a number and a '
            'unit, as in "90s"',
            id=text,
        )
        for text in ("1d", "soon", "--5m", "5")
    ),
    pytest.param(
        {"ttl": "9223372037s"},
        'input.ttl: is not looked at: cannot use duration "9223372037s": it is longer than 292 '
        "years",
        id="292 years",
    ),
]


@pytest.mark.parametrize(("fields", "doubt"), NOT_LOOKED_AT)
def test_field_that_the_function_ignores_is_a_doubt(fields: Object, doubt: str) -> None:
    plain = input_steps.parse(go(inline={"template": "a"}), Limits())
    step = input_steps.parse(go(**{"inline": {"template": "a"}, **fields}), Limits())
    assert [each.message for each in step.doubts] == [doubt]
    assert replace(step, doubts=()) == plain


def test_empty_fields_are_no_doubt() -> None:
    """Nothing was meant by them."""
    empty: Object = {"fileSystem": {}, "environment": None, "delims": {}, "ttl": ""}
    step = input_steps.parse(go(inline={"template": "a", "templates": []}, **empty), Limits())
    assert step == input_steps.parse(go(inline={"template": "a"}), Limits())


@pytest.mark.parametrize(
    ("options", "missingkey"),
    [
        ([], "default"),
        (["missingkey=error"], "error"),
        (["missingkey=error", "missingkey=zero"], "zero"),
    ],
)
def test_last_option_wins(options: list[Value], missingkey: str) -> None:
    """Go applies its template options one after the other."""
    step = input_steps.parse(go(inline={"template": "a"}, options=options), Limits())
    assert step.program.options["missingkey"] == missingkey


# Others are in the corpus of tests/conformance/inputs.
REFUSED = [
    pytest.param(
        go(source="inline"),
        'input.source: must be one of Environment, FileSystem, Inline, not "inline"',
        id="case-of-source",
    ),
    pytest.param(
        go(source="Environment", environment={"key": "k"}),
        'input.environment.key: cannot read a template: "k" is not text but an object',
        id="no-text",
    ),
]


@pytest.mark.parametrize(("value", "message"), REFUSED)
def test_impossible_input_is_refused(value: Object, message: str) -> None:
    assert problem_of(value, {"k": {}}).message == message


def test_field_of_the_input_in_a_section_is_told_its_place() -> None:
    """The first example in the README of that function has its options there."""
    problem = problem_of(go(inline={"template": "a", "options": ["missingkey=error"]}))
    assert problem.message == "input.inline.options: unknown field"
    assert problem.hint == "write options beside inline, not in it"


def parsed(value: Object, **defaults: str) -> inputs.Step:
    """The step under an operator's defaults."""
    return input_steps.parse(value, Limits(**defaults))  # type: ignore[arg-type] # texts only


def test_operators_source_is_for_inputs_without_one(tmp_path: Path) -> None:
    """Also for steps without an input, as in images with templates; an own source wins."""
    (tmp_path / "a.yaml").write_text("a")
    (tmp_path / "b.yaml").write_text("b")
    for value in ({}, {**go(), "source": ""}):
        assert parsed(value, default_source=str(tmp_path)).program.main.text == "a\n---\nb"
    step = parsed(go(inline={"template": "own"}), default_source=str(tmp_path))
    assert step.program.main.text == "own"


def test_absent_default_source_is_told(tmp_path: Path) -> None:
    for path, cause in ((tmp_path / "absent", "cannot find"), (tmp_path, "is empty")):
        with pytest.raises(InputError, match=cause) as caught:
            parsed({}, default_source=str(path))
        assert str(path) in str(caught.value)


def test_operators_options_are_for_inputs_without_any() -> None:
    value = go(inline={"template": "a"})
    for options, missing in ((None, "error"), ([], "default"), (["missingkey=zero"], "zero")):
        own = value if options is None else {**value, "options": options}
        step = parsed(own, default_options="missingkey=default,missingkey=error")
        assert step.program.options["missingkey"] == missing
    with pytest.raises(InputError, match=r'default options\[0\]: must be one of .*, not "a=b"'):
        parsed(value, default_options="a=b")
