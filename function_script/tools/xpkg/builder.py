"""Build package files: one for each platform of the runtime images."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from function_script.errors import InputError
from function_script.tools.xpkg import archives, image_loader, images, manifest
from function_script.tools.xpkg.progress import NullProgress

if TYPE_CHECKING:
    from function_script.tools.xpkg.images import Image
    from function_script.tools.xpkg.manifest import Contents, Package
    from function_script.tools.xpkg.progress import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A package file that was written.

    ``digest`` is its digest in a registry, ``sha256:…``; ``platform`` is like ``linux/amd64``;
    ``left_out`` are files of the project that do not belong into a package.
    """

    path: Path
    name: str
    digest: str
    platform: str
    size_bytes: int
    left_out: tuple[str, ...]


def build(
    contents: Contents,
    *,
    output: Path | None = None,
    runtime_images: Iterable[Path] = (),
    progress: Progress | None = None,
) -> list[Built]:
    """Write one package file for each platform; the bytes are the same every time.

    ``runtime_images`` are the function's images: tarballs of `docker save`, or OCI layouts as
    directories or tarballs, which may have several platforms. Without one the package has only
    metadata. ``output`` is a file; with several platforms ``-OS-ARCHITECTURE`` is added before
    its suffix. By default it is NAME-DIGEST.xpkg in the working directory. ``progress`` gets a
    line for each runtime image and each platform. Raises InputError.
    """
    progress = progress or NullProgress()
    package = manifest.load(contents)
    bases: list[Image] = []
    for path in runtime_images:
        progress.line(f"reading {path}")
        bases += image_loader.load(path)
    bases = bases or [images.EMPTY]
    check_platforms(bases)
    results = []
    for base in bases:
        progress.line(f"building {images.platform(base) or 'the package'}")
        image = _with_layers(base, package)
        file = output
        if output is not None and len(bases) > 1:
            platform = images.platform(image).replace("/", "-")
            file = output.with_name(f"{output.stem}-{platform}{output.suffix}")
        results.append(_write(image, package, file))
    return results


def check_platforms(packages: Iterable[Image]) -> None:
    """Raise InputError unless every image is for a different platform."""
    platforms = [images.platform(image) for image in packages]
    if len(platforms) > 1 and not all(platforms):
        raise InputError.of(
            "cannot put several images into one package: one of them names no platform"
        )
    for platform in platforms:
        if platforms.count(platform) > 1:
            raise InputError.of(
                f'cannot put several images for platform "{platform}" into one package'
            )


def _with_layers(base: Image, package: Package) -> Image:
    layer = archives.tar({manifest.FILE_NAME: package.text.encode()})
    image = images.with_layer(base, layer, manifest.BASE_LAYER)
    if package.examples is None:
        return image
    layer = archives.tar({manifest.EXAMPLES_NAME: package.examples.encode()})
    return images.with_layer(image, layer, manifest.EXAMPLES_LAYER)


def _write(image: Image, package: Package, path: Path | None) -> Built:
    digest = images.digest(image)
    path = path or Path(f"{package.name}-{digest.partition(':')[2][:12]}.xpkg")
    data = images.to_docker_archive(image)
    try:
        path.write_bytes(data)
    except OSError as error:
        raise InputError.of(f'cannot write "{path}": {(error.strerror or "").lower()}') from error
    return Built(
        path=path,
        name=package.name,
        digest=digest,
        platform=images.platform(image),
        size_bytes=len(data),
        left_out=package.left_out,
    )
