"""Root file systems in place of the base images, which only a registry has.

Debian's packages are made by mmdebstrap into what the Dockerfile finds in its bases: Python with a
C compiler in /usr/local, and files of a few packages without a shell, with Python in /usr.
"""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

from image import machine
from support.paths import ROOT

DIRECTORY: Final = ROOT / "build" / "image" / "bases"
BARE: Final = DIRECTORY / "bare"
SUITE: Final = "trixie"
PYTHON: Final = "3.13"
_BUILD: Final = DIRECTORY / "python"
NAMES: Final = {
    f"docker.io/library/python:{PYTHON}-{SUITE}": _BUILD,
    "gcr.io/distroless/python3-debian13": BARE,
}
_PACKAGES: Final = (
    *(f"python{PYTHON}", f"python{PYTHON}-venv", "libstdc++6", "ca-certificates"),
    *("gcc", "libc6-dev", f"libpython{PYTHON}-dev"),
)
# Of an image without a shell: Python, and the libraries that it or a wheel is linked to.
_BARE_PACKAGES: Final = (
    *("base-files", "ca-certificates", "netbase", "media-types", "tzdata"),
    *("libc6", "libgcc-s1", "libstdc++6", "libssl3t64", "libzstd1", "zlib1g", "libexpat1"),
    *("libbz2-1.0", "liblzma5", "libffi8", "libuuid1", "libsqlite3-0", "libreadline8t64"),
    *("libtinfo6", "libncursesw6", f"python{PYTHON}", f"python{PYTHON}-minimal"),
    *(f"libpython{PYTHON}-minimal", f"libpython{PYTHON}-stdlib"),
)
PATH: Final = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"


def make() -> None:
    """Make all root file systems where they are not there; raises CalledProcessError."""
    if DIRECTORY.exists():
        return
    partial = DIRECTORY.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    build, bare = partial / _BUILD.name, partial / BARE.name
    for root in (build, bare):
        root.mkdir(parents=True)
    command = ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "--format=directory"]
    command += ["--dpkgopt=force-unsafe-io", f"--include={','.join(_PACKAGES)}"]
    command += [f"--aptopt={option}" for option in machine.apt_options()]
    subprocess.run([*command, SUITE, build, *machine.apt_mirror()], check=True)
    # They are this machine's.
    for name in ("resolv.conf", "hostname", "apt/apt.conf.d/99mmdebstrap"):
        (build / "etc" / name).unlink(missing_ok=True)
    # Slim bases have no bytecode.
    for path in [*build.rglob("__pycache__")]:
        shutil.rmtree(path)
    _copy_packages(build, bare)
    _move_python(build)
    partial.rename(DIRECTORY)


def _move_python(root: Path) -> None:
    """Move Debian's Python where Python's own images have theirs."""
    former, local = root / "usr", root / "usr/local"
    library = f"lib/python{PYTHON}"
    shutil.copytree(former / library, local / library, symlinks=True, dirs_exist_ok=True)
    shutil.rmtree(former / library)
    (local / library / "EXTERNALLY-MANAGED").unlink()
    shutil.move(former / f"bin/python{PYTHON}", local / f"bin/python{PYTHON}")
    for alias in ("python", "python3"):
        (local / "bin" / alias).symlink_to(f"python{PYTHON}")
    headers = Path(f"include/python{PYTHON}")
    shutil.move(former / headers, local / headers)
    # One header includes another one by the system's name.
    for path in (former / "include").glob(f"*/python{PYTHON}"):
        shutil.move(path, local / headers / path.parent.name / f"python{PYTHON}")


def _copy_packages(source: Path, root: Path) -> None:
    """Copy the files of the packages of an image without a shell, and their entries."""
    for link in ("bin", "sbin", "lib", "lib64"):
        shutil.copy2(source / link, root / link, follow_symlinks=False)
    for name in _BARE_PACKAGES:
        listing = next(
            path
            for path in source.glob(f"var/lib/dpkg/info/{name}*.list")
            if re.fullmatch(rf"{re.escape(name)}(:\w+)?", path.stem)
        )
        for line in listing.read_text().splitlines():
            path, copy = source / line[1:], root / line[1:]
            if path.is_dir() and not path.is_symlink():
                copy.mkdir(parents=True, exist_ok=True)
            elif path.is_symlink() or path.is_file():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, copy, follow_symlinks=False)
        stanzas = (source / "var/lib/dpkg/status").read_text().split("\n\n")
        (stanza,) = [text for text in stanzas if text.startswith(f"Package: {name}\n")]
        entry = root / "var/lib/dpkg/status.d" / name
        entry.parent.mkdir(parents=True, exist_ok=True)
        entry.write_text(stanza.replace("Status: install ok installed\n", "") + "\n")
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/sbin/nologin\n")
    (root / "etc/group").write_text("root:x:0:\n")
    for name in ("etc/ld.so.cache", "etc/ssl/certs/ca-certificates.crt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, root / name)
