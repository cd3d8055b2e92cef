"""Readiness and order of a step's resources.

Each language states both; what follows is the same for all.
"""

import pytest
from support.readiness_steps import (
    CREATING,
    LANGUAGES,
    READY,
    condition,
    desired,
    fatal,
    observed,
    readiness,
    run,
    step,
)

from function_script.request.values import Object

TRUE, FALSE, UNSPECIFIED = "READY_TRUE", "READY_FALSE", "READY_UNSPECIFIED"
IN_EACH = pytest.mark.parametrize("language", LANGUAGES)


def test_readiness_is_not_judged_without_the_option() -> None:
    response = run(step("starlark", {"a": {}}), {"a": observed(status=READY)})
    assert readiness(response) == {"a": UNSPECIFIED}
    assert "conditions" not in response


def test_auto_ready_judges_the_resources_of_the_step() -> None:
    """By what is observed; what an earlier step desires is not looked at."""
    response = run(
        step("starlark", {"a": {}, "b": {}, "c": {}}, autoReady={}),
        {"a": observed(status=READY), "b": observed(status=CREATING), "z": observed(status=READY)},
        desired={"resources": {"z": observed()}},
    )
    assert readiness(response) == {"a": TRUE, "b": FALSE, "c": FALSE, "z": UNSPECIFIED}


def test_auto_ready_of_all_leaves_what_was_stated() -> None:
    earlier = {
        "open": observed(),
        "said": {**observed(), "ready": "READY_FALSE"},
        "details": {**observed(), "connection_details": {"a": "YQ=="}},
    }
    response = run(
        step("starlark", {"a": {}}, autoReady={"resources": "All"}),
        {name: observed(status=READY) for name in (*earlier, "a")},
        desired={"resources": earlier},
    )
    assert readiness(response) == {"a": TRUE, "open": TRUE, "said": FALSE, "details": TRUE}
    assert desired(response)["details"]["connection_details"] == {"a": "YQ=="}
    assert desired(response)["open"]["resource"] == earlier["open"]["resource"]


def test_auto_ready_overwrites_when_asked() -> None:
    response = run(
        step(
            "starlark", {"a": {"ready": "False"}}, autoReady={"resources": "All", "overwrite": True}
        ),
        {"a": observed(status=READY), "z": observed(status=READY)},
        desired={"resources": {"z": {**observed(), "ready": "READY_FALSE"}}},
    )
    assert readiness(response) == {"a": FALSE, "z": TRUE}


@pytest.mark.parametrize("stated", ["True", "False", "Unspecified"])
@IN_EACH
def test_explicit_readiness_wins(language: str, stated: str) -> None:
    """Even a word that leaves it open."""
    response = run(
        step(language, {"a": {"ready": stated}}, autoReady={}), {"a": observed(status=READY)}
    )
    words = {"True": TRUE, "False": FALSE, "Unspecified": UNSPECIFIED}
    assert readiness(response) == {"a": words[stated]}


@IN_EACH
def test_rule_of_its_own_needs_no_option(language: str) -> None:
    response = run(
        step(language, {"a": {"ready_when": "Exists"}, "b": {"ready_when": "Exists"}, "c": {}}),
        {"a": observed(status=CREATING), "c": observed(status=READY)},
    )
    assert readiness(response) == {"a": TRUE, "b": FALSE, "c": UNSPECIFIED}


def test_rule_that_cannot_be_read_is_refused() -> None:
    message = fatal(run(step("starlark", {"a": {"ready_when": "exists"}})))
    assert 'cannot read the rule "exists"' in message


def test_rule_beside_readiness_is_refused() -> None:
    """One of them would be ignored."""
    message = fatal(run(step("starlark", {"a": {"ready": "True", "ready_when": "Exists"}})))
    assert "must not be set beside" in message


@IN_EACH
def test_resource_waits_until_its_dependency_is_ready(language: str) -> None:
    resources: dict[str, Object] = {"a": {}, "b": {"depends_on": ["a"]}}
    states: list[dict[str, Object]] = [{}, {"a": observed(status=CREATING)}]
    for exists in states:
        response = run(step(language, resources), exists)
        assert set(desired(response)) == {"a"}
        assert response["desired"]["composite"]["ready"] == FALSE
        assert condition(response)["reason"] == "Waiting"
        assert condition(response)["message"].startswith("Waiting: b for a. Unready: a ")
        assert response["meta"]["ttl"] == "10s"
    response = run(step(language, resources), {"a": observed(status=READY)})
    assert set(desired(response)) == {"a", "b"}
    assert "composite" not in response["desired"]
    assert condition(response)["message"] == "Unready: b does not exist yet"
    assert int(response["meta"]["ttl"].removesuffix("s")) > 3000


def test_resource_that_exists_is_never_withdrawn() -> None:
    """However its dependency fares later, even when it is gone."""
    resources: dict[str, Object] = {"a": {}, "b": {"depends_on": ["a"]}}
    states: list[dict[str, Object]] = [{}, {"a": observed(status=CREATING)}]
    for state in states:
        response = run(step("starlark", resources), {**state, "b": observed(status=READY)})
        assert set(desired(response)) == {"a", "b"}


def test_chain_is_built_one_after_the_other() -> None:
    resources: dict[str, Object] = {
        "a": {},
        "b": {"depends_on": ["a"]},
        "c": {"depends_on": ["a", "b"]},
    }
    names_by_call = []
    exists: dict[str, Object] = {}
    for name in ("a", "b", "c"):
        response = run(step("starlark", resources), exists)
        names_by_call.append(sorted(desired(response)))
        exists[name] = observed(status=READY)
    assert names_by_call == [["a"], ["a", "b"], ["a", "b", "c"]]


def test_dependency_on_a_field() -> None:
    """It is met when the field is there, ready or not."""
    resources: dict[str, Object] = {"a": {}, "b": {"depends_on": ["a:status.id"]}}
    waiting = run(step("starlark", resources), {"a": observed(status=READY)})
    assert set(desired(waiting)) == {"a"}
    assert condition(waiting)["message"] == "Waiting: b for a:status.id"
    response_with_id = run(
        step("starlark", resources), {"a": observed(status={**CREATING, "id": "x"})}
    )
    assert set(desired(response_with_id)) == {"a", "b"}


def test_dependency_uses_the_rule_and_the_word_of_its_resource() -> None:
    """The same readiness that Crossplane is told."""
    exists = {"a": observed(status=CREATING)}
    by_rule = step("starlark", {"a": {"ready_when": "Exists"}, "b": {"depends_on": ["a"]}})
    assert "b" in desired(run(by_rule, exists))
    by_word = step("starlark", {"a": {"ready": "True"}, "b": {"depends_on": ["a"]}})
    assert "b" in desired(run(by_word, exists))
    assert "b" not in desired(run(by_word, {}))
    against = step("starlark", {"a": {"ready": "False"}, "b": {"depends_on": ["a"]}})
    assert "b" not in desired(run(against, {"a": observed(status=READY)}))


def test_dependency_on_an_earlier_steps_resource() -> None:
    resources: dict[str, Object] = {"b": {"depends_on": ["a"]}}
    earlier = {"resources": {"a": {**observed(), "ready": "READY_TRUE"}}}
    exists = {"a": observed(status=CREATING)}
    assert "b" in desired(run(step("starlark", resources), exists, desired=earlier))


@IN_EACH
def test_unknown_name_is_an_error_with_its_place(language: str) -> None:
    """Nothing would ever meet it."""
    message = fatal(run(step(language, {"network": {}, "b": {"depends_on": ["netwrok"]}})))
    assert 'cannot order resource "b": it depends on "netwrok", which is not desired' in message
    assert 'did you mean "network"?' in message
    assert message.startswith("script:1:1" if language == "starlark" else "inline:3")


def test_circle_is_an_error_that_shows_it() -> None:
    """Each of its resources would wait for the others."""
    resources: dict[str, Object] = {
        "a": {"depends_on": ["c"]},
        "b": {"depends_on": ["a"]},
        "c": {"depends_on": ["b"]},
    }
    assert "it depends on itself: a → c → b → a" in fatal(run(step("starlark", resources)))
    assert "a → a" in fatal(run(step("starlark", {"a": {"depends_on": ["a"]}})))


@pytest.mark.parametrize("text", ["", ":status.a", "a:", "a:status["])
def test_invalid_dependency_is_refused(text: str) -> None:
    """A dependency is a name, or a name with a path."""
    response = run(step("starlark", {"a": {}, "b": {"depends_on": [text]}}))
    assert any(part in fatal(response) for part in ("cannot read", "must name a resource"))


def test_waiting_resource_is_reported_once() -> None:
    """An event when the waiting begins; none while the XR's condition says the same."""
    ordered_step = step("starlark", {"a": {}, "b": {"depends_on": ["a"]}})
    first = run(ordered_step)
    assert [(each["severity"], each["message"]) for each in first["results"]] == [
        ("SEVERITY_NORMAL", "Waiting: b for a")
    ]
    waiting = {"type": "ResourcesReady", "status": "False", "message": condition(first)["message"]}
    head = {"apiVersion": "example.org/v1", "kind": "XThing"}
    xr = {**head, "status": {"conditions": [waiting]}}
    state = {"composite": {"resource": xr}, "resources": {"a": observed(status=CREATING)}}
    assert "results" not in run(ordered_step, observed=state)


def test_condition_has_the_type_that_was_asked_for() -> None:
    many: dict[str, Object] = {f"resource-{number:03}": {} for number in range(99, -1, -1)}
    response = run(step("starlark", many, resourcesCondition="PartsReady"))
    report = condition(response)
    assert (report["type"], report["reason"]) == ("PartsReady", "Unready")
    assert str(report["message"]).startswith(
        "Unready: resource-000 does not exist yet; resource-001"
    )
    assert len(str(report["message"]).encode()) <= 1024
    ready = run(
        step("starlark", {"a": {}}, resourcesCondition="PartsReady"), {"a": observed(status=READY)}
    )
    assert (condition(ready)["status"], condition(ready)["reason"]) == (
        "STATUS_CONDITION_TRUE",
        "Ready",
    )


def test_program_that_stops_is_not_told_of_its_order() -> None:
    """Its own message is what counts."""
    ordered_step = step("starlark", {"a": {"depends_on": ["gone"]}}, autoReady={})
    script = str(ordered_step["script"]).replace("return ", "return FATAL | ")
    head = 'FATAL = {"results": [{"severity": "Fatal", "message": "own"}]}\n'
    assert fatal(run({**ordered_step, "script": head + script})) == "own"


def test_operation_has_no_order() -> None:
    """It observes nothing, so what waits would wait for ever."""
    response = run(step("starlark", {"a": {}, "b": {"depends_on": ["a"]}}), observed={})
    assert "an Operation observes no resources" in fatal(response)
