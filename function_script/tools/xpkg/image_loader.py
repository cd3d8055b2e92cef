"""Load images from files: archives of `docker save`, packages, OCI layouts.

Names, sizes and digests of all parts are verified. A name in an image cannot reach a file outside
of it.
"""

import re
import tarfile
from collections.abc import Sized
from contextlib import nullcontext
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, Final, TypeAlias

from function_script.request.values import Object, Value
from function_script.texts.errors import InputError, cause_of
from function_script.tools import bounded, manifests
from function_script.tools.xpkg import archives, images

_DOCKER_LISTING: Final = "manifest.json"
_OCI_LISTING: Final = "index.json"
# The hash in names such as blobs/sha256/…; the name …/layer.tar has an identifier instead.
_HASH_IN_NAME: Final = re.compile(r"(?:blobs/sha256/|sha256:)?(?P<hash>[0-9a-f]{64})(?:\.json)?")

MAX_JSON_BYTES: Final = 8 * archives.MIB
_MAX_BLOB_BYTES: Final = 16 << 30
_MAX_LAYERS: Final = 256
_MAX_IMAGES: Final = 64
_MAX_NESTED_INDICES: Final = 4
# A package's own layer is small; without labels every layer is searched.
MAX_SEARCHED_BYTES: Final = 512 * archives.MIB
_MAX_FILE_BYTES: Final = 200 * archives.MIB
_MAX_MEMBERS: Final = 100_000


class _Directory:
    """The files of an image in a directory, by their names."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory.resolve()

    def find(self, name: str, max_bytes: int) -> bytes | None:
        """Read a file; None if there is none. Raises ValueError if it exceeds ``max_bytes``."""
        path = (self._directory / _check_name(name)).resolve()
        if not path.is_relative_to(self._directory):
            raise ValueError(f'its file "{name}" is a link to a file outside of it')
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return _read_bounded(file, name, path.stat().st_size, max_bytes)


class _Archive:
    """The files of an image in an archive, as `_Directory`."""

    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive
        self._members: dict[str, tarfile.TarInfo] = {}
        for count, member in enumerate(archive):
            if count >= _MAX_MEMBERS:
                raise ValueError(f"it holds more than {_MAX_MEMBERS:,} files")
            # `tar cf image.tar .` writes "./index.json".
            self._members[str(PurePosixPath(member.name))] = member

    def find(self, name: str, max_bytes: int) -> bytes | None:
        member = self._members.get(str(PurePosixPath(_check_name(name))))
        if member is None:
            return None
        if member.issparse() or not member.isreg():
            raise ValueError(f'its file "{name}" is sparse or no plain file')
        file = self._archive.extractfile(member)
        return None if file is None else _read_bounded(file, name, member.size, max_bytes)


_Layout: TypeAlias = _Directory | _Archive


def _check_name(name: str) -> str:
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts or "\0" in name:
        raise ValueError(f"it names a file {name[:100]!r}, which is not one of its own")
    return name


def _read_bounded(file: IO[bytes], name: str, size: int, max_bytes: int) -> bytes:
    if size > max_bytes:
        raise ValueError(f'its file "{name}" has more than {max_bytes:,} bytes')
    return file.read(size)


def load(path: Path, file: BinaryIO | None = None) -> list[images.Image]:
    """Load the images in a file, which may be open, or in a directory, one for each platform.

    Raises InputError.
    """
    try:
        if file is None and path.is_dir():
            return _load(_Directory(path))
        with (
            nullcontext(file) if file is not None else path.open("rb") as stream,
            archives.open_archive(stream) as data,
            tarfile.open(fileobj=data, mode="r:", tarinfo=archives.Member) as archive,
        ):
            return _load(_Archive(archive))
    except OSError as error:
        raise InputError.of(f'cannot read "{path}": {cause_of(error)}') from error
    except tarfile.TarError as error:
        raise InputError.of(f'cannot read image "{path}": it is no archive') from error
    except ValueError as error:
        raise InputError.of(f'cannot read image "{path}": {error}') from error


def find_file(image: images.Image, name: str) -> bytes | None:
    """Read a file of a package image, from its labelled layer or else from the last that has it.

    Raises ValueError if a layer cannot be read.
    """
    kinds = images.layer_kinds(image.config)
    base = [layer for layer in image.layers if kinds.get(layer.digest) == images.BASE_LAYER]
    budget = archives.Budget(MAX_SEARCHED_BYTES)
    unique = {layer.digest: layer for layer in base or reversed(image.layers)}
    for layer in unique.values():
        data = _find_in_layer(layer, name, budget)
        if data is not None:
            return data
    return None


def _load(layout: _Layout) -> list[images.Image]:
    listing = layout.find(_DOCKER_LISTING, MAX_JSON_BYTES)
    if listing is not None:
        return [_load_docker(layout, bounded.read_json(listing))]
    index = bounded.read_object(_get(layout, _OCI_LISTING, MAX_JSON_BYTES))
    return [_load_manifest(layout, manifest) for manifest in _manifests(layout, index)]


def _get(layout: _Layout, name: str, max_bytes: int) -> bytes:
    data = layout.find(name, max_bytes)
    if data is None:
        raise ValueError(f'it has no file "{name}"')
    return data


def _load_docker(layout: _Layout, listing: Value) -> images.Image:
    if not isinstance(listing, list) or len(listing) != 1 or not isinstance(listing[0], dict):
        raise ValueError("it holds no image, or several")
    names = listing[0].get("Layers")
    texts = [str(name) for name in (names if isinstance(names, list) else ())]
    check_count(texts)
    config = _get(layout, manifests.text_at(listing[0], "Config"), MAX_JSON_BYTES)
    _verify_name(config, manifests.text_at(listing[0], "Config"))
    layers = {name: _get(layout, name, _MAX_BLOB_BYTES) for name in dict.fromkeys(texts)}
    for name, data in layers.items():
        _verify_name(data, name)
    return _read_whole(config, [layers[name] for name in texts])


def _verify_name(data: bytes, name: str) -> None:
    """Check content against the hash in its file's name, if there is one."""
    match = _HASH_IN_NAME.fullmatch(name.removesuffix(".tar.gz"))
    if match is not None:
        images.verify(data, f"sha256:{match['hash']}")


def _load_manifest(layout: _Layout, manifest: Object) -> images.Image:
    descriptors = manifests.objects_at(manifest, "layers")
    check_count(descriptors)
    config = _blob(layout, manifests.object_at(manifest, "config"), MAX_JSON_BYTES)
    layers: dict[str, bytes] = {}
    for descriptor in descriptors:
        digest = images.read_digest(descriptor)
        if digest not in layers:
            layers[digest] = _blob(layout, descriptor, _MAX_BLOB_BYTES)
    return _read_whole(
        config, [layers[images.read_digest(descriptor)] for descriptor in descriptors]
    )


def _blob(layout: _Layout, descriptor: Object, max_bytes: int) -> bytes:
    """Read the content that a descriptor names; verify its size and its digest."""
    digest, size = images.read_digest(descriptor), images.read_size(descriptor)
    limit = max_bytes if size is None else min(size, max_bytes)
    data = _get(layout, f"blobs/{digest.replace(':', '/')}", limit)
    images.verify_descriptor(data, descriptor)
    return data


def check_count(layers: Sized) -> None:
    """Raise ValueError for more layers than Crossplane accepts."""
    if len(layers) > _MAX_LAYERS:
        raise ValueError(f"it has {len(layers)} layers; Crossplane takes {_MAX_LAYERS}")


def platform_entries(index: Object) -> list[Object]:
    """Return the entries of an index without attestations. Raises ValueError for too many."""
    entries = [
        entry
        for entry in manifests.objects_at(index, "manifests")
        if manifests.text_at(entry, "platform", "os") != "unknown"
    ]
    if len(entries) > _MAX_IMAGES:
        raise ValueError(f"it lists {len(entries)} images; at most {_MAX_IMAGES} are read")
    return entries


def _manifests(layout: _Layout, index: Object, depth: int = 0) -> list[Object]:
    """Return the manifests of all images in an index and in nested indices."""
    if depth > _MAX_NESTED_INDICES:
        raise ValueError("it has too many indices inside one another")
    image_manifests: list[Object] = []
    for entry in platform_entries(index):
        manifest = bounded.read_object(_blob(layout, entry, MAX_JSON_BYTES))
        image_manifests += (
            _manifests(layout, manifest, depth + 1) if "manifests" in manifest else [manifest]
        )
        if len(image_manifests) > _MAX_IMAGES:
            raise ValueError(f"it lists more than {_MAX_IMAGES} images")
    if not image_manifests:
        raise ValueError("it holds no image")
    return image_manifests


def _read_whole(config: bytes, layers: list[bytes]) -> images.Image:
    """Read an image, and check that its layers are those that its config names."""
    image = read_image(config, layers)
    diff_ids = manifests.object_at(image.config, "rootfs").get("diff_ids")
    if isinstance(diff_ids, list) and diff_ids != [layer.diff_id for layer in image.layers]:
        raise ValueError("its layers are not those that its config names in rootfs.diff_ids")
    return image


def read_image(config: bytes, layers: list[bytes]) -> images.Image:
    """Read an image from its config and layers. Raises ValueError."""
    # Images repeat the empty layer; each is expanded, and counted, once.
    unique = set(layers)
    budget = archives.Budget.of(sum(map(len, unique)))
    by_data = {data: _read_layer(data, budget) for data in unique}
    return images.Image(
        config=bounded.read_object(config), layers=tuple(by_data[data] for data in layers)
    )


def _read_layer(data: bytes, budget: archives.Budget) -> images.Layer:
    """Read a layer and compress it with gzip: else tools that push compress all layers again."""
    if archives.is_zstd(data):
        raise ValueError("a layer is compressed with zstd: save the image with gzip layers")
    if archives.is_gzip(data):
        return images.Layer(data=data, diff_id=archives.expanded_digest(data, budget))
    return images.Layer(data=archives.gzip_compressed(data), diff_id=images.sha256(data))


def _find_in_layer(layer: images.Layer, name: str, budget: archives.Budget) -> bytes | None:
    with archives.open_layer(layer.data, budget) as members:
        for member in members:
            if PurePosixPath(member.name).name != name or not member.isfile():
                continue
            if member.issparse() or member.size > _MAX_FILE_BYTES:
                raise ValueError(
                    f'its file "{member.name}" has more than {_MAX_FILE_BYTES:,} bytes'
                )
            file = members.extractfile(member)
            return None if file is None else file.read()
    return None
