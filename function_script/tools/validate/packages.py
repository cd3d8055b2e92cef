"""Schemas of packages: those that Provider objects and metadata name, and what they depend on.

They are in the cache of the official command, as IMAGE@VERSION/package.yaml. Without a fetch
nothing is downloaded.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from function_script.documents import Document
from function_script.request import objects
from function_script.request.values import Object
from function_script.tools import manifests, sources
from function_script.tools.project import Project, create

NAME: Final = "function-script"
CACHE: Final = Path("~/.crossplane/cache")

# The characters of registries, repositories, tags and digests; each part becomes a file name.
_IMAGE: Final = re.compile(r"[\w.:@/-]{1,1024}", re.ASCII)
_MAX_PART: Final = 255
# The beginnings of a range of versions.
_RANGES: Final = ("<", ">", "=", "~", "^", "*", "!")
_MAX_QUOTED: Final = 100
_MAX_PACKAGES: Final = 200
_PACKAGE_GROUP: Final = "pkg.crossplane.io"
_META_GROUP: Final = "meta.pkg.crossplane.io"
_KINDS: Final = ("Provider", "Function", "Configuration")
_DEPENDENCIES: Final = ("package", "provider", "function", "configuration")
_FILE: Final = "package.yaml"


def find_references(manifest: Object) -> Iterator[str]:
    """Yield the packages that an object names: its own, and those that it depends on."""
    api_version, kind = objects.api_version_and_kind(manifest)
    group = manifests.group(api_version)
    if group == _PACKAGE_GROUP and kind in _KINDS:
        yield manifests.text_at(manifest, "spec", "package")
    elif group == _META_GROUP and kind in _KINDS:
        for dependency in manifests.objects_at(manifest, "spec", "dependsOn"):
            names = (manifests.text_at(dependency, key) for key in _DEPENDENCIES)
            version = manifests.text_at(dependency, "version")
            joint = "@" if version.startswith("sha256:") else ":"
            yield f"{next(filter(None, names), '')}{joint}{version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageSchemas:
    """The packages in the directory ``cache``; others are fetched into it if it ``fetches``.

    ``notes`` are collected of packages without schemas.
    """

    cache: Path = CACHE
    fetches: bool = False
    notes: list[str] = field(default_factory=list)

    def load_beside(self, crds: Sequence[str], project: Project) -> list[Object]:
        """Load the objects of `sources.load`, behind those of the packages that they name."""
        loaded = sources.refuse_lists(sources.load(crds, project))
        if crds and not loaded:
            names = ", ".join(f'"{each}"' for each in crds)
            self.notes.append(f"there is no XRD, CRD or package in {names}")
        return [document.value for document in (*self.load(loaded), *loaded)]

    def load(self, extensions: Iterable[Document], optional: str = "") -> list[Document]:
        """Load the objects of the packages that ``extensions`` name, and of what these depend on.

        The package ``optional`` is read if it is in the cache. Raises InputError and DocumentError.
        """
        loaded: list[Document] = []
        names = [name for each in extensions for name in find_references(each.value)]
        waiting = [*filter(None, [optional, *names])]
        done: set[str] = set()
        while waiting and len(done) < _MAX_PACKAGES:
            name = waiting.pop(0)
            # Packages may depend on each other in a circle.
            if name in done:
                continue
            done.add(name)
            path = self._find(name, is_optional=name == optional)
            if path is not None:
                package = sources.load([str(path)], Project([path.parent]))
                loaded += package
                waiting += (below for each in package for below in find_references(each.value))
        return loaded

    def _find(self, name: str, *, is_optional: bool) -> Path | None:
        """Return the file of a package; None without one."""
        image, constraint = _split_range(name)
        parts = image.split("/")
        is_inside_cache = all(part not in {"", ".", ".."} for part in parts)
        if not (
            _IMAGE.fullmatch(image) and is_inside_cache and len(max(parts, key=len)) <= _MAX_PART
        ):
            self.notes.append(
                f'invalid package reference "{name[:_MAX_QUOTED]}", so it has no schemas'
            )
            return None
        version = self._resolve(image, constraint) if constraint else ""
        if version is None:
            self.notes.append(
                f'no version of package "{image}" in {self._place()} is {constraint}, so it has no '
                f"schemas{self._hint()}"
            )
            return None
        reference = f"{image}:{version}" if version else image
        path = self._directory() / reference.replace(":", "@") / _FILE
        # The official command has fetched our own package for its input kinds, which are here.
        is_own = parts[-1].partition(":")[0].partition("@")[0] == NAME
        if path.is_file() or is_optional or is_own:
            return path if path.is_file() else None
        if self.fetches:
            from function_script.tools.xpkg import inspector  # noqa: PLC0415 - slow to import

            data = inspector.fetch_package(reference).encode()
            # In place of one that another command has fetched meanwhile.
            create(path.parent).write(path, data)
            return path
        self.notes.append(
            f'the schemas of package "{reference}" are not in {self._place()}{self._hint()}'
        )
        return None

    def _resolve(self, image: str, constraint: str) -> str | None:
        """Return the greatest version of an image in a range."""
        from function_script.engines.gotemplate.sprig import semver  # noqa: PLC0415 - slow to import

        if self.fetches:
            from function_script.tools.xpkg import references, registry  # noqa: PLC0415 - as above

            reference = references.parse(f"{image}:latest")
            tags = registry.Repository(reference, "pull").list_tags()
        else:
            files = self._directory().glob(f"{image.replace(':', '@')}@*")
            tags = [each.name.rpartition("@")[2] for each in files]
        fitting = [tag for tag in tags if _is_in_range(tag, constraint)]
        return max(fitting, key=lambda tag: semver.Version.parse(tag).precedence(), default=None)

    def _directory(self) -> Path:
        # A user without a home directory has no cache.
        with suppress(RuntimeError):
            return self.cache.expanduser()
        return self.cache

    def _place(self) -> str:
        return "the registry" if self.fetches else f'the cache "{self._directory()}"'

    def _hint(self) -> str:
        more = "" if self.fetches else "pass --fetch, or "
        return f": {more}give the package's CRDs"


def _split_range(name: str) -> tuple[str, str]:
    """Return an image with its version; and the range, if that is none."""
    repository, _, last = name.rpartition("/")
    base, joint, version = last.partition(":")
    image = f"{repository}/{base}" if repository else base
    if "@" not in base and joint and (not version or version.startswith(_RANGES)):
        return image, version or "*"
    return name, ""


def _is_in_range(tag: str, constraint: str) -> bool:
    from function_script.engines.gotemplate.errors import CallError  # noqa: PLC0415 - slow to import
    from function_script.engines.gotemplate.sprig import semver  # noqa: PLC0415 - slow to import

    try:
        return semver.check_version(constraint, tag)
    except CallError:
        return False
