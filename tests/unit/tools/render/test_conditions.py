"""Conditions: which there are, their order, and what becomes of those an XR has already."""

import pytest
from support.render_helpers import (
    CLUSTER_XR,
    RESPONSIVE,
    composition,
    reconcile,
    render_once,
    script,
)

from function_script.request.values import Object
from function_script.step.readiness import judge, kinds
from function_script.tools import render
from function_script.tools.render import conditions

SYNCED: Object = {**RESPONSIVE, "type": "Synced", "reason": "ReconcileSuccess"}
READY: Object = {**RESPONSIVE, "type": "Ready", "reason": "Available"}

MESSAGES = [
    pytest.param(["b", "a"], "Unready resources: a, b", id="two-sorted"),
    pytest.param(["c", "b", "a"], "Unready resources: a, b, and c", id="exactly-three"),
    pytest.param(["d", "c", "b", "a"], "Unready resources: a, b, c, and 1 more", id="four"),
]


def xr_conditions(xr: Object, *responses: Object) -> list[Object]:
    """The XR's conditions after one step that answers so."""
    status = render_once(script(*responses), xr=xr).xr["status"]
    return status["conditions"]


@pytest.mark.parametrize(("names", "message"), MESSAGES)
def test_unready_names_a_few(names: list[str], message: str) -> None:
    assert message == conditions.unready(names).message


def test_order_of_new_conditions() -> None:
    custom: list[Object] = [
        {"type": "Zed", "status": "STATUS_CONDITION_TRUE", "reason": "Why"},
        {"type": "Any", "status": "STATUS_CONDITION_FALSE", "reason": "Why", "message": "so"},
    ]
    assert xr_conditions(CLUSTER_XR, {"conditions": custom}) == [
        RESPONSIVE,
        {**RESPONSIVE, "type": "Zed", "reason": "Why"},
        {**RESPONSIVE, "type": "Any", "status": "False", "reason": "Why", "message": "so"},
        SYNCED,
        READY,
    ]


def test_system_conditions_are_not_for_functions() -> None:
    items: list[Object] = [
        {"type": kind, "status": "STATUS_CONDITION_FALSE", "reason": "Mine"}
        for kind in ("Ready", "Synced", "Healthy", "UpToDate", "Responsive")
    ]
    assert xr_conditions(CLUSTER_XR, {"conditions": items}) == [RESPONSIVE, SYNCED, READY]


def test_unspecified_status_is_unknown() -> None:
    items = xr_conditions(CLUSTER_XR, {"conditions": [{"type": "Mine", "reason": "Why"}]})
    assert items[1]["status"] == "Unknown"


def test_conditions_of_the_file_keep_their_place() -> None:
    old: Object = {**SYNCED, "lastTransitionTime": "2020-01-01T00:00:00Z"}
    mine: Object = {**old, "type": "Mine", "reason": "Old"}
    xr: Object = {**CLUSTER_XR, "status": {"conditions": [old, mine]}}
    news: Object = {"type": "Mine", "status": "STATUS_CONDITION_TRUE", "reason": "New"}
    items = xr_conditions(xr, {"conditions": [news]})
    assert items == [old, {**RESPONSIVE, "type": "Mine", "reason": "New"}, RESPONSIVE, READY]


def test_conditions_in_desired_status_come_first() -> None:
    mine: Object = {"type": "Mine", "status": "True", "reason": "Why", "surplus": 1}
    desired: Object = {"composite": {"resource": {"status": {"conditions": [mine]}}}}
    items = xr_conditions(CLUSTER_XR, {"desired": desired})
    assert [condition["type"] for condition in items] == ["Mine", "Responsive", "Synced", "Ready"]
    assert "surplus" not in items[0]


def test_observed_generation_is_that_of_the_xr() -> None:
    metadata: Object = {"name": "demo", "generation": 4}
    items = xr_conditions({**CLUSTER_XR, "metadata": metadata}, {})
    assert items == [{**RESPONSIVE, "observedGeneration": 4}, SYNCED, READY]


FATAL: Object = {"results": [{"severity": "SEVERITY_FATAL", "message": "no"}]}
UNDETERMINED: Object = {
    "status": "Unknown",
    "reason": "FatalError",
    "message": "A fatal error occurred before the status of this condition could be determined.",
}


@pytest.mark.parametrize("generation", [0, 3])
def test_conditions_that_no_function_sets_before_a_fatal_result_are_undetermined(
    generation: int,
) -> None:
    """Those of Crossplane, and what a function sets until then, are as they would be anyway."""
    old: Object = {**READY, "lastTransitionTime": "2020-01-01T00:00:00Z"}
    xr: Object = {
        **CLUSTER_XR,
        "metadata": {"name": "demo", **({"generation": generation} if generation else {})},
        "status": {"conditions": [old, {**old, "type": "Mine"}, {**old, "type": "Other"}]},
    }
    mine: Object = {"type": "Mine", "status": "STATUS_CONDITION_FALSE", "reason": "Why"}
    inputs = render.RenderInputs(xr=xr, composition=composition({}, {}))
    result = reconcile(inputs, script({"conditions": [mine]}, FATAL))
    observed: Object = {"observedGeneration": generation} if generation else {}
    assert result.failure is not None
    status = result.xr["status"]
    assert status["conditions"] == [
        old,
        {**RESPONSIVE, "type": "Mine", "status": "False", "reason": "Why"},
        {**old, "type": "Other", **UNDETERMINED, **observed},
        {**RESPONSIVE, **observed},
        {
            **SYNCED,
            "status": "False",
            "reason": "ReconcileError",
            "message": 'cannot compose resources: pipeline step "step-1" returned a fatal result: '
            "no",
            **observed,
        },
    ]


def test_times_are_replaced() -> None:
    dated: Object = {**READY, "lastTransitionTime": "2020-02-02T02:02:02Z"}
    manifest = conditions.with_times_replaced({"status": {"conditions": [dated], "size": 1}})
    assert manifest == {"status": {"conditions": [READY], "size": 1}}


def test_status_without_conditions_gets_null() -> None:
    """The official command's quirk is kept: a status without conditions shows null."""
    assert conditions.with_times_replaced({"status": {"size": 1}}) == {
        "status": {"size": 1, "conditions": None}
    }
    assert conditions.with_times_replaced({"spec": {}}) == {"spec": {}}


KINDS = [(row.group, kind) for row in kinds.TABLE for kind in row.kinds.split()]


@pytest.mark.parametrize(("group", "kind"), [*KINDS, ("example.org", "Bucket")])
def test_ready_resource_is_ready_by_the_rule_of_its_kind(group: str, kind: str) -> None:
    stale: Object = {"type": "Available", "status": "True", "observedGeneration": 1}
    resource: Object = {
        "apiVersion": f"{group}/v1".lstrip("/"),
        "kind": kind,
        "metadata": {"generation": 2},
        "spec": {"replicas": 3, "type": "LoadBalancer"},
        "status": {"conditions": [stale]},
    }
    conditions.make_ready(resource)
    assert judge(resource).is_ready


def test_deployment_gets_no_condition_that_it_never_has() -> None:
    resource: Object = {"apiVersion": "apps/v1", "kind": "Deployment"}
    conditions.make_ready(resource)
    assert [each["type"] for each in conditions.read(resource)] == ["Available"]
