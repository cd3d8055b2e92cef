import pytest
from support import input_steps

from function_script import inputs
from function_script.request.limits import MIB, Limits
from function_script.request.values import Object, Value
from function_script.texts.errors import InputError
from function_script.texts.source import Source

OURS = "script.fn.crossplane.io/v1beta1"
CEILINGS = Limits(timeout_seconds=2.0, memory_bytes=256 * MIB, output_bytes=4 * MIB, steps=1000)


def script(**fields: Value) -> Object:
    """A StarlarkScript with these fields beside a script."""
    return {"apiVersion": OURS, "kind": "StarlarkScript", "script": "pass", **fields}


def jinja(**fields: Value) -> Object:
    """A JinjaTemplate with these fields beside its text."""
    return {"apiVersion": OURS, "kind": "JinjaTemplate", "inline": "a: 1", **fields}


def go(**fields: Value) -> Object:
    """A GoTemplate of ours with these fields beside its text."""
    return {"apiVersion": OURS, "kind": "GoTemplate", "inline": "a: 1", **fields}


def problems(value: Object) -> list[str]:
    """The messages of all problems of an input."""
    with pytest.raises(InputError) as caught:
        input_steps.parse(value, CEILINGS)
    return [diagnostic.message for diagnostic in caught.value.diagnostics]


def hints(value: Object) -> list[str | None]:
    """The hints of all problems of an input."""
    with pytest.raises(InputError) as caught:
        input_steps.parse(value, CEILINGS)
    return [diagnostic.hint for diagnostic in caught.value.diagnostics]


def test_script_alone_gets_every_default() -> None:
    step = input_steps.parse(script(), CEILINGS)
    assert step.language.name == "starlark"
    assert step.dialect == "script"
    assert step.program.main == Source(name="script", text="pass")
    assert (step.program.modules, step.params, step.ttl_seconds) == ({}, {}, None)
    assert step.limits == CEILINGS
    assert step.keep_managed_fields is False


def test_field_of_a_script_arrives() -> None:
    step = input_steps.parse(
        script(
            source="Inline",
            modules={"lib/b.star": "b = 1", "a.star": "a = 1"},
            params={"size": 3},
            ttl="1m30s",
            limits={"timeout": "250ms", "memory": "128Mi", "output": 1024.0, "steps": 10},
            options={"keepManagedFields": True},
            metadata={"name": "x"},
        ),
        CEILINGS,
    )
    assert list(step.program.modules) == ["a.star", "lib/b.star"]
    assert step.program.modules["a.star"] == Source(name="modules[a.star]", text="a = 1")
    assert step.params == {"size": 3}
    assert step.ttl_seconds == 90.0
    assert step.limits == Limits(
        timeout_seconds=0.25, memory_bytes=128 * MIB, output_bytes=1024, steps=10
    )
    assert step.keep_managed_fields is True


def test_limits_only_narrow() -> None:
    wide: Value = {"timeout": "1h", "memory": "64Gi", "output": "1G", "steps": 10**9}
    assert input_steps.parse(script(limits=wide), CEILINGS).limits == CEILINGS


@pytest.mark.parametrize("field", ["params", "ttl", "limits", "options", "modules", "source"])
def test_null_is_absent(field: str) -> None:
    """A field that is null counts as left out, as it does for the Kubernetes API."""
    assert input_steps.parse(script(**{field: None}), CEILINGS) == input_steps.parse(
        script(), CEILINGS
    )


def test_options_of_jinja_are_checked() -> None:
    strict = input_steps.parse(jinja(options={"undefined": "Strict"}), CEILINGS)
    assert strict.language.name == "jinja"
    assert strict.program.options == {"undefined": "Strict"}
    assert input_steps.parse(jinja(), CEILINGS).program.options == {"undefined": "Lenient"}


def test_options_of_go_templates_are_checked() -> None:
    step = input_steps.parse(
        go(
            delims={"left": "[[", "right": "]]"},
            options={"missingKey": "Error", "stableValues": True},
        ),
        CEILINGS,
    )
    assert step.program.options == {
        "dialect": "script",
        "delims": ["[[", "]]"],
        "missingkey": "error",
        "stable_values": True,
        "crypto": False,
    }


def test_problem_is_told_at_once() -> None:
    lines = problems(
        script(
            script=" \n",
            scrpt="",
            ttl=60,
            limits={"timeout": "60", "memory": True, "output": "0", "steps": 0, "stepz": 1},
            modules={"../a": "", "b": 1},
            params=[],
            options="fast",
        )
    )
    assert lines == [
        "input.scrpt: unknown field",
        "input.script: must not be empty",
        "input.modules.b: must be a string, not an integer",
        'input.modules["../a"]: must not be the name of a module',
        "input.options: must be an object, not a string",
        "input.params: must be an object, not a list",
        "input.limits.stepz: unknown field",
        'input.limits.timeout: cannot parse duration "60": write a number and a unit, as in "90s"',
        'input.limits.memory: must be a size such as "128Mi", not a boolean',
        "input.limits.output: must be greater than zero",
        "input.limits.steps: must be greater than zero",
        "input.ttl: must be a duration, not 60",
    ]


HINTS = [
    pytest.param(script(scrpt=""), 'did you mean "script"?', id="nearest-field"),
    pytest.param(script(ttl=60), 'write it with its unit, as in "60s"', id="bare-number"),
    pytest.param(jinja(options={"undefined": "strict"}), 'did you mean "Strict"?', id="choice"),
    pytest.param(
        script(script=None, source="FileSystem", fileSystem={"dirPath": "x"}),
        "--program-root DIRECTORY allows what is below it",
        id="no-root",
    ),
]


@pytest.mark.parametrize(("value", "hint"), HINTS)
def test_problem_says_how_to_mend_it(value: Object, hint: str) -> None:
    assert hints(value) == [hint]


def test_accepted_kinds_are_named() -> None:
    (hint,) = hints({"apiVersion": OURS, "kind": "Script"})
    assert hint is not None
    assert [kind for api_version, kind in inputs.LANGUAGES if f"{kind}" not in hint] == []
    assert OURS in hint


# One problem each; the corpus of tests/conformance/inputs has the others.
REFUSED = [
    pytest.param(
        {"apiVersion": "v1", "kind": "Script", "script": "x = 1"},
        'input.apiVersion: cannot run Script of "v1"',
        id="apiversion",
    ),
    pytest.param(
        {"apiVersion": 1, "kind": "GoTemplate", "source": "Inline"},
        "input.apiVersion: must be a string, not an integer",
        id="type",
    ),
    # Go counts nanoseconds in 64 bits; no rule of a CRD says so.
    pytest.param(
        script(ttl="9999999h"),
        'input.ttl: cannot use duration "9999999h": it is longer than 292 years',
        id="duration-that-nobody-can-hold",
    ),
]


@pytest.mark.parametrize(("value", "message"), REFUSED)
def test_impossible_input_is_refused(value: Object, message: str) -> None:
    assert problems(value) == [message]


def test_programs_elsewhere_need_not_be_there_for_tools() -> None:
    value = jinja(inline=None, source="FileSystem", fileSystem={"dirPath": "x"})
    assert inputs.parse_without_sources(value).program.main.text == ""
