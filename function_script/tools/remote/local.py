"""Remote programs in the author's commands: from `vendor/`, the user's cache, or their hosts.

The hosts are those that the Composition names. Logins are those of `docker login`. `vendor/` is in
the author's project, and `vendor --output` writes it:

    index.json                      each reference by its key, with its files and their digest
    HOST/REPOSITORY@VERSION/PATH    the files
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path, PurePosixPath
from typing import Final

from function_script import wire
from function_script.inputs import MissingContent
from function_script.request.remote import content
from function_script.request.remote.reference import RemoteReference
from function_script.request.remote.store import FetchKey
from function_script.request.values import Object
from function_script.texts.errors import InputError
from function_script.texts.problems import Problem
from function_script.tools import bounded, manifests
from function_script.tools.processes.options import PackageOptions, default_root
from function_script.tools.project import Project, create
from function_script.tools.remote import selection
from function_script.tools.remote.fetching import DiskCache, Source
from function_script.tools.xpkg import credentials as docker
from function_script.tools.xpkg import images

VENDOR: Final = Path("vendor")
"""The folder that commands read, in the current directory."""
_INDEX: Final = "index.json"


def source_of(packages: PackageOptions) -> Source:
    """Return the source of a command."""
    root = packages.root or default_root()
    # OpenSSL reads the file by itself, and git does not.
    ca_file = os.environ.get("SSL_CERT_FILE")
    return Source(
        find_login=docker.find,
        cache=DiskCache(root / "remote"),
        ca_file=Path(ca_file) if ca_file else None,
        is_offline=packages.pull == "Never",
    )


def fetch(
    source: Source, reference: RemoteReference, credentials: Mapping[str, bytes] | None = None
) -> bytes:
    """Return encoded content from `vendor/`, the cache or its host. Raises FetchError."""
    reference = replace(reference, credentials="")
    payload = find_vendored(VENDOR, reference)
    return source.fetch(FetchKey(reference, ""), credentials) if payload is None else payload


def find(reference: RemoteReference) -> content.Content | None:
    """Return content that is on this machine; None for other."""
    try:
        payload = fetch(source_of(PackageOptions(pull="Never")), reference)
    except (selection.FetchError, InputError):
        return None
    return content.decode(payload)


def attach(data: bytes, missing: Sequence[MissingContent], source: Source) -> bytes:
    """Return a request with the contents that it lacks. Raises InputError."""
    step_credentials = wire.index_request(data).credentials
    payloads: dict[RemoteReference, bytes] = {}
    problems = []
    for path, reference in missing:
        try:
            login = step_credentials.get(reference.credentials)
            payloads[reference] = fetch(source, reference, login)
        except selection.FetchError as error:
            text = f"cannot fetch {reference}: {error.reason}"
            problems.append(Problem(path, text, error.hint or None))
    if problems:
        raise InputError(*(problem.to_diagnostic() for problem in problems))
    return content.attach(data, payloads.items())


def find_vendored(directory: Path, reference: RemoteReference) -> bytes | None:
    """Return encoded content; None if the folder does not have it.

    Raises FetchError for files that differ from the index.
    """
    path = directory / _INDEX
    if not path.exists():
        return None
    project = Project([Path() if directory == VENDOR else directory])
    try:
        index = bounded.read_object(project.read(path))
    except (InputError, ValueError) as error:
        raise selection.FetchError(f'cannot read "{path}"') from error
    entry = manifests.object_at(index, reference.key)
    if not entry:
        return None
    folder = directory / selection.check_name(manifests.text_at(entry, "folder"))
    texts: dict[str, str] = {}
    names = entry.get("files")
    try:
        for name in names if isinstance(names, list) else ():
            texts[str(name)] = project.read(folder / selection.check_name(str(name))).decode()
    except (InputError, ValueError) as error:
        raise selection.FetchError(f'its copy in "{folder}" cannot be read') from error
    payload = content.encode(content.Content(texts=texts, is_file=entry.get("isFile") is True))
    if images.sha256(payload) != entry.get("digest"):
        hint = "`function-script vendor --output` writes it again"
        raise selection.FetchError(f'its copy in "{folder}" was changed', hint)
    return payload


def write_vendored(
    directory: Path, payloads: Mapping[RemoteReference, bytes], project: Project
) -> None:
    """Write contents into a folder, and an index of them alone. Raises InputError."""
    index: Object = {}
    project = project if project.has_below(directory) else create(directory)
    for reference, payload in payloads.items():
        decoded = content.decode(payload)
        path = PurePosixPath(reference.name_of(""))
        folder = path.parent if decoded.is_file else path
        for name, text in decoded.texts.items():
            file = directory / folder / selection.check_name(name)
            project.write(file, text.encode(), makes_parents=True)
        index[reference.key] = {
            "reference": asdict(reference),
            "folder": str(folder),
            "files": [*sorted(decoded.texts)],
            "isFile": decoded.is_file,
            "digest": images.sha256(payload),
        }
    text = json.dumps(index, indent=2, sort_keys=True, ensure_ascii=False)
    project.write(directory / _INDEX, f"{text}\n".encode(), makes_parents=True)
