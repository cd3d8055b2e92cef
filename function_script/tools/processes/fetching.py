"""Fetch the image of a package from its registry into the cache."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from function_script.request.values import Object
from function_script.texts.errors import InputError
from function_script.tools import bounded, manifests
from function_script.tools.processes import cache
from function_script.tools.processes.options import PackageOptions
from function_script.tools.processes.unpacking import Unpacker
from function_script.tools.progress import Progress
from function_script.tools.xpkg import archives, image_loader, images, references
from function_script.tools.xpkg.registry import Repository

_GIB: Final = 1 << 30
_MAX_LAYERS_BYTES: Final = 2 * _GIB
_MAX_FILES_BYTES: Final = 8 * _GIB
# One package is fetched after the other: they share the network and the display of progress.
_FETCHES: Final = threading.Lock()


def fetch(
    reference: references.Reference, image_cache: cache.ImageCache, options: PackageOptions
) -> tuple[cache.CachedImage, str]:
    """Return the image of a package for this machine, and its digest.

    The layers are fetched if the cache does not have the image. Raises InputError and ValueError.
    """
    with _FETCHES, options.progress() as display:
        progress = _CancellableProgress(display, options.is_cancelled)
        progress.line(f"{reference}: resolving")
        repository = Repository(reference, "pull", progress=progress)
        data = _pull_manifest(repository)
        digest = images.sha256(data)
        image = image_cache.image(digest) or _pull(repository, data, image_cache, progress)
    return image, digest


class _CancellableProgress(Progress):
    """Ends a fetch from inside, at its next piece."""

    def __init__(self, display: Progress, is_cancelled: Callable[[], bool]) -> None:
        self._display = display
        self._is_cancelled = is_cancelled

    def line(self, text: str) -> None:
        """Display the beginning of a step."""
        self._check()
        self._display.line(text)

    def share(self, part: float) -> None:
        """Display how much of the step is done."""
        self._check()
        self._display.share(part)

    def _check(self) -> None:
        if self._is_cancelled():
            raise InputError.of("the fetch was cancelled")


def _pull_manifest(repository: Repository) -> bytes:
    """Pull the manifest of the reference, or of this platform if it is an index."""
    platform = cache.this_platform()
    data = repository.pull_manifest(repository.reference.version)
    index = bounded.read_object(data)
    # The platform of an image alone is in its config, which `parse_config` compares.
    if "manifests" not in index:
        return data
    entries = image_loader.platform_entries(index)
    for entry in entries:
        if _platform_of(entry) == platform:
            return repository.pull_manifest(images.read_digest(entry), images.read_size(entry))
    names = ", ".join(sorted(filter(None, map(_platform_of, entries)))) or "no platform"
    raise ValueError(f"it is built for {names}, and this machine is {platform}")


def _platform_of(entry: Object) -> str:
    return images.platform(manifests.object_at(entry, "platform"))


def _pull(
    repository: Repository, data: bytes, image_cache: cache.ImageCache, progress: Progress
) -> cache.CachedImage:
    manifest = bounded.read_object(data)
    descriptor = manifests.object_at(manifest, "config")
    config = bounded.read_object(repository.pull_blob(descriptor, image_loader.MAX_JSON_BYTES))
    # Nothing is fetched for an image that cannot be started.
    working_directory = cache.parse_config(config).working_directory
    descriptors = manifests.objects_at(manifest, "layers")
    image_loader.check_count(descriptors)
    kinds = images.layer_kinds(config)
    # The layers with files of the function, and not of the package.
    layers = [
        layer
        for layer in descriptors
        if images.LABEL not in manifests.object_at(layer, "annotations")
        and images.read_digest(layer) not in kinds
    ]
    sizes = [images.read_size(layer) for layer in layers]
    compressed_bytes = sum(size or 0 for size in sizes)
    if None in sizes:
        raise ValueError("it does not state the size of a layer")
    if compressed_bytes > _MAX_LAYERS_BYTES:
        raise ValueError(
            f"its layers have {images.size_text(compressed_bytes)}; "
            f"at most {images.size_text(_MAX_LAYERS_BYTES)} are fetched"
        )

    def unpack(directory: Path) -> None:
        max_bytes = min(archives.Budget.of(compressed_bytes).readable, _MAX_FILES_BYTES)
        unpacker = Unpacker(directory, max_bytes)
        for layer, size in zip(layers, sizes, strict=True):
            progress.line(
                f"{images.read_digest(layer)[:19]} {images.size_text(size or 0)}: fetching"
            )
            unpacker.add(repository.pull_blob(layer, _MAX_LAYERS_BYTES))
        unpacker.complete(working_directory)

    return image_cache.add(images.sha256(data), config, unpack)
