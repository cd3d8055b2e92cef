"""Container images as values: extended with a layer, written as an archive.

Called by the builder. An image here is what a registry holds for one platform.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from function_script import objects
from function_script.tools import manifests
from function_script.tools.xpkg import archives

if TYPE_CHECKING:
    from function_script.values import Object, Value

LABEL: Final = "io.crossplane.xpkg"

_EPOCH: Final = "1970-01-01T00:00:00Z"
_MANIFEST_TYPE: Final = "application/vnd.docker.distribution.manifest.v2+json"
_CONFIG_TYPE: Final = "application/vnd.docker.container.image.v1+json"
_LAYER_TYPE: Final = "application/vnd.docker.image.rootfs.diff.tar.gzip"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A layer: its bytes, compressed with gzip, and the digest of the archive in them."""

    data: bytes
    diff_id: str

    @property
    def digest(self) -> str:
        """The digest by which manifests and package labels name the layer."""
        return sha256(self.data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image for one platform: its config, as registries keep it, and its layers."""

    config: Object
    layers: tuple[Layer, ...] = ()


# What a package without a runtime is put on. Nothing in it runs, but tools ask for a platform.
EMPTY: Final = Image(
    config={
        "architecture": "amd64",
        "os": "linux",
        "created": _EPOCH,
        "config": {},
        "rootfs": {"type": "layers", "diff_ids": []},
        "history": [],
    }
)


def with_layer(image: Image, archive: bytes, kind: str) -> Image:
    """The image with one more layer, labelled as that ``kind`` of package layer."""
    layer = Layer(data=archives.gzip_stored(archive), diff_id=sha256(archive))
    config: Object = {key: objects.copied(value) for key, value in image.config.items()}
    labels = manifests.make_object(manifests.make_object(config, "config"), "Labels")
    labels[f"{LABEL}:{layer.digest}"] = kind
    _append(manifests.make_object(config, "rootfs"), "diff_ids", layer.diff_id)
    entry: Object = {"created": _EPOCH, "created_by": f"function-script package build ({kind})"}
    _append(config, "history", entry)
    return Image(config=config, layers=(*image.layers, layer))


def digest(image: Image) -> str:
    """The digest a registry gives the image."""
    config = _config(image)
    manifest = {
        "schemaVersion": 2,
        "mediaType": _MANIFEST_TYPE,
        "config": {"mediaType": _CONFIG_TYPE, "size": len(config), "digest": sha256(config)},
        "layers": [
            {"mediaType": _LAYER_TYPE, "size": len(layer.data), "digest": layer.digest}
            for layer in image.layers
        ],
    }
    return sha256(_json(manifest))


def to_docker_archive(image: Image) -> bytes:
    """The image as `docker save` writes it: its config, its layers, and a list of both."""
    config = _config(image)
    files = {sha256(config): config}
    names: list[Value] = []
    for layer in image.layers:
        name = f"{layer.digest.removeprefix('sha256:')}.tar.gz"
        names.append(name)
        files[name] = layer.data
    listing: Object = {"Config": sha256(config), "RepoTags": None, "Layers": names}
    return archives.tar({**files, "manifest.json": _json([listing])})


def sha256(data: bytes) -> str:
    """A digest as images spell it."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _append(config: Object, key: str, item: Value) -> None:
    found = config.get(key)
    config[key] = [*(found if isinstance(found, list) else ()), item]


def _config(image: Image) -> bytes:
    return _json(image.config)


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
