"""Build and read Crossplane packages (xpkg) without Docker, the same bytes every time.

Called by `package build` and `validate`. A package is a container image whose base layer holds
package.yaml; here it is written as `docker save` would, which is what Crossplane's tools push.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from function_script.errors import InputError
from function_script.tools.xpkg import archives, images, loading, manifest

if TYPE_CHECKING:
    from function_script.tools.xpkg.manifest import Package

__all__ = ["Built", "build", "read_package"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A package that was written. ``digest`` is its image's: ``sha256:…``."""

    path: Path
    name: str
    digest: str
    size_bytes: int
    has_runtime: bool


def build(
    package_root: Path,
    input_crds: Path,
    *,
    output: Path | None = None,
    runtime_image: Path | None = None,
) -> Built:
    """Write the package of ``package_root`` (crossplane.yaml) and ``input_crds``.

    ``runtime_image`` is the function's own image, as a tarball of `docker save` or an OCI layout
    (a directory or a tarball); without it the package holds the metadata only, and the function
    needs an image of its own in its runtime config. ``output`` is a file; by default
    NAME-DIGEST.xpkg in the working directory. Raises InputError.
    """
    package = manifest.load(package_root, input_crds)
    base = images.EMPTY if runtime_image is None else loading.load(runtime_image)
    image = _with_metadata(base, package)
    data = images.to_docker_archive(image)
    path = output or Path(f"{package.name}-{_short(images.digest(image))}.xpkg")
    try:
        path.write_bytes(data)
    except OSError as error:
        raise InputError.of(f'cannot write "{path}": {(error.strerror or "").lower()}') from error
    return Built(
        path=path,
        name=package.name,
        digest=images.digest(image),
        size_bytes=len(data),
        has_runtime=runtime_image is not None,
    )


def read_package(path: Path) -> str:
    """The text of package.yaml in a package file; raises InputError."""
    found = loading.find_file(loading.load(path), manifest.FILE_NAME)
    if found is None:
        raise InputError.of(f'cannot read package "{path}": it holds no {manifest.FILE_NAME}')
    return found.decode()


def _with_metadata(base: images.Image, package: Package) -> images.Image:
    layer = archives.tar({manifest.FILE_NAME: package.text.encode()})
    return images.with_layer(base, layer, manifest.BASE_LAYER)


def _short(digest: str) -> str:
    return digest.partition(":")[2][:12]
