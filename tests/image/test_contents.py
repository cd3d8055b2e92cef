"""What is in the image: labels, licence, bytecode, nothing of the build; its bill of materials."""

import json
import re
import stat
import subprocess
from pathlib import Path

import pytest
import yaml
from image import build, dockerfile
from image.dockerfile import DockerfileError
from image.stages import Image
from support.paths import ROOT

import function_script

PREFIXES = {"slim": "usr/local", "bare": "usr", "otel": "usr"}
LABEL = "org.opencontainers.image"
# Libraries of Python that no program of ours imports, and those of other users.
UNUSED = re.compile(
    "/(dist-packages|site-packages|ensurepip|idlelib|pydoc_data|test|tkinter|turtledemo)/"
)
MAX_BYTES = 165_000_000
MAX_WHEELS = 25


def variant(image: Image) -> str:
    """Name the image's base."""
    return image.root.parent.name


def test_labels_say_what_it_is(image: Image) -> None:
    """Title, licence, source, version and revision, by which catalogues find the sources."""
    package = yaml.safe_load((build.FOLDER / "crossplane.yaml").read_text())
    notes = package["metadata"]["annotations"]
    assert image.labels[f"{LABEL}.title"] == package["metadata"]["name"]
    assert image.labels[f"{LABEL}.licenses"] == notes["meta.crossplane.io/license"]
    assert image.labels[f"{LABEL}.source"] == f"https://{notes['meta.crossplane.io/source']}"
    assert image.labels[f"{LABEL}.version"] == function_script.__version__
    assert image.labels[f"{LABEL}.revision"] == build.REVISION
    assert image.labels[f"{LABEL}.description"]


def test_licence_is_in_it(image: Image) -> None:
    """Ours, and those that wheels bring."""
    text = (ROOT / "LICENSE").read_text()
    folder = image.root / "licenses/function-script"
    assert (folder / "LICENSE").read_text() == text
    assert (folder / "NOTICE").read_text() == (ROOT / "NOTICE").read_text()


def test_code_is_all_compiled(image: Image) -> None:
    """Python's library and every package: user 2000 could not write bytecode."""
    library = next((image.root / PREFIXES[variant(image)] / "lib").glob("python3.*[0-9]"))
    packages = next((image.root / "venv/lib").glob("python3.*"))
    paths = [path for path in library.rglob("*.py") if not UNUSED.search(str(path))]
    paths += packages.rglob("*.py")
    assert len(paths) > 1000
    assert [
        str(path) for path in paths if not bytecode(path).exists() and not machine_code(path)
    ] == []
    assert [str(path) for path in paths if bytecode(path).exists() and machine_code(path)] == []


def bytecode(path: Path) -> Path:
    """Name the file with a module's bytecode for the image's Python."""
    return path.parent / "__pycache__" / f"{path.stem}.cpython-313.pyc"


def machine_code(path: Path) -> list[Path]:
    """List the compiled modules that Python imports instead of that one."""
    return [*path.parent.glob(f"{path.stem}.cpython-*.so")]


def test_image_is_small() -> None:
    """The default one: unpacked, and in packages that somebody has to follow."""
    image = build.read_image("bare-image")
    files = [path for path in image.root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert sum(path.stat().st_size for path in files) < MAX_BYTES
    assert len([*(image.root / "venv/lib").rglob("*.dist-info")]) <= MAX_WHEELS


@pytest.mark.parametrize(("name", "has_it"), [("bare", False), ("slim", False), ("otel", True)])
def test_exporter_is_in_the_image_that_has_its_name(name: str, *, has_it: bool) -> None:
    """And nothing else of OpenTelemetry in the others."""
    names = {path.name for path in build.read_image(f"{name}-image").root.rglob("opentelemetry*")}
    assert bool(names) == has_it


def test_bytecode_has_no_times_and_no_places_of_the_build(image: Image) -> None:
    """It belongs to its source by a hash, so that builds of the same source are the same."""
    library = next((image.root / PREFIXES[variant(image)] / "lib").glob("python3.*[0-9]"))
    for path in (library / "os.py", next((image.root / "venv/lib").rglob("cli/serve.py"))):
        data = bytecode(path).read_bytes()
        assert int.from_bytes(data[4:8], "little") == 1, "unchecked, by hash"
        assert b"/runtime/" not in data
        assert b"/image/" not in data


def test_code_that_every_request_passes_is_machine_code(image: Image) -> None:
    """An image whose code is interpreted would be slow for no visible reason."""
    names = {path.name.split(".")[0] for path in image.root.rglob("venv/lib/**/*.so")}
    assert "function_script_wire__mypyc" in names or "decode" in names


def test_image_has_the_crds_of_the_inputs(image: Image) -> None:
    """They are a link in the sources, and files in the wheel."""
    names = {path.name for path in image.root.glob("venv/lib/*/site-packages/*/input_crds/*")}
    assert names == {path.name for path in (ROOT / "input_crds").iterdir()}


def test_base_is_as_it_was(image: Image) -> None:
    """The last stage adds files and replaces none; nothing in it belongs to a build."""
    base = build.make_bases().directory / {"slim": "python-slim"}.get(variant(image), "bare")
    result = subprocess.run(
        ["diff", "--recursive", "--no-dereference", "--brief", base, image.root],
        check=False,
        capture_output=True,
        text=True,
    )
    lines = [
        line
        for line in result.stdout.splitlines()
        if "__pycache__" not in line and "is a character special file" not in line
    ]
    assert lines == [
        f"Only in {image.root}: licenses",
        f"Only in {image.root}: venv",
    ]


def test_files_cannot_be_written_or_gain_rights(image: Image) -> None:
    """By user 2000; the environment has no file with another user's rights."""
    for path in [image.root / "venv", *(image.root / "venv").rglob("*")]:
        mode = path.lstat().st_mode
        if not stat.S_ISLNK(mode):
            assert not mode & (stat.S_IWOTH | stat.S_ISUID | stat.S_ISGID), path
            assert mode & stat.S_IROTH, path


def test_bare_image_has_neither_shell_nor_package_manager() -> None:
    """Else the other one would be tested twice."""
    image = build.read_image("bare-image")
    names = {path.name for path in image.root.rglob("bin/*")}
    assert not names & {"sh", "bash", "dash", "apt", "apt-get", "dpkg", "perl", "pip", "busybox"}
    files = [path for path in image.root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert [path for path in files if path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID)] == []


@pytest.mark.parametrize("name", build.VARIANTS)
def test_bill_lists_all_packages(name: str) -> None:
    """Python's with the hash of their archive, Debian's, and Python where nobody else lists it."""
    image = build.read_image(f"{name}-image")
    bill = json.loads((build.read_image(f"{name}-sbom").root / "sbom.cdx.json").read_text())
    entries = {entry["purl"]: entry for entry in bill["components"]}
    folders = (image.root / "venv/lib").rglob("*.dist-info")
    packages = {folder.name.removesuffix(".dist-info").split("-")[0] for folder in folders}
    locked = requirements(build.VARIANTS[name].get("REQUIREMENTS", "image.txt"))
    pins = set(re.findall(r"^([\w.-]+==[\w.]+)", locked, re.MULTILINE))
    listed = {purl.removeprefix("pkg:pypi/") for purl in entries if purl.startswith("pkg:pypi/")}
    assert {one.replace("@", "==") for one in listed} == pins
    assert len(packages) == len(pins) + 1
    for purl, entry in entries.items():
        if purl.startswith("pkg:pypi/"):
            (archive,) = entry["hashes"]
            assert f"sha256:{archive['content']}" in locked, purl
    assert any(re.match(r"pkg:deb/debian/libc6@.*arch=(amd64|arm64)", purl) for purl in entries)
    assert [purl for purl in entries if purl.startswith("pkg:generic/python@3.13")] == (
        ["pkg:generic/python@3.13.5"] if name == "slim" else []
    )
    assert bill["metadata"]["component"]["name"] == "function-script"
    assert bill["metadata"]["component"]["version"] == function_script.__version__


def requirements(name: str) -> str:
    """Read a list of requirements."""
    return (ROOT / "requirements" / name).read_text()


@pytest.mark.parametrize("name", build.VARIANTS)
def test_bill_has_no_time_unless_it_gets_one(name: str) -> None:
    """Nor a random number, nor a place of the build."""
    text = (build.read_image(f"{name}-sbom").root / "sbom.cdx.json").read_text()
    bill = json.loads(text)
    assert "serialNumber" not in bill
    assert "timestamp" not in bill["metadata"]
    assert "file:///" not in text
    assert "/venv/" not in text


def test_base_with_python_elsewhere_is_refused(tmp_path: Path) -> None:
    """The error names the arguments that are not right, and comes before anything is compiled."""
    arguments = {**build.VARIANTS["bare"], "PREFIX": "/opt"}
    builder = build.make_builder(arguments, tmp_path, lambda _: None)
    builder.finished["build"] = Image(root=build.read_image("slim-image").root)
    with pytest.raises(DockerfileError, match=r"RUNTIME_BASE has no /opt/bin/python3\.13: set"):
        builder.build()


def test_wrong_hash_is_refused(tmp_path: Path) -> None:
    """A package of the same version with other bytes is not installed."""
    text = (build.FOLDER / "Dockerfile").read_text()
    line = "RUN python${PYTHON} -m venv /tools"
    broken = f"RUN sed -i s/sha256:....../sha256:000000/ requirements/build.txt\n{line}"
    (tmp_path / "Dockerfile").write_text(text.replace(line, broken))
    builder = build.make_builder({}, tmp_path, lambda _: None, tmp_path / "Dockerfile")
    with pytest.raises(DockerfileError, match="DO NOT MATCH THE HASHES"):
        builder.build("build")


def test_last_stage_runs_no_line() -> None:
    """So that its base needs no shell; and every package is installed by its hash."""
    stages = dockerfile.read(build.FOLDER / "Dockerfile", {}).stages
    assert "RUN" not in {instruction.name for instruction in stages[-1].instructions}
    for stage in stages:
        for instruction in stage.instructions:
            if "pip" in instruction.text and "install" in instruction.text:
                assert "--require-hashes" in instruction.text or "--no-index" in instruction.text
