"""What is in the image: labels, licence, bytecode, nothing of the build; its bill of materials."""

import json
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from image import bases
from image.stages import (
    ARCHITECTURE,
    REVISION,
    TARGET,
    Builder,
    DockerfileError,
    read_image,
)
from support.paths import ROOT

import function_script

IMAGE = read_image()
ENVIRONMENT = IMAGE.root / "venv"
# Libraries of Python that no program of ours imports, and those of other users.
UNUSED = re.compile(
    "/(dist-packages|site-packages|ensurepip|idlelib|pydoc_data|test|tkinter|turtledemo)/"
)
MAX_BYTES = 165_000_000
MAX_WHEELS = 25


def test_labels_say_what_it_is() -> None:
    """Title, licence, source, version and revision, by which catalogues find the sources."""
    package = yaml.safe_load((ROOT / "package" / "crossplane.yaml").read_text())
    notes = package["metadata"]["annotations"]
    labels = {
        key.removeprefix("org.opencontainers.image."): IMAGE.labels[key] for key in IMAGE.labels
    }
    assert labels.pop("description")
    assert labels.pop("base.name").startswith("gcr.io/distroless/")
    assert labels == {
        "title": package["metadata"]["name"],
        "licenses": notes["meta.crossplane.io/license"],
        "source": f"https://{notes['meta.crossplane.io/source']}",
        "version": function_script.__version__,
        "revision": REVISION,
    }


def test_licence_is_in_it() -> None:
    folder = IMAGE.root / "licenses/function-script"
    for name in ("LICENSE", "NOTICE"):
        assert (folder / name).read_bytes() == (ROOT / name).read_bytes()


def test_code_is_all_compiled() -> None:
    """Python's library and every package: user 2000 could not write bytecode."""
    library = IMAGE.root / "usr/lib/python3.13"
    paths = [path for path in library.rglob("*.py") if not UNUSED.search(str(path))]
    paths += (ENVIRONMENT / "lib").rglob("*.py")
    assert len(paths) > 1000
    for path in paths:
        # What Python imports instead, where a module is machine code.
        machine_code = [*path.parent.glob(f"{path.stem}.cpython-*.so")]
        assert name_bytecode(path).exists() != bool(machine_code), path
    # It belongs to its source by a hash, so that builds of the same source are the same.
    for path in (library / "os.py", next(ENVIRONMENT.rglob("cli/serve.py"))):
        data = name_bytecode(path).read_bytes()
        assert int.from_bytes(data[4:8], "little") == 1, "unchecked, by hash"
        assert b"/runtime/" not in data
        assert b"/image/" not in data


def name_bytecode(path: Path) -> Path:
    """Name the file with a module's bytecode for the image's Python."""
    return path.parent / "__pycache__" / f"{path.stem}.cpython-313.pyc"


def test_image_is_small() -> None:
    """Unpacked, and in packages that somebody has to follow; without the exporter of traces."""
    files = [path for path in IMAGE.root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert sum(path.stat().st_size for path in files) < MAX_BYTES
    assert len([*ENVIRONMENT.rglob("*.dist-info")]) <= MAX_WHEELS
    assert not [*ENVIRONMENT.rglob("opentelemetry*")]


def test_base_is_as_it_was() -> None:
    """The image adds an environment, licences and bytecode, and changes nothing."""
    result = subprocess.run(
        ["diff", "--recursive", "--no-dereference", "--brief", bases.BARE, IMAGE.root],
        check=False,
        capture_output=True,
        text=True,
    )
    lines = [
        line
        for line in result.stdout.splitlines()
        if "__pycache__" not in line and "is a character special file" not in line
    ]
    assert lines == [f"Only in {IMAGE.root}: licenses", f"Only in {IMAGE.root}: venv"]


def test_files_cannot_be_written_or_gain_rights() -> None:
    """By user 2000; no file has another user's rights, and there is no shell to write one."""
    for path in IMAGE.root.rglob("*"):
        mode = path.lstat().st_mode
        if stat.S_ISREG(mode):
            assert not mode & (stat.S_IWOTH | stat.S_ISUID | stat.S_ISGID), path
        if ENVIRONMENT in path.parents and not stat.S_ISLNK(mode):
            assert mode & stat.S_IROTH, path
    names = {path.name for path in IMAGE.root.rglob("bin/*")}
    assert not names & {"sh", "bash", "dash", "apt", "apt-get", "dpkg", "perl", "pip", "busybox"}


def test_bill_lists_all_packages() -> None:
    """Python's with the hash of their archive, and Debian's; it has no time and no place."""
    text = (TARGET / "stages" / "sbom" / "sbom.cdx.json").read_text()
    bill = json.loads(text)
    entries = {entry["purl"]: entry for entry in bill["components"]}
    locked = (ROOT / "requirements" / "image.txt").read_text()
    pins = set(re.findall(r"^([\w.-]+==[\w.]+)", locked, re.MULTILINE))
    python = [purl for purl in entries if purl.startswith("pkg:pypi/")]
    assert {purl.removeprefix("pkg:pypi/").replace("@", "==") for purl in python} == pins
    assert len([*ENVIRONMENT.rglob("*.dist-info")]) == len(pins) + 1
    for purl in python:
        (archive,) = entries[purl]["hashes"]
        assert f"sha256:{archive['content']}" in locked, purl
    assert any(re.match(r"pkg:deb/debian/libc6@.*arch=(amd64|arm64)", purl) for purl in entries)
    assert bill["metadata"]["component"]["name"] == "function-script"
    assert bill["metadata"]["component"]["version"] == function_script.__version__
    assert not {"serialNumber", "timestamp"} & {*bill, *bill["metadata"]}
    assert "file:///" not in text
    assert "/venv/" not in text


def test_base_with_python_elsewhere_is_refused(tmp_path: Path) -> None:
    """The error names the arguments that are not right, and comes before anything is compiled."""
    builder = Builder(tmp_path, {"PREFIX": "/opt"}, quick=True)
    with pytest.raises(DockerfileError, match=r"RUNTIME_BASE has no /opt/bin/python3\.13: set"):
        builder.build("image")


def test_last_stage_runs_no_line() -> None:
    """So that its base needs no shell; and every package is installed by its hash."""
    text = re.sub(r"\\\n", " ", (ROOT / "package" / "Dockerfile").read_text())
    assert "\nRUN " not in text[text.rindex("\nFROM ") :]
    for line in text.splitlines():
        for part in line.split("&&"):
            if re.search("pip .*install ", part):
                assert "--require-hashes" in part or "--no-index" in part


def test_package_of_the_image_has_the_same_bytes_every_time(tmp_path: Path) -> None:
    """Of a layout, and of what `docker save` writes; it holds what the image says."""
    saved, plain = tmp_path / "saved.tar", tmp_path / "image.tar"
    Builder(tmp_path / "builder", {}, quick=True).write_archive("image", plain, 0)
    run("skopeo", "copy", "--quiet", f"oci-archive:{plain}", f"docker-archive:{saved}:image:tag")
    for source in (plain, saved):
        assert pack(source, tmp_path / "a.xpkg") == pack(source, tmp_path / "b.xpkg")
        config = json.loads(
            run("skopeo", "inspect", "--config", f"docker-archive:{tmp_path}/a.xpkg")
        )
        assert config["config"]["User"] == IMAGE.user
        assert config["config"]["Entrypoint"] == IMAGE.entrypoint
        assert config["config"]["Labels"].items() >= IMAGE.labels.items()
    command = ("package", "inspect", str(tmp_path / "a.xpkg"), "--output", "json")
    report = json.loads(run(sys.executable, "-m", "function_script.cli", *command))
    kinds = [entry["kind"] for entry in report["objects"]]
    assert kinds.count("CustomResourceDefinition") == 3
    assert [entry["platform"] for entry in report["platforms"]] == [f"linux/{ARCHITECTURE}"]


def pack(runtime: Path, output: Path) -> bytes:
    """Build the package of the checkout's own metadata with a runtime image."""
    command = ("package", "build", "--runtime-image", str(runtime), "-o", str(output))
    run(sys.executable, "-m", "function_script.cli", *command)
    return output.read_bytes()


def run(*command: str) -> str:
    """Run a command and return its output."""
    result = subprocess.run([*command], check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout
