"""Build package files, one for each platform of the runtime images, and push them to a registry.

In a registry, several files become one package for several platforms.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from function_script.texts.errors import InputError
from function_script.tools.progress import Progress
from function_script.tools.project import Project, write_named
from function_script.tools.xpkg import archives, image_loader, images, manifest, references
from function_script.tools.xpkg.credentials import Trust
from function_script.tools.xpkg.registry import Repository


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A package file that was written, and what it was made of.

    ``digest`` is its digest in a registry, ``sha256:…``.
    """

    path: Path
    digest: str
    package: manifest.Package


def build(
    contents: manifest.Contents,
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
    progress, runtime_images = progress or Progress(), [*runtime_images]
    package = manifest.load(contents)
    bases: list[images.Image] = []
    for path in runtime_images:
        progress.line(f"reading {path}")
        bases += image_loader.load(path)
    bases = bases or [images.EMPTY]
    _check_platforms(bases)
    results = []
    inputs = {each.resolve() for each in (*package.files, *runtime_images)}
    for base in bases:
        progress.line(f"building {images.platform(base.config) or 'the package'}")
        layer = archives.tar({manifest.FILE_NAME: package.text.encode()})
        image = images.with_layer(base, layer, images.BASE_LAYER)
        if package.examples is not None:
            layer = archives.tar({manifest.EXAMPLES_NAME: package.examples.encode()})
            image = images.with_layer(image, layer, manifest.EXAMPLES_LAYER)
        digest, data = images.sha256(images.manifest(image)), images.to_docker_archive(image)
        if output is None:
            # The package's metadata says its name.
            path = Path(f"{package.name}-{digest.partition(':')[2][:12]}.xpkg")
            Project([Path()]).write(path, data)
        else:
            platform = images.platform(image.config).replace("/", "-")
            name = f"{output.stem}-{platform}{output.suffix}"
            path = output if len(bases) == 1 else output.with_name(name)
            if output == Path("-"):
                raise InputError.of('cannot write the package to "-": it needs the name of a file')
            if path.resolve() in inputs:
                raise InputError.of(f'cannot write "{path}": the package is built of it')
            write_named(path, data)
        results.append(Built(path=path, digest=digest, package=package))
    return results


def _check_platforms(packages: Iterable[images.Image]) -> None:
    """Raise InputError unless every image is for a different platform."""
    platforms = [images.platform(image.config) for image in packages]
    if len(platforms) > 1 and not all(platforms):
        raise InputError.of(
            "cannot put several images into one package: one of them names no platform"
        )
    for platform in platforms:
        if platforms.count(platform) > 1:
            raise InputError.of(
                f'cannot put several images for platform "{platform}" into one package'
            )


def push(name: str, packages: Iterable[Path], progress: Progress, trust: Trust) -> str:
    """Push package files under the tag of ``name``. Return the digest in the registry.

    ``progress`` gets a line for each layer, and the part of it that is sent. Raises InputError.
    """
    reference = references.parse_tag(name)
    package_images = [image for path in packages for image in image_loader.load(path)]
    for image in package_images:
        if images.BASE_LAYER not in images.layer_kinds(image.config).values():
            raise InputError.of(
                "cannot push an image that is no package: none of its layers is labelled as one",
                hint="make a package of it: function-script package build --runtime-image PATH",
            )
    _check_platforms(package_images)
    repository = Repository(reference, "pull,push", trust, progress)
    for image in package_images:
        platform = images.platform(image.config)
        for data in (*(layer.data for layer in image.layers), images.config_bytes(image)):
            repository.push_blob(data, platform)
    if len(package_images) == 1:
        data = images.manifest(package_images[0])
        return repository.push_manifest(data, images.MANIFEST_TYPE, reference.version)
    # An index may name only what the registry has already.
    for image in package_images:
        data = images.manifest(image)
        repository.push_manifest(data, images.MANIFEST_TYPE, images.sha256(data))
    data = images.index(package_images)
    return repository.push_manifest(data, images.INDEX_TYPE, reference.version)
