"""Images of function packages in a registry of the tests, with this Python as their runtime."""

import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from e2e.scripted_registry import Registry

from function_script.tools.processes.cache import this_platform
from function_script.tools.xpkg import archives, images

_SERVER: Final = Path(__file__).with_name("function_script_server.py")
# What the server imports; the files of all of it are what the image has.
_LIST_FILES: Final = """\
import ctypes, encodings.idna, fnmatch, ntpath, pathlib, socket, struct, sys, time, urllib.parse
print(*{line.split()[-1] for line in open("/proc/self/maps") if "/" in line}, sep="\\n")
for module in list(sys.modules.values()):
    print(getattr(module, "__file__", None) or "")
"""
META: Final = (
    b"apiVersion: meta.pkg.crossplane.io/v1\nkind: Function\nmetadata: {name: function-test}\n"
)


def member(name: str, data: bytes = b"", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    """Return one entry of an archive; ``fields`` are those of `TarInfo`."""
    info = tarfile.TarInfo(name)
    info.size = len(data)
    info.mode = 0o755
    for key, value in fields.items():
        setattr(info, key, value)
    return info, data


def archive(members: Iterable[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    """Return an uncompressed archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as file:
        for info, data in members:
            file.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


@cache
def python_layer() -> bytes:
    """Return a layer with this interpreter, its libraries and a few modules: some 30 MB."""
    interpreter = _interpreter()
    output = subprocess.run(
        [interpreter, "-I", "-S", "-c", _LIST_FILES], capture_output=True, text=True, check=True
    ).stdout
    paths = {Path(line) for line in output.splitlines() if line.startswith("/")}
    files = sorted(path for path in paths if path.is_file())
    members = [member(str(path)[1:], path.read_bytes()) for path in files]
    for path in (path for path in files if ".so" in path.name):
        members += [
            member(str(link)[1:], type=tarfile.SYMTYPE, linkname=str(path)) for link in _links(path)
        ]
    return archive(members)


def _links(library: Path) -> list[Path]:
    """Return the links by whose names programs find a library."""
    stem = library.name.partition(".so")[0]
    directories = {library.parent, Path("/lib"), Path("/lib64")}
    names = (path for directory in directories for path in directory.glob(f"{stem}.so*"))
    return sorted(path for path in names if path != library and path.resolve() == library)


def _interpreter() -> str:
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


@cache
def server_layer() -> bytes:
    """Return a layer with the script ``/function``."""
    # One argument alone: the kernel does not split the rest of the line.
    text = f"#!{_interpreter()} -IS\n".encode() + _SERVER.read_bytes()
    return archive([member("function", text)])


def put_image(
    registry: Registry,
    layers: Iterable[bytes],
    name: str = "v1",
    *,
    entrypoint: Iterable[str] = ("/function",),
    environment: Mapping[str, str] | None = None,
    platform: str = "",
    **config: object,
) -> dict[str, object]:
    """Put an image under a tag; return its manifest, which the caller may change and put again."""
    system, _, architecture = (platform or this_platform()).partition("/")
    variables = [f"{key}={value}" for key, value in (environment or {}).items()]
    document = {
        "os": system,
        "architecture": architecture,
        "config": {"Entrypoint": list(entrypoint), "Env": variables, **config},
    }
    package = registry.put(archives.gzip_stored(archives.tar({"package.yaml": META})))
    manifest: dict[str, object] = {
        "schemaVersion": 2,
        "config": registry.put(json.dumps(document).encode()),
        "layers": [
            *map(registry.put, layers),
            {**package, "annotations": {images.LABEL: "base"}},
        ],
    }
    put_manifest(registry, manifest, name)
    return manifest


def put_manifest(registry: Registry, manifest: dict[str, object], name: str) -> str:
    """Put a manifest under a tag and its digest; return the digest."""
    data = json.dumps(manifest).encode()
    digest = images.sha256(data)
    registry.manifests[name] = registry.manifests[digest] = data
    return digest


def put_server(registry: Registry, mode: str = "serve", name: str = "v1", mark: str = "") -> None:
    """Put the function of the tests; ``mark`` is in the command line of its processes."""
    put_image(
        registry,
        (python_layer(), server_layer()),
        name,
        environment={"MODE": mode},
        WorkingDir="/tmp",  # noqa: S108 - its own
        Cmd=[f"--mark={mark}"] if mark else [],
    )


def find_processes(mark: str) -> list[int]:
    """Return the processes with a word in their command lines, without this one."""
    matches = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            is_match = mark.encode() in (path / "cmdline").read_bytes()
        except OSError:
            continue
        if is_match and int(path.name) != os.getpid():
            matches.append(int(path.name))
    return matches
