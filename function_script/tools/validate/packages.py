"""Schemas in packages: our own, and those in the official command's cache.

Nothing is downloaded: a note names each package that is not in the cache.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Final

from function_script import objects
from function_script.documents import Document
from function_script.source import Source
from function_script.tools import manifests, sources
from function_script.values import Object

NAME: Final = "function-script"

# The characters of registries, repositories, tags and digests; each part becomes a file name.
_IMAGE: Final = re.compile(r"[\w.:@/-]{1,1024}", re.ASCII)
_MAX_PART: Final = 255
_MAX_QUOTED: Final = 100
_GROUP: Final = "pkg.crossplane.io"
_KINDS: Final = ("Provider", "Function", "Configuration")
# This package contains Crossplane's own kinds.
CROSSPLANE: Final = "xpkg.crossplane.io/crossplane/crossplane:stable"


def bundled() -> list[Document]:
    """Read the schemas that need no extension: those of inputs, and of pipelines."""
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
    """Load the cached schemas of all packages in ``extensions``, and notes on missing ones."""
    schemas: list[Document] = []
    notes: list[str] = []
    # A user without a home directory has no cache.
    with suppress(RuntimeError):
        cache = cache.expanduser()
    images = [
        manifests.text_at(extension.value, "spec", "package")
        for extension in extensions
        if is_package(extension.value)
    ]
    for image in dict.fromkeys([crossplane_image, *filter(None, images)]):
        parts = image.split("/")
        is_inside_cache = all(part not in {"", ".", ".."} for part in parts)
        if not (
            _IMAGE.fullmatch(image) and is_inside_cache and len(max(parts, key=len)) <= _MAX_PART
        ):
            notes.append(f'invalid package reference "{image[:_MAX_QUOTED]}", so it has no schemas')
            continue
        path = cache / image.replace(":", "@") / "package.yaml"
        if path.is_file():
            schemas += sources.load([str(path)])
        elif image != CROSSPLANE and parts[-1].partition(":")[0].partition("@")[0] != NAME:
            notes.append(
                f'the schemas of package "{image}" are not in the cache "{cache}": run the '
                "official command once, or give the package's CRDs as extensions"
            )
    return schemas, notes


def is_package(manifest: Object) -> bool:
    """Report whether an object refers to a package, which may contain schemas."""
    api_version, kind = objects.api_version_and_kind(manifest)
    return manifests.group(api_version) == _GROUP and kind in _KINDS
