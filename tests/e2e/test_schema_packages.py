"""Schemas of packages: fetched from a registry into the cache, and only where `--fetch` says so."""

import json
from pathlib import Path

import pytest
from e2e.scripted_registry import Registry, Start
from support import one_step
from support.commands import Run
from support.validate_helpers import CRD

from function_script.tools.xpkg import archives

META = """\
apiVersion: meta.pkg.crossplane.io/v1
kind: KIND
metadata: {name: a}
spec:
  dependsOn: [DEPENDENCY]
"""
PROVIDER = """\
apiVersion: pkg.crossplane.io/v1
kind: Provider
metadata: {name: a}
spec: {package: "HOST/things:v1.1.0"}
"""
PROGRAM = """\
apiVersion: example.org/v1
kind: Thing
metadata:
  annotations: {script.fn.crossplane.io/composition-resource-name: a}
spec:
  cuont: 1
"""


def to_meta(kind: str, dependency: str) -> str:
    """Return the metadata of a package."""
    return META.replace("KIND", kind).replace("DEPENDENCY", dependency)


@pytest.fixture
def registry(start: Start) -> Registry:
    """A registry whose `platform` depends on a range of `things`, which have a CRD."""
    server = start(tls=False)
    things = f'{{provider: {server.name}/things, version: ">=v1.0.0"}}'
    texts = {
        "v2": to_meta("Configuration", things),
        "v1.1.0": to_meta("Provider", "") + "---\n" + CRD,
    }
    for version, text in texts.items():
        layer = archives.gzip_stored(archives.tar({"package.yaml": text.encode()}))
        server.put_package(layer, version)
    tags = ["v0.9.0", "v1.1.0", "main", "v1.0.0"]
    server.hook(
        "GET", "/v2/things/tags/list", lambda it: it.send(200, json.dumps({"tags": tags}).encode())
    )
    return server


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


SOURCES = [
    pytest.param("provider.yaml", PROVIDER, 1, id="provider"),
    pytest.param(
        "crossplane.yaml",
        to_meta("Configuration", "{configuration: HOST/platform, version: v2}"),
        2,
        id="dependencies-of-dependencies",
    ),
]


@pytest.mark.parametrize(("name", "text", "count"), SOURCES)
def test_schemas_of_packages_are_fetched_once(
    registry: Registry, name: str, text: str, count: int, tmp_path: Path, run: Run
) -> None:
    """Without the flag there is no request, before and after."""
    file = tmp_path / name
    file.write_text(text.replace("HOST", registry.name))
    composition = one_step.composition("GoTemplate", PROGRAM)
    (tmp_path / "composition.yaml").write_text(composition)
    (tmp_path / "xr.yaml").write_text(one_step.XR)
    command = ["check", str(tmp_path / "composition.yaml"), "--crds", str(file)]
    assert "pass --fetch" in run(*command).out
    assert registry.seen == []
    assert 'did you mean "count"?' in run(*command, "--fetch", code=1).out
    manifests = [seen.path for seen in registry.seen if "/manifests/" in seen.path]
    assert len(manifests) == len(set(manifests)) == count
    registry.seen.clear()
    assert 'did you mean "count"?' in run(*command, code=1).out
    assert registry.seen == []
