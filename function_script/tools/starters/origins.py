"""The origin of the function in a new project: its package for Crossplane, its command for CI.

The command's origin is recorded by pip at installation (PEP 610).
"""

import json
import re
from dataclasses import dataclass
from importlib import metadata
from typing import Final
from urllib.parse import urlsplit

from function_script.request import objects
from function_script.texts import release
from function_script.texts.errors import InputError
from function_script.tools.render.runtimes.local import OURS
from function_script.tools.xpkg import references

_VERSION: Final = re.compile(r"v?\d+(\.\d+){0,2}(-[0-9A-Za-z.-]+)?")
_NAME: Final = re.compile(r"([A-Za-z0-9][\w.-]*)\s*(\[[^\]]*\])?\s*([=<>!~;].*)?")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_REMOTE: Final = {"http", "https", "ssh", "git"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Origins:
    """The function's package, and the argument of ``pip install``, empty if unknown."""

    package: references.Reference
    requirement: str = ""

    @property
    def substitutions(self) -> dict[str, str]:
        """Return the texts that take the place of the words in a starter's files."""
        version = self.package.version
        constraint = version if self.package.is_pinned else f">={version}"
        return {
            "FUNCTION_NAME": self.package.object_name,
            "PACKAGE_REFERENCE": str(self.package),
            "PACKAGE_NAME": self.package.name,
            "PACKAGE_CONSTRAINT": json.dumps(constraint),
            "INSTALL_REQUIREMENT": json.dumps(self.requirement, ensure_ascii=False)
            if self.requirement
            else '""  # REQUIRED: the first step fails until this is set',
        }


def parse_package(text: str) -> references.Reference:
    """Parse the reference of a Function's package; raises InputError.

    A Configuration depends on a range of versions or on a digest, so any other tag is refused.
    """
    package = references.parse(text)
    if not package.is_pinned and not _VERSION.fullmatch(package.version):
        raise InputError.of(
            f'cannot depend on the package "{text}": "{package.version}" is not a version',
            hint="use a tag such as v0.1.0, or a digest",
        )
    *path, name = package.repository.split("/")
    if name != OURS:
        raise InputError.of(
            f'cannot use the package "{text}": render and check know the function by the name of '
            f'its repository, which must be "{OURS}"',
            hint=f"push it as {'/'.join((package.host, *path, OURS))}:{package.version}"
            if not package.is_pinned
            else None,
        )
    return package


def parse_requirement(text: str) -> str:
    """Parse an argument of ``pip install``; raises InputError."""
    requirement = text.strip()
    if not requirement:
        raise InputError.of("cannot install from an empty text")
    if requirement.startswith("-"):
        raise InputError.of(f'cannot install from "{requirement}": it is an option of pip')
    if _CONTROL.search(requirement):
        raise InputError.of("cannot install from a text with line breaks or control characters")
    name = _NAME.fullmatch(requirement)
    normal_name = re.sub(r"[-_.]+", "-", name[1]).lower() if name else ""
    if not release.IS_ON_INDEX and normal_name == release.DISTRIBUTION:
        raise InputError.of(
            f'cannot install "{requirement}": {release.DISTRIBUTION} is not published on the '
            "index, where anybody could register the name",
            hint="name a git URL (git+https://…), the URL of a wheel, or a path",
        )
    return requirement


def installed_requirement() -> str:
    """Return the argument of ``pip install`` that installs this command.

    It is empty if pip installed from this machine: other machines cannot install from there.
    """
    try:
        text = metadata.distribution(release.DISTRIBUTION).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return ""
    if text is None:
        return f"{release.DISTRIBUTION}=={release.VERSION}" if release.IS_ON_INDEX else ""
    try:
        origin = json.loads(text)
    except ValueError:
        return ""
    if not isinstance(origin, dict):
        return ""
    url = str(origin.get("url", ""))
    address = urlsplit(url)
    # pip records no passwords; if there is one anyway, it must not get into a file.
    if address.scheme not in _REMOTE or address.password or address.username not in {None, "git"}:
        return ""
    system = objects.find_path(origin, "vcs_info.vcs")
    if system:
        url = f"{system}+{url}@{objects.find_path(origin, 'vcs_info.commit_id')}"
    parts = {
        "sha256": objects.find_path(origin, "archive_info.hashes.sha256"),
        "subdirectory": origin.get("subdirectory"),
    }
    fragment = "&".join(f"{key}={value}" for key, value in parts.items() if value)
    return f"{release.DISTRIBUTION} @ {url}{'#' if fragment else ''}{fragment}"
