"""What lines of a Dockerfile need from this machine to reach package indexes, at run time only.

Names of servers, proxies and certificates: from pip's configuration, APT's and the environment.
They are mounted files while a line runs; buildah itself passes the variables of proxies on.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

_PACKAGES: Final = {
    "buildah": "buildah",
    "mmdebstrap": "mmdebstrap",
    "podman": "podman",
    "runc": "runc",
    "skopeo": "skopeo",
    # The profile that container engines have by default.
    "/usr/share/containers/seccomp.json": "golang-github-containers-common",
    "/usr/share/keyrings/debian-archive-keyring.gpg": "debian-archive-keyring",
}
_PIP: Final = {"index-url", "extra-index-url", "trusted-host", "proxy", "timeout", "cert"}
_CERTIFICATES: Final = ("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
_BUNDLE: Final = "/run/machine-certificates.pem"
_PIP_FILE: Final = "/etc/pip.conf"


def lend(directory: Path) -> dict[str, str]:
    """Write pip's settings for RUN lines to a directory; return files by their places there."""
    settings = _pip_settings()
    bundle = settings.pop("cert", None) or next(
        filter(None, map(os.environ.get, _CERTIFICATES)), None
    )
    mounts = {_PIP_FILE: str(directory / "pip.conf")}
    if bundle is not None:
        mounts[_BUNDLE] = bundle
        settings["cert"] = _BUNDLE
    lines = [f"{key} = {value}\n" for key, value in settings.items()]
    (directory / "pip.conf").write_text("".join(["[global]\n", *lines]))
    return mounts


def _pip_settings() -> dict[str, str]:
    """Read pip's settings of indexes from its files and variables."""
    lines = _read_output(sys.executable, "-m", "pip", "config", "list").splitlines()
    settings: dict[str, str] = {}
    # A variable, whose lines begin with a colon, wins over a file.
    for line in sorted(lines, reverse=True):
        name, _, value = line.partition("=")
        key = name.removeprefix("global.").removeprefix(":env:").lstrip(".")
        if key in _PIP:
            settings[key] = value.strip("'")
    return settings


def apt_options() -> list[str]:
    """Read APT's settings of proxies and certificates."""
    lines = _read_output("apt-config", "dump").splitlines()
    return [line for line in lines if re.match(r'Acquire::https?::[\w:.-]+ "[^"]', line)]


def apt_mirror() -> list[str]:
    """Name the mirror of Debian that this machine uses; nothing where it is another system."""
    release = platform.freedesktop_os_release()
    if release.get("ID") != "debian":
        return []
    selection = ("Created-By: Packages", f"Codename: {release['VERSION_CODENAME']}")
    return _read_output("apt-get", "indextargets", "--format", "$(REPO_URI)", *selection).split()[
        :1
    ]


def _read_output(*command: str) -> str:
    """Run a command; nothing where it is not installed, as APT on other systems."""
    if shutil.which(command[0]) is None:
        return ""
    return subprocess.run([*command], check=True, capture_output=True, text=True).stdout


def install_programs() -> list[str]:
    """Install what images need, where there is APT; return what is missing still."""
    missing = _missing_programs()
    if missing and shutil.which("apt-get"):
        print(f"installing {', '.join(missing)}", flush=True)
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        packages = [_PACKAGES[name] for name in missing]
        for command in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
            subprocess.run(["apt-get", "--quiet", *command], check=False, env=environment)
    return _missing_programs()


def _missing_programs() -> list[str]:
    """List what is needed and not there."""
    return [
        name
        for name in _PACKAGES
        if not (Path(name).exists() if "/" in name else shutil.which(name))
    ]
