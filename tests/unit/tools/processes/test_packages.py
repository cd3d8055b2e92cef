"""Packages from a registry of this test: resolved, verified, fetched once."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest
from e2e.scripted_registry import Registry, serving, status
from support.function_images import archive, member, put_image, put_manifest

from function_script.texts.errors import InputError
from function_script.tools.processes import cache
from function_script.tools.processes.cache import ROOT_FILES, CachedImage
from function_script.tools.processes.options import PackageOptions, PullPolicy

LAYER = archive([member("function", b"#!/bin/sh")])


@pytest.fixture
def registry() -> Iterator[Registry]:
    with serving() as served:
        yield served


@pytest.fixture(autouse=True)
def _no_credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    # Nor authorities: the system's take long to read.
    monkeypatch.setenv("SSL_CERT_FILE", os.devnull)


def load(
    registry: Registry, tmp_path: Path, version: str = ":v1", pull: PullPolicy = "IfNotPresent"
) -> CachedImage:
    options = PackageOptions(root=tmp_path / "cache", pull=pull, never_hint="who has set this")
    return cache.load_package("function-test", f"{registry.name}/team/test{version}", options)


def files(image: CachedImage) -> set[str]:
    root = image.directory / ROOT_FILES
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def failure(registry: Registry, tmp_path: Path, version: str = ":v1") -> str:
    with pytest.raises(InputError) as caught:
        load(registry, tmp_path, version)
    (problem,) = caught.value.diagnostics
    cache = tmp_path / "cache"
    left = [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".lock"]
    assert left == []
    prefix = 'cannot run function "function-test": '
    assert problem.message.startswith(prefix)
    return problem.message.removeprefix(prefix)


def test_package_is_fetched_once(registry: Registry, tmp_path: Path) -> None:
    put_image(registry, [LAYER])
    first = load(registry, tmp_path)
    registry.seen.clear()
    assert load(registry, tmp_path) == first
    assert registry.seen == []


def test_always_resolves_the_tag_and_fetches_a_new_image_alone(
    registry: Registry, tmp_path: Path
) -> None:
    put_image(registry, [LAYER])
    first = load(registry, tmp_path, pull="Always")
    assert load(registry, tmp_path, pull="Always") == first
    put_image(registry, [archive([member("function", b"new")])])
    assert load(registry, tmp_path) == first
    second = load(registry, tmp_path, pull="Always")
    assert (second.directory / ROOT_FILES / "function").read_bytes() == b"new"
    assert load(registry, tmp_path) == second


def test_digest_is_a_version(registry: Registry, tmp_path: Path) -> None:
    digest = put_manifest(registry, put_image(registry, [LAYER]), "v1")
    assert "function" in files(load(registry, tmp_path, f"@{digest}"))


def test_offline_takes_the_cache_alone(registry: Registry, tmp_path: Path) -> None:
    put_image(registry, [LAYER])
    with pytest.raises(InputError, match="is not in the cache") as caught:
        load(registry, tmp_path, pull="Never")
    assert caught.value.diagnostics[0].hint == "who has set this"
    assert registry.seen == []
    image = load(registry, tmp_path)
    registry.seen.clear()
    assert load(registry, tmp_path, pull="Never") == image
    assert registry.seen == []


def test_index_has_an_image_for_this_machine(registry: Registry, tmp_path: Path) -> None:
    put_index(registry, "linux/plan9", cache.this_platform())
    assert "function" in files(load(registry, tmp_path))


def put_index(registry: Registry, *platforms: str) -> None:
    entries = []
    for platform in platforms:
        system, _, architecture = platform.partition("/")
        manifest = put_image(registry, [LAYER], "part", platform=platform)
        digest = put_manifest(registry, manifest, "part")
        size = len(registry.manifests[digest])
        place = {"os": system, "architecture": architecture}
        entries.append({"digest": digest, "size": size, "platform": place})
    attestation = {"digest": "sha256:" + "0" * 64, "platform": {"os": "unknown"}}
    put_manifest(registry, {"manifests": [attestation, *entries]}, "v1")


def test_index_for_other_machines_is_an_error(registry: Registry, tmp_path: Path) -> None:
    put_index(registry, "linux/plan9", "windows/amd64")
    assert failure(registry, tmp_path) == (
        f'package "{registry.name}/team/test:v1": it is built for linux/plan9, windows/amd64, '
        f"and this machine is {cache.this_platform()}"
    )


def test_image_for_another_machine_is_not_fetched(registry: Registry, tmp_path: Path) -> None:
    manifest = put_image(registry, [LAYER], platform="linux/plan9")
    assert "it is built for linux/plan9" in failure(registry, tmp_path)
    layer = manifest["layers"][0]["digest"]
    assert [one for one in registry.seen if layer in one.path] == []


def test_image_without_entrypoint_is_an_error(registry: Registry, tmp_path: Path) -> None:
    put_image(registry, [LAYER], entrypoint=())
    assert failure(registry, tmp_path).endswith("it has no entrypoint: the package has no runtime")


def put_layer(registry: Registry, **fields: object) -> str:
    """Put an image whose manifest says something else of its layer; return the layer's digest."""
    manifest = put_image(registry, [LAYER])
    layer = manifest["layers"][0]
    digest = layer["digest"]
    layer.update(fields)
    put_manifest(registry, manifest, "v1")
    return digest


def test_layer_with_another_digest_is_an_error(registry: Registry, tmp_path: Path) -> None:
    registry.blobs[put_layer(registry)] = LAYER[:-1] + b"x"
    assert "has the digest" in failure(registry, tmp_path)


def test_manifest_with_another_digest_is_an_error(registry: Registry, tmp_path: Path) -> None:
    digest = put_manifest(registry, put_image(registry, [LAYER]), "v1")
    registry.manifests[digest] += b" "
    assert "has the digest" in failure(registry, tmp_path, f"@{digest}")


SIZES = [
    (100, "more than 100 bytes"),
    (5 << 30, "its layers have 5.0 GiB; at most 2.0 GiB are fetched"),
    *((size, "does not state the size of a layer") for size in (None, -1, "1", True)),
]


@pytest.mark.parametrize(("size", "cause"), SIZES)
def test_layer_with_another_size_than_declared_is_an_error(
    registry: Registry, tmp_path: Path, size: object, cause: str
) -> None:
    """It is not fetched if its size alone shows that."""
    layer = put_layer(registry, size=size)
    assert cause in failure(registry, tmp_path)
    assert any(layer in one.path for one in registry.seen) is (size == 100)


def test_layer_that_is_refused_leaves_nothing(registry: Registry, tmp_path: Path) -> None:
    """tests/unit/tools/processes/test_unpacking.py has the layers that are refused."""
    put_image(registry, [archive([member("first"), member("../../escape")])])
    assert "is outside of it" in failure(registry, tmp_path)
    assert list(tmp_path.rglob("escape")) == []


def test_registry_without_the_package_is_an_error(registry: Registry, tmp_path: Path) -> None:
    registry.hook("GET", "manifests", status(404))
    assert failure(registry, tmp_path) == (
        f'cannot read "{registry.name}/team/test:v1": HTTP 404: not found'
    )


def test_reference_without_registry_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot run function") as caught:
        cache.load_package("f", "function-test", PackageOptions(root=tmp_path))
    assert "name the registry and the version" in (caught.value.diagnostics[0].hint or "")


def test_fetch_shows_its_progress(registry: Registry, tmp_path: Path) -> None:
    lines: list[str] = []
    shares: list[float] = []

    class Display:
        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            lines.append("closed")

        def line(self, text: str) -> None:
            lines.append(text)

        def share(self, part: float) -> None:
            shares.append(part)

    put_image(registry, [LAYER])
    options = PackageOptions(root=tmp_path / "cache", progress=Display)
    cache.load_package("f", f"{registry.name}/team/test:v1", options)
    assert len(lines) == 3
    assert lines[0].endswith(": resolving")
    assert lines[1].endswith(" KiB: fetching")
    assert lines[2] == "closed"
    assert shares[-1] == 1.0


def test_fetch_that_is_cancelled_leaves_nothing(registry: Registry, tmp_path: Path) -> None:
    put_image(registry, [LAYER])
    # Asked before each line, and after each piece of a layer.
    answers = iter([False, False, True])
    options = PackageOptions(root=tmp_path / "cache", is_cancelled=lambda: next(answers))
    with pytest.raises(InputError, match="cancelled"):
        cache.load_package("f", f"{registry.name}/team/test:v1", options)
    assert [path.suffix for path in (tmp_path / "cache" / "images").iterdir()] == [".lock"]


def test_layers_of_the_runtime_are_one_image(registry: Registry, tmp_path: Path) -> None:
    """The layer of the package is none of them."""
    upper = archive([member("bin/helper", b"x"), member(".wh.function")])
    put_image(registry, [LAYER, upper])
    assert files(load(registry, tmp_path)) == {"bin/helper", "etc/hosts"}
