"""Small files that expand to huge data: every tool rejects them at once, with the position."""

import gzip
import json
import struct
import subprocess
import sys
import tarfile
import time
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from support import one_step
from support.timing import stretched

from function_script.tools.xpkg import archives, images

# Thirteen levels of nine: 9**13 values in 700 bytes.
_LEVELS = [
    "  a0: &a0 [x, x, x, x, x, x, x, x, x]",
    *(f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 13)),
]
SPEC = "spec:\n" + "\n".join(_LEVELS) + "\n"
XR = one_step.XR + SPEC
COMPOSITION = one_step.composition(
    "StarlarkScript", "def main(req):\n    return {}\n", field="script"
)
TEMPLATE = """\
apiVersion: script.fn.crossplane.io/v1beta1
kind: JinjaTemplate
inline: ""
"""
META = "apiVersion: meta.pkg.crossplane.io/v1\nkind: Configuration\nmetadata: {name: apps}\n"
MIB = 1 << 20


class Outcome(NamedTuple):
    """The exit code, the output and the resources of a command."""

    code: int
    out: str
    err: str
    seconds: float
    peak_mib: float


# Between this process and the command: Linux counts what a parent has ever held as its child's.
MEASURE = """\
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
unit = 1 if sys.platform == "darwin" else 1024
print(process.returncode, usage.ru_maxrss * unit / (1 << 20), file=open("measured", "w"))
"""


def run(directory: Path, *args: str) -> Outcome:
    """Run a command in a process of its own."""
    command = [sys.executable, "-m", "function_script.cli", *args]
    began = time.monotonic()
    out, err = directory / "stdout", directory / "stderr"
    with out.open("w") as stdout, err.open("w") as stderr:
        subprocess.run(
            [sys.executable, "-S", "-c", MEASURE, *command],
            cwd=directory,
            stdout=stdout,
            stderr=stderr,
            check=True,
        )
    code, peak_mib = (directory / "measured").read_text().split()
    return Outcome(
        code=int(code),
        out=out.read_text(),
        err=err.read_text(),
        seconds=time.monotonic() - began,
        peak_mib=float(peak_mib),
    )


def assert_refused(outcome: Outcome, *words: str, peak_mib: float = 400) -> None:
    """Assert that a command failed at once with an author's error that has these words."""
    assert outcome.code == 1, outcome
    assert "our mistake" not in outcome.err
    output = outcome.err + outcome.out
    assert [word for word in words if word not in output] == [], output
    assert outcome.seconds < stretched(20)
    assert outcome.peak_mib < peak_mib


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder whose XR is the bomb."""
    (tmp_path / "xr.yaml").write_text(XR)
    (tmp_path / "composition.yaml").write_text(COMPOSITION)
    (tmp_path / "bomb.yaml").write_text(COMPOSITION + SPEC.replace("spec:", "bomb:"))
    (tmp_path / "case.yaml").write_text("xr: xr.yaml\nexpect: {}\n")
    (tmp_path / "template.yaml").write_text(TEMPLATE)
    return tmp_path


@pytest.mark.parametrize(
    ("args", "place"),
    [
        (("render", "."), "xr.yaml:10:"),
        (("render", "xr.yaml", "bomb.yaml"), "bomb.yaml:22:"),
        (("check", "bomb.yaml"), "bomb.yaml:22:"),
        (("validate", "xr.yaml", "composition.yaml"), "xr.yaml:10:"),
        (("test", "."), "xr.yaml:10:"),
        (("template", "template.yaml", "--data", "xr.yaml"), "xr.yaml:10:"),
        (("run", "xr.yaml"), "xr.yaml:10:"),
        (("render", ".", "--context-files", "k=xr.yaml"), "xr.yaml:10:"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_aliases_are_not_multiplied(project: Path, args: tuple[str, ...], place: str) -> None:
    """The error names the text with the aliases and its line."""
    outcome = run(project, *args)
    assert_refused(outcome, place, "values with aliases expanded")


def write_package(directory: Path, text: bytes) -> None:
    """Write a package whose base layer has this package.yaml."""
    layer = archives.tar({"package.yaml": text})
    image = images.with_layer(images.EMPTY, layer, "base")
    (directory / "test.xpkg").write_bytes(images.to_docker_archive(image))


def test_package_with_aliases(tmp_path: Path) -> None:
    """The error names the file in the package and its line."""
    write_package(tmp_path, (META + SPEC).encode())
    outcome = run(tmp_path, "package", "inspect", "test.xpkg")
    assert_refused(outcome, "test.xpkg/package.yaml:10:", "values with aliases expanded")


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    """The error is not reported as a bug."""
    write_package(tmp_path, META.encode() + b"# \xff\n")
    outcome = run(tmp_path, "package", "inspect", "test.xpkg")
    assert_refused(outcome, 'cannot read package "test.xpkg": its package.yaml is not UTF-8 text')
    (tmp_path / "crossplane.yaml").write_bytes(META.encode() + b"# \xff\n")
    outcome = run(tmp_path, "package", "build")
    assert_refused(outcome, 'cannot read "crossplane.yaml": it is not UTF-8 text')


@cache
def zeros(mebibytes: int = 576) -> bytes:
    """Return gzip of more than a package may have, or of less: one compressed block, repeated."""
    compressor = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = compressor.compress(bytes(MIB)) + compressor.flush(zlib.Z_FULL_FLUSH)
    checksum = 0
    for _ in range(mebibytes):
        checksum = zlib.crc32(bytes(MIB), checksum)
    header = gzip.compress(b"", mtime=0)[:10]
    trailer = struct.pack("<II", checksum, mebibytes * MIB)
    return header + block * mebibytes + compressor.flush() + trailer


def docker_archive(directory: Path, layer: bytes, config: bytes | None = None) -> None:
    """Return an image with one layer, as `docker save` writes it."""
    text = config or json.dumps({"rootfs": {"diff_ids": []}, "os": "linux"}).encode()
    listing = json.dumps([{"Config": "config.json", "Layers": ["layer.tar.gz"]}]).encode()
    files = {"manifest.json": listing, "config.json": text, "layer.tar.gz": layer}
    (directory / "test.xpkg").write_bytes(archives.tar(files))


def gzip_bomb(directory: Path) -> str:
    """A layer of 576 MiB in three megabytes."""
    docker_archive(directory, zeros())
    return "it expands to more than"


def many_bombs(directory: Path) -> str:
    """Different layers, each of 128 MiB in 600 KB."""
    whole = zeros(128)
    # The time in its header makes a gzip another one.
    layers = {
        f"{number}.tar.gz": whole[:4] + number.to_bytes(4, "little") + whole[8:]
        for number in range(64)
    }
    listing = [{"Config": "config.json", "Layers": [*layers]}]
    files = {"manifest.json": json.dumps(listing).encode(), "config.json": b"{}"}
    (directory / "test.xpkg").write_bytes(archives.tar({**files, **layers}))
    return "it expands to more than"


def outer_bomb(directory: Path) -> str:
    """A bomb instead of the archive."""
    (directory / "test.xpkg").write_bytes(zeros())
    return "it expands to more than"


def sparse_member(directory: Path) -> str:
    """A sparse file of GNU tar: a name, one block of data, and a size of 7 GB."""
    member = tarfile.TarInfo("manifest.json")
    member.size = 512
    member.type = tarfile.GNUTYPE_SPARSE
    header = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    # At 386: four pairs of offset and length; at 483 the size of the whole.
    header[386:410] = b"00000000000\x0000000001000\x00"
    header[483:495] = b"64000000000\x00"
    header[148:156] = b"        "
    header[148:156] = b"%06o\0 " % sum(header)
    (directory / "test.xpkg").write_bytes(bytes(header) + b"x" * 512 + bytes(1024))
    return 'its file "manifest.json" is sparse'


def link_to_itself(directory: Path) -> str:
    """A listing that is a link."""
    member = tarfile.TarInfo("manifest.json")
    member.type, member.linkname = tarfile.SYMTYPE, "manifest.json"
    (directory / "test.xpkg").write_bytes(member.tobuf() + bytes(1024))
    return 'its file "manifest.json" is sparse or no plain file'


def many_headers(directory: Path) -> str:
    """Headers of one file, which Python reads by recursion."""
    member = tarfile.TarInfo("a")
    member.type = tarfile.XHDTYPE
    (directory / "test.xpkg").write_bytes(member.tobuf() * 2_000)
    return "a file of its archive has too many headers"


def deep_listing(directory: Path) -> str:
    """The list of images is nested 200,000 levels deep."""
    listing = b"[" * 200_000 + b"]" * 200_000
    (directory / "test.xpkg").write_bytes(archives.tar({"manifest.json": listing}))
    return "it is nested more than 200 levels deep"


def deep_config(directory: Path) -> str:
    """The config is nested 500 levels deep."""
    config = b'{"a":' * 500 + b"1" + b"}" * 500
    docker_archive(directory, archives.gzip_stored(archives.tar({})), config)
    return "it is nested more than 200 levels deep"


def many_digits(directory: Path) -> str:
    """A number that Python does not convert."""
    config = b'{"a": ' + b"1" * 5_000 + b"}"
    docker_archive(directory, archives.gzip_stored(archives.tar({})), config)
    return "more than 4,300 digits"


def half_a_surrogate(directory: Path) -> str:
    """A string that is not Unicode."""
    docker_archive(directory, archives.gzip_stored(archives.tar({})), b'{"os": "\\ud800"}')
    return "half of a surrogate pair"


def large_config(directory: Path) -> str:
    """A config beyond the size limit."""
    docker_archive(directory, archives.gzip_stored(archives.tar({})), b" " * (9 * MIB) + b"{}")
    return 'its file "config.json" has more than 8,388,608 bytes'


def parent_names(directory: Path) -> str:
    """A config outside of the directory."""
    (directory / "secret").write_text("secret")
    listing = json.dumps([{"Config": "../secret", "Layers": []}]).encode()
    (directory / "test.xpkg").mkdir()
    (directory / "test.xpkg" / "manifest.json").write_bytes(listing)
    return "it names a file '../secret', which is not one of its own"


def linked_out(directory: Path) -> str:
    """A config that links to a file outside of the directory."""
    (directory / "secret").write_text("{}")
    listing = json.dumps([{"Config": "config.json", "Layers": []}]).encode()
    (directory / "test.xpkg").mkdir()
    (directory / "test.xpkg" / "manifest.json").write_bytes(listing)
    (directory / "test.xpkg" / "config.json").symlink_to(directory / "secret")
    return 'its file "config.json" is a link to a file outside of it'


BOMBS = [
    gzip_bomb,
    pytest.param(many_bombs, marks=pytest.mark.attack),
    outer_bomb,
    sparse_member,
    link_to_itself,
    many_headers,
    deep_listing,
    deep_config,
    many_digits,
    half_a_surrogate,
    large_config,
    parent_names,
    linked_out,
]


@pytest.mark.parametrize("bomb", BOMBS)
def test_packages_that_are_not_what_they_seem(tmp_path: Path, bomb: Callable[[Path], str]) -> None:
    """They use little memory and time, and no file outside of the directory is read."""
    message = bomb(tmp_path)
    outcome = run(tmp_path, "package", "inspect", "test.xpkg")
    assert_refused(outcome, 'cannot read image "test.xpkg"', message)


def test_names_never_control_the_terminal(tmp_path: Path) -> None:
    """This holds for text and for JSON."""
    name = "\x1b]0;owned\x07\x9b31m\u202e"
    meta = META.replace("apps", json.dumps(name))
    write_package(tmp_path, meta.encode())
    text = run(tmp_path, "package", "inspect", "test.xpkg").out
    assert text.startswith("Configuration \\u001b]0;owned\\u0007\\u009b31m\\u202e\n")
    report = run(tmp_path, "package", "inspect", "test.xpkg", "-o", "json").out
    assert report.isascii()
    assert json.loads(report)["meta"]["metadata"]["name"] == name


def test_layer_is_read_once(tmp_path: Path) -> None:
    """The image has it 256 times, which is 2 GiB."""
    listing = [{"Config": "config.json", "Layers": ["layer.tar.gz"] * 256}]
    files = {"manifest.json": json.dumps(listing).encode(), "config.json": b"{}"}
    files["layer.tar.gz"] = zeros(8)
    (tmp_path / "test.xpkg").write_bytes(archives.tar(files))
    outcome = run(tmp_path, "package", "inspect", "test.xpkg")
    assert_refused(outcome, "it holds no package.yaml")
