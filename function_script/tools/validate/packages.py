"""Schemas that come in packages: our own, and those in the official command's cache.

Nothing is downloaded: a package that is not in the cache is named in a note.
"""

from __future__ import annotations

import re
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

# The letters of registries, repositories, tags and digests; a part is the name of a file here.
_IMAGE: Final = re.compile(r"[\w.:@/-]{1,1024}", re.ASCII)
_MAX_PART: Final = 255
_MAX_SHOWN: Final = 100
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
        if not _is_image(image):
            notes.append(f'invalid package reference "{image[:_MAX_SHOWN]}", so it has no schemas')
            continue
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


def _is_image(text: str) -> bool:
    """Whether a text can name an image, and so leads to a place within the cache."""
    if not _IMAGE.fullmatch(text):
        return False
    return all(part not in {"", ".", ".."} and len(part) <= _MAX_PART for part in text.split("/"))


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
