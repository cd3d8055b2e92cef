"""Build a Python that looks like one on another system, with the packages of this one.

Run it with the directory to build in and the system: darwin or win32. The copy of the standard
library consists of links, but for `encodings`, which takes away what that system has not.
"""

import shutil
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = ("function-script", "pytest")


def build(directory: Path, system: str) -> Path:
    """Return the path of a Python in ``directory``, which is built anew."""
    shutil.rmtree(directory, ignore_errors=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    library = directory / "base" / "lib" / version
    (directory / "base" / "bin").mkdir(parents=True)
    copy_library(Path(sysconfig.get_path("stdlib")), library, system)
    packages = directory / "lib" / version / "site-packages"
    packages.parent.mkdir(parents=True)
    packages.symlink_to(Path(sysconfig.get_path("purelib")).resolve())
    home = directory / "base" / "bin"
    (directory / "pyvenv.cfg").write_text(f"home = {home}\n")
    programs = directory / "bin"
    programs.mkdir()
    python = programs / "python"
    python.symlink_to(Path(sys.executable).resolve())
    (programs / "python3").symlink_to("python")
    for name in PROGRAMS:
        text = Path(sys.executable).with_name(name).read_text().split("\n", 1)[1]
        (programs / name).write_text(f"#!{python}\n{text}")
        (programs / name).chmod(0o755)
    return python


def copy_library(source: Path, library: Path, system: str) -> None:
    """Link the standard library, and change what its first module does."""
    library.mkdir(parents=True)
    for path in source.iterdir():
        if path.name not in {"encodings", "site-packages", "__pycache__"}:
            (library / path.name).symlink_to(path)
        if path.name.startswith("_sysconfigdata"):
            other = library / path.name.replace("_linux_", f"_{system}_")
            if not other.exists():
                other.symlink_to(path)
    (library / "_taken_away.py").symlink_to(HERE / "taken_away.py")
    (library / "encodings").mkdir()
    for path in (source / "encodings").glob("*.py"):
        (library / "encodings" / path.name).symlink_to(path)
    first = library / "encodings" / "__init__.py"
    text = first.read_text()
    first.unlink()
    first.write_text(f"{text}\nimport _taken_away\n_taken_away.install({system!r})\n")
    if system == "darwin":
        # urllib asks macOS for its proxies.
        (library / "_scproxy.py").write_text(
            "def _get_proxy_settings():\n    return {}\n\n\n_get_proxies = _get_proxy_settings\n"
        )


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve(), sys.argv[2])
