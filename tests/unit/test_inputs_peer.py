from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from function_script import inputs
from function_script.errors import InputError
from function_script.limits import Limits

if TYPE_CHECKING:
    from pathlib import Path

    from function_script.values import Object, Value


def go(**fields: Value) -> Object:
    """A GoTemplate of function-go-templating."""
    return {
        "apiVersion": "gotemplating.fn.crossplane.io/v1beta1",
        "kind": "GoTemplate",
        "source": "Inline",
        **fields,
    }


def given(environment: Object) -> inputs.Outside:
    """A request with this environment in its context."""
    context: Object = {"apiextensions.crossplane.io/environment": environment}
    return inputs.Outside(context=context.get, required=lambda *_: None)


def problems(value: Object, environment: Object | None = None) -> list[str]:
    """The messages of all problems of an input."""
    with pytest.raises(InputError) as caught:
        inputs.parse(value, Limits(), given(environment or {}))
    return [diagnostic.message for diagnostic in caught.value.diagnostics]


def test_a_template_runs_in_that_functions_dialect() -> None:
    """Its rules hold, and its functions of chance need no option."""
    step = inputs.parse(go(inline={"template": "a: 1"}), Limits())
    assert (step.language, step.dialect) == ("gotemplate", "gotemplating")
    assert step.program.main.name == "inline.template"
    assert step.program.options == {
        "dialect": "gotemplating",
        "delims": ["{{", "}}"],
        "missingkey": "default",
        "stable_values": True,
        "crypto": True,
        "parts": [["inline.template", 1]],
    }


@pytest.mark.parametrize("group", ["gotemplating.crossplane.io", "gotemplating.fn.example.org"])
def test_another_group_of_that_name_is_read_the_same(group: str) -> None:
    """That function never looks at it, and public Compositions have several."""
    value = go(inline={"template": "a: 1"}) | {"apiVersion": f"{group}/v1beta1"}
    assert inputs.parse(value, Limits()) == inputs.parse(go(inline={"template": "a: 1"}), Limits())
    assert inputs.find_kind(f"{group}/v1beta1", "GoTemplat") is None


def test_templates_are_joined_and_their_lines_known() -> None:
    """A list of templates is one text; the parts say where each begins."""
    step = inputs.parse(go(inline={"templates": ["a: 1\nb: 2", "c: 3", "d: 4\n"]}), Limits())
    assert step.program.main.text == "a: 1\nb: 2\n---\nc: 3\n---\nd: 4\n"
    assert step.program.options["parts"] == [
        ["inline.templates[0]", 1],
        ["inline.templates[1]", 4],
        ["inline.templates[2]", 6],
    ]


@pytest.mark.parametrize(
    ("options", "missingkey"),
    [
        ([], "default"),
        (["missingkey=error"], "error"),
        (["missingkey=error", "missingkey=zero"], "zero"),
    ],
)
def test_the_last_option_wins(options: list[Value], missingkey: str) -> None:
    """Go applies its template options one after the other."""
    step = inputs.parse(go(inline={"template": "a"}, options=options), Limits())
    assert step.program.options["missingkey"] == missingkey


def test_a_template_comes_from_the_environment() -> None:
    """`source: Environment` takes the text of a key of the context's environment."""
    value = go(source="Environment", environment={"key": "tpl"})
    step = inputs.parse(value, Limits(), given({"tpl": "a: 1"}))
    assert (step.program.main.name, step.program.main.text) == ("environment[tpl]", "a: 1")


REFUSED = [
    pytest.param(go(source=None), "input.source: is required", id="no-source"),
    pytest.param(
        go(source="inline"),
        'input.source: must be one of Environment, FileSystem, Inline, not "inline"',
        id="case-of-source",
    ),
    pytest.param(go(), "input.inline: is required when source is Inline", id="no-inline"),
    pytest.param(
        go(inline={}), "input.inline: template or templates is required", id="empty-inline"
    ),
    pytest.param(
        go(inline={"template": "a", "templates": ["b"]}),
        "input.inline.templates: must not be set beside template",
        id="both-forms",
    ),
    pytest.param(
        go(inline={"templates": []}), "input.inline.templates: must not be empty", id="empty-list"
    ),
    pytest.param(
        go(inline={"templates": ["a", 1]}),
        "input.inline.templates[1]: must be a string, not an integer",
        id="no-string",
    ),
    pytest.param(
        go(inline={"template": "a"}, params={}), "input.params: unknown field", id="our-field"
    ),
    pytest.param(
        go(inline={"template": "a"}, delims={"right": "]]"}),
        "input.delims.left: is required beside the other delimiter",
        id="one-delimiter",
    ),
    pytest.param(
        go(inline={"template": "a"}, options="missingkey=error"),
        "input.options: must be a list, not a string",
        id="options-no-list",
    ),
    pytest.param(
        go(inline={"template": "a"}, ttl="1d"),
        'input.ttl: cannot parse duration "1d": write a number and a unit, as in "90s"',
        id="ttl",
    ),
    pytest.param(
        go(inline={"template": "a"}, environment={"key": "k"}),
        "input.environment: must not be set when source is Inline",
        id="other-section",
    ),
    pytest.param(
        go(source="Environment", environment={"key": "k"}),
        'input.environment.key: cannot read a template: "k" is not in the environment',
        id="no-key",
    ),
]


@pytest.mark.parametrize(("value", "message"), REFUSED)
def test_what_cannot_be_meant_is_refused(value: Object, message: str) -> None:
    """Nothing is ignored silently."""
    assert problems(value) == [message]


def test_only_text_of_the_environment_is_a_template() -> None:
    """Another value under the key is named by its type."""
    value = go(source="Environment", environment={"key": "k"})
    assert problems(value, {"k": {}}) == [
        'input.environment.key: cannot read a template: "k" is not text but an object'
    ]


def test_an_unknown_option_names_the_known() -> None:
    """Go's own options are the only ones."""
    (message,) = problems(go(inline={"template": "a"}, options=["missingkey=err"]))
    assert message.startswith("input.options[0]: must be one of missingkey=default,")


def parsed(value: Object, **defaults: str) -> inputs.Step:
    """The step under an operator's defaults."""
    return inputs.parse(value, Limits(**defaults))  # type: ignore[arg-type] # texts only


def test_the_operators_source_is_for_inputs_without_one(tmp_path: Path) -> None:
    """Also for steps without an input, as in images with templates; an own source wins."""
    (tmp_path / "a.yaml").write_text("a")
    (tmp_path / "b.yaml").write_text("b")
    for value in ({}, {**go(), "source": ""}):
        assert parsed(value, default_source=str(tmp_path)).program.main.text == "a\n---\nb"
    step = parsed(go(inline={"template": "own"}), default_source=str(tmp_path))
    assert step.program.main.text == "own"


def test_an_absent_default_source_is_told(tmp_path: Path) -> None:
    """With its name, as the operator wrote it."""
    for path, cause in ((tmp_path / "absent", "cannot find"), (tmp_path, "is empty")):
        with pytest.raises(InputError, match=cause) as caught:
            parsed({}, default_source=str(path))
        assert str(path) in str(caught.value)


def test_the_operators_options_are_for_inputs_without_any() -> None:
    """An empty list beats them."""
    value = go(inline={"template": "a"})
    for options, missing in ((None, "error"), ([], "default"), (["missingkey=zero"], "zero")):
        own = value if options is None else {**value, "options": options}
        step = parsed(own, default_options="missingkey=default,missingkey=error")
        assert step.program.options["missingkey"] == missing
    with pytest.raises(InputError, match=r'default options\[0\]: must be one of .*, not "a=b"'):
        parsed(value, default_options="a=b")
