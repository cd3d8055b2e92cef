"""Plans of lists whose items have owners of their own."""

import json
from pathlib import Path

import pytest
from support.plans import COMPOSITION, CROSSPLANE, buckets, change, crd, plan, xr

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


def live(*others: Object, own: Object = OWNED) -> list[Object]:
    """The one composed resource; the first rule is nobody's of ours."""
    (bucket,) = buckets(count=1)
    names = [(CROSSPLANE, own), *(("kubectl", each) for each in others)]
    metadata = bucket["metadata"]
    assert isinstance(metadata, dict)
    metadata["managedFields"] = [
        {
            "manager": manager,
            "operation": "Apply",
            "apiVersion": "s3.example.org/v1",
            "fieldsV1": {"f:spec": {"f:region": {}, "f:size": {}, **fields}},
        }
        for manager, fields in names
    ]
    rules: list[Object] = [{"name": name, "port": port} for port, name in enumerate("xab")]
    bucket["spec"] = {"region": "eu", "size": 1, "rules": [*rules]}
    return [bucket]


def plan_rules(
    project: Path, capsys: pytest.CaptureFixture[str], rules: str, *manifests: Object
) -> list[tuple[str, object, object]]:
    """Plan new rules; return the path, the value before and after of each change."""
    text = COMPOSITION.replace("size: 1\n", f"size: 1\n{RULES}")
    (project / "old" / "composition.yaml").write_text(text)
    change(project, ("size: 1\n", f"size: 1\n{rules}"))
    report = json.loads(plan(capsys, xr(count=1), *manifests, flags=("-o", "json")))
    (row,) = report["xrs"]
    assert row["verdict"] in {"planned", "unchanged"}, row
    assert not row["drift"]
    paths = [".".join(map(str, each["path"][1:])) for each in row["changes"]]
    return [
        (path, each["before"], each["after"])
        for path, each in zip(paths, row["changes"], strict=True)
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
    project: Path,
    capsys: pytest.CaptureFixture[str],
    end: str,
    others: list[Object],
    expected: list[object],
) -> None:
    rules = f"          rules:\n{A_LINE}{end}"
    assert plan_rules(project, capsys, rules, *live(*others)) == expected


def test_order_of_items_is_no_change(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = f"          rules:\n{B_LINE}{A_LINE}"
    assert plan_rules(project, capsys, rules, *live()) == []


def test_key_that_a_program_does_not_state_has_its_default(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The schema names the keys, and the default."""
    rules = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name", "port"],
        "items": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "port": {"type": "integer", "default": 2}},
        },
    }
    text = json.dumps(crd()).replace('"region":', f'"rules": {json.dumps(rules)}, "region":')
    own: Object = {
        "f:rules": {
            f'k:{{"port":{port},"name":"{name}"}}': ITEM for name, port in (("a", 1), ("b", 2))
        }
    }
    end = f"          rules:\n{A_LINE}{B_LINE.replace(', port: 2', '')}{C_LINE}"
    changes = plan_rules(project, capsys, end, *live(own=own), json.loads(text))
    assert changes == [("rules.2", None, {"name": "c", "port": 3})]


def test_values_of_a_set_stay_if_another_has_them(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = COMPOSITION.replace("size: 1\n", "size: 1\n          rules: [a, b]\n")
    (project / "old" / "composition.yaml").write_text(old)
    change(project, ("size: 1\n", "size: 1\n          rules: [a]\n"))
    (bucket,) = live({"f:rules": {'v:"x"': {}}}, own={"f:rules": {'v:"a"': {}, 'v:"b"': {}}})
    spec = bucket["spec"]
    assert isinstance(spec, dict)
    spec["rules"] = ["x", "a", "b"]
    assert 'spec.rules[1]: "b" becomes absent' in plan(capsys, xr(count=1), bucket)
