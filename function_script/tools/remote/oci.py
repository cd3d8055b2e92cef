"""Artifacts of registries: fetch the files in their layers, and push programs and modules."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from function_script.request.remote.content import MAX_BYTES, MAX_FILES, Content
from function_script.request.remote.reference import RemoteReference
from function_script.request.values import Object
from function_script.texts.errors import InputError
from function_script.tools import bounded, manifests
from function_script.tools.progress import Progress
from function_script.tools.project import Project
from function_script.tools.remote import selection
from function_script.tools.remote.selection import FetchError
from function_script.tools.xpkg import archives, images, references
from function_script.tools.xpkg.credentials import Trust
from function_script.tools.xpkg.registry import RegistryError, Repository

ARTIFACT_TYPE: Final = "application/vnd.function-script.module.v1"
LAYER_TYPE: Final = "application/vnd.function-script.module.v1.tar+gzip"
TITLE: Final = "org.opencontainers.image.title"
"""The annotation with the name of a file that is a layer of its own, as ORAS pushes it."""
_EMPTY_TYPE: Final = "application/vnd.oci.empty.v1+json"
_EMPTY: Final = b"{}"
_MAX_LAYERS: Final = 20
_MAX_LAYER_BYTES: Final = 2 * MAX_BYTES
# An artifact of several folders, of which a reference names one.
_MAX_EXPANDED_BYTES: Final = 8 * MAX_BYTES
_MAX_MEMBERS: Final = 20_000


def fetch(reference: RemoteReference, trust: Trust) -> Content:
    """Fetch the files of a reference, verified by its digest. Raises FetchError."""
    try:
        name = references.parse(f"{reference.location}@{reference.version}")
        repository = Repository(name, "pull", trust)
        files = _read_files(repository, reference.version)
    except InputError as error:
        (problem,) = error.diagnostics
        cause = error.cause if isinstance(error, RegistryError) else problem.message
        raise FetchError(cause, problem.hint or "") from error
    except ValueError as error:
        raise FetchError(str(error)) from error
    selected = selection.select_names(files, reference.path)
    return selection.read_texts(selected, reference.path, files.__getitem__)


def _read_files(repository: Repository, digest: str) -> dict[str, bytes]:
    manifest = bounded.read_object(repository.pull_manifest(digest))
    layers = manifests.objects_at(manifest, "layers")
    if manifests.objects_at(manifest, "manifests"):
        hint = "name the digest of one of its manifests"
        raise FetchError("it is an index of several artifacts", hint)
    if len(layers) > _MAX_LAYERS:
        raise FetchError(f"it has more than {_MAX_LAYERS} layers")
    files: dict[str, bytes] = {}
    budget = archives.Budget(_MAX_EXPANDED_BYTES)
    for layer in layers:
        files |= _read_layer(layer, repository.pull_blob(layer, _MAX_LAYER_BYTES), budget)
    return files


def _read_layer(layer: Object, data: bytes, budget: archives.Budget) -> dict[str, bytes]:
    """Return the files of an archive, or the one file that the layer is."""
    title = manifests.text_at(layer, "annotations", TITLE)
    is_gzip = archives.is_gzip(data)
    if is_gzip:
        # All of it counts, also what is behind the end of an archive.
        data = archives.gunzip(data, budget).read()
    else:
        budget.spend(len(data))
    if is_gzip or manifests.text_at(layer, "mediaType").endswith("tar"):
        return _read_archive(data, budget)
    if not title:
        raise FetchError(
            "one of its layers is neither an archive in gzip nor a file with a title",
            "`function-script package push --module` pushes a folder",
        )
    return {selection.check_name(title): data}


def _read_archive(data: bytes, budget: archives.Budget) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    with archives.open_layer(data, budget) as archive:
        for count, member in enumerate(archive):
            if count >= _MAX_MEMBERS:
                raise FetchError(f"one of its layers has more than {_MAX_MEMBERS:,} files")
            name = selection.check_name(member.name)
            if member.isdir():
                continue
            if not member.isreg():
                raise FetchError(f'its file "{name}" is a link or a device')
            file = archive.extractfile(member)
            files[name] = b"" if file is None else file.read()
    return files


def push(
    name: str, paths: Sequence[Path], progress: Progress, trust: Trust, allowed: Iterable[Path]
) -> str:
    """Push files, and the files below directories, under the tag of ``name``.

    Links in directories stay below them, or lead to what is ``allowed``.

    Return the reference with its digest. The same files give the same digest. Raises InputError.
    """
    reference = references.parse_tag(name)
    files = _read_local_files(paths, allowed)
    try:
        layer = archives.gzip_stored(archives.tar(files))
    except ValueError as error:
        raise InputError.of(f"cannot push a module: {error}") from error
    repository = Repository(reference, "pull,push", trust, progress)
    for data in (layer, _EMPTY):
        repository.push_blob(data)
    manifest = {
        "schemaVersion": 2,
        "mediaType": images.OCI_MANIFEST_TYPE,
        "artifactType": ARTIFACT_TYPE,
        "config": images.describe(_EMPTY_TYPE, _EMPTY),
        "layers": [images.describe(LAYER_TYPE, layer)],
    }
    text = json.dumps(manifest, separators=(",", ":")).encode()
    return f"{name}@{repository.push_manifest(text, images.OCI_MANIFEST_TYPE, reference.version)}"


def _read_local_files(paths: Iterable[Path], allowed: Iterable[Path]) -> dict[str, bytes]:
    """Return the files by their names: below a directory its paths, and a file's last part.

    Hidden files are left out.
    """
    paths = [*paths]
    project = Project(named=paths, allowed=allowed)
    files: dict[str, Path] = {}
    for path in paths:
        if path.is_dir():
            below = project.find_files(path)
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
    contents = {name: project.load(files[name]).text.encode() for name in sorted(files)}
    if sum(map(len, contents.values())) > MAX_BYTES:
        raise InputError.of(f"cannot push more than {MAX_BYTES >> 20} MiB")
    return contents
