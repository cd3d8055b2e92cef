"""Schemas that come in packages: our own, and those in the official command's cache.

Nothing is downloaded: a package that is not in the cache is named in a note.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Final

from function_script import objects
from function_script.source import Source
from function_script.tools import manifests, sources

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from function_script.documents import Document
    from function_script.values import Object

NAME: Final = "function-script"

_GROUP: Final = "pkg.crossplane.io"
_KINDS: Final = ("Provider", "Function", "Configuration")
# Its package holds Crossplane's own kinds.
CROSSPLANE: Final = "xpkg.crossplane.io/crossplane/crossplane:stable"


def bundled() -> list[Document]:
    """The schemas that need no extension: our inputs, the peer's, and pipelines themselves."""
    root = resources.files("function_script")
    directories = (root / "input_crds", root / "tools" / "validate" / "crds")
    return [
        document
        for directory in directories
        for file in sorted(directory.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".yaml")
        for document in sources.read(Source(name=file.name, text=file.read_text("utf-8")))
    ]


def load(
    extensions: Iterable[Document], cache: Path, crossplane_image: str
) -> tuple[list[Document], list[str]]:
    """The cached schemas of all packages that ``extensions`` name, and notes on missing ones."""
    found: list[Document] = []
    notes: list[str] = []
    cache = _expanded(cache)
    for image in dict.fromkeys([crossplane_image, *_images(extensions)]):
        path = cache / image.replace(":", "@") / "package.yaml"
        if path.is_file():
            found += sources.load([str(path)])
        elif image != CROSSPLANE and not _is_ours(image):
            notes.append(
                f'the schemas of package "{image}" are not in the cache "{cache}": run the '
                "official command once, or give the package's CRDs as extensions"
            )
    return found, notes


def is_package(manifest: Object) -> bool:
    """Whether an object names a package, which may hold schemas."""
    api_version, kind = objects.api_version_and_kind(manifest)
    return manifests.group(api_version) == _GROUP and kind in _KINDS


def _expanded(cache: Path) -> Path:
    """With the home directory in place of "~"; a user without one has no cache there."""
    try:
        return cache.expanduser()
    except RuntimeError:
        return cache


def _images(extensions: Iterable[Document]) -> Iterator[str]:
    for extension in extensions:
        image = manifests.text_at(extension.value, "spec", "package")
        if image and is_package(extension.value):
            yield image


def _is_ours(image: str) -> bool:
    return image.rpartition("/")[2].partition(":")[0].partition("@")[0] == NAME
