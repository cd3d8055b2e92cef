"""Root file systems in place of the base images, which only a registry has.

Debian's packages are made by mmdebstrap into what a Dockerfile finds in Python's own images:
Python in /usr/local without bytecode, with a C compiler or without. A third one is like the images
that have neither a shell nor a package manager: files of a few packages, Python in /usr.
"""

import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from image import machine
from image.dockerfile import DockerfileError

SUITE: Final = "trixie"
PYTHON: Final = "3.13"
BARE: Final = "gcr.io/distroless/python3-debian13"
_BARE: Final = "bare"
_BUILD: Final = "python"
_SLIM: Final = "python-slim"
_SYSTEM: Final = "debian"
_NAME: Final = re.compile(
    r"(?:docker\.io/library/)?python:(?P<python>[\d.]+)(?:-trixie|(?P<slim>-slim))?(?:@.*)?"
)
_PACKAGES: Final = (f"python{PYTHON}", f"python{PYTHON}-venv", "libstdc++6", "ca-certificates")
_COMPILER: Final = ("gcc", "libc6-dev", f"libpython{PYTHON}-dev")
# Of an image without a shell: Python, and the libraries that it or a wheel is linked to.
_BARE_PACKAGES: Final = (
    *("base-files", "ca-certificates", "netbase", "media-types", "tzdata"),
    *("libc6", "libgcc-s1", "libstdc++6", "libssl3t64", "libzstd1", "zlib1g", "libexpat1"),
    *("libbz2-1.0", "liblzma5", "libffi8", "libuuid1", "libsqlite3-0", "libreadline8t64"),
    *("libtinfo6", "libncursesw6", f"python{PYTHON}", f"python{PYTHON}-minimal"),
    *(f"libpython{PYTHON}-minimal", f"libpython{PYTHON}-stdlib"),
)
_ENVIRONMENT: Final = {"PATH": "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A root file system, and the environment that its image sets."""

    root: Path
    environment: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bases:
    """The root file systems in a directory; ``make`` makes those that are not there."""

    directory: Path

    def find(self, name: str) -> Base:
        """Return the stand-in for the base image of that name; raises DockerfileError."""
        if name == "scratch":
            return Base(root=self.directory / name, environment={})
        if name == BARE:
            return Base(root=self.directory / _BARE, environment=_ENVIRONMENT)
        match = _NAME.fullmatch(name)
        if match is None or match["python"] != PYTHON:
            raise DockerfileError(
                f'no stand-in for base image "{name}": there are python:{PYTHON}, '
                f"python:{PYTHON}-slim and {BARE}"
            )
        root = self.directory / (_SLIM if match["slim"] else _BUILD)
        return Base(root=root, environment=_ENVIRONMENT)

    def make(self) -> None:
        """Make all root file systems; raises DockerfileError."""
        if self.directory.exists():
            return
        partial = self.directory.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        roots = {name: partial / name for name in ("scratch", _BARE, _SLIM, _BUILD, _SYSTEM)}
        for root in roots.values():
            root.mkdir(parents=True)
        with ThreadPoolExecutor() as threads:
            system = threads.submit(_bootstrap, roots[_SYSTEM], _PACKAGES)
            build = threads.submit(_bootstrap, roots[_BUILD], (*_PACKAGES, *_COMPILER))
            system.result()
            build.result()
        _copy_packages(roots[_SYSTEM], roots[_BARE])
        roots[_SLIM].rmdir()
        roots[_SYSTEM].rename(roots[_SLIM])
        for name in (_SLIM, _BUILD):
            _move_python(roots[name])
        headers = Path("usr/local/include")
        shutil.copytree(roots[_BUILD] / headers, roots[_SLIM] / headers, dirs_exist_ok=True)
        partial.rename(self.directory)


def _bootstrap(root: Path, packages: tuple[str, ...]) -> None:
    """Install Debian's packages into an empty directory."""
    command = ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "--format=directory"]
    command += ["--dpkgopt=force-unsafe-io", f"--include={','.join(packages)}"]
    command += [f"--aptopt={option}" for option in machine.apt_options()]
    result = subprocess.run(
        [*command, SUITE, root, *machine.apt_mirror()], check=False, capture_output=True, text=True
    )
    if result.returncode:
        raise DockerfileError(f"mmdebstrap failed:\n{result.stderr}")
    # They are this machine's.
    for name in ("resolv.conf", "hostname", "apt/apt.conf.d/99mmdebstrap"):
        (root / "etc" / name).unlink(missing_ok=True)


def _move_python(root: Path) -> None:
    """Move Debian's Python where Python's own images have theirs, without bytecode."""
    former, local = root / "usr", root / "usr/local"
    library = f"lib/python{PYTHON}"
    shutil.copytree(former / library, local / library, symlinks=True, dirs_exist_ok=True)
    shutil.rmtree(former / library)
    (local / library / "EXTERNALLY-MANAGED").unlink()
    shutil.move(former / f"bin/python{PYTHON}", local / f"bin/python{PYTHON}")
    for alias in ("python", "python3"):
        (local / "bin" / alias).symlink_to(f"python{PYTHON}")
    headers = Path(f"include/python{PYTHON}")
    if (former / headers).exists():
        shutil.move(former / headers, local / headers)
        # One header includes another one by the system's name.
        for path in (former / "include").glob(f"*/python{PYTHON}"):
            shutil.move(path, local / headers / path.parent.name / f"python{PYTHON}")
    _remove_bytecode(root)


def _remove_bytecode(root: Path) -> None:
    """Remove all bytecode: slim images have none."""
    for path in [*root.rglob("__pycache__")]:
        shutil.rmtree(path)


def _copy_packages(source: Path, root: Path) -> None:
    """Copy the files of the packages of an image without a shell."""
    for link in ("bin", "sbin", "lib", "lib64"):
        shutil.copy2(source / link, root / link, follow_symlinks=False)
    for name in _BARE_PACKAGES:
        _copy_package(source, root, name)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/sbin/nologin\n")
    (root / "etc/group").write_text("root:x:0:\n")
    for name in ("etc/ld.so.cache", "etc/ssl/certs/ca-certificates.crt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, root / name)
    _remove_bytecode(root)


def _copy_package(source: Path, root: Path, name: str) -> None:
    """Copy a package's files, and its entry of the list of packages."""
    listings = [*source.glob(f"var/lib/dpkg/info/{name}.list")]
    listings += source.glob(f"var/lib/dpkg/info/{name}:*.list")
    for line in listings[0].read_text().splitlines():
        path, copy = source / line[1:], root / line[1:]
        if path.is_dir() and not path.is_symlink():
            copy.mkdir(parents=True, exist_ok=True)
        elif path.is_symlink() or path.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy, follow_symlinks=False)
    stanzas = (source / "var/lib/dpkg/status").read_text().split("\n\n")
    (stanza,) = [text for text in stanzas if text.startswith(f"Package: {name}\n")]
    entries = root / "var/lib/dpkg/status.d"
    entries.mkdir(parents=True, exist_ok=True)
    (entries / name).write_text(stanza.replace("Status: install ok installed\n", "") + "\n")
