"""Plans of lists and maps whose items and fields have owners of their own."""

import json

import pytest
from support.plans import COMPOSITION, CROSSPLANE, SIZE, Plan, crd, managed, xr

from function_script.request.values import Object

RULES = """\
          rules:
          - {name: a, port: 1}
          - {name: b, port: 2}
"""
ITEM = {".": {}, "f:name": {}, "f:port": {}}
# The form of the JSON is free.
OWNED = {"f:rules": {'k:{"name":"a"}': ITEM, 'k:{ "name": "b" }': ITEM}}
FOREIGN = {"f:rules": {'k:{"name":"x"}': ITEM}}
B = {"f:rules": {'k:{"name":"b"}': ITEM}}
PORT = {"f:rules": {'k:{"name":"b"}': {"f:port": {}}}}


def live(*others: Object, own: Object = OWNED) -> Object:
    """The one composed resource; the first rule is nobody's of ours."""
    owners = [(CROSSPLANE, own), *(("kubectl", each) for each in others)]
    rules = [{"name": name, "port": port} for port, name in enumerate("xab")]
    return managed(*((name, {**SIZE, **fields}) for name, fields in owners), rules=rules)


def plan_rules(plan: Plan, rules: str, *manifests: Object) -> list[tuple[object, ...]]:
    """Plan new rules; return the path, the value before and after of each change."""
    text = COMPOSITION.replace("size: 1\n", f"size: 1\n{RULES}")
    plan.change((RULES, rules), before=text)
    (row,) = plan.find_rows(xr(count=1), *manifests)
    assert row["verdict"] in {"planned", "unchanged"}, row
    assert not row["drift"]
    return [
        (".".join(map(str, each["path"][1:])), each["before"], each["after"])
        for each in row["changes"]
    ]


A_LINE, B_LINE = RULES.splitlines(keepends=True)[1:]
C_LINE = "          - {name: c, port: 3}\n"
CASES = {
    "removed": ("", [FOREIGN], [("rules.1", {"name": "b", "port": 2}, None)]),
    "removed, and another has it": ("", [B], []),
    "removed, and another has a field": (
        "",
        [PORT],
        [("rules.1", {"name": "b", "port": 2}, {"port": 2})],
    ),
    "changed": (B_LINE.replace("2", "5"), [], [("rules.1.port", 2, 5)]),
    "added": (B_LINE + C_LINE, [FOREIGN], [("rules.2", None, {"name": "c", "port": 3})]),
    "added what is there": (B_LINE + C_LINE.replace("c, port: 3", "x, port: 0"), [FOREIGN], []),
}


@pytest.mark.parametrize(("end", "others", "expected"), CASES.values(), ids=CASES)
def test_items_of_other_managers_stay(
    plan: Plan, end: str, others: list[Object], expected: list[object]
) -> None:
    assert plan_rules(plan, f"          rules:\n{A_LINE}{end}", live(*others)) == expected


def test_order_of_items_is_no_change(plan: Plan) -> None:
    assert plan_rules(plan, f"          rules:\n{B_LINE}{A_LINE}", live()) == []


# A key with a default, and the schema of it: Kubernetes' own kinds have none of protocols.
KEYS = {
    "port": (2, {"port": {"type": "integer", "default": 2}}),
    "protocol": ("TCP", {"port": {"type": "integer"}, "protocol": {"type": "string"}}),
}


@pytest.mark.parametrize("key", KEYS)
def test_key_that_a_program_does_not_state_has_its_default(plan: Plan, key: str) -> None:
    """The managedFields name the keys."""
    default, fields = KEYS[key]
    properties: Object = {"name": {"type": "string"}, **fields}
    items: Object = {"type": "object", "properties": properties}
    keys = [f'k:{{"{key}":{json.dumps(default)},"name":"{name}"}}' for name in "ab"]
    keys[0] = keys[0].replace("2", "1")
    own: Object = {"f:rules": dict.fromkeys(keys, ITEM)}
    end = f"          rules:\n{A_LINE}{B_LINE.replace(', port: 2', '')}{C_LINE}"
    changes = plan_rules(
        plan, end, live(own=own), crd({"rules": {"type": "array", "items": items}})
    )
    assert ("rules.2", None, {"name": "c", "port": 3}) in changes
    assert [path for path, *_ in changes if path == "rules"] == []


def test_new_item_with_an_unknown_key_is_unknown(plan: Plan) -> None:
    """Without a schema, nobody knows the default of a key."""
    keys = ['k:{"name":"a","zone":"z"}', 'k:{"name":"b","zone":"z"}']
    text = COMPOSITION.replace("size: 1\n", f"size: 1\n{RULES}")
    plan.change((RULES, RULES + C_LINE), before=text)
    bucket = live(own={"f:rules": dict.fromkeys(keys, ITEM)})
    bucket["spec"]["rules"] = [{"name": name, "zone": "z"} for name in "ab"]
    printed = plan(xr(count=1), bucket)
    assert 'unknown: an item of "spec.rules" has no key that is known' in printed


@pytest.mark.parametrize("key", ["k:{", "k:1", "v:", 'k:{"a":NaN}', 'k:{"a":' + "[" * 5_000])
def test_item_that_cannot_be_read_makes_its_xr_unknown(plan: Plan, key: str) -> None:
    plan.change(("size: 1\n", f"size: 1\n{RULES}"))
    assert 'unknown: its managedFields have an item "' in plan(xr(count=1), live({key: ITEM}))


@pytest.mark.parametrize("key", ["k:{", "k:1", 'k:{"name":' + "[" * 5_000, "v:" + "1" * 5_000])
def test_own_item_that_cannot_be_read_is_no_drift(plan: Plan, key: str) -> None:
    """Nothing is known of its object, and the other XR is planned."""
    plan.change(("size: 1", "size: 1"))
    rows = plan.find_rows(xr(count=1), live(own={"f:rules": {key: ITEM}}), xr("other", count=0))
    assert [(row["verdict"], row["drift"]) for row in rows] == [("unchanged", [])] * 2


def test_values_of_a_set_stay_if_another_has_them(plan: Plan) -> None:
    old = COMPOSITION.replace("size: 1\n", "size: 1\n          rules: [a, b]\n")
    plan.change(("[a, b]", "[a]"), before=old)
    bucket = live({"f:rules": {'v:"x"': {}}}, own={"f:rules": {'v:"a"': {}, 'v:"b"': {}}})
    bucket["spec"] = {"region": "eu", "size": 1, "rules": ["x", "a", "b"]}
    assert 'spec.rules[1]: "b" becomes absent' in plan(xr(count=1), bucket)


def test_map_of_empty_lists_is_no_drift(plan: Plan) -> None:
    """Nobody has them."""
    plan.change(
        ("size: 1", "size: 2"),
        before=COMPOSITION.replace("size: 1\n", "size: 1\n          below: {rules: []}\n"),
    )
    rules: Object = {"type": "array", "items": {}, "x-kubernetes-list-type": "set"}
    definition = crd({"below": {"type": "object", "properties": {"rules": rules}}})
    bucket = managed((CROSSPLANE, SIZE), below={"rules": []})
    (row,) = plan.find_rows(xr(count=1), bucket, definition)
    assert not row["drift"]


FLAGS = "          flags: {a: x, b: z}\n"
OWN = {"f:flags": {"f:a": {}, "f:b": {}}}
# The fields of Crossplane and of another manager, the flags after the edit, and the change.
MAPS = {
    "the map alone": (OWN, {}, "flags: {a: x}", 'spec.flags.b: "z" becomes absent'),
    "the field": (OWN, {"f:b": {}}, "flags: {a: x}", "0 to change"),
    "the map that goes": (OWN, {}, "", 'spec.flags: {"a": "x", "b": "z"} becomes {}'),
    "all of an atomic map": ({"f:flags": {}}, {}, "flags: {a: x}", 'flags.b: "z" becomes absent'),
}


@pytest.mark.parametrize(("own", "other", "after", "expected"), MAPS.values(), ids=MAPS)
def test_fields_of_a_map_stay_if_another_has_them(
    plan: Plan, own: Object, other: Object, after: str, expected: str
) -> None:
    old = COMPOSITION.replace("size: 1\n", f"size: 1\n{FLAGS}")
    plan.change((FLAGS, f"          {after}\n"), before=old)
    bucket = live({"f:flags": other}, own=own)
    bucket["spec"] = {"region": "eu", "size": 1, "flags": {"a": "x", "b": "z"}}
    flags: Object = {"type": "object", "additionalProperties": {"type": "string"}}
    if own == {"f:flags": {}}:
        flags["x-kubernetes-map-type"] = "atomic"
    assert expected in plan(xr(count=1), bucket, crd({"flags": flags}))
