"""A script's result with leftovers of another language has a warning, at the place of the field."""

import pytest
from support import builders

from function_script.request.limits import Limits
from function_script.request.values import Object
from function_script.step import function

HEAD = "def main(req):\n    spec = get_xr(req, 'spec')\n    rsp = response()\n"
RESOURCE = '    rsp.resource("a", {"apiVersion": "e.org/v1", "kind": "A", "spec": {"v": %s}})\n'


def warnings(script: str, xr: Object | None = None) -> list[str]:
    """The messages of the warnings of a step with this script."""
    parts = {} if xr is None else {"observed": {"composite": {"resource": xr}}}
    data = builders.request(builders.starlark(script), **parts).SerializeToString()
    answer = function.handle(data, Limits(), lambda _: None)
    response = builders.pb.RunFunctionResponse.FromString(answer.response)
    assert [result for result in response.results if result.severity == 1] == []
    return [result.message for result in response.results if result.reason == "Doubtful"]


def of_value(value: str, xr: Object | None = None) -> list[str]:
    return warnings(f"{HEAD}{RESOURCE % value}    return rsp\n", xr)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('"{{ .observed.composite.resource.spec.size }}"', "an expression of a template"),
        ('"bucket-%s" % spec.get("missing")', '"None" was written'),
        ('["x", str(spec.get("missing"))]', '"None" was written'),
    ],
)
def test_leftover_has_a_warning_at_its_place(value: str, message: str) -> None:
    (text,) = of_value(value)
    assert text.startswith("script:4:")
    assert "main returned desired.resources.a.resource.spec.v" in text
    assert message in text


@pytest.mark.parametrize(
    "value",
    [
        pytest.param('"None"', id="the-script-means-the-word"),
        pytest.param('spec["size"] or "Nonexistent"', id="a-part-of-a-word"),
    ],
)
def test_value_that_may_be_meant_has_no_warning(value: str) -> None:
    assert of_value(value) == []


def test_word_of_the_request_has_no_warning() -> None:
    xr: Object = {**builders.XR, "spec": {"policy": "None"}}
    assert of_value('spec["policy"]', xr) == []


def test_composition_that_is_composed_has_expressions() -> None:
    script = (
        f"{HEAD}"
        '    rsp.resource("a", {"apiVersion": "apiextensions.crossplane.io/v1", '
        '"kind": "Composition", "spec": {"v": "{{ .observed.composite.resource }}"}})\n'
        "    return rsp\n"
    )
    assert warnings(script) == []


def test_status_is_looked_at() -> None:
    (text,) = warnings(f'{HEAD}    rsp.set_status("size", "<no value>")\n    return rsp\n')
    assert "desired.composite.resource.status.size" in text
