"""What lines of a Dockerfile need from this machine to reach package indexes, at run time only.

Names of servers, proxies and certificates: from pip's configuration, APT's and the environment.
They are files and variables while a line runs; nothing of them stays in a root file system.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

# The profile that container engines have by default, as a package of Debian has it.
SECCOMP: Final = Path("/usr/share/containers/seccomp.json")
_PROXIES: Final = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_PACKAGES: Final = {
    "mmdebstrap": "mmdebstrap",
    "runc": "runc",
    "skopeo": "skopeo",
    str(SECCOMP): "golang-github-containers-common",
    "/usr/share/keyrings/debian-archive-keyring.gpg": "debian-archive-keyring",
}
_PIP: Final = {"index-url", "extra-index-url", "trusted-host", "proxy", "timeout", "cert"}
_CERTIFICATES: Final = ("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
_BUNDLE: Final = "run/machine-certificates.pem"
_RESOLVER: Final = "etc/resolv.conf"


@contextmanager
def lent_to(root: Path) -> Iterator[dict[str, str]]:
    """Lend a root file system the machine's resolver and certificates; yield its variables."""
    settings = _pip_settings()
    bundle = settings.pop("cert", None) or next(
        filter(None, map(os.environ.get, _CERTIFICATES)), None
    )
    variables = {name: os.environ[name] for name in _PROXIES if name in os.environ}
    variables |= {f"PIP_{key.replace('-', '_').upper()}": settings[key] for key in settings}
    resolver = root / _RESOLVER
    resolver.parent.mkdir(exist_ok=True)
    shutil.copyfile(Path("/") / _RESOLVER, resolver)
    try:
        if bundle is not None:
            (root / _BUNDLE).parent.mkdir(exist_ok=True)
            shutil.copyfile(bundle, root / _BUNDLE)
            variables |= dict.fromkeys(_CERTIFICATES, f"/{_BUNDLE}")
        yield variables
    finally:
        (root / _BUNDLE).unlink(missing_ok=True)
        resolver.unlink()


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
