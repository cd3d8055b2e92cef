"""The composition functions specification: one test for each sentence, named after it.

The rules about flags, ports and TLS are tested on a real server, in tests/e2e.
"""

import json
import subprocess
import sys
import tempfile
import tomllib

import pytest
import yaml
from google.protobuf import json_format
from support.builders import XR, call, composed, gotemplate, jinja, request, starlark, to_dict
from support.paths import ROOT

from function_script.proto.v1 import run_function_pb2 as v1

NOTHING = starlark("def main(req):\n    return {}\n")
ONE_THING = jinja(
    "apiVersion: example.org/v1\n"
    "kind: Thing\n"
    "metadata:\n"
    "  annotations:\n"
    "    script.fn.crossplane.io/composition-resource-name: thing\n"
    "spec: {size: small}\n"
)
EARLIER = {
    "composite": {
        "resource": {"status": {"phase": "early"}},
        "ready": "READY_TRUE",
        "connection_details": {"user": "YWRtaW4="},
    },
    "resources": {
        "mine": {"resource": composed("mine", size=1), "ready": "READY_TRUE"},
        "yours": {"resource": composed("yours", size=1), "ready": "READY_FALSE"},
    },
}


@pytest.mark.parametrize("tag", ["", "a-tag", "тег ☃", "x" * 5000])
def test_must_copy_tag_and_never_interpret_it(tag: str) -> None:
    """The tag comes back as it was; nothing else depends on it."""
    response = call(request(ONE_THING, meta={"tag": tag}))
    assert response.meta.tag == tag
    response.meta.tag = "a-tag"
    assert response == call(request(ONE_THING))


def test_must_pass_through_desired_state_it_has_no_opinion_on() -> None:
    """What a step does not mention comes out equal: resources, readiness, details, context."""
    sent = request(ONE_THING, desired=EARLIER, context={"key": {"deep": [1, None]}})
    response = call(sent)
    del response.desired.resources["thing"]
    assert response.desired == sent.desired
    assert response.context == sent.context


def test_must_pass_through_fields_of_a_newer_crossplane() -> None:
    """Unknown fields of desired state survive."""
    sent = request(ONE_THING, desired=EARLIER).SerializeToString()
    unknown = b"\xfa\x3e\x03new"
    entry = v1.State(resources={"newer": v1.Resource()}).SerializeToString() + unknown
    sent += b"\x1a" + bytes([len(entry)]) + entry
    message = v1.RunFunctionRequest.FromString(sent)
    answered = call(message)
    assert unknown in answered.desired.SerializeToString()


def test_must_be_intentional_when_mutating_desired_state() -> None:
    """A template's document changes the fields it states and leaves the others."""
    change = jinja(ONE_THING["inline"].replace(": thing", ": yours").replace("size", "color"))  # type: ignore[union-attr] # it is text
    yours = call(request(change, desired=EARLIER)).desired.resources["yours"]
    assert to_dict(yours) == {  # type: ignore[arg-type] # any message will do
        "resource": {
            **composed("yours", size=1, color="small"),
        },
        "ready": "READY_FALSE",
    }


def test_must_not_set_xr_spec_or_metadata() -> None:
    """Of a desired XR only status, readiness and connection details are taken."""
    script = starlark(
        'def main(req):\n    xr = req["observed"]["composite"]\n'
        '    xr["resource"]["status"] = {"phase": "late"}\n'
        '    return {"desired": {"composite": xr}}\n'
    )
    response = call(request(script))
    assert to_dict(response)["desired"] == {
        "composite": {
            "resource": {
                "apiVersion": XR["apiVersion"],
                "kind": XR["kind"],
                "status": {"phase": "late"},
            }
        }
    }


def test_should_not_set_metadata_name() -> None:
    """No name is invented for a composed resource, and the external name has an annotation."""
    thing = call(request(ONE_THING)).desired.resources["thing"].resource
    assert "metadata" not in thing or "name" not in thing["metadata"]


def test_should_avoid_conflicting_resource_names() -> None:
    """Two documents of one name are refused, naming both places; nothing is lost silently."""
    text = ONE_THING["inline"]
    result = call(request(jinja(f"{text}---\n{text}"))).results[0]
    assert result.severity == v1.SEVERITY_FATAL
    assert '"thing" is used twice' in result.message
    assert result.message.startswith("inline:12:5: ")
    assert "first at inline:5:5" in result.message


MISTAKES = {
    "input": {"apiVersion": "script.fn.crossplane.io/v1beta1", "kind": "JinjaTemplte"},
    "syntax": starlark("def main(req)\n    return {}\n"),
    "run time": starlark('def main(req):\n    return req["nothing"]\n'),
    "template": jinja("a: {{ nothing }}\n"),
    "yaml": jinja("a: b: c\n"),
    "result": starlark("def main(req):\n    return 7\n"),
    "document": jinja("a: 1\n"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_must_only_be_fatal_to_stop_the_pipeline(mistake: str) -> None:
    """Every kind of user error is exactly one FATAL beside the untouched desired state."""
    sent = request(MISTAKES[mistake], desired=EARLIER, context={"key": 1})
    response = call(sent)
    assert [result.severity for result in response.results] == [v1.SEVERITY_FATAL]
    assert response.desired == sent.desired
    assert response.context == sent.context
    assert response.meta.tag == sent.meta.tag
    assert not response.meta.ttl.seconds


@pytest.mark.parametrize("step_input", [NOTHING, ONE_THING], ids=["starlark", "jinja"])
def test_must_not_report_on_every_call(step_input: dict[str, str]) -> None:
    """A steady state yields no results, no conditions and no requirements."""
    response = call(request(step_input))
    assert not response.results
    assert not response.conditions
    assert not response.HasField("requirements")


def test_must_not_assume_a_pod_a_cluster_or_a_network() -> None:
    """It runs as a user without a home or a name, in an empty directory, without a network."""
    message = json_format.MessageToJson(request(ONE_THING))
    program = [sys.executable, "-m", "function_script.cli", "run", "-"]
    isolate = ["unshare", "--net", "--map-user=2000", "--user"]
    probe = subprocess.run([*isolate, "true"], capture_output=True, check=False)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            program if probe.returncode else [*isolate, *program],
            input=message,
            cwd=folder,
            env={"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "thing" in json.loads(done.stdout)["desired"]["resources"]


def test_may_add_change_and_delete_desired_state() -> None:
    """A script that states a resource anew, or None for it, replaces it or deletes it."""
    script = starlark(
        "def main(req):\n"
        '    thing = {"apiVersion": "example.org/v1", "kind": "Thing"}\n'
        '    return {"desired": {"resources": {"new": {"resource": thing}, "mine": None}}}\n'
    )
    desired = call(request(script, desired=EARLIER)).desired
    assert sorted(desired.resources) == ["new", "yours"]


def test_may_set_status_of_the_xr() -> None:
    """The status of an earlier step is merged with, field by field."""
    script = starlark(
        "def main(req):\n"
        '    return {"desired": {"composite": {"resource": {"status": {"url": "u"}}}}}\n'
    )
    composite = call(request(script, desired=EARLIER)).desired.composite
    assert to_dict(composite)["resource"]["status"] == {"phase": "early", "url": "u"}  # type: ignore[index,call-overload,arg-type] # an object


@pytest.mark.parametrize("field", ["metadata", "spec", "data", "rules", "webhooks"])
def test_may_set_any_other_field_of_composed_resources(field: str) -> None:
    """Only status is Crossplane's; fields at the top level differ by kind."""
    script = starlark(
        "def main(req):\n"
        '    thing = {"apiVersion": "v1", "kind": "Thing"}\n'
        f'    thing["{field}"] = {{"labels": {{"a": "b"}}}}\n'
        '    return {"desired": {"resources": {"thing": {"resource": thing}}}}\n'
    )
    thing = call(request(script)).desired.resources["thing"].resource
    assert thing[field]["labels"]["a"] == "b"


EXTERNAL_NAMES = {
    "starlark": starlark(
        "def main(req):\n"
        '    name = get_external_name(req["observed"]["composite"]) or "first"\n'
        '    metadata = {"annotations": {"crossplane.io/external-name": name}}\n'
        '    thing = {"apiVersion": "v1", "kind": "Thing", "metadata": metadata}\n'
        '    return {"desired": {"resources": {"thing": {"resource": thing}}}}\n'
    ),
    "jinja": jinja(
        "apiVersion: v1\nkind: Thing\nmetadata:\n  annotations:\n"
        "    script.fn.crossplane.io/composition-resource-name: thing\n"
        '    crossplane.io/external-name: {{ get_external_name(xr) | default("first", true) }}\n'
    ),
    "go template": gotemplate(
        "apiVersion: v1\nkind: Thing\nmetadata:\n  annotations:\n"
        "    script.fn.crossplane.io/composition-resource-name: thing\n"
        "    crossplane.io/external-name: first\n"
    ),
}


@pytest.mark.parametrize("language", EXTERNAL_NAMES)
def test_should_name_external_resources_by_annotation(language: str) -> None:
    """A program names what its resource stands for; the annotation reaches Crossplane as it is."""
    thing = call(request(EXTERNAL_NAMES[language])).desired.resources["thing"].resource
    assert thing["metadata"]["annotations"]["crossplane.io/external-name"] == "first"
    assert "name" not in thing["metadata"]


def test_must_only_desire_a_partial_object() -> None:
    """Fields that the API server set on an observed object are not desired when returned."""
    observed = composed("robot", size=1)
    server_side = {
        "uid": "1",
        "resourceVersion": "7",
        "generation": 2,
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "managedFields": [{"manager": "provider"}],
    }
    current = {**observed, "metadata": {**observed["metadata"], **server_side}, "status": {"a": 1}}  # type: ignore[dict-item] # it is an object
    script = starlark(
        "def main(req):\n"
        '    return {"desired": {"resources": {"robot": req["observed"]["resources"]["robot"]}}}\n'
    )
    parts = {"composite": {"resource": XR}, "resources": {"robot": {"resource": current}}}
    robot = call(request(script, observed=parts)).desired.resources["robot"]
    assert to_dict(robot) == {"resource": observed}  # type: ignore[arg-type] # any message will do


DETAILS = starlark(
    "def main(req):\n"
    '    thing = {"apiVersion": "v1", "kind": "Thing"}\n'
    '    details = {"user": "admin"}\n'
    '    return {"desired": {\n'
    '        "composite": {"connection_details": details, "ready": "READY_TRUE"},\n'
    '        "resources": {"thing": {\n'
    '            "resource": thing, "connection_details": details, "ready": "READY_TRUE",\n'
    "        }},\n"
    "    }}\n"
)


def test_should_set_connection_details_of_the_xr() -> None:
    """They are those of legacy XRs."""
    details = call(request(DETAILS)).desired.composite.connection_details
    assert dict(details) == {"user": b"admin"}


def test_should_not_set_connection_details_of_composed_resources() -> None:
    """Crossplane would ignore them, so they are left out."""
    assert not call(request(DETAILS)).desired.resources["thing"].connection_details


def test_should_state_what_is_ready() -> None:
    """Of composed resources and of the XR, whose readiness then is not derived from theirs."""
    desired = call(request(DETAILS)).desired
    assert desired.composite.ready == v1.READY_TRUE
    assert desired.resources["thing"].ready == v1.READY_TRUE


@pytest.mark.parametrize(
    ("reason", "cause"),
    [("", "must not be empty"), ("not pascal", "must be PascalCase")],
)
def test_must_give_conditions_a_reason(reason: str, cause: str) -> None:
    """The API server refuses an XR with another condition, and with it all of its status."""
    condition = {"type": "Ok", "status": "True", "reason": reason}
    script = starlark(f"def main(req):\n    return {{'conditions': [{json.dumps(condition)}]}}\n")
    (result,) = call(request(script)).results
    assert result.severity == v1.SEVERITY_FATAL
    assert cause in result.message


def test_should_tell_the_claim_only_what_its_user_understands() -> None:
    """Our own errors and warnings are for the XR; a program alone addresses the claim."""
    own = call(request(MISTAKES["run time"])).results[0]
    assert own.target in {v1.TARGET_UNSPECIFIED, v1.TARGET_COMPOSITE}
    result = {"severity": "Warning", "message": "m", "target": "CompositeAndClaim"}
    script = starlark(f"def main(req):\n    return {{'results': [{json.dumps(result)}]}}\n")
    assert call(request(script)).results[0].target == v1.TARGET_COMPOSITE_AND_CLAIM


def test_should_fail_gracefully_without_a_network() -> None:
    """A program that is elsewhere and cannot be fetched is a FATAL result, not kept by a cache."""
    remote = {
        "apiVersion": "script.fn.crossplane.io/v1beta1",
        "kind": "JinjaTemplate",
        "source": "Remote",
        "remote": {
            "git": {"url": "https://git.invalid/a.git", "commit": "0" * 40, "path": "main.j2"}
        },
    }
    sent = request(remote, desired=EARLIER)
    response = call(sent)
    assert [result.severity for result in response.results] == [v1.SEVERITY_FATAL]
    assert response.desired == sent.desired
    assert not response.meta.ttl.seconds


def test_should_use_the_latest_sdk() -> None:
    """Python's SDK is not used: nothing imports it. See the page for what stands in for it."""
    project = (ROOT / "pyproject.toml").read_text()
    assert "crossplane-function-sdk" not in project


def test_name_is_that_of_package_command_and_distribution() -> None:
    """One name everywhere: a user who knows one of them finds the others."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    package = yaml.safe_load((ROOT / "package" / "crossplane.yaml").read_text())
    assert project["name"] == package["metadata"]["name"] == "function-script"
    assert "function-script" in project["scripts"]
