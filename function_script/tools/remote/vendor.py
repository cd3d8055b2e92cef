"""Lock the remote programs of Compositions, and copy them into a folder.

A lock file is beside the files that it is for. It has each reference with the digest of its texts,
and the tag or branch that the reference was made of.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from function_script.errors import InputError
from function_script.problems import Problem
from function_script.remote.reference import RemoteReference
from function_script.tools import bounded, manifests
from function_script.tools.remote import local, pinning
from function_script.tools.remote.fetching import Source
from function_script.tools.remote.pinning import Place
from function_script.tools.remote.selection import FetchError
from function_script.values import Object, Value

LOCK: Final = "function-script.lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A locked reference: the digest of its texts, and the tag or branch it was, or ""."""

    reference: RemoteReference
    digest: str
    revision: str = ""

    def to_json(self) -> Object:
        """Return the entry of a lock file."""
        fields: Object = {"digest": self.digest, "revision": self.revision}
        return {**asdict(self.reference), **fields}


def vendor(
    arguments: Sequence[str], source: Source, *, output: Path | None, is_update: bool
) -> list[Entry]:
    """Pin, fetch and lock the references of files, and copy their contents into ``output``.

    ``is_update``: tags and branches are resolved again. Raises FatalError.
    """
    payloads: dict[RemoteReference, bytes] = {}
    entries: dict[Path, dict[str, Entry]] = {}
    for place in pinning.find(arguments):
        locked = _read(place.file.parent)
        revision = (
            _find_revision(place, locked) if is_update or not pinning.is_pinned(place) else ""
        )
        pinned, name = pinning.resolve(place, source, revision)
        reference = replace(pinned.read(), credentials="")
        payload = _fetch(pinned, source, reference)
        pinning.write(place, pinned)
        payloads[reference] = payload
        former = locked.get(reference.key)
        name = name or ("" if former is None else former.revision)
        entry = Entry(reference=reference, digest=local.digest(payload), revision=name)
        entries.setdefault(place.file.parent, {})[reference.key] = entry
    for directory, group in entries.items():
        _write(directory, group.values())
    if output is not None:
        local.write_vendored(output, payloads)
    return [entry for group in entries.values() for entry in group.values()]


def check(arguments: Sequence[str], output: Path | None) -> list[str]:
    """Return what differs between files, their lock files and the folder ``output``."""
    differences: list[str] = []
    references: dict[Path, dict[str, RemoteReference]] = {}
    for place in pinning.find(arguments):
        if not pinning.is_pinned(place):
            differences.append(f'{place.file}: {place.field}: "{place.version}" is not pinned')
            continue
        reference = replace(place.read(), credentials="")
        references.setdefault(place.file.parent, {})[reference.key] = reference
    for directory, group in references.items():
        differences += _compare(directory, group, output)
    return differences


def _compare(
    directory: Path, references: Mapping[str, RemoteReference], output: Path | None
) -> list[str]:
    locked = _read(directory)
    path = directory / LOCK
    differences = [
        f"{path}: {reference} is missing"
        for key, reference in references.items()
        if key not in locked
    ]
    differences += [
        f"{path}: {entry.reference} is not in use"
        for key, entry in locked.items()
        if key not in references
    ]
    for key, entry in locked.items():
        if output is None or key not in references:
            continue
        try:
            payload = local.find_vendored(output, entry.reference)
        except FetchError as error:
            differences.append(f"{output}: {entry.reference}: {error.reason}")
            continue
        if payload is None:
            differences.append(f"{output}: {entry.reference} is missing")
        elif local.digest(payload) != entry.digest:
            differences.append(f"{output}: {entry.reference} is not what is locked")
    return differences


def _find_revision(place: Place, locked: Mapping[str, Entry]) -> str:
    """Return the tag or branch of a place; "" for one that has none."""
    if place.version_field[0] == "oci":
        return pinning.tag_of(place.version)
    if not pinning.is_pinned(place):
        return place.version
    entry = locked.get(replace(place.read(), credentials="").key)
    return "" if entry is None else entry.revision


def _fetch(place: Place, source: Source, reference: RemoteReference) -> bytes:
    try:
        return local.fetch_from_host(source, reference)
    except FetchError as error:
        text = f"cannot fetch {reference}: {error.reason}"
        raise InputError(Problem(place.field, text, error.hint or None).to_diagnostic()) from error


def _read(directory: Path) -> dict[str, Entry]:
    """Return the entries of a lock file by the keys of their references. Raises InputError."""
    path = directory / LOCK
    try:
        lock = bounded.read_json(path.read_bytes())
        items = manifests.objects_at(lock, "references") if isinstance(lock, dict) else []
        entries = [_parse(item) for item in items]
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError.of(
            f'cannot read the lock file "{path}"', hint="`function-script vendor` writes it again"
        ) from error
    return {entry.reference.key: entry for entry in entries}


def _parse(item: Object) -> Entry:
    reference = RemoteReference(
        transport="git" if item["transport"] == "git" else "oci",
        location=str(item["location"]),
        version=str(item["version"]),
        path=str(item["path"]),
    )
    return Entry(
        reference=reference, digest=str(item["digest"]), revision=str(item.get("revision", ""))
    )


def _write(directory: Path, entries: Iterable[Entry]) -> None:
    references: list[Value] = []
    for entry in sorted(entries, key=lambda each: (str(each.reference), each.reference.path)):
        fields = entry.to_json()
        del fields["credentials"]
        references.append(fields)
    text = json.dumps({"references": references}, indent=2, ensure_ascii=False)
    path = directory / LOCK
    try:
        path.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise InputError.of(f'cannot write "{path}": {cause}') from error
