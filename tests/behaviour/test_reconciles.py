"""Calls of the function, events and deletions, in a model of what Crossplane does with answers.

And what a case leaves from one of its reconciles to the next.
"""

from pathlib import Path
from typing import cast

import pytest
from support import builders, case_projects
from support.core_model import Core, make_ready

from function_script.request.limits import Limits
from function_script.request.values import Object

HOUR = 3600.0
CONDITION = "ProgramWarnings"


SETTLED = builders.jinja(builders.document("a"), autoReady={})


def edit(core: Core) -> None:
    """Let a user change the XR's spec."""
    spec = cast("Object", core.xr["spec"])
    spec["count"] = cast("int", spec["count"]) + 1


def settle(core: Core) -> None:
    """Let the resources exist and be ready, and reset the counters."""
    core.run(1.0)
    make_ready(core)
    core.run(1.0)
    core.calls = core.reconciles = 0


@pytest.mark.parametrize("has_cache", [False, True], ids=["", "cached"])
def test_calls_of_a_settled_xr_are_one_an_hour(
    has_cache: bool,
) -> None:
    core = Core(pipeline=[SETTLED], has_cache=has_cache)
    settle(core)
    core.run(HOUR)
    assert core.calls <= 2
    assert not core.deleted


def test_calls_of_a_settled_xr_are_by_the_ttl_of_the_operator() -> None:
    core = Core(pipeline=[SETTLED], limits=Limits(default_ttl_seconds=60.0))
    settle(core)
    core.run(HOUR)
    assert 54 <= core.calls <= 67


def test_calls_of_a_waiting_xr_are_six_a_minute() -> None:
    core = Core(pipeline=[SETTLED])
    core.run(1.0)
    core.calls = 0
    core.run(HOUR)
    assert 350 <= core.calls <= 370


def test_calls_of_a_changing_xr_are_its_changes() -> None:
    """A change is seen by a watch, not by the TTL."""
    step = builders.jinja(builders.document("a", "spec: {x: {{ xr.spec.count }}}\n"), autoReady={})
    core = Core(pipeline=[step])
    settle(core)
    core.run(HOUR, [(at * 600.0 + 30.0, edit) for at in range(6)])
    resource = cast("Object", core.resources["a"]["resource"])
    assert resource["spec"] == {"x": 8}
    assert core.calls <= 14


def test_calls_without_realtime_compositions_are_by_the_poll_interval() -> None:
    """The TTL decides nothing then; the cache answers instead of the function."""
    counts = {}
    for has_cache in (False, True):
        core = Core(pipeline=[SETTLED], is_realtime=False, has_cache=has_cache)
        settle(core)
        core.run(HOUR)
        counts[has_cache] = core.calls
        assert core.reconciles >= 59
    assert counts[False] >= 59
    assert counts[True] <= 2


WARNING = 'def main(req):\n    return {"results": [{"severity": "Warning", "message": "%s"}]}\n'


def test_warning_is_one_event_and_a_condition() -> None:
    core = Core(pipeline=[builders.starlark(WARNING % "too small")])
    core.run(HOUR * 3)
    assert core.warnings() == ["too small"]
    condition = core.condition(CONDITION)
    assert condition is not None
    assert condition["status"] == "True"
    assert condition["reason"] == "Warnings"
    assert str(condition["message"]).startswith("Warnings:\n")
    assert "too small" in str(condition["message"])
    assert core.reconciles <= 9


def test_warning_that_changes_is_another_event_and_one_that_goes_is_none() -> None:
    script = (
        "def main(req):\n"
        '    count = req["observed"]["composite"]["resource"]["spec"]["count"]\n'
        '    results = [{"severity": "Warning", "message": "count %d" % count}]\n'
        '    return {"results": results if count < 4 else []}\n'
    )
    core = Core(pipeline=[builders.starlark(script)])
    core.run(HOUR, [(100.0, edit), (200.0, edit), (300.0, edit)])
    assert core.warnings() == ["count 2", "count 3"]
    condition = core.condition(CONDITION)
    assert condition is not None
    assert (condition["status"], condition["reason"]) == ("False", "NoWarnings")
    before = core.reconciles
    core.run(HOUR)
    assert core.reconciles <= before + 2


PAIRS = {
    "both": ("one", "two"),
    "first": ("one", ""),
    "second": ("", "two"),
}


@pytest.mark.parametrize("texts", PAIRS.values(), ids=PAIRS)
def test_warnings_of_two_steps_share_the_condition_and_do_not_flap(
    texts: tuple[str, str],
) -> None:
    silent = builders.starlark("def main(req):\n    return {}\n")
    pipeline = [builders.starlark(WARNING % text) if text else silent for text in texts]
    core = Core(pipeline=pipeline)
    core.run(HOUR * 3)
    assert sorted(core.warnings()) == sorted(filter(None, texts))
    message = str((core.condition(CONDITION) or {})["message"])
    assert all(text in message for text in texts)
    assert core.reconciles <= 9
    core.pipeline = [silent, silent]
    core.xr["spec"] = {
        **cast("Object", core.xr["spec"]),
        "crossplane": {"compositionRevisionRef": {"name": "app-2"}},
    }
    core.run(HOUR * 3)
    condition = core.condition(CONDITION)
    assert condition is not None
    assert condition["status"] == "False"
    assert len(core.warnings()) == len(list(filter(None, texts)))


def test_warnings_of_a_pipeline_that_is_fatal_come_back_once() -> None:
    fatal = builders.starlark('def main(req):\n    fail("no")\n')
    warning = builders.starlark(WARNING % "too small")
    core = Core(pipeline=[warning, fatal])
    core.run(60.0)
    assert core.warnings() == ["too small"]
    core.pipeline = [warning]
    core.run(HOUR * 2)
    assert core.warnings() == ["too small"]


def test_condition_of_before_a_fatal_answer_is_settled_again() -> None:
    silent = builders.starlark("def main(req):\n    return {}\n")
    fatal = builders.starlark('def main(req):\n    fail("no")\n')
    core = Core(pipeline=[builders.starlark(WARNING % "too small")])
    core.run(60.0)
    core.pipeline = [fatal, silent]
    core.run(10.0)
    assert (core.condition(CONDITION) or {})["status"] == "Unknown"
    core.pipeline = [silent]
    core.run(HOUR)
    assert (core.condition(CONDITION) or {})["status"] == "False"


def test_warning_of_the_functions_own_is_one_event() -> None:
    document = "apiVersion: example.org/v1\nkind: XThing\nspec:\n  size: large\n"
    script = (
        "def main(req):\n"
        '    xr = req["observed"]["composite"]["resource"]\n'
        '    return {"desired": {"composite": {"resource": dict(xr, spec={"size": "large"})}}}\n'
    )
    for step in (builders.jinja(document), builders.starlark(script)):
        core = Core(pipeline=[step])
        core.run(HOUR * 3)
        (warning,) = core.warnings()
        assert "of the XR only status can be set, not spec" in warning


@pytest.mark.parametrize("is_first", [True, False])
def test_warnings_of_two_equal_steps_do_not_flap(is_first: bool) -> None:
    """The same input twice: only one of them warns."""
    sign = "==" if is_first else "!="
    script = (
        "def main(req):\n"
        '    body = {"apiVersion": "example.org/v1", "kind": "Thing"}\n'
        '    count = len(req["desired"]["resources"])\n'
        '    results = [{"severity": "Warning", "message": "at %d" % count}]\n'
        '    return {"desired": {"resources": {"a%d" % count: {"resource": body}}},\n'
        f'            "results": results if count {sign} 0 else []}}\n'
    )
    core = Core(pipeline=[builders.starlark(script)] * 2)
    core.run(HOUR * 3)
    assert core.warnings() == [f"at {0 if is_first else 1}"]
    assert core.reconciles <= 9


REQUIRE = (
    '    selector = {"api_version": "v1", "kind": "ConfigMap", "match_name": "settings"}\n'
    '    required = {"resources": {"settings": selector}}\n'
)
DECLARED: Object = {
    "resources": {"settings": {"apiVersion": "v1", "kind": "ConfigMap", "matchName": "settings"}}
}
# The steps tell themselves apart by the context alone, and compose nothing.
EQUAL_STEPS = {
    "without requirements": builders.starlark(
        "def main(req):\n"
        '    count = req["context"].get("count", 0)\n'
        '    results = [{"severity": "Warning", "message": "at %d" % count}]\n'
        '    return {"results": results, "context": {"count": count + 1}}\n'
    ),
    "with requirements of the program": builders.starlark(
        "def main(req):\n" + REQUIRE + '    count = req["context"].get("count", 0)\n'
        '    has_answer = "settings" in req["required_resources"]\n'
        '    message = "at %d" % count if has_answer else "nothing yet"\n'
        '    results = [{"severity": "Warning", "message": message}]\n'
        '    return {"results": results, "requirements": required,\n'
        '            "context": {"count": count + 1} if has_answer else {}}\n'
    ),
    "that warn with an answer only": builders.starlark(
        "def main(req):\n" + REQUIRE + '    count = req["context"].get("count", 0)\n'
        '    if "settings" not in req["required_resources"]:\n'
        '        return {"requirements": required}\n'
        '    results = [{"severity": "Warning", "message": "at %d" % count}]\n'
        '    return {"results": results, "requirements": required,\n'
        '            "context": {"count": count + 1}}\n'
    ),
    "with requirements of the input": builders.starlark(
        "def main(req):\n"
        '    count = req["context"].get("count", 0)\n'
        '    results = [{"severity": "Warning", "message": "at %d" % count}]\n'
        '    return {"results": results, "context": {"count": count + 1}}\n',
        requirements=DECLARED,
    ),
}


@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("step", EQUAL_STEPS.values(), ids=EQUAL_STEPS)
def test_warnings_of_equal_steps_that_compose_nothing_come_once(step: Object, number: int) -> None:
    core = Core(pipeline=[step] * number)
    core.run(HOUR * 3)
    assert core.warnings() == [f"at {index}" for index in range(number)]
    message = str((core.condition(CONDITION) or {})["message"])
    assert all(f"at {index}" in message for index in range(number))
    assert "nothing yet" not in message
    assert core.reconciles <= 9


def test_equal_step_that_goes_takes_its_line_with_it() -> None:
    step = EQUAL_STEPS["without requirements"]
    core = Core(pipeline=[step] * 3)
    core.run(HOUR)
    core.pipeline = [step] * 2
    spec = cast("Object", core.xr["spec"])
    spec["crossplane"] = {"compositionRevisionRef": {"name": "app-2"}}
    core.run(HOUR)
    message = str((core.condition(CONDITION) or {})["message"])
    assert "at 1" in message
    assert "at 2" not in message
    assert len(core.warnings()) == 5


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("is_declared", [True, False], ids=["of the input", "of the program"])
def test_warning_of_a_step_that_is_called_once_too_often_comes_once(
    number: int, is_declared: bool
) -> None:
    """A Crossplane that sends the objects of the last reconcile may still call twice."""
    script = "def main(req):\n" + REQUIRE
    script += '    results = [{"severity": "Warning", "message": "too small"}]\n'
    script += '    return {"results": results, "requirements": required}\n'
    step = builders.starlark(script)
    if is_declared:
        step = builders.starlark(WARNING % "too small", requirements=DECLARED)
    core = Core(pipeline=[step] * number, seeds_requirements=True)
    core.run(HOUR * 3)
    assert core.warnings() == ["too small"] * number
    message = str((core.condition(CONDITION) or {})["message"])
    assert message.count("too small") == 1
    assert core.reconciles <= 9


def test_resource_that_a_case_makes_ready_by_its_kind_stays_ready(
    tmp_path: Path,
) -> None:
    """The rule of a Deployment reads the replicas that Crossplane applied."""
    case = """\
xr: {apiVersion: example.org/v1, kind: XThing, metadata: {name: demo, namespace: here}}
skipValidation: true
input:
  apiVersion: script.fn.crossplane.io/v1beta1
  kind: JinjaTemplate
  autoReady: {}
  inline: |
    {apiVersion: apps/v1, kind: Deployment, spec: {replicas: 3}, metadata: {annotations: {
    script.fn.crossplane.io/composition-resource-name: web}}}
steps:
- expect: {ready: false}
- {ready: web, expect: {ready: true}}
- expect: {ready: true}
"""
    verdict = case_projects.run_one(tmp_path, case)
    assert case_projects.messages(verdict) == []
