"""The committed stubs equal generated ones, and describe Crossplane's protocol."""

import runpy
from pathlib import Path

import pytest
from support.paths import ROOT

from function_script.proto.v1 import run_function_pb2 as v1
from function_script.proto.v1beta1 import run_function_pb2 as v1beta1
from function_script.wire import enums

PROTO = ROOT / "proto"
STUBS = ROOT / "function_script" / "proto"


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Freshly generated stubs."""
    pytest.importorskip("grpc_tools", reason="needs protoc")
    target = tmp_path_factory.mktemp("proto")
    runpy.run_path(str(PROTO / "generate.py"))["generate"](target)
    return target


@pytest.mark.parametrize("suffix", ["py", "pyi"])
@pytest.mark.parametrize(
    "stub", ["v1/run_function_pb2", "v1beta1/run_function_pb2", "render/render_pb2"]
)
def test_committed_stubs_equal_fresh_ones(generated: Path, stub: str, suffix: str) -> None:
    """The stubs were not edited, and `make proto` was run."""
    name = f"{stub}.{suffix}"
    assert (STUBS / name).read_text() == (generated / name).read_text()


def test_versions_differ_in_the_package_only() -> None:
    """V1beta1 is a mechanical copy of v1, so one handler serves both."""
    path = "apiextensions/fn/proto/{}/run_function.proto"
    first = (PROTO / path.format("v1")).read_text()
    second = (PROTO / path.format("v1beta1")).read_text()
    package = "package apiextensions.fn.proto.{};"
    assert first.replace(package.format("v1"), package.format("v1beta1")) == second


@pytest.mark.parametrize(("stubs", "version"), [(v1, "v1"), (v1beta1, "v1beta1")])
def test_service_is_described_under_crossplanes_names(stubs: object, version: str) -> None:
    """Reflection and callers look up the service and its file by Crossplane's names."""
    descriptor = stubs.DESCRIPTOR  # type: ignore[attr-defined] # a generated module
    assert descriptor.name == f"apiextensions/fn/proto/{version}/run_function.proto"
    service = descriptor.services_by_name["FunctionRunnerService"]
    assert service.full_name == f"apiextensions.fn.proto.{version}.FunctionRunnerService"
    assert list(service.methods_by_name) == ["RunFunction"]


# The protocol's messages with their fields, as Crossplane numbers them; "?" is explicit presence.
FIELDS = {
    "RunFunctionRequest": "1 meta? 2 observed? 3 desired? 4 input? 5 context? 6 extra_resources"
    " 7 credentials 8 required_resources 9 required_schemas",
    "RunFunctionResponse": "1 meta? 2 desired? 3 results 4 context? 5 requirements? 6 conditions"
    " 7 output?",
    "RequestMeta": "1 tag 2 capabilities",
    "ResponseMeta": "1 tag 2 ttl?",
    "State": "1 composite? 2 resources",
    "Resource": "1 resource? 2 connection_details 3 ready",
    "Resources": "1 items",
    "Credentials": "1 credential_data?",
    "CredentialData": "1 data",
    "Requirements": "1 extra_resources 2 resources 3 schemas",
    "ResourceSelector": "1 api_version 2 kind 3 match_name? 4 match_labels? 5 namespace?",
    "MatchLabels": "1 labels",
    "SchemaSelector": "1 api_version 2 kind",
    "Schema": "1 openapi_v3?",
    "Result": "1 severity 2 message 3 reason? 4 target?",
    "Condition": "1 type 2 status 3 reason 4 message? 5 target?",
}


@pytest.mark.parametrize("message", FIELDS)
def test_fields_have_crossplanes_numbers_and_presence(message: str) -> None:
    fields = v1.DESCRIPTOR.message_types_by_name[message].fields
    listed = [f"{field.number} {field.name}{'?' * field.has_presence}" for field in fields]
    assert " ".join(listed) == FIELDS[message]


def test_messages_are_complete_and_none_is_surplus() -> None:
    assert set(v1.DESCRIPTOR.message_types_by_name) == set(FIELDS)


ENUMS = {
    "Ready": "READY_UNSPECIFIED READY_TRUE READY_FALSE",
    "Severity": "SEVERITY_UNSPECIFIED SEVERITY_FATAL SEVERITY_WARNING SEVERITY_NORMAL",
    "Target": "TARGET_UNSPECIFIED TARGET_COMPOSITE TARGET_COMPOSITE_AND_CLAIM",
    "Status": "STATUS_CONDITION_UNSPECIFIED STATUS_CONDITION_UNKNOWN STATUS_CONDITION_TRUE"
    " STATUS_CONDITION_FALSE",
    "Capability": "CAPABILITY_UNSPECIFIED CAPABILITY_CAPABILITIES CAPABILITY_REQUIRED_RESOURCES"
    " CAPABILITY_CREDENTIALS CAPABILITY_CONDITIONS CAPABILITY_REQUIRED_SCHEMAS",
}


@pytest.mark.parametrize("enum", ENUMS)
def test_enums_count_from_zero_in_this_order(enum: str) -> None:
    values = v1.DESCRIPTOR.enum_types_by_name[enum].values
    assert [value.name for value in values] == ENUMS[enum].split()
    assert [value.number for value in values] == list(range(len(values)))


def test_enums_of_the_codec_are_the_protocols() -> None:
    ours = {name: number for name, number in vars(enums).items() if name.isupper()}
    assert {name: getattr(v1, name) for name in ours} == ours
    assert len(ours) >= 15
