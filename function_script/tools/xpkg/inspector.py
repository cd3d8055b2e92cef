"""Inspect a package in a file or a registry: metadata, objects, platforms, layers.

From a registry only the layer with the metadata is fetched, not the runtime.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Self

from function_script.request import objects
from function_script.request.values import Object, Value
from function_script.texts.errors import InputError
from function_script.texts.source import Source
from function_script.tools import bounded, manifests
from function_script.tools.xpkg import image_loader, images, manifest, references
from function_script.tools.xpkg.credentials import Trust
from function_script.tools.xpkg.registry import Repository

_MAX_MANIFESTS_BYTES: Final = 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """The image for one platform, as manifest and config describe it."""

    digest: str
    manifest: Object
    config: Object

    @classmethod
    def of(cls, manifest: bytes, config: Object) -> Self:
        """Return the image of a manifest. Raises ValueError."""
        whole = bounded.read_object(manifest)
        return cls(digest=images.sha256(manifest), manifest=whole, config=config)

    @property
    def layers(self) -> list[Object]:
        """Return the layers: digest, size in bytes, kind of package layer, annotations."""
        kinds = images.layer_kinds(self.config)
        return [
            {
                "digest": manifests.text_at(layer, "digest"),
                "size": layer.get("size"),
                "kind": kinds.get(manifests.text_at(layer, "digest"), ""),
                "annotations": manifests.object_at(layer, "annotations"),
            }
            for layer in manifests.objects_at(self.manifest, "layers")
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """A package: its digest, package.yaml's objects (the metadata first), its platforms."""

    digest: str
    meta: Object
    objects: tuple[Object, ...]
    annotations: Object
    parts: tuple[_Part, ...]


def inspect(name: str, trust: Trust | None = None) -> Inspected:
    """Inspect a package file or a package in a registry. Raises InputError."""
    annotations: Object = {}
    # A name with this ending is a file that is missing, and nothing in a registry.
    if Path(name).exists() or name.endswith(".xpkg"):
        packages = image_loader.load(Path(name))
        parts = [_Part.of(images.manifest(image), image.config) for image in packages]
        digest = parts[0].digest if len(parts) == 1 else images.sha256(images.index(packages))
        place = str(Path(name))
        text = _text(packages[0], place)
    else:
        reference = references.parse(name)
        data, parts, text = _pull(reference, trust)
        digest, place = images.sha256(data), str(reference)
        annotations = manifests.object_at(bounded.read_object(data), "annotations")
    source = Source(name=f"{place}/{manifest.FILE_NAME}", text=text)
    meta, *others = [document.value for document in bounded.read_documents(source)] or [{}]
    return Inspected(
        digest=digest,
        meta=meta,
        objects=tuple(others),
        annotations=annotations,
        parts=tuple(parts),
    )


def read_package(path: Path, file: BinaryIO | None = None) -> str:
    """Return the text of package.yaml in a package file, which may be open. Raises InputError."""
    return _text(image_loader.load(path, file)[0], str(path))


def to_json(package: Inspected) -> str:
    """Format a report as JSON."""
    platforms: list[Value] = [
        {
            "platform": images.platform(part.config),
            "digest": part.digest,
            "layers": [*part.layers],
        }
        for part in package.parts
    ]
    names: list[Value] = [
        dict(zip(("apiVersion", "kind", "name"), _identity(item), strict=True))
        for item in package.objects
    ]
    report: Object = {
        "digest": package.digest,
        "annotations": package.annotations,
        "meta": package.meta,
        "objects": names,
        "platforms": platforms,
    }
    return json.dumps(report, indent=2, ensure_ascii=False)


def to_text(package: Inspected) -> str:
    """Format a report as text."""
    return "\n".join(_lines(package))


def _lines(package: Inspected) -> Iterator[str]:
    _, kind, name = _identity(package.meta)
    yield f"{kind} {name}"
    yield f"  digest      {package.digest}"
    version = manifests.text_at(package.meta, "spec", "crossplane", "version")
    if version:
        yield f"  crossplane  {version}"
    for dependency in manifests.objects_at(package.meta, "spec", "dependsOn"):
        keys = ("package", "function", "provider", "configuration")
        names = (manifests.text_at(dependency, key) for key in keys)
        package_name = next(filter(None, names), "?")
        version = manifests.text_at(dependency, "version")
        yield f"  depends on  {package_name} {version}".rstrip()
    for key, value in package.annotations.items():
        yield f"  annotation  {key}={value}"
    yield "Objects"
    for item in package.objects:
        yield "  " + " ".join(_identity(item))
    for part in package.parts:
        yield f"Platform {images.platform(part.config) or 'any'}"
        yield f"  digest      {part.digest}"
        for layer in part.layers:
            size = layer["size"]
            text = images.size_text(size) if isinstance(size, int) else "?"
            yield f"  layer       {layer['digest']} {text} {layer['kind']}".rstrip()


def _identity(item: Object) -> tuple[str, str, str]:
    return *objects.api_version_and_kind(item), manifests.name(item)


def fetch_package(name: str) -> str:
    """Return the text of package.yaml of a package in a registry. Raises InputError."""
    return _pull(references.parse(name), None, 1)[2]


def _pull(
    reference: references.Reference, trust: Trust | None, most: int | None = None
) -> tuple[bytes, list[_Part], str]:
    """Return the manifest, the images of at most so many platforms, and package.yaml's text."""
    repository = Repository(reference, "pull", trust)
    data = repository.pull_manifest(reference.version)
    name = str(reference)
    try:
        entries = image_loader.platform_entries(bounded.read_object(data))
        texts = [
            repository.pull_manifest(images.read_digest(entry), images.read_size(entry))
            for entry in entries[:most]
        ] or [data]
        parts = _pull_parts(repository, texts)
        first = _pull_package(repository, parts[0])
    except ValueError as error:
        raise InputError.of(f'cannot read package "{name}": {error}') from error
    return data, parts, _text(first, name)


def _pull_parts(repository: Repository, texts: list[bytes]) -> list[_Part]:
    """Pull the configs of images, whose manifests are ``texts``."""
    if sum(map(len, texts)) > _MAX_MANIFESTS_BYTES:
        raise ValueError("its manifests are too large together")
    parts: list[_Part] = []
    for text in texts:
        image_manifest = bounded.read_object(text)
        if "manifests" in image_manifest:
            raise ValueError("it has an index in an index")
        descriptor = manifests.object_at(image_manifest, "config")
        data = repository.pull_blob(descriptor, image_loader.MAX_JSON_BYTES)
        parts.append(_Part.of(text, bounded.read_object(data)))
    return parts


def _pull_package(repository: Repository, part: _Part) -> images.Image:
    """Pull the layer that is labelled as the one with package.yaml; without a label, all layers."""
    base = [
        layer
        for layer in part.layers
        if images.BASE_LAYER
        in {layer["kind"], manifests.object_at(layer, "annotations").get(images.LABEL)}
    ]
    selection = base or part.layers
    image_loader.check_count(selection)
    layers: list[bytes] = []
    for layer in selection:
        remaining = image_loader.MAX_SEARCHED_BYTES - sum(map(len, layers))
        layers.append(repository.pull_blob(layer, remaining))
    return image_loader.read_image(json.dumps(part.config).encode(), layers)


def _text(image: images.Image, name: str) -> str:
    try:
        data = image_loader.find_file(image, manifest.FILE_NAME)
        text = None if data is None else data.decode("utf-8")
    except ValueError as error:
        is_other = isinstance(error, UnicodeDecodeError)
        cause = f"its {manifest.FILE_NAME} is not UTF-8 text" if is_other else error
        raise InputError.of(f'cannot read package "{name}": {cause}') from error
    if text is None:
        raise InputError.of(f'cannot read package "{name}": it holds no {manifest.FILE_NAME}')
    return text
