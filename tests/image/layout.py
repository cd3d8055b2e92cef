"""Write an image as an OCI archive: the layer of its base, and one with everything that is added.

The same files, and the same time in seconds, give the same bytes.
"""

import gzip
import hashlib
import io
import json
import os
import platform
import tarfile
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from image.stages import Image

ARCHITECTURE: Final = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
_TYPE: Final = "application/vnd.oci.image"
_LEVEL: Final = 6


def write(image: Image, base: Path, target: Path, epoch: int) -> None:
    """Write an image on the files of its base to an archive; ``epoch`` is the time of all files."""
    with tempfile.TemporaryDirectory() as name, tarfile.open(target, "w") as archive:
        blobs = Path(name)
        layers, diff_ids = [], []
        for number, paths in enumerate((_paths(base), _added(image.root, base))):
            root = (base, image.root)[number]
            diff_ids.append(_write_layer(root, paths, blobs / str(number), epoch))
            layers.append(
                _describe((blobs / str(number)).read_bytes(), f"{_TYPE}.layer.v1.tar+gzip")
            )
        config = _encode(_configure(image, diff_ids, epoch))
        manifest = _encode(
            {
                "schemaVersion": 2,
                "mediaType": f"{_TYPE}.manifest.v1+json",
                "config": _describe(config, f"{_TYPE}.config.v1+json"),
                "layers": layers,
            }
        )
        entry = _describe(manifest, f"{_TYPE}.manifest.v1+json")
        entry["platform"] = {"architecture": ARCHITECTURE, "os": "linux"}
        _add(archive, "oci-layout", _encode({"imageLayoutVersion": "1.0.0"}), epoch)
        _add(archive, "index.json", _encode({"schemaVersion": 2, "manifests": [entry]}), epoch)
        for data in (config, manifest, *((blobs / str(n)).read_bytes() for n in range(2))):
            _add(archive, f"blobs/sha256/{hashlib.sha256(data).hexdigest()}", data, epoch)


def _paths(root: Path) -> Iterator[str]:
    """Yield the paths below a directory, parents first, in an order that does not change."""
    for folder, directories, names in os.walk(root):
        directories.sort()
        for name in sorted([*names, *directories]):
            yield os.path.relpath(os.path.join(folder, name), root)  # noqa: PTH118 - many


def _added(root: Path, base: Path) -> list[str]:
    """List what an image has beyond its base; the base itself does not change."""
    return [path for path in _paths(root) if not os.path.lexists(base / path)]


def _write_layer(root: Path, paths: Iterator[str] | list[str], target: Path, epoch: int) -> str:
    """Write a layer, compressed; returns the digest of what is compressed."""
    plain = target.with_suffix(".tar")
    with tarfile.open(plain, "w", format=tarfile.GNU_FORMAT) as layer:
        for path in paths:
            layer.add(root / path, path, recursive=False, filter=lambda info: _settle(info, epoch))
    data = plain.read_bytes()
    plain.unlink()
    target.write_bytes(gzip.compress(data, _LEVEL, mtime=0))
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _settle(info: tarfile.TarInfo, epoch: int) -> tarfile.TarInfo:
    """Take out of an entry what differs between builds."""
    info.mtime = epoch
    info.uname = info.gname = ""
    return info


def _configure(image: Image, diff_ids: list[str], epoch: int) -> dict[str, object]:
    created = datetime.fromtimestamp(epoch, UTC).isoformat()
    return {
        "created": created,
        "architecture": ARCHITECTURE,
        "os": "linux",
        "config": {
            "User": image.user,
            "ExposedPorts": {f"{port}/tcp": {} for port in image.ports},
            "Env": [f"{name}={value}" for name, value in image.environment.items()],
            "Entrypoint": image.entrypoint,
            "WorkingDir": image.directory,
            "Labels": image.labels,
        },
        "rootfs": {"type": "layers", "diff_ids": diff_ids},
        "history": [
            {"created": created, "created_by": name} for name in ("base", "function-script")
        ],
    }


def _encode(value: object) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _describe(data: bytes, media_type: str) -> dict[str, object]:
    digest = hashlib.sha256(data).hexdigest()
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data)}


def _add(archive: tarfile.TarFile, name: str, data: bytes, epoch: int) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mtime = len(data), epoch
    archive.addfile(info, io.BytesIO(data))
