"""From the content of a package and runtime images to one file for each platform."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from function_script.errors import InputError
from function_script.tools.xpkg import archives, images, loading, manifest
from function_script.tools.xpkg.progress import NullProgress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from function_script.tools.xpkg.images import Image
    from function_script.tools.xpkg.manifest import Contents, Package
    from function_script.tools.xpkg.progress import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A package that was written.

    ``digest`` is what a registry calls it once it is pushed: ``sha256:…``; ``platform`` is
    ``linux/amd64``; ``left_out`` are files of the project that are no part of a package.
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
    """Write the package, the same bytes every time: one file for each platform.

    ``runtime_images`` are the function's own images, tarballs of `docker save` or OCI layouts
    (directories or tarballs, for several platforms if wanted); without one the package holds the
    metadata only. ``output`` is a file, which gets ``-OS-ARCHITECTURE`` before its suffix when
    there are several platforms; by default NAME-DIGEST.xpkg in the working directory.
    ``progress`` gets a line for each runtime image and each platform. Raises InputError.
    """
    told = progress or NullProgress()
    package = manifest.load(contents)
    bases = list(_load(runtime_images, told)) or [images.EMPTY]
    check_platforms(bases)
    built = []
    for base in bases:
        told.line(f"building {images.platform(base) or 'the package'}")
        image = _with_layers(base, package)
        built.append(_write(image, package, _path(image, output, len(bases))))
    return built


def _load(paths: Iterable[Path], progress: Progress) -> Iterator[Image]:
    for path in paths:
        progress.line(f"reading {path}")
        yield from loading.load(path)


def check_platforms(found: Iterable[Image]) -> None:
    """Raise InputError unless every image is for a platform of its own."""
    platforms = [images.platform(image) for image in found]
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


def _path(image: Image, output: Path | None, count: int) -> Path | None:
    if output is None or count == 1:
        return output
    platform = images.platform(image).replace("/", "-")
    return output.with_name(f"{output.stem}-{platform}{output.suffix}")


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
