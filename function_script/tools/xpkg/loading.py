"""Images from files: archives of `docker save`, packages, OCI layouts as directory or archive."""

from __future__ import annotations

import gzip
import json
import tarfile
import zlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from function_script.errors import InputError
from function_script.tools import manifests
from function_script.tools.xpkg import archives
from function_script.tools.xpkg.images import Image, Layer, layer_kinds, sha256

if TYPE_CHECKING:
    from pathlib import Path

    from function_script.values import Object, Value

_DOCKER_LISTING: Final = "manifest.json"
_OCI_LISTING: Final = "index.json"


class _UnreadableError(ValueError):
    """The files are no image that can be used; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    """The files of an image, in a directory or in an archive."""

    directory: Path | None = None
    archive: tarfile.TarFile | None = None

    def find(self, name: str) -> bytes | None:
        if self.directory is not None:
            path = self.directory / name
            return path.read_bytes() if path.is_file() else None
        try:
            member = self.archive.extractfile(name) if self.archive is not None else None
        except KeyError:
            return None
        return None if member is None else member.read()

    def get(self, name: str) -> bytes:
        found = self.find(name)
        if found is None:
            raise _UnreadableError(f'it has no file "{name}"')
        return found


def load(path: Path) -> list[Image]:
    """The images in a file or a directory, one for each platform; raises InputError."""
    try:
        if path.is_dir():
            return _load(_Files(directory=path))
        with tarfile.open(path) as archive:
            return _load(_Files(archive=archive))
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise InputError.of(f'cannot read image "{path}": {cause}') from error
    except tarfile.TarError as error:
        raise InputError.of(f'cannot read image "{path}": it is no archive') from error
    except (ValueError, zlib.error) as error:
        raise InputError.of(f'cannot read image "{path}": {error}') from error


def find_file(image: Image, name: str) -> bytes | None:
    """A file of a package image: from its labelled layer, else from whichever has it."""
    kinds = layer_kinds(image)
    base = [layer for layer in image.layers if kinds.get(layer.digest) == "base"]
    for layer in base or reversed(image.layers):
        found = _find_in_layer(layer, name)
        if found is not None:
            return found
    return None


def _load(files: _Files) -> list[Image]:
    listing = files.find(_DOCKER_LISTING)
    if listing is not None:
        return [_load_docker(files, json.loads(listing))]
    return _load_oci(files, _json(files.get(_OCI_LISTING)))


def _load_docker(files: _Files, listing: Value) -> Image:
    if not isinstance(listing, list) or len(listing) != 1 or not isinstance(listing[0], dict):
        raise _UnreadableError("it holds no image, or several")
    names = listing[0].get("Layers")
    config = files.get(manifests.text_at(listing[0], "Config"))
    found = [files.get(str(name)) for name in (names if isinstance(names, list) else ())]
    return read_image(config, found)


def _load_oci(files: _Files, index: Object) -> list[Image]:
    return [_load_manifest(files, manifest) for manifest in _descriptors(files, index)]


def _load_manifest(files: _Files, manifest: Object) -> Image:
    config = files.get(_blob(manifests.object_at(manifest, "config")))
    layers = [files.get(_blob(layer)) for layer in manifests.objects_at(manifest, "layers")]
    return read_image(config, layers)


def platform_entries(index: Object) -> list[Object]:
    """What an index lists, attestations left out."""
    found = manifests.objects_at(index, "manifests")
    return [entry for entry in found if manifests.text_at(entry, "platform", "os") != "unknown"]


def _descriptors(files: _Files, index: Object) -> list[Object]:
    """The manifests of all images in an index and the indices below."""
    found: list[Object] = []
    for entry in platform_entries(index):
        manifest = _json(files.get(_blob(entry)))
        found += _descriptors(files, manifest) if "manifests" in manifest else [manifest]
    if not found:
        raise _UnreadableError("it holds no image")
    return found


def _blob(descriptor: Object) -> str:
    algorithm, _, name = manifests.text_at(descriptor, "digest").partition(":")
    return f"blobs/{algorithm}/{name}"


def read_image(config: bytes, layers: list[bytes]) -> Image:
    """The image of a config and layers as registries keep them; raises ValueError."""
    return Image(config=_json(config), layers=tuple(_layer(data) for data in layers))


def _layer(data: bytes) -> Layer:
    """Every layer must be gzip: beside one that is not, tools that push compress all anew."""
    if archives.is_zstd(data):
        raise _UnreadableError("a layer is compressed with zstd: save the image with gzip layers")
    if archives.is_gzip(data):
        return Layer(data=data, diff_id=sha256(gzip.decompress(data)))
    return Layer(data=archives.gzip_compressed(data), diff_id=sha256(data))


def _find_in_layer(layer: Layer, name: str) -> bytes | None:
    archive = gzip.decompress(layer.data)
    with tarfile.open(fileobj=BytesIO(archive)) as members:
        for member in members:
            if PurePosixPath(member.name).name == name and member.isfile():
                file = members.extractfile(member)
                return None if file is None else file.read()
    return None


def _json(data: bytes) -> Object:
    found: Value = json.loads(data)
    if not isinstance(found, dict):
        raise _UnreadableError("a part of it is no object")
    return found
