"""With `missing: Defer` a resource that a script gives as a function is called alone."""

import pytest
from support.builders import starlark
from support.readiness_steps import READY, condition, desired, fatal, observed, run

from function_script.request.values import Object

SCRIPT = """\
def thing(spec):
    return {"apiVersion": "e.org/v1", "kind": "T", "spec": spec}

def main(req):
    found = req["observed"]["resources"]
    return {"desired": {"resources": {
        "vpc": {"resource": thing({})},
        "subnet": {"resource": lambda: thing({"id": found["vpc"]["resource"]["status"]["id"]})},
        "role": {"resource": lambda: thing({"arn": "a:" + get_observed(req, "vpc", "status.id")})},
        "plain": {"resource": lambda: thing({"a": 1})},
    }}}
"""
EXISTS: dict[str, Object] = {"vpc": observed(status={"id": "vpc-7"})}


def test_function_that_fails_is_withheld_alone() -> None:
    """Key not found, or a null where a value is needed: both are values that do not exist yet."""
    response = run(starlark(SCRIPT, missing="Defer"))
    assert set(desired(response)) == {"vpc", "plain"}
    message = str(condition(response)["message"])
    assert 'subnet because observed.resources has no "vpc" (script:8:' in message
    assert 'role because observed.resources has no "vpc" (script:9:' in message
    assert response["desired"]["composite"]["ready"] == "READY_FALSE"  # type: ignore[index,call-overload] # an object


@pytest.mark.parametrize("missing", ["Defer", "Error"])
def test_functions_are_called_when_nothing_is_missing(missing: str) -> None:
    response = run(starlark(SCRIPT, missing=missing), EXISTS)
    specs = {name: entry["resource"]["spec"] for name, entry in desired(response).items()}  # type: ignore[index,call-overload] # objects
    assert specs == {
        "vpc": {},
        "subnet": {"id": "vpc-7"},
        "role": {"arn": "a:vpc-7"},
        "plain": {"a": 1},
    }


def test_failing_function_without_deferral_stops_the_step() -> None:
    assert 'key "vpc" is missing' in fatal(run(starlark(SCRIPT)))


def test_error_other_than_a_missing_value_stops_the_step() -> None:
    """A mistake does not wait for anything."""
    script = SCRIPT.replace('thing({"a": 1})', "thing({}, 2)")
    assert "2 arguments for 1 parameter" in fatal(run(starlark(script, missing="Defer")))
    # The interpreter's word for a value that is None, in the author's own text.
    for text in ("no", "no `NoneType`"):
        script = SCRIPT.replace('thing({"a": 1})', f'fail("{text}")')
        assert fatal(run(starlark(script, missing="Defer"))).endswith(text)


def test_missing_value_outside_of_a_function_stops_the_step() -> None:
    """All that main returns depends on it."""
    script = SCRIPT.replace('found = req["observed"]["resources"]', 'found = req["observde"]')
    assert 'key "observde" is missing' in fatal(run(starlark(script, missing="Defer")))


def test_withheld_resource_that_exists_is_fatal_at_its_place() -> None:
    """To leave it out would delete it."""
    message = fatal(run(starlark(SCRIPT, missing="Defer"), {"subnet": observed()}))
    assert message.startswith("script:8:")
    assert 'cannot leave out resource "subnet", which exists' in message


def test_response_takes_functions_and_order() -> None:
    """The builder says what a dict says."""
    script = """\
def main(req):
    rsp = response()
    rsp.resource("a", {"apiVersion": "e.org/v1", "kind": "T"}, ready_when = "Exists")
    rsp.resource("b", lambda: {"apiVersion": "e.org/v1", "kind": "T"}, depends_on = ["a"])
    rsp.resource("c", lambda: {"apiVersion": "e.org/v1", "kind": req["params"]["gone"]})
    return rsp.build()
"""
    response = run(starlark(script, missing="Defer"))
    assert set(desired(response)) == {"a"}
    message = str(condition(response)["message"])
    assert message.startswith('Waiting: b for a; c because params has no "gone" (script:5:')
    assert set(desired(run(starlark(script, missing="Defer"), {"a": observed()}))) == {"a", "b"}


def test_dependency_may_name_what_is_withheld() -> None:
    script = SCRIPT.replace('thing({"a": 1})}', 'thing({"a": 1}), "depends_on": ["subnet"]}')
    response = run(starlark(script, missing="Defer"))
    assert "plain for subnet" in str(condition(response)["message"])


def test_function_elsewhere_is_still_refused() -> None:
    """Only the object of a composed resource is called."""
    script = 'def main(req):\n    return {"context": {"a": lambda: 1}}\n'
    assert "function" in fatal(run(starlark(script, missing="Defer")))


def test_function_that_gives_no_object_is_refused() -> None:
    """It stands for the object."""
    script = (
        'def main(req):\n    return {"desired": {"resources": {"a": {"resource": lambda: 1}}}}\n'
    )
    assert "must be an object" in fatal(run(starlark(script, missing="Defer")))


def test_stable_choices_are_the_same_however_a_resource_is_given() -> None:
    """Functions are called for the same XR."""
    body = '{"apiVersion": "e.org/v1", "kind": "T", "spec": {"id": stable_id("x")}}'
    resources = f'{{"a": {{"resource": {body}}}}}'
    plain = f'def main(req):\n    return {{"desired": {{"resources": {resources}}}}}\n'
    given = plain.replace(body, f"lambda: {body}")
    exists: dict[str, Object] = {"a": observed(status=READY)}
    assert desired(run(starlark(plain), exists)) == desired(
        run(starlark(given, missing="Defer"), exists)
    )
