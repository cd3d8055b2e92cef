"""Places of what a template wrote are found when there is time, and never cost the answer."""

import pytest
from support import builders

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import Object

ANNOTATION = "script.fn.crossplane.io/composition-resource-name"
OF_XR = "apiVersion: example.org/v1\nkind: XThing\nspec: {colour: blue}\n"
LIST = (
    "apiVersion: v1\nkind: A\n"
    "metadata: {annotations: {gotemplating.fn.crossplane.io/composition-resource-name: a}}\n"
    'data:\n  colours: {{ list "a" "b" }}\n'
)
PEER = builders.peer(LIST)
INPUTS = [
    pytest.param(builders.jinja(OF_XR), "inline:3:1: of the XR only", id="jinja"),
    pytest.param(PEER, "inline.template:5:15: a list", id="gotemplate"),
]


def warning(step_input: Object) -> str:
    """The only result of a step, which is a warning."""
    (result,) = builders.call(builders.request(step_input)).results
    assert result.severity == pb.SEVERITY_WARNING
    return result.message


@pytest.mark.parametrize(("step_input", "text"), INPUTS)
def test_warning_has_its_place(step_input: Object, text: str) -> None:
    """With little else to do."""
    assert warning(step_input).startswith(text)


@pytest.mark.parametrize(("step_input", "text"), INPUTS)
def test_position_is_absent_without_time_left(
    monkeypatch: pytest.MonkeyPatch, step_input: Object, text: str
) -> None:
    """The warning is the same otherwise."""
    monkeypatch.setattr("function_script.engines.allowance._SHARE", 0.0)
    assert warning(step_input).startswith(text.partition(": ")[2])


@pytest.mark.parametrize(("step_input", "text"), INPUTS)
def test_search_that_takes_longer_than_expected_is_ended(
    monkeypatch: pytest.MonkeyPatch, step_input: Object, text: str
) -> None:
    """What was expected by the first run is no promise."""
    monkeypatch.setattr("function_script.engines.allowance._SHARE", 0.0)
    monkeypatch.setattr("function_script.engines.jinja.source_map._RUN_STRETCH", 0.0)
    monkeypatch.setattr("function_script.engines.jinja.source_map._COMPILE_STRETCH", 0.0)
    monkeypatch.setattr("function_script.engines.gotemplate.positions.STRETCH", 0.0)
    loop = {
        "jinja": "{% for i in range(999) %}\n{% endfor %}",
        "go": "{{ range until 999 }}{{ end }}",
    }
    if step_input is PEER:
        step_input = builders.peer(LIST + loop["go"])
    else:
        step_input = builders.jinja(OF_XR + loop["jinja"])
    assert warning(step_input).startswith(text.partition(": ")[2])


@pytest.mark.parametrize(
    "value",
    [
        "{'a' ~ 1: 1} | to_json",
        "{'a' ~ 1: 1} | quote",
        "('a: ' ~ 1) | from_yaml",
        "('[1' ~ ']') | from_json",
    ],
)
def test_place_is_found_behind_a_value_of_joined_texts(value: str) -> None:
    """The run that finds places has texts of a class of its own, which no library takes."""
    template = f"{{% set value = {value} %}}{OF_XR}"
    assert warning(builders.jinja(template)).startswith("inline:3:1: of the XR only")
