"""Push package files to a registry; several become one package for several platforms."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from function_script.errors import InputError
from function_script.tools.xpkg import image_loader, images, references
from function_script.tools.xpkg.builder import check_platforms
from function_script.tools.xpkg.progress import Body, NullProgress
from function_script.tools.xpkg.registry import Repository

if TYPE_CHECKING:
    from function_script.tools.xpkg.images import Image
    from function_script.tools.xpkg.progress import Progress
    from function_script.tools.xpkg.registry import Trust


def push(
    name: str,
    packages: Iterable[Path],
    progress: Progress | None = None,
    trust: Trust | None = None,
) -> str:
    """Push package files under the tag of ``name``. Return the digest in the registry.

    ``progress`` gets a line for each layer, and the part of it that is sent. Raises InputError.
    """
    reference = references.parse(name)
    if ":" in reference.version:
        raise InputError.of(f'cannot push to "{name}": a digest is no tag')
    package_images = [image for path in packages for image in image_loader.load(path)]
    _check_packages(package_images)
    check_platforms(package_images)
    repository = Repository(reference, "pull,push", trust, progress)
    for image in package_images:
        _push_parts(image, repository, progress or NullProgress())
    if len(package_images) == 1:
        return _put(
            repository, images.manifest(package_images[0]), images.MANIFEST_TYPE, reference.version
        )
    for image in package_images:
        data = images.manifest(image)
        _put(repository, data, images.MANIFEST_TYPE, images.sha256(data))
    return _put(repository, images.index(package_images), images.INDEX_TYPE, reference.version)


def _check_packages(package_images: Iterable[Image]) -> None:
    for image in package_images:
        if "base" not in images.layer_kinds(image).values():
            raise InputError.of(
                "cannot push an image that is no package: none of its layers is labelled as one",
                hint="make a package of it: function-script package build --runtime-image PATH",
            )


def _push_parts(image: Image, repository: Repository, progress: Progress) -> None:
    parts = [*(layer.data for layer in image.layers), images.config_bytes(image)]
    for data in parts:
        digest = images.sha256(data)
        line = f"{digest[:19]} {images.size_text(len(data))} {images.platform(image)}".rstrip()
        if repository.has_blob(digest):
            progress.line(f"{line}: there already")
        else:
            progress.line(f"{line}: pushing")
            repository.push_blob(Body(data, progress), digest)


def _put(repository: Repository, data: bytes, media_type: str, version: str) -> str:
    repository.push_manifest(data, media_type, version)
    return images.sha256(data)
