"""Push programs and modules to a registry, as an artifact with a media type of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from function_script.errors import InputError
from function_script.remote.content import MAX_BYTES, MAX_FILES
from function_script.tools.remote import oci, selection
from function_script.tools.xpkg import archives, images, references
from function_script.tools.xpkg.progress import Body, NullProgress
from function_script.tools.xpkg.registry import Repository

if TYPE_CHECKING:
    from function_script.tools.xpkg.credentials import Trust
    from function_script.tools.xpkg.progress import Progress
    from function_script.values import Object

_MANIFEST_TYPE: Final = "application/vnd.oci.image.manifest.v1+json"
_EMPTY_TYPE: Final = "application/vnd.oci.empty.v1+json"
_EMPTY: Final = b"{}"


def push(
    name: str, paths: Sequence[Path], progress: Progress | None = None, trust: Trust | None = None
) -> str:
    """Push files, and the files below directories, under the tag of ``name``.

    Return the reference with its digest. The same files give the same digest. Raises InputError.
    """
    reference = references.parse(name)
    if reference.is_pinned:
        raise InputError.of(f'cannot push to "{name}": a digest is no tag')
    layer = archives.gzip_stored(archives.tar(_read(paths)))
    repository = Repository(reference, "pull,push", trust, progress)
    for data in (layer, _EMPTY):
        digest = images.sha256(data)
        if not repository.has_blob(digest):
            repository.push_blob(Body(data, progress or NullProgress()), digest)
    manifest = {
        "schemaVersion": 2,
        "mediaType": _MANIFEST_TYPE,
        "artifactType": oci.ARTIFACT_TYPE,
        "config": _descriptor(_EMPTY_TYPE, _EMPTY),
        "layers": [_descriptor(oci.LAYER_TYPE, layer)],
    }
    text = json.dumps(manifest, separators=(",", ":")).encode()
    repository.push_manifest(text, _MANIFEST_TYPE, reference.version)
    return f"{name}@{images.sha256(text)}"


def _descriptor(media_type: str, data: bytes) -> Object:
    return {"mediaType": media_type, "size": len(data), "digest": images.sha256(data)}


def _read(paths: Iterable[Path]) -> dict[str, bytes]:
    """Return the files by their names: below a directory its paths, and a file's last part.

    Hidden files are left out.
    """
    files: dict[str, Path] = {}
    for path in paths:
        if path.is_dir():
            below = (each for each in sorted(path.rglob("*")) if each.is_file())
            named = {each.relative_to(path).as_posix(): each for each in below}
        else:
            named = {path.name: path}
        for name, file in named.items():
            if selection.is_hidden(name):
                continue
            if name in files:
                raise InputError.of(f'cannot push "{file}": "{files[name]}" has the same name')
            files[name] = file
    if not files:
        raise InputError.of("cannot push a module without files")
    if len(files) > MAX_FILES:
        raise InputError.of(f"cannot push more than {MAX_FILES:,} files")
    contents = {name: _read_text(files[name]) for name in sorted(files)}
    if sum(map(len, contents.values())) > MAX_BYTES:
        raise InputError.of(f"cannot push more than {MAX_BYTES >> 20} MiB")
    return contents


def _read_text(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        data.decode()
    except UnicodeDecodeError as error:
        raise InputError.of(f'cannot push "{path}": it is not UTF-8 text') from error
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise InputError.of(f'cannot read "{path}": {cause}') from error
    return data
