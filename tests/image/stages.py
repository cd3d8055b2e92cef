"""Build package/Dockerfile by buildah: without Docker, and without a registry.

Buildah finds no image of a base but those of ``bases.py``, and pulls none. RUN lines are executed
in a root file system, which a container with mounts can have, too.
"""

import json
import platform
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from image import bases, machine
from install.machine import check_out, write_script
from support.paths import ROOT

TARGET: Final = ROOT / "build" / "image"
REVISION: Final = "0123456789abcdef0123456789abcdef01234567"
BUILT: Final = TARGET / "image.json"
ARCHITECTURE: Final = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]


class DockerfileError(Exception):
    """A Dockerfile cannot be built; the text is what buildah says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A root file system with what an image says about its containers."""

    root: Path
    environment: dict[str, str]
    labels: dict[str, str]
    entrypoint: list[str]
    user: str


class Builder:
    """Builds stages of package/Dockerfile, and puts their files into ``directory``.

    ``quick``: a compiler that optimises nothing takes a tenth of the time. Its layers are in a
    storage of their own, for buildah would take them for those of another compiler.
    """

    def __init__(self, directory: Path, arguments: Mapping[str, str], *, quick: bool) -> None:
        self._directory = directory
        self._arguments = arguments
        self._quick = quick
        self._storage = TARGET / ("quick" if quick else "optimised")
        subprocess.run(["rm", "-rf", directory], check=True)
        self._source = check_out(directory / "source")
        with self._mounts():
            for name, root in bases.NAMES.items():
                if not self._run("images", "--quiet", "--filter", f"reference={name}"):
                    self._make_base(name, root)

    def _make_base(self, name: str, root: Path) -> None:
        """Make an image of a root file system."""
        container = self._run("from", "scratch")
        self._run("add", "--quiet", container, str(root), "/")
        self._run("config", "--env", f"PATH={bases.PATH}", container)
        flags = ("--quiet", "--rm", "--identity-label=false", "--timestamp=0")
        self._run("commit", *flags, container, name)

    def build(self, name: str) -> Image:
        """Build the stage of that name and those that it needs; raises DockerfileError."""
        flags = ["--layers", "--pull-never", "--isolation=chroot", "--identity-label=false"]
        flags += [f"--target={name}"]
        flags += [f"--timestamp={self._arguments.get('SOURCE_DATE_EPOCH', 0)}"]
        flags += [f"--build-arg={key}={value}" for key, value in self._arguments.items()]
        with tempfile.TemporaryDirectory() as lent:
            mounts = machine.lend(Path(lent))
            if self._quick:
                mounts |= _quick_compiler(Path(lent))
            flags += [f"--volume={path}:{target}:ro" for target, path in mounts.items()]
            file = self._source / "package" / "Dockerfile"
            ignored = f"--ignorefile={file}.dockerignore"
            with self._mounts():
                self._run("bud", "-f", str(file), ignored, "-t", name, *flags, str(self._source))
        root = self._directory / name
        with self._mounts():
            container = self._run("from", "--pull-never", f"localhost/{name}")
            subprocess.run(["cp", "--archive", self._run("mount", container), root], check=True)
            self._run("rm", container)
        config: dict[str, Any] = json.loads(self._run("inspect", "--type=image", name))
        described = config["OCIv1"]["config"]
        return Image(
            root=root,
            environment=dict(entry.split("=", 1) for entry in described.get("Env", [])),
            labels=described.get("Labels", {}),
            entrypoint=described.get("Entrypoint", []),
            user=described.get("User", "0:0"),
        )

    def write_archive(self, name: str, target: Path, epoch: int) -> None:
        """Write a stage that was built to an OCI archive: the same bytes for the same stage."""
        settled = ("--sort=name", f"--mtime=@{epoch}", "--owner=0", "--group=0", "--numeric-owner")
        with tempfile.TemporaryDirectory() as layout:
            with self._mounts():
                self._run("push", "--quiet", name, f"oci:{layout}/image")
            command = ["tar", *settled, f"--directory={layout}/image", "--create", "--file", target]
            subprocess.run([*command, "oci-layout", "index.json", "blobs"], check=True)

    @contextmanager
    def _mounts(self) -> Iterator[None]:
        """Unmount at the end what buildah leaves mounted, or the storage could not be removed."""
        try:
            yield
        finally:
            mounted = self._storage / "root" / "overlay"
            subprocess.run(["umount", "--recursive", mounted], check=False, capture_output=True)
            # The counts of mounts are there, as of a machine that has started anew.
            subprocess.run(["rm", "-rf", self._storage / "run"], check=True)

    def _run(self, command: str, *arguments: str) -> str:
        """Run buildah and return what it prints."""
        storage = ("--root", str(self._storage / "root"), "--runroot", str(self._storage / "run"))
        result = subprocess.run(
            ["buildah", *storage, command, *arguments], check=False, capture_output=True, text=True
        )
        if result.returncode:
            raise DockerfileError(f"buildah {command}:\n{result.stdout}{result.stderr}")
        return result.stdout.strip()


def _quick_compiler(directory: Path) -> dict[str, str]:
    """Write a compiler that optimises nothing, and so takes a tenth of the time."""
    name = f"{platform.machine()}-linux-gnu-gcc"
    script = write_script(directory / "quick-cc", f'exec /usr/bin/{name} "$@" -O0')
    return {f"/usr/local/bin/{name}": script}


def read_image() -> Image:
    """Read what `make test-image` built."""
    entry = json.loads(BUILT.read_text())
    return Image(**{**entry, "root": Path(entry["root"])})
