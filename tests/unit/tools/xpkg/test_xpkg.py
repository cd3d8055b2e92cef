import gzip
import hashlib
import json
import subprocess
import tarfile
from pathlib import Path

import pytest

from function_script.texts.errors import InputError
from function_script.tools.xpkg import archives, packages
from function_script.tools.xpkg.inspector import read_package
from function_script.tools.xpkg.manifest import Contents
from function_script.tools.xpkg.packages import Built

META = """\
# A comment of the author.
apiVersion: meta.pkg.crossplane.io/v1
kind: Function
metadata: {name: function-test}
spec: {crossplane: {version: ">=v2.0.0-0"}}
"""
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.org}
"""


def sha256(data: bytes) -> str:
    """A digest as images spell it."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def write(directory: Path, **texts: str) -> Path:
    """A directory with YAML files."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (directory / f"{name}.yaml").write_text(text)
    return directory


def build(directory: Path, *runtimes: Path, meta: str = META, crd: str = CRD) -> Built:
    """A package of these texts and runtime images."""
    package = write(directory / "package", crossplane=meta)
    crds = write(directory / "crds", things=crd)
    return packed(package, crds, directory / "x.xpkg", *runtimes)


def packed(package: Path, crds: Path, output: Path | None, *runtimes: Path) -> Built:
    """The one package of a Function's directories and runtime images."""
    contents = Contents(package_root=package, input_crds=crds)
    (built,) = packages.build(contents, output=output, runtime_images=runtimes)
    return built


def image(*, compress: bool = True) -> dict[str, bytes]:
    """The files of an image as `docker save` writes it: a config and one layer."""
    layer = archives.tar({"app/main.py": b"print()"})
    config = {
        "architecture": "arm64",
        "os": "linux",
        "config": {"Entrypoint": ["function-script"], "User": "2000"},
        "rootfs": {"type": "layers", "diff_ids": [sha256(layer)]},
        "history": [{"created_by": "COPY"}],
    }
    data = gzip.compress(layer, mtime=0) if compress else layer
    listing = [{"Config": "config.json", "RepoTags": ["x:y"], "Layers": ["1/layer.tar"]}]
    return {
        "manifest.json": json.dumps(listing).encode(),
        "config.json": json.dumps(config).encode(),
        "1/layer.tar": data,
    }


def oci_layout(*, platforms: int = 1) -> dict[str, bytes]:
    """The same image as an OCI layout, with an attestation beside it."""
    saved = image()
    files = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}'}

    def blob(data: bytes) -> dict[str, str]:
        files[f"blobs/sha256/{hashlib.sha256(data).hexdigest()}"] = data
        return {"digest": sha256(data)}

    manifest = {"config": blob(saved["config.json"]), "layers": [blob(saved["1/layer.tar"])]}
    entries: list[object] = [blob(json.dumps(manifest).encode()) for _ in range(platforms)]
    attestation = {**blob(b"{}"), "platform": {"os": "unknown", "architecture": "unknown"}}
    below = blob(json.dumps({"manifests": [*entries, attestation]}).encode())
    files["index.json"] = json.dumps({"manifests": [below]}).encode()
    return files


def save(path: Path, files: dict[str, bytes]) -> Path:
    """An archive of these files."""
    path.write_bytes(archives.tar(files))
    return path


def opened(path: Path) -> tuple[dict[str, bytes], dict[str, object]]:
    """The members of a package, and its config."""
    with tarfile.open(path) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive}
    (listing,) = json.loads(files["manifest.json"])
    config: dict[str, object] = json.loads(files[listing["Config"]])
    return files, config


def test_package_without_a_runtime_has_one_layer(tmp_path: Path) -> None:
    """It names its platform all the same, as tools ask for one."""
    built = build(tmp_path)
    files, config = opened(built.path)
    assert (config["os"], config["architecture"]) == ("linux", "amd64")
    assert len(files) == 3


@pytest.mark.parametrize("compress", [True, False], ids=["gzip", "plain"])
def test_runtime_image_is_extended(tmp_path: Path, *, compress: bool) -> None:
    built = build(tmp_path, save(tmp_path / "image.tar", image(compress=compress)))
    files, config = opened(built.path)
    (listing,) = json.loads(files["manifest.json"])
    first, second = listing["Layers"]
    assert gzip.decompress(files[first]) == archives.tar({"app/main.py": b"print()"})
    assert not compress or files[first] == image()["1/layer.tar"]
    diff_ids = config["rootfs"]["diff_ids"]
    assert diff_ids == [sha256(gzip.decompress(files[name])) for name in (first, second)]
    assert config["architecture"] == "arm64"
    assert config["config"] == {
        "Entrypoint": ["function-script"],
        "User": "2000",
        "Labels": {f"io.crossplane.xpkg:{sha256(files[second])}": "base"},
    }
    assert len(config["history"]) == 2


def test_oci_layout_is_an_image_too(tmp_path: Path) -> None:
    """As a directory or as an archive; attestations are no platform."""
    archive = save(tmp_path / "oci.tar", oci_layout())
    directory = tmp_path / "oci"
    for name, data in oci_layout().items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(data)
    whole = tmp_path / "whole.tar"
    subprocess.run(["tar", "--create", "--file", whole, "--directory", directory, "."], check=True)
    docker = save(tmp_path / "docker.tar", image())
    digests = {build(tmp_path, runtime).digest for runtime in (archive, directory, whole, docker)}
    assert len(digests) == 1


BAD_IMAGES = {
    "no-image": ({"hello": b"x"}, 'it has no file "index.json"'),
    "same-platform": (oci_layout(platforms=2), "several images for platform"),
    "empty": (image() | {"manifest.json": b"[]"}, "no image, or several"),
    "broken-json": (image() | {"manifest.json": b"{"}, "cannot read image"),
    "zstd": (image() | {"1/layer.tar": b"\x28\xb5\x2f\xfd"}, "zstd"),
    "config": (image() | {"config.json": b"[]"}, "no object"),
}


@pytest.mark.parametrize(("files", "message"), BAD_IMAGES.values(), ids=BAD_IMAGES)
def test_other_files_are_no_runtime(tmp_path: Path, files: dict[str, bytes], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build(tmp_path, save(tmp_path / "image.tar", files))
    assert not (tmp_path / "x.xpkg").exists()


def test_file_that_is_no_archive_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.xpkg").write_text("hello")
    with pytest.raises(InputError, match="it is no archive"):
        read_package(tmp_path / "x.xpkg")
    with pytest.raises(InputError, match="no such file"):
        read_package(tmp_path / "y.xpkg")


def test_image_that_is_no_package_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"it holds no package\.yaml"):
        read_package(save(tmp_path / "image.tar", image()))


BAD_PACKAGES = {
    "no-function": ("", CRD, "holds 0 objects of kind Function or Configuration"),
    "two-functions": (
        f"{META}---\n{META}",
        CRD,
        "holds 2 objects of kind Function or Configuration",
    ),
    "other": (META, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}", 'ConfigMap "x"'),
    "name": (META.replace("function-test", "script"), CRD, 'begins with "function-"'),
    "constraint": (META.replace(">=v2.0.0-0", "at least two"), CRD, "is no constraint"),
    "operator-of-pip": (META.replace(">=v2.0.0-0", "==1.2"), CRD, "is no constraint"),
}


@pytest.mark.parametrize(("meta", "crd", "message"), BAD_PACKAGES.values(), ids=BAD_PACKAGES)
def test_package_that_crossplane_refuses_is_refused(
    tmp_path: Path, meta: str, crd: str, message: str
) -> None:
    """One Function, any number of CRDs, nothing else."""
    with pytest.raises(InputError, match=message):
        build(tmp_path, meta=meta, crd=crd)


@pytest.mark.parametrize(
    "constraint", [">=v2.0.0-0", "~1.2", "^1.2.3 || >3", ">=1.0, <2", "v2.x", "!=1.2.3+b", "1 - 2"]
)
def test_constraints_on_versions(tmp_path: Path, constraint: str) -> None:
    build(tmp_path, meta=META.replace(">=v2.0.0-0", constraint))


def test_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no directory .*run it in the project's"):
        packed(tmp_path / "package", tmp_path, None)


def test_default_file_name_has_the_digest(here: Path) -> None:
    """Two different packages never overwrite each other."""
    package, crds = write(here / "p", a=META), write(here / "c", b=CRD)
    built = packed(package, crds, None)
    assert built.path.name == f"function-test-{built.digest.removeprefix('sha256:')[:12]}.xpkg"
    assert built.path.exists()
