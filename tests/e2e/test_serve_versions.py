"""Crossplane before 2.0 against a real server: its protocol, its fields and its loop of calls."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import grpc
import pytest
from e2e.serving import Server
from google.protobuf import json_format, struct_pb2
from support import builders
from support.timing import PATIENCE_SECONDS

from function_script.proto.v1 import run_function_pb2 as v1
from function_script.proto.v1beta1 import run_function_pb2 as v1beta1
from function_script.request.values import Object

Response: TypeAlias = v1.RunFunctionResponse | v1beta1.RunFunctionResponse
SERVICES = {
    "v1": ("apiextensions.fn.proto.v1.FunctionRunnerService", v1),
    "v1beta1": ("apiextensions.fn.proto.v1beta1.FunctionRunnerService", v1beta1),
}
MAX_ITERATIONS = 5
PROBE = "script.fn.crossplane.io/probe"
SETTINGS: Object = {
    "apiVersion": "example.org/v1",
    "kind": "Settings",
    "metadata": {"name": "settings"},
    "spec": {"colour": "teal"},
}
CLUSTER: Mapping[tuple[str, str, str], Object] = {
    ("example.org/v1", "Settings", "settings"): SETTINGS,
}


@pytest.fixture(scope="module")
def channel(plain_server: Server) -> Iterator[grpc.Channel]:
    """Calls to one server for all tests here."""
    with plain_server.channel() as channel:
        yield channel


class OldCrossplane:
    """A caller that knows the fields of version 1.17 to 1.20, and no others.

    It calls until the deprecated field of the requirements stays the same, with what it found for
    that field, as the function runner of those versions does.
    """

    def __init__(self, channel: grpc.Channel, version: str) -> None:
        service, self._module = SERVICES[version]
        self._send: Callable[..., Response] = channel.unary_unary(
            f"/{service}/RunFunction",
            request_serializer=lambda request: request.SerializeToString(),
            response_deserializer=self._module.RunFunctionResponse.FromString,
        )
        self.calls = 0

    def run(self, step_input: Object, **parts: object) -> Response:
        """Run the step to its end; return the last response."""
        request = self._module.RunFunctionRequest()
        json_format.ParseDict(
            json_format.MessageToDict(builders.request(step_input, **parts)), request
        )
        requirements: bytes | None = None
        for _ in range(MAX_ITERATIONS + 1):
            response = self._send(request, timeout=PATIENCE_SECONDS)
            self.calls += 1
            encoded = response.requirements.SerializeToString(deterministic=True)
            is_fatal = any(each.severity == v1.SEVERITY_FATAL for each in response.results)
            if is_fatal or encoded == (requirements or b""):
                return response
            requirements = encoded
            request.ClearField("extra_resources")
            for name, selector in response.requirements.extra_resources.items():
                resources = request.extra_resources[name]
                key = (selector.api_version, selector.kind, selector.match_name)
                if key in CLUSTER:
                    resource = struct_pb2.Struct()
                    json_format.ParseDict(CLUSTER[key], resource)
                    resources.items.add().resource.CopyFrom(resource)
            request.context.CopyFrom(response.context)
        pytest.fail("the requirements did not stabilize")


PROGRAM = """\
def main(req):
    xr = req["observed"]["composite"]["resource"]
    settings = get_required(req, "settings")[0]
    secret = get_credentials(req, "login")["user"]
    return {
        "desired": {"resources": {"thing": {"resource": {
            "apiVersion": "example.org/v1",
            "kind": "Thing",
            "spec": {
                "count": xr["spec"]["count"],
                "colour": settings["spec"]["colour"],
                "user": secret,
                "step": req["context"]["step"],
            },
        }}}},
        "context": {"seen": "yes"},
        "conditions": [{"type": "Made", "status": "STATUS_CONDITION_TRUE", "reason": "Made",
                        "target": "TARGET_COMPOSITE_AND_CLAIM"}],
        "results": [{"severity": "SEVERITY_NORMAL", "message": "made", "reason": "Made"}],
    }
"""
PARTS: Mapping[str, object] = {
    "context": {"step": "first"},
    "credentials": {"login": {"credentialData": {"data": {"user": "YWRtaW4="}}}},
    "desired": {
        "composite": {"resource": {"status": {"phase": "early"}}},
        "resources": {"earlier": {"resource": builders.composed("earlier"), "ready": "READY_TRUE"}},
    },
}


def declaring(**selector: object) -> Object:
    """Return a program with the requirement that it reads, and the credentials."""
    chosen = {"apiVersion": "example.org/v1", "kind": "Settings", "matchName": "settings"}
    resources: Object = {"settings": {**chosen, **selector}}  # type: ignore[dict-item] # plain
    requirements: Object = {"resources": resources}
    return builders.starlark(PROGRAM, credentials=["login"], requirements=requirements)


@pytest.mark.parametrize("version", SERVICES)
def test_step_has_all_that_old_callers_give(channel: grpc.Channel, version: str) -> None:
    """What each language reads and sets is in tests/conformance/test_coverage.py."""
    caller = OldCrossplane(channel, version)
    response = caller.run(declaring(), **PARTS)
    assert [each for each in response.results if each.severity != v1.SEVERITY_NORMAL] == []
    resources = response.desired.resources
    assert dict(resources["thing"].resource["spec"]) == {
        "count": 2,
        "colour": "teal",
        "user": "admin",
        "step": "first",
    }
    assert resources["earlier"].ready == v1.READY_TRUE
    assert response.desired.composite.resource["status"]["phase"] == "early"
    assert dict(response.context) == {"step": "first", "seen": "yes"}
    (condition,) = response.conditions
    assert (condition.type, condition.status) == ("Made", v1.STATUS_CONDITION_TRUE)
    assert condition.target == v1.TARGET_COMPOSITE_AND_CLAIM
    assert caller.calls == 2


@pytest.mark.parametrize("version", SERVICES)
def test_requirement_that_old_callers_ignore_is_fatal(channel: grpc.Channel, version: str) -> None:
    """Without the resources the step would delete others, and waiting would never end."""
    step = declaring(namespace="here")
    response = OldCrossplane(channel, version).run(step, **PARTS)
    (result,) = response.results
    assert result.severity == v1.SEVERITY_FATAL
    assert 'cannot require "settings": the caller does not provide resources of a namesp' in (
        result.message
    )
    assert set(response.desired.resources) == {"earlier"}


def test_programs_do_not_see_the_probe() -> None:
    """The function adds the probe's requirement itself."""
    script = 'def main(req):\n    return {"context": {"seen": sorted(req["extra_resources"])}}\n'
    resources = {PROBE: {}, "mine": {}}
    request = builders.request(builders.starlark(script), extra_resources=resources)
    assert list(builders.call(request).context["seen"]) == ["mine"]


def test_callers_that_say_what_they_can_do_are_not_probed() -> None:
    """Version 2.2 and later report capabilities."""
    capabilities = ["CAPABILITY_CAPABILITIES", "CAPABILITY_REQUIRED_RESOURCES"]
    step = declaring(namespace="here")
    meta = {"tag": "t", "capabilities": capabilities}
    response = builders.call(builders.request(step, **PARTS, meta=meta))
    assert set(response.requirements.resources) == {"settings"}
    assert set(response.requirements.extra_resources) == set()
