"""Sixty slips in calls of `response()` and of the library, in three languages.

Each stands behind a condition, where a run with nothing observed does not come by.
"""

from pathlib import Path
from textwrap import indent

import pytest
from support.check_helpers import LINE, found, ours

MARK = "SLIP"
STARLARK = """\
def main(req):
    xr = get_xr(req)
    rsp = response()
    name = xr["metadata"]["name"]
    rsp.resource("db", {"apiVersion": "v1", "kind": "ConfigMap", "data": {"name": name}})
    body = {"apiVersion": "v1", "kind": "ConfigMap"}
    db = get_observed(req, "db")
    address = get_observed(req, "db", "status.address")
    if address:
        rsp.status({"address": [address, body, db]})
        SLIP
    return rsp
"""
JINJA = """\
{% set db = get_composed_resource("db") %}
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    script.fn.crossplane.io/composition-resource-name: db
data:
  name: {{ xr.metadata.name }}
  {% if db.data.address %}
  ready: {{ is_ready(db) }}
  value: {{ SLIP }}
  {% endif %}
"""
GO = """\
{{- $xr := getCompositeResource }}
{{- $db := getComposedResource "db" }}
{{- $name := $xr.metadata.name }}
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    script.fn.crossplane.io/composition-resource-name: db
data:
  name: {{ $name }}
  {{- with $db.data.address }}
  value: {{ SLIP }}
  {{- end }}
"""

SLIPS = {
    "StarlarkScript": {
        "method-misspelt": 'rsp.resouce("app", body)',
        "method-with-a-letter-too-many": 'rsp.set_statuss("address", address)',
        "method-of-another-sdk": 'rsp.add_resource("app", body)',
        "method-of-the-function": 'response.resource("app", body)',
        "keyword-without-underscore": 'rsp.resource("app", body, dependson = ["db"])',
        "keyword-misspelt": 'rsp.require("zones", "v1", "ConfigMap", match_label = {"a": "b"})',
        "text-for-a-boolean": 'rsp.resource("app", body, ready = "yes")',
        "text-for-a-list": 'rsp.resource("app", body, depends_on = "db")',
        "body-before-the-name": 'rsp.resource({"apiVersion": "v1", "kind": "Secret"}, "app")',
        "status-without-a-value": 'rsp.set_status("address")',
        "status-with-path-and-value": 'rsp.status("address", address)',
        "details-with-key-and-value": 'rsp.connection_details("user", address)',
        "word-in-lower-case": 'rsp.condition("DatabaseReady", "true", "Available")',
        "condition-without-reason": 'rsp.condition("DatabaseReady", True)',
        "event-in-the-order-of-kubernetes": 'rsp.event("Normal", "Created", "it exists")',
        "number-for-a-duration": "rsp.ttl(60)",
        "name-for-a-resource": 'rsp.set_status("ready", is_ready("db"))',
        "request-left-out": 'rsp.set_status("db", get_observed("db"))',
        "name-left-out": 'rsp.set_status("name", child_name(name))',
        "none-for-a-text": 'rsp.set_status("name", dns1123(None))',
    },
    "JinjaTemplate": {
        "name-for-a-resource": 'is_ready("db")',
        "name-for-a-resource-in-a-filter": '"db" | is_deleting',
        "name-for-the-resource-of-a-condition": 'get_resource_condition("Ready", "db").status',
        "condition-and-resource-swapped": 'get_resource_condition(db, "Ready").status',
        "name-and-condition": 'get_condition("db", "Ready").status',
        "function-misspelt": 'get_composed_resouce("db")',
        "name-left-out": "child_name(xr.metadata.name)",
        "number-for-a-text": "dns1123(8080)",
        "none-for-a-text": "dns1123(none)",
        "text-for-a-number": 'stable_id("key", "8")',
        "index-left-out": 'cidr_subnet("10.0.0.0/16", 8)',
        "list-for-an-object": 'merge({"a": 1}, ["b"])',
        "text-for-a-list-of-keys": 'pick(spec, "region")',
        "getter-without-a-name": "get_composed_resource()",
        "getter-with-a-path": 'get_composed_resource("db", "status.address")',
        "key-and-value-for-an-object": 'connection_secret("user", "admin")',
        "filter-without-its-argument": "spec.region | trim_prefix",
        "text-for-a-list-of-choices": 'stable_choice("a,b,c")',
        "keyword-misspelt": "label_value(txt=xr.metadata.name)",
        "pattern-before-the-text": 'regex_match("^eu-", spec.region)',
    },
    "GoTemplate": {
        "name-for-a-resource": 'unreadyReason "db"',
        "name-for-a-resource-that-goes": 'isDeleting "db"',
        "name-for-an-external-name": 'getExternalName "db"',
        "name-for-the-resource-of-a-condition": '(getResourceCondition "Ready" "db").Status',
        "condition-and-resource-swapped": '(getResourceCondition $db "Ready").Status',
        "function-misspelt": 'getComposedResouce "db"',
        "getter-without-a-name": "getComposedResource",
        "getter-with-a-path": 'getComposedResource . "db" "status"',
        "number-for-a-name": "getComposedResource 5",
        "name-before-the-request": 'getCredentialData "aws" .',
        "text-for-a-map": 'connectionSecret "secret" "user"',
        "name-left-out": 'connectionSecret (dict "user" "x")',
        "number-for-a-text": "hasCapability 5",
        "text-for-a-number": 'nindent "4" (toYaml $db)',
        "text-before-the-number": "nindent (toYaml $db) 4",
        "list-before-the-separator": 'join (list "a" "b") ","',
        "text-for-a-length": 'trunc "8" $name',
        "number-to-encode": "b64enc 8080",
        "list-for-texts": 'randomChoice (list "a" "b")',
        "text-before-the-pattern": 'regexMatch $name "^eu-"',
    },
}
ERRORS = {"failing-code", "program", "unknown-name"}
FRAMES = {"StarlarkScript": STARLARK, "JinjaTemplate": JINJA, "GoTemplate": GO}
# Both arguments are texts, and a run alone knows that the second is no pattern.
UNKNOWABLE = {
    ("JinjaTemplate", "pattern-before-the-text"),
    ("GoTemplate", "text-before-the-pattern"),
}


def places(path: Path, kind: str, program: str) -> list[tuple[int, str, str]]:
    """Line in the program, rule and message of each finding."""
    field = "script" if kind == "StarlarkScript" else "inline"
    report = found(path, ours(kind, f"{field}: |", indent(program, "  ")))
    return [
        (finding.diagnostic.span.line - LINE - 2, finding.rule, finding.diagnostic.message)
        for finding in report.findings
        if finding.diagnostic.span is not None
    ]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        pytest.param(kind, name, id=f"{kind}-{name}")
        for kind, slips in SLIPS.items()
        for name in slips
        if (kind, name) not in UNKNOWABLE
    ],
)
def test_wrong_call_is_an_error_at_its_line(tmp_path: Path, kind: str, name: str) -> None:
    frame = FRAMES[kind]
    line = frame[: frame.index(MARK)].count("\n") + 1
    findings = places(tmp_path, kind, frame.replace(MARK, SLIPS[kind][name]))
    assert [each[0] for each in findings if each[1] in ERRORS] == [line]


@pytest.mark.parametrize(("kind", "name"), sorted(UNKNOWABLE))
def test_call_that_only_a_run_can_judge_is_left_alone(tmp_path: Path, kind: str, name: str) -> None:
    assert not places(tmp_path, kind, FRAMES[kind].replace(MARK, SLIPS[kind][name]))
