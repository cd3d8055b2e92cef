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


def test_enums_of_the_codec_are_the_protocols() -> None:
    ours = {name: number for name, number in vars(enums).items() if name.isupper()}
    assert {name: getattr(v1, name) for name in ours} == ours
    assert len(ours) >= 15
