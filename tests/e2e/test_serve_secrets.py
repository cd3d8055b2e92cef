"""No secret of a request leaves a real server by its log, its metrics or an error."""

from __future__ import annotations

import base64
import urllib.request
from typing import TYPE_CHECKING

import builders
import pytest
from e2e.serving import Server, call

if TYPE_CHECKING:
    from function_script.proto.v1 import run_function_pb2 as pb
    from function_script.values import Object

MARKER = "correct-horse-battery-staple"
BASE64 = base64.b64encode(MARKER.encode()).decode()
DETAILS = {"connectionDetails": {"password": BASE64}}
SECRET: Object = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "s"},
    "data": {"password": BASE64},
}
# Each has read a secret by then; the first line is the same for all of a language.
STARLARK = 'def main(req):\n    s = req["credentials"]["api"]["data"]["password"]\n    '
JINJA = "{% set s = observed.composite.connection_details.password %}\n"
GO = '{{ $s := index .observed.resources.db.connectionDetails "password" }}'
STARLARK_FAILURES = {
    "undefined": 'return {s: 1}[s + "x"]\n',
    "type": "return int(s)\n",
    "own words": "fail(s)\n",
    "bad field": 'return {"results": [{"severity": s}]}\n',
    "printed": "print(s)\n    return {}\n",
    "printed much": 'print(s * 1000)\n    fail("enough")\n',
    "memory": "x = [s] * 1000000000\n",
    "time": "for i in range(1000000000):\n        s\n",
    "nothing wrong": 'return {"context": {"kept": s}}\n',
}
TEMPLATE_FAILURES = {
    "bad YAML": "a: {{ %s }}: [\n",
    "bad YAML beside it": "a: {{ %s }}\nb: [\n",
    "no document": "kind: {{ %s }}\n",
    "list": "- {{ %s }}\n",
}


def go(inline: str) -> Object:
    """A GoTemplate input."""
    return {**builders.jinja(inline), "kind": "GoTemplate"}


INPUTS = [
    *(builders.starlark(STARLARK + text) for text in STARLARK_FAILURES.values()),
    *(builders.jinja(JINJA + text % "s") for text in TEMPLATE_FAILURES.values()),
    *(go(GO + text % "$s") for text in TEMPLATE_FAILURES.values()),
    builders.jinja(JINJA + "{{ s.nothing.at.all }}"),
    builders.jinja(JINJA + "{{ fail(s) }}"),
    go(GO + "{{ fail $s }}"),
    go(GO + "{{ atoi $s | div 0 }}"),
    builders.starlark("def main(req:\n"),
    {"apiVersion": "example.org/v1", "kind": MARKER[:7]},
]


def request(step_input: Object) -> pb.RunFunctionRequest:
    """A request with the secret wherever requests have secrets."""
    state = {
        "composite": {"resource": builders.XR, **DETAILS},
        "resources": {
            "db": {"resource": builders.composed("db"), **DETAILS},
            "secret": {"resource": SECRET},
        },
    }
    named = {**step_input, "credentials": ["api"]} if "script" in step_input else step_input
    return builders.request(
        named,
        observed=state,
        desired={"composite": DETAILS},
        credentials={"api": {"credentialData": {"data": {"password": BASE64}}}},
        requiredResources={"secret": {"items": [{"resource": SECRET}]}},
    )


@pytest.mark.parametrize("flags", [[], ["--debug"]], ids=["json", "debug"])
def test_no_secret_leaves_the_server(flags: list[str]) -> None:
    """Programs fail in every way with a secret in their hands; nothing that is told has it."""
    with Server("--insecure", "--timeout", "1s", *flags) as server, server.channel() as channel:
        results = [
            result.message
            for step_input in INPUTS
            for result in call(channel, request(step_input)).results
        ]
        with urllib.request.urlopen(f"http://{server.metrics_address}/metrics") as page:
            metrics = page.read().decode()
        server.stop()
    assert len(results) > len(INPUTS) - 4
    told = "\n".join([*results, metrics, *server.text])
    assert sum(line["msg"] in {"answered", "not answered"} for line in server.log) in {
        len(INPUTS),
        0 if flags else len(INPUTS),
    }
    for part in (MARKER, MARKER[:12], BASE64[:16]):
        assert part not in told
    assert "[secret]" in told
    for limit in ("memory", "time"):
        assert f'limits_hit_total{{limit="{limit}"}} 1.0' in metrics
