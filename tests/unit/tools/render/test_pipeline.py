"""Steps run one after the other, and each is called until it has what it asks for."""

import pytest
from support.render_helpers import BUCKET, Script, composition, render_once, script

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.objects import find_path
from function_script.request.values import Object
from function_script.texts.errors import FatalError, InputError, ProgramError
from function_script.tools import render
from function_script.tools.render.requirements import StepResponse
from function_script.tools.render.steps import Step


def config(name: str, namespace: str = "default", **labels: str) -> Object:
    """A ConfigMap that steps may ask for."""
    metadata: Object = {"name": name, "namespace": namespace, "labels": dict(labels)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def asks(**selectors: Object) -> Object:
    """A response that requires ConfigMaps."""
    base: Object = {"api_version": "v1", "kind": "ConfigMap"}
    resources = {name: {**base, **selector} for name, selector in selectors.items()}
    return {"requirements": {"resources": resources}}


def run(runner: Script, *steps: Object, **inputs: object) -> render.RenderResult:
    """Render the steps with these functions."""
    return render_once(runner, composition=composition(*steps), **inputs)


def names(request: Object, requirement: str) -> list[object]:
    """What a request was given for a requirement."""
    items = find_path(request, ["required_resources", requirement, "items"]) or []
    return [find_path(item, "resource.metadata.name") for item in items]


def test_first_request() -> None:
    runner = script()
    step_input: Object = {"apiVersion": "example.org/v1", "kind": "Input", "size": 3}
    run(runner, {"input": step_input})
    request = runner.requests[0]
    assert (request["desired"], request["context"]) == ({}, {})
    assert request["input"] == step_input
    assert len(find_path(request, "meta.tag")) == 64
    assert find_path(request, "meta.capabilities") == [
        "CAPABILITY_CAPABILITIES",
        "CAPABILITY_REQUIRED_RESOURCES",
        "CAPABILITY_CREDENTIALS",
        "CAPABILITY_CONDITIONS",
        "CAPABILITY_REQUIRED_SCHEMAS",
    ]


def test_tag_tells_requests_apart() -> None:
    runner = script()
    run(runner, {}, {}, {"input": {"kind": "Other"}})
    first, second, third = (find_path(request, "meta.tag") for request in runner.requests)
    assert first == second != third


def test_desired_state_and_context_are_handed_on() -> None:
    desired: Object = {"resources": {"bucket": {"resource": BUCKET, "ready": "READY_TRUE"}}}
    runner = script({"desired": desired, "context": {"zone": "a"}}, {})
    result = run(runner, {}, {}, context={"seed": 1})
    assert runner.requests[0]["context"] == {"seed": 1}
    assert runner.requests[1]["desired"] == desired
    assert runner.requests[1]["context"] == {"zone": "a"}
    assert result.context == {"zone": "a"}


def test_requirements_may_grow() -> None:
    """What is found may lead to another question; answers to the first one stay."""
    first = asks(one={"match_name": "a", "namespace": "default"})
    both = asks(
        one={"match_name": "a", "namespace": "default"},
        two={"match_name": "b", "namespace": "default"},
    )
    runner = script(first, both)
    run(runner, {}, required=[config("a"), config("b")])
    assert len(runner.requests) == 3
    assert names(runner.requests[2], "one") == ["a"]
    assert names(runner.requests[2], "two") == ["b"]


def test_requirement_that_is_asked_for_no_more_goes() -> None:
    runner = script(asks(one={"match_name": "a"}), asks(two={"match_name": "b"}))
    run(runner, {})
    assert runner.requests[2]["required_resources"] == {"two": {}}


def test_at_most_six_calls() -> None:
    answers = [asks(**{f"r{number}": {"match_name": "a"}}) for number in range(9)]
    runner = script(*answers)
    with pytest.raises(ProgramError, match="changed with each of 6 calls"):
        run(runner, {})
    assert len(runner.requests) == 6


def test_selection() -> None:
    answer = asks(
        named={"match_name": "a", "namespace": "default"},
        elsewhere={"match_name": "a"},
        labelled={"match_labels": {"labels": {"app": "x"}}},
        narrowed={"match_labels": {"labels": {"app": "x"}}, "namespace": "far"},
        everything={},
    )
    runner = script(answer)
    stock = [config("b", app="x"), config("a", app="x"), config("c", "far", app="x"), config("d")]
    run(runner, {}, required=stock)
    selections = {
        name: names(runner.requests[1], name) for name in runner.requests[1]["required_resources"]
    }
    assert selections == {
        "named": ["a"],
        "elsewhere": [],
        "labelled": ["a", "b", "c"],
        "narrowed": ["c"],
        "everything": ["a", "b", "d", "c"],
    }


def test_missing_requirement_is_present_but_empty() -> None:
    """A function can tell "looked for, not there" from "not looked for"."""
    runner = script(asks(one={"match_name": "a"}))
    run(runner, {})
    assert runner.requests[1]["required_resources"] == {"one": {}}


def test_context_is_kept_between_calls_of_one_step() -> None:
    """The next call gets the context of the last answer, but the desired state of the first."""
    desired: Object = {"resources": {"bucket": {"resource": BUCKET}}}
    runner = script(
        {**asks(one={"match_name": "a"}), "context": {"seen": True}, "desired": desired}
    )
    run(runner, {})
    assert runner.requests[1]["context"] == {"seen": True}
    assert runner.requests[1]["desired"] == {}


def test_extra_resources_are_the_old_name() -> None:
    """Functions of before Crossplane v2 ask under another name and are answered there."""
    selector: Object = {"api_version": "v1", "kind": "ConfigMap", "match_name": "a"}
    runner = script({"requirements": {"extra_resources": {"one": selector}}})
    run(runner, {}, required=[config("a", "")])
    assert (
        find_path(runner.requests[1], "extra_resources.one.items[0].resource.kind") == "ConfigMap"
    )


def test_composition_supplies_before_the_first_call() -> None:
    """Requirements of a step need no round trip, and stay when the function asks for more."""
    needed: Object = {
        "requirementName": "base",
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "matchLabels": {"app": "x"},
    }
    runner = script(asks(one={"match_name": "b", "namespace": "default"}))
    step: Object = {"requirements": {"requiredResources": [needed]}}
    run(runner, step, required=[config("a", app="x"), config("b")])
    assert names(runner.requests[0], "base") == ["a"]
    assert names(runner.requests[1], "base") == ["a"]
    assert names(runner.requests[1], "one") == ["b"]


def test_credentials_come_from_secrets() -> None:
    reference: Object = {"namespace": "system", "name": "keys"}
    step: Object = {
        "credentials": [
            {"name": "cloud", "source": "Secret", "secretRef": reference},
            {"name": "nothing", "source": "None"},
        ]
    }
    secret: Object = {"metadata": reference, "data": {"token": "czNjcjN0"}}
    runner = script()
    run(runner, step, credentials=[secret])
    data: Object = {"credential_data": {"data": {"token": "czNjcjN0"}}}
    assert runner.requests[0]["credentials"] == {"cloud": data}


def test_missing_credentials_are_told() -> None:
    reference: Object = {"namespace": "system", "name": "keys"}
    step: Object = {"credentials": [{"name": "cloud", "source": "Secret", "secretRef": reference}]}
    with pytest.raises(InputError, match='its credentials "cloud": there is no Secret system/keys'):
        run(script(), step)


def test_results_become_events() -> None:
    results: list[Object] = [
        {"severity": "SEVERITY_NORMAL", "message": "fine", "reason": "Why"},
        {"severity": "SEVERITY_WARNING", "message": "careful"},
        {"message": "what"},
    ]
    events = run(script({"results": results}), {}).events[1:]
    assert [(event.severity, event.reason, event.message) for event in events] == [
        ("Normal", "Why", 'Pipeline step "step-0": fine'),
        ("Warning", "ComposeResources", 'Pipeline step "step-0": careful'),
        (
            "Warning",
            "ComposeResources",
            'Pipeline step "step-0" returned a result of unknown severity (assuming warning): what',
        ),
    ]


def test_fatal_result_ends_the_pipeline() -> None:
    """Later steps do not run; the message is the function's, and what it missed is told."""
    fatal: Object = {"severity": "SEVERITY_FATAL", "message": "boom"}
    runner = script({**asks(one={"match_name": "a", "namespace": "far"}), "results": [fatal]})
    with pytest.raises(FatalError) as caught:
        run(runner, {}, {})
    assert len(runner.requests) == 1
    (problem,) = caught.value.diagnostics
    assert problem.message == 'pipeline step "step-0" returned a fatal result: boom'
    (note,) = problem.notes
    assert note == (
        'required resource "one" was not found: ConfigMap of v1 named "a" in namespace "far"; '
        "no such objects are there: render reads required.yaml or --required-resources, "
        "a case its own required.yaml or key required"
    )


def test_fatal_result_names_what_earlier_steps_missed() -> None:
    """A step that fails for want of it may know nothing of it; once for all steps that ask."""
    note = (
        'required resource "one" was not found: ConfigMap of v1 named "a" in namespace "far"; '
        'the one at hand is in namespace "default", not in "far"'
    )
    ask = asks(one={"match_name": "a", "namespace": "far"})
    fatal: Object = {"results": [{"severity": "SEVERITY_FATAL", "message": "boom"}]}
    for last, notes in (fatal, (f'step "step-0": {note}',)), ({**ask, **fatal}, (note,)):
        runners = script(ask), script(last)
        with pytest.raises(FatalError) as caught:
            run(
                lambda step, request, each=runners: each[step.index](step, request),
                {},
                {},
                required=[config("a")],
            )
        assert caught.value.diagnostics[0].notes == notes


def test_required_object_of_another_version_is_told() -> None:
    """A function reads newer EnvironmentConfigs than the file has."""
    kind: Object = {"kind": "EnvironmentConfig", "metadata": {"name": "a"}}
    selector: Object = {"api_version": "example.org/v1beta1", "kind": "EnvironmentConfig"}
    ask = asks(one={**selector, "match_name": "a"}, other={**selector, "match_name": "b"})
    fatal: Object = {**ask, "results": [{"severity": "SEVERITY_FATAL", "message": "boom"}]}
    there = [{"apiVersion": f"{group}/v1alpha1", **kind} for group in ("example.org", "other.org")]
    with pytest.raises(FatalError) as caught:
        run(script(fatal), {}, required=there)
    subject = "EnvironmentConfig of example.org/v1beta1 named"
    there_is = "there is one of example.org/v1alpha1"
    assert caught.value.diagnostics[0].notes == (
        f'required resource "one" was not found: {subject} "a"; {there_is}',
        f'required resource "other" was not found: {subject} "b"',
    )


def test_response_without_state_leaves_none() -> None:
    first = script({"desired": {"resources": {"bucket": {"resource": BUCKET}}}})

    def runner(step: Step, request: pb.RunFunctionRequest) -> StepResponse:
        empty = StepResponse(response=pb.RunFunctionResponse())
        return first(step, request) if step.index == 0 else empty

    result = render_once(runner, composition=composition({}, {}), context={"seed": 1})
    assert result.resources == {}
    assert result.context is None
