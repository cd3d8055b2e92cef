"""Container images as values: add a layer, build a manifest, write an archive, verify digests.

An image here is for one platform. A digest becomes a file name in a layout and a path of a
registry's API, so that only the syntax of the OCI image specification is accepted.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from function_script.request import objects
from function_script.request.values import Object, Value
from function_script.tools import manifests
from function_script.tools.xpkg import archives

LABEL: Final = "io.crossplane.xpkg"
BASE_LAYER: Final = "base"
"""The kind of the layer with package.yaml, by which an image is a package."""

MANIFEST_TYPE: Final = "application/vnd.docker.distribution.manifest.v2+json"
OCI_MANIFEST_TYPE: Final = "application/vnd.oci.image.manifest.v1+json"
INDEX_TYPE: Final = "application/vnd.oci.image.index.v1+json"

# By the algorithms that the OCI image specification registers.
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")
_MAX_CHARACTERS: Final = 100
_UNITS: Final = ("B", "KiB", "MiB", "GiB")
_STEP: Final = 1024
_EPOCH: Final = "1970-01-01T00:00:00Z"
_CONFIG_TYPE: Final = "application/vnd.docker.container.image.v1+json"
_LAYER_TYPE: Final = "application/vnd.docker.image.rootfs.diff.tar.gzip"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A layer: its bytes, compressed with gzip, and the digest of the archive in them."""

    data: bytes
    diff_id: str

    @property
    def digest(self) -> str:
        """Return the digest of the layer in manifests and package labels."""
        return sha256(self.data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image for one platform: its config, as registries keep it, and its layers."""

    config: Object
    layers: tuple[Layer, ...] = ()


# The base of a package without a runtime. Nothing in it runs, but tools need a platform.
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
    """Return the image with one more layer, labelled as this ``kind`` of package layer."""
    layer = Layer(data=archives.gzip_stored(archive), diff_id=sha256(archive))
    config: Object = {key: objects.deep_copy(value) for key, value in image.config.items()}
    labels = manifests.make_object(manifests.make_object(config, "config"), "Labels")
    labels[f"{LABEL}:{layer.digest}"] = kind
    _append(manifests.make_object(config, "rootfs"), "diff_ids", layer.diff_id)
    entry: Object = {"created": _EPOCH, "created_by": f"function-script package build ({kind})"}
    _append(config, "history", entry)
    return Image(config=config, layers=(*image.layers, layer))


def manifest(image: Image) -> bytes:
    """Build the manifest for a registry, in which labels of layers are annotations."""
    config = config_bytes(image)
    kinds = layer_kinds(image.config)
    return _json(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "config": describe(_CONFIG_TYPE, config),
            "layers": [_describe_layer(layer, kinds.get(layer.digest)) for layer in image.layers],
        }
    )


def describe(media_type: str, data: bytes) -> Object:
    """Return the descriptor of content, by which a manifest names it."""
    return {"mediaType": media_type, "size": len(data), "digest": sha256(data)}


def _describe_layer(layer: Layer, kind: str | None) -> Object:
    descriptor = describe(_LAYER_TYPE, layer.data)
    # Crossplane looks for the kind here, and tools that push look in the config's labels.
    return descriptor if kind is None else {**descriptor, "annotations": {LABEL: kind}}


def index(images: Iterable[Image]) -> bytes:
    """Build the index of the images for several platforms under one tag."""
    entries: list[Value] = []
    for image in images:
        system, _, architecture = platform(image.config).partition("/")
        names: Object = {"architecture": architecture, "os": system}
        entries.append({**describe(MANIFEST_TYPE, manifest(image)), "platform": names})
    return _json({"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": entries})


def platform(config: Object) -> str:
    """Return the platform of a config, or of an entry of an index: ``linux/amd64``, or ""."""
    parts = [manifests.text_at(config, key) for key in ("os", "architecture")]
    return "/".join(parts) if all(parts) else ""


def layer_kinds(config: Object) -> dict[str, str]:
    """Return the kinds of package layers by digest, from the labels of an image's config."""
    labels = manifests.texts_at(config, "config", "Labels")
    prefix = f"{LABEL}:"
    return {
        key.removeprefix(prefix): kind for key, kind in labels.items() if key.startswith(prefix)
    }


def to_docker_archive(image: Image) -> bytes:
    """Write the image as `docker save` does: its config, its layers, and a list of both."""
    config = config_bytes(image)
    files = {sha256(config): config}
    names: list[Value] = []
    for layer in image.layers:
        name = f"{layer.digest.removeprefix('sha256:')}.tar.gz"
        names.append(name)
        files[name] = layer.data
    listing: Object = {"Config": sha256(config), "RepoTags": None, "Layers": names}
    return archives.tar({**files, "manifest.json": _json([listing])})


def config_bytes(image: Image) -> bytes:
    """Return the config as registries store it."""
    return _json(image.config)


def sha256(data: bytes) -> str:
    """Return the digest of ``data``, ``sha256:…``."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def read_digest(descriptor: Object) -> str:
    """Return the digest of a descriptor. Raises ValueError for an invalid one."""
    text = manifests.text_at(descriptor, "digest")
    if not _DIGEST.fullmatch(text):
        raise ValueError(
            f"{text[:_MAX_CHARACTERS]!r} is not a digest such as sha256:<64 hex digits>"
        )
    return text


def read_size(descriptor: Object) -> int | None:
    """Return the size in bytes that a descriptor states, or None."""
    size = descriptor.get("size")
    return size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else None


def verify(data: bytes, digest: str) -> None:
    """Raise ValueError unless ``data`` has ``digest``, which must be valid."""
    algorithm, _, expected = digest.partition(":")
    actual = hashlib.new(algorithm, data).hexdigest()
    if actual != expected:
        raise ValueError(f"the content named {digest} has the digest {algorithm}:{actual}")


def verify_descriptor(data: bytes, descriptor: Object) -> None:
    """Raise ValueError unless ``data`` has the size and the digest that a descriptor states."""
    digest, size = read_digest(descriptor), read_size(descriptor)
    if size is not None and len(data) != size:
        raise ValueError(f"the content named {digest} has {len(data)} bytes instead of {size}")
    verify(data, digest)


def size_text(size_bytes: int) -> str:
    """Format a size for people: ``1.5 MiB``."""
    size, unit = float(size_bytes), 0
    while size >= _STEP and unit < len(_UNITS) - 1:
        size, unit = size / _STEP, unit + 1
    return f"{size:.{min(unit, 1)}f} {_UNITS[unit]}"


def _append(config: Object, key: str, item: Value) -> None:
    items = config.get(key)
    config[key] = [*(items if isinstance(items, list) else ()), item]


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
