"""The remote programs of steps in files: read them, resolve tags and branches, write versions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from function_script import objects
from function_script.documents import Document
from function_script.errors import FatalError, InputError
from function_script.problems import Problem, ProblemList
from function_script.reader import ObjectReader, format_path
from function_script.remote import parsing
from function_script.remote.reference import RemoteReference
from function_script.tools import manifests, sources, step_inputs
from function_script.tools.check import searching
from function_script.tools.remote import git
from function_script.tools.remote.fetching import Source
from function_script.tools.remote.selection import FetchError
from function_script.tools.xpkg import images, references
from function_script.tools.xpkg.registry import Repository
from function_script.values import Object

_MANY: Final = "modulesFrom"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
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

    def read(self) -> RemoteReference:
        """Return the reference. Raises InputError for one that is not pinned or wrong."""
        problems = ProblemList()
        reference = parsing.read(ObjectReader(self.value, self.field, problems))
        if reference is None or problems:
            raise self._error(problems)
        return reference

    def with_version(self, text: str) -> Self:
        """Return the place with another version."""
        section, key = self.version_field
        changed: Object = {**manifests.object_at(self.value, section), key: text}
        return replace(self, value={**self.value, section: changed})

    def _error(self, problems: ProblemList) -> InputError:
        span = self.document.span((*self.path, *self.version_field))
        return InputError(*(problem.to_diagnostic(span=span) for problem in problems))


def find(arguments: Sequence[str]) -> Iterator[Place]:
    """Yield the remote programs and modules of files. Raises FatalError."""
    for file in searching.find(arguments, ()):
        if not isinstance(file, searching.File):
            continue
        if file.error is not None:
            raise file.error
        if file.name == sources.STDIN:
            raise InputError.of("cannot pin references on stdin: name a file")
        for document in file.documents:
            for step_input in step_inputs.find_ours(document):
                yield from _find_in(Path(file.name), step_input)


def _find_in(file: Path, step_input: step_inputs.StepInput) -> Iterator[Place]:
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
            raise InputError(problem.to_diagnostic(span=step_input.document.span(whole)))
        if isinstance(remote, dict):
            yield Place(file=file, document=step_input.document, path=whole, value=remote)


def resolve(place: Place, source: Source, revision: str = "") -> tuple[Place, str]:
    """Return the place with a digest or a commit, and the tag or branch that it was.

    ``revision`` replaces the version of a repository. Raises InputError.
    """
    try:
        if place.version_field[0] == "git":
            if not revision and is_pinned(place):
                return place, ""
            revision = revision or place.version
            url = manifests.text_at(place.value, "git", "url")
            # Checks the URL before anything is sent.
            login = source.find_login(place.with_version("0" * 40).read())
            access = git.Access(login=login, ca_file=source.ca_file, plain_http=source.plain_http)
            return place.with_version(git.resolve(url, revision, access)), revision
        name, at, _ = place.version.partition("@")
        if at and not revision:
            return place, tag_of(place.version)
        reference = references.parse(name)
        # The login is for this host alone.
        pinned = RemoteReference(transport="oci", location=reference.name, version=name)
        trust = source.trust(source.find_login(pinned))
        data = Repository(reference, "pull", trust).pull_manifest(reference.version)
        return place.with_version(f"{name}@{images.sha256(data)}"), reference.version
    except FetchError as error:
        problem = Problem(place.field, f"cannot resolve it: {error.reason}", error.hint or None)
        raise InputError(problem.to_diagnostic()) from error


def tag_of(ref: str) -> str:
    """Return the tag of a reference; "" for one without a tag."""
    tag = ref.partition("@")[0].rpartition("/")[2].partition(":")[2]
    return tag if "/" in ref else ""


def is_pinned(place: Place) -> bool:
    """Report whether the version is a digest or a commit."""
    try:
        place.read()
    except FatalError:
        return False
    return True


def write(before: Place, after: Place) -> None:
    """Write the version of ``after`` over that of ``before`` in its file. Raises InputError."""
    if before.version == after.version:
        return
    span = before.document.span((*before.path, *before.version_field))
    try:
        text = before.file.read_bytes().decode()
        lines = text.splitlines(keepends=True)
        number = 0 if span is None else span.line - 1
        start = 0 if span is None or span.column is None else span.column - 1
        position = lines[number].find(before.version, start)
        if span is None or position < 0:
            raise InputError.of(
                f'cannot write the version into "{before.file}"',
                span=span,
                hint=f"write `{after.version}` in place of `{before.version}`",
            )
        line = lines[number]
        lines[number] = line[:position] + after.version + line[position + len(before.version) :]
        before.file.write_bytes("".join(lines).encode())
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise InputError.of(f'cannot write "{before.file}": {cause}') from error
