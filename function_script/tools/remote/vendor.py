"""Pin the remote programs of Compositions, lock them, and copy them into a folder.

A pinned reference has a digest or a commit, which is written into the file in place of a tag or a
branch. A lock file is beside the files that it is for. It has each reference with the digest of its
texts, and the tag or branch that the reference was made of.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, Self

from function_script.documents import Document
from function_script.request import objects
from function_script.request.reader import ObjectReader, format_path
from function_script.request.remote import parsing
from function_script.request.remote.reference import RemoteReference
from function_script.request.remote.store import FetchKey
from function_script.request.values import Object, Value
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError, InputError
from function_script.texts.problems import Problem, ProblemList
from function_script.tools import author_positions, bounded, manifests, step_inputs
from function_script.tools.check import searching
from function_script.tools.project import STDIN, Project
from function_script.tools.remote import git, local
from function_script.tools.remote.fetching import Source
from function_script.tools.remote.selection import FetchError
from function_script.tools.xpkg import images, references
from function_script.tools.xpkg.registry import RegistryError, Repository

LOCK: Final = "function-script.lock"
_MANY: Final = "modulesFrom"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A ``remote`` object in a file; ``path`` leads to it in the document."""

    file: Path
    document: Document
    path: objects.Path
    value: Object

    @property
    def field(self) -> str:
        """Return the path of the object for messages: ``input.modulesFrom[0].remote``."""
        begin = self.path.index("input") if "input" in self.path else 0
        return format_path(self.path[begin:]) if begin else format_path(("input", *self.path))

    @property
    def version_field(self) -> tuple[str, str]:
        """Return the keys of the field with the version."""
        return ("git", "commit") if isinstance(self.value.get("git"), dict) else ("oci", "ref")

    @property
    def version(self) -> str:
        """Return the text of that field."""
        return manifests.text_at(self.value, *self.version_field)

    @property
    def revision(self) -> str:
        """Return the tag or branch in the file; "" where a digest or a commit is all there is."""
        if self.version_field[0] == "git":
            return self.version if self.find_reference() is None else ""
        with suppress(InputError):
            return references.parse(self.version.partition("@")[0]).version
        return ""

    def find_reference(self) -> RemoteReference | None:
        """Return the reference if it is pinned: its version is a digest or a commit."""
        try:
            return self.read()
        except FatalError:
            return None

    def read(self) -> RemoteReference:
        """Return the reference. Raises InputError for one that is not pinned or wrong.

        It is without credentials: the content is the same, whoever fetches it.
        """
        problems = ProblemList()
        reference = parsing.read(ObjectReader(self.value, self.field, problems))
        if reference is None or problems:
            raise InputError(*(self._locate(problem) for problem in problems))
        return replace(reference, credentials="")

    def failure(self, text: str, hint: str | None) -> InputError:
        """Return an error at the field with the version."""
        return InputError(self._locate(Problem(self.field, text, hint or None)))

    def _locate(self, problem: Problem) -> Diagnostic:
        path = (*self.path, *self.version_field)
        return author_positions.locate(problem.to_diagnostic(), self.document, path)

    def with_version(self, text: str) -> Self:
        """Return the place with another version."""
        section, key = self.version_field
        changed: Object = {**manifests.object_at(self.value, section), key: text}
        return replace(self, value={**self.value, section: changed})


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A locked reference: the digest of its texts, and the tag or branch it was, or ""."""

    reference: RemoteReference
    digest: str
    revision: str = ""


def vendor(
    arguments: Sequence[str],
    project: Project,
    source: Source,
    *,
    output: Path | None,
    is_update: bool,
) -> list[Entry]:
    """Pin, fetch and lock the references of files, and copy their contents into ``output``.

    ``project`` has the files that may be read and written. ``is_update``: tags and branches are
    resolved again. Raises FatalError.
    """
    payloads: dict[RemoteReference, bytes] = {}
    entries: dict[Path, dict[str, Entry]] = {}
    for place in _find_places(arguments, project):
        former = place.find_reference()
        locked = _read_lock(place.file.parent, project)
        entry = None if former is None else locked.get(former.key)
        revision = place.revision or ("" if entry is None else entry.revision)
        is_moved = former is None or (is_update and revision)
        pinned = _pin(place, source, revision) if is_moved else place
        reference = pinned.read()
        try:
            payload = source.fetch(FetchKey(reference, ""))
        except FetchError as error:
            text = f"cannot fetch {reference}: {error.reason}"
            raise pinned.failure(text, error.hint) from error
        # After the fetch: a file must not name what cannot be fetched.
        _write_version(place, pinned, project)
        payloads[reference] = payload
        entry = Entry(reference=reference, digest=images.sha256(payload), revision=revision)
        entries.setdefault(place.file.parent, {})[reference.key] = entry
    for directory, group in entries.items():
        _write_lock(directory, group.values(), project)
    if output is not None:
        local.write_vendored(output, payloads, project)
    return [entry for group in entries.values() for entry in group.values()]


def check(arguments: Sequence[str], project: Project, output: Path | None) -> None:
    """Raise InputError if files, their lock files and the folder ``output`` differ."""
    problems: list[Diagnostic] = []
    references: dict[Path, dict[str, RemoteReference]] = {}
    for place in _find_places(arguments, project):
        try:
            reference = place.read()
        except InputError as error:
            problems += error.diagnostics
            continue
        references.setdefault(place.file.parent, {})[reference.key] = reference
    for directory, group in references.items():
        differences = _compare(directory, group, project, output)
        problems += (Diagnostic(message=each) for each in differences)
    if problems:
        raise InputError(*problems)


def _compare(
    directory: Path,
    references: Mapping[str, RemoteReference],
    project: Project,
    output: Path | None,
) -> Iterator[str]:
    locked = _read_lock(directory, project)
    path = directory / LOCK
    for key, reference in references.items():
        if key not in locked:
            yield f"{path}: {reference} is missing"
    for key, entry in locked.items():
        if key not in references:
            yield f"{path}: {entry.reference} is not in use"
        if output is None or key not in references:
            continue
        try:
            payload = local.find_vendored(output, entry.reference)
        except FetchError as error:
            yield f"{output}: {entry.reference}: {error.reason}"
            continue
        if payload is None:
            yield f"{output}: {entry.reference} is missing"
        elif images.sha256(payload) != entry.digest:
            yield f"{output}: {entry.reference} is not what is locked"


def _read_lock(directory: Path, project: Project) -> dict[str, Entry]:
    """Return the entries of a lock file by the keys of their references. Raises InputError."""
    path = directory / LOCK
    if not os.path.lexists(path):
        return {}
    data = project.read(path)
    try:
        lock = bounded.read_object(data)
        entries = [_parse(item) for item in manifests.objects_at(lock, "references")]
    except (ValueError, TypeError, KeyError) as error:
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


def _write_lock(directory: Path, entries: Iterable[Entry], project: Project) -> None:
    references: list[Value] = []
    for entry in sorted(entries, key=lambda each: (str(each.reference), each.reference.path)):
        fields = asdict(entry.reference)
        # Credentials are named in the input, and none is locked.
        del fields["credentials"]
        fields |= {"digest": entry.digest, "revision": entry.revision}
        references.append(fields)
    text = json.dumps({"references": references}, indent=2, ensure_ascii=False)
    project.write(directory / LOCK, f"{text}\n".encode())


def _find_places(arguments: Sequence[str], project: Project) -> Iterator[_Place]:
    """Yield the remote programs and modules of files. Raises FatalError."""
    if STDIN in arguments:
        raise InputError.of("cannot pin references on stdin: name a file")
    for file in searching.find(arguments, project, ()):
        if file.error is not None:
            raise file.error
        for document in file.documents:
            for step_input in step_inputs.find_ours(document):
                yield from _find_in(Path(file.name), step_input)


def _find_in(file: Path, step_input: step_inputs.StepInput) -> Iterator[_Place]:
    value = step_input.value
    modules = value.get(_MANY)
    holders: list[tuple[objects.Path, object]] = [((), value)]
    holders += [
        ((_MANY, i), item) for i, item in enumerate(modules if isinstance(modules, list) else ())
    ]
    for path, holder in holders:
        remote = holder.get(parsing.FIELD) if isinstance(holder, dict) else None
        whole = (*step_input.path, *path, parsing.FIELD)
        if isinstance(remote, str):
            field = format_path(("input", *path, parsing.FIELD))
            hint = f"write `{parsing.form_of(remote)}`"
            problem = Problem(field, "must be an object, not a string", hint)
            located = author_positions.locate(problem.to_diagnostic(), step_input.document, whole)
            raise InputError(located)
        if isinstance(remote, dict):
            yield _Place(file=file, document=step_input.document, path=whole, value=remote)


def _pin(place: _Place, source: Source, revision: str) -> _Place:
    """Return the place with the digest or the commit that a tag or branch is now.

    Raises InputError.
    """
    if not place.version:
        # There is nothing to resolve: this says what is missing.
        place.read()
    try:
        if place.version_field[0] == "git":
            url = manifests.text_at(place.value, "git", "url")
            # Checks the URL before anything is sent.
            login = source.find_login(place.with_version("0" * 40).read().host)
            return place.with_version(git.resolve(url, revision, source.trust(login)))
        name = place.version.partition("@")[0]
        try:
            reference = references.parse(name)
        except InputError as error:
            (problem,) = error.diagnostics
            raise place.failure(problem.message, problem.hint) from error
        # The login is for this host alone.
        trust = source.trust(source.find_login(reference.host))
        data = Repository(reference, "pull", trust).pull_manifest(reference.version)
        return place.with_version(f"{name}@{images.sha256(data)}")
    except FetchError as error:
        raise place.failure(f"cannot resolve it: {error.reason}", error.hint) from error
    except RegistryError as error:
        hint = error.diagnostics[0].hint
        raise place.failure(f"cannot resolve it: {error.cause}", hint) from error


def _write_version(before: _Place, after: _Place, project: Project) -> None:
    """Write the version of ``after`` over that of ``before`` in its file. Raises InputError."""
    if before.version == after.version:
        return
    span = before.document.span((*before.path, *before.version_field))
    lines = project.read(before.file).decode().splitlines(keepends=True)
    number = 0 if span is None else span.line - 1
    start = 0 if span is None or span.column is None else span.column - 1
    position = lines[number].find(before.version, start)
    # An alias of YAML: the version is at its anchor, where it was written.
    if position < 0 and after.version in "".join(lines):
        return
    if span is None or position < 0:
        raise InputError.of(
            f'cannot write the version into "{before.file}"',
            span=span,
            hint=f"write `{after.version}` in place of `{before.version}`",
        )
    line = lines[number]
    lines[number] = line[:position] + after.version + line[position + len(before.version) :]
    project.write(before.file, "".join(lines).encode())
