"""The package this project builds, read the three ways in which Crossplane's tools read one."""

import gzip
import hashlib
import io
import json
import shutil
import tarfile
from pathlib import Path, PurePosixPath

import pytest
from support.paths import ROOT

from function_script import documents
from function_script.request import objects
from function_script.request.values import Object
from function_script.texts.source import Source
from function_script.tools import starters
from function_script.tools.xpkg.manifest import Contents
from function_script.tools.xpkg.packages import build

LABEL = "io.crossplane.xpkg"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This project's own package."""
    output = tmp_path_factory.mktemp("package") / "function-script.xpkg"
    return built(ROOT / "package", ROOT / "input_crds", output)


def built(package_root: Path, input_crds: Path, output: Path) -> Path:
    """The package of two directories, written to ``output``."""
    contents = Contents(package_root=package_root, input_crds=input_crds)
    (made,) = build(contents, output=output)
    return made.path


def members(package: Path) -> dict[str, bytes]:
    """The files of the outer archive, which are all plain files."""
    with tarfile.open(package) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}


def parts(package: Path) -> tuple[Object, list[bytes]]:
    """The image's config and its layers, found as `docker load` finds them."""
    files = members(package)
    (listing,) = json.loads(files["manifest.json"])
    return json.loads(files[listing["Config"]]), [files[name] for name in listing["Layers"]]


def sha256(data: bytes) -> str:
    """A digest as images spell it."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def labels(config: Object) -> Object:
    """The config's labels."""
    found = objects.find_path(config, "config.Labels")
    assert isinstance(found, dict)
    return found


def read_by_label(package: Path) -> str:
    """As `resource validate` does: the raw archive of the labelled layer is taken for YAML."""
    config, layers = parts(package)
    marked = labels(config)
    (layer,) = [layer for layer in layers if marked.get(f"{LABEL}:{sha256(layer)}") == "base"]
    text = gzip.decompress(layer).decode()
    first, *others = text.split("\n---\n")
    # The first line is what the archive's header runs into; the last part is its padding.
    return "\n---\n".join([first.split("\n", 1)[1], *others[:-1]])


def read_by_annotation(package: Path) -> str:
    """As core does after a push, which turns labels into annotations of the layers."""
    config, layers = parts(package)
    annotations = {
        str(key).removeprefix(f"{LABEL}:"): {LABEL: value} for key, value in labels(config).items()
    }
    (layer,) = [
        layer for layer in layers if annotations.get(sha256(layer), {}).get(LABEL) == "base"
    ]
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(layer))) as archive:
        file = archive.extractfile("package.yaml")
        assert file is not None
        return file.read().decode()


def read_flattened(package: Path) -> str:
    """As core does without annotations: the first file of that name in any layer."""
    for layer in reversed(parts(package)[1]):
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(layer))) as archive:
            for member in archive:
                if PurePosixPath(member.name).name == "package.yaml":
                    file = archive.extractfile(member)
                    assert file is not None
                    return file.read().decode()
    pytest.fail("no layer holds package.yaml")


def read(text: str) -> list[Object]:
    """The objects of a package.yaml."""
    return [document.value for document in documents.read_source(Source(name="p", text=text))]


def written() -> list[Object]:
    """The objects that belong into the package, from the files of this project."""
    paths = [ROOT / "package" / "crossplane.yaml", *sorted((ROOT / "input_crds").glob("*.yaml"))]
    return [value for path in paths for value in read(path.read_text())]


@pytest.mark.parametrize("reader", [read_by_label, read_by_annotation, read_flattened])
def test_reader_finds_every_object(package: Path, reader: type) -> None:
    """M16: packaged per the xpkg specification, for each way to read a package."""
    assert read(reader(package)) == written()


@pytest.mark.parametrize("reader", [read_by_label, read_by_annotation, read_flattened])
def test_configuration_reads_the_same(reader: type, tmp_path: Path) -> None:
    """Beside a layer of examples, which none of the readers takes for the package."""
    project = tmp_path / "project"
    starters.write("starlark", project)
    contents = Contents(package_root=project, examples=project / "xr.yaml")
    (made,) = build(contents, output=tmp_path / "apps.xpkg")
    names = ("crossplane.yaml", "composition.yaml", "xrd.yaml")
    assert read(reader(made.path)) == [
        value for name in names for value in read((project / name).read_text())
    ]
    assert list(labels(parts(made.path)[0]).values()) == ["base", "upbound"]


def test_stream_begins_and_ends_with_a_separator(package: Path) -> None:
    """Else a reader that takes the raw archive loses a line, or the last CRD."""
    text = read_by_annotation(package)
    assert text.startswith("---\n")
    assert text.endswith("\n---\n")


def test_base_layer_holds_one_plain_file(package: Path) -> None:
    """One header of 512 bytes stands before the stream: nothing may need a second one."""
    _, layers = parts(package)
    archive = gzip.decompress(layers[-1])
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        (member,) = opened.getmembers()
    assert (member.name, member.mode, member.mtime) == ("package.yaml", 0o644, 0)
    assert (member.uid, member.gid, member.uname, member.gname) == (0, 0, "", "")
    assert (member.offset_data, archive[512:516]) == (512, b"---\n")


def test_layers_are_gzip(package: Path) -> None:
    """Beside one that is not, a push would compress all anew and lose the label."""
    config, layers = parts(package)
    assert [layer[:2] for layer in layers] == [b"\x1f\x8b"] * len(layers)
    diff_ids = objects.find_path(config, "rootfs.diff_ids")
    assert diff_ids == [sha256(gzip.decompress(layer)) for layer in layers]


def test_members_are_named_by_their_digests(package: Path) -> None:
    """The config, the layers, and last the list of both."""
    files = members(package)
    assert list(files)[-1] == "manifest.json"
    for name, data in list(files.items())[:-1]:
        assert sha256(data).removeprefix("sha256:") in name
    (listing,) = json.loads(files["manifest.json"])
    assert listing["RepoTags"] is None


def test_package_is_the_same_bytes_every_time(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a copy of the files, with other times and in another place."""
    shutil.copytree(ROOT / "package", tmp_path / "a")
    shutil.copytree(ROOT / "input_crds", tmp_path / "b")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    again = built(tmp_path / "a", tmp_path / "b", tmp_path / "again.xpkg")
    assert again.read_bytes() == package.read_bytes()


def test_name_begins_with_function(package: Path) -> None:
    """M17: in the metadata, which is where Crossplane looks."""
    assert objects.find_path(read(read_flattened(package))[0], "metadata.name") == "function-script"


def test_compositions_and_operations_may_use_it(package: Path) -> None:
    """A missing capability would keep one of them from running."""
    meta = read(read_flattened(package))[0]
    assert objects.find_path(meta, "spec.capabilities") == ["composition", "operation"]


def test_people_find_out_whose_package_it_is(package: Path) -> None:
    """The annotations that package managers show."""
    annotations = objects.find_path(read(read_flattened(package))[0], "metadata.annotations")
    assert isinstance(annotations, dict)
    names = {key.removeprefix("meta.crossplane.io/") for key in annotations}
    assert names >= {"maintainer", "source", "license", "description"}
