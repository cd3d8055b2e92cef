"""One composed resource of a contribution, with its dependencies, readiness, Usages and old names.

These are its policy. It is read from the annotations of a document that address this function, or
from an entry of a script's response.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from function_script.request.objects import MOVED_TO, merge, parse_path
from function_script.request.reader import ObjectReader
from function_script.request.values import Object
from function_script.step.readiness import Check, parse_rule
from function_script.texts.problems import ProblemList, list_choices, suggest
from function_script.texts.source import Span

MOVED_FROM: Final = "script.fn.crossplane.io/moved-from"
"""Annotation of documents of every dialect, with names that the resource had before."""


class Annotations:
    """The keys below ``prefix``, each built once, since they are looked up in every document.

    ``owns_prefix``: every key with the prefix is removed from the resource. Otherwise only
    the resource's name and ``ready`` are, which are all that function-go-templating reads, and
    ``moved-from``, which is ours.
    """

    def __init__(self, prefix: str, *, owns_prefix: bool) -> None:
        self.prefix: Final = prefix
        self._owns_prefix: Final = owns_prefix
        self._start: Final = f"{prefix}/"
        self._starts: Final = self._start, "gotemplating.fn.crossplane.io/"
        self.name: Final = f"{prefix}/composition-resource-name"
        self.ready: Final = f"{prefix}/ready"
        self.merge: Final = f"{prefix}/merge"
        self.depends_on: Final = f"{prefix}/depends-on"
        self.ready_when: Final = f"{prefix}/ready-when"
        self.usages: Final = f"{prefix}/usages"
        self.moved_from: Final = MOVED_FROM
        policies = self.merge, self.depends_on, self.ready_when, self.usages
        others = policies if owns_prefix else ()
        self.keys: Final = self.name, self.ready, *others, MOVED_FROM
        # The last one is for an XR as composed resource: it is the TTL of its own Composition.
        ttl = "gotemplating.fn.crossplane.io/ttl"
        self._expected: Final = frozenset({*self.keys, MOVED_TO, ttl})

    def is_own(self, key: str) -> bool:
        """Report whether an annotation is for the function, and not part of the resource."""
        if self._owns_prefix:
            return key.startswith(self._start)
        return key in self.keys

    def is_unknown(self, key: str) -> bool:
        """Report whether a key has the prefix, or that of the peer, and no meaning."""
        return key.startswith(self._starts) and key not in self._expected


_FLAGS = {"True": True, "False": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """Another composed resource that must be ready, or must have the field at ``path``.

    ``text`` is the dependency as written, such as ``network`` or ``database:status.endpoint``.
    """

    name: str
    path: str | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourcePolicy:
    """The conditions to create a composed resource, and to call it ready.

    ``usages``: protect its dependencies from deletion before it; None: as the input says.
    ``moved_from``: names that the resource had before.
    """

    depends_on: tuple[Dependency, ...] = ()
    ready_when: Check | None = None
    usages: bool | None = None
    moved_from: tuple[str, ...] = ()


class Deferred(NamedTuple):
    """A resource or document that is not sent yet, since a value it needs does not exist.

    ``name`` is the name of its composed resource; None for another document, which ``subject``
    describes then. ``missing`` and ``span``: see MissingValue. ``ready`` and ``policy`` are those
    of the resource; ``unreadable`` is an annotation of them that needs a missing value itself.
    """

    name: str | None
    subject: str
    missing: str
    span: Span | None
    ready: int | None = None
    policy: ResourcePolicy | None = None
    unreadable: str = ""


def reject_unknown(annotations: ObjectReader, keys: Annotations, problems: ProblemList) -> None:
    """Add to ``problems`` every unknown annotation that has the function's prefix."""
    for key in filter(keys.is_unknown, annotations.value):
        name = key.rpartition("/")[2]
        names = tuple(each.removeprefix(f"{keys.prefix}/") for each in keys.keys)
        hint = suggest(name, names, list_choices(names))
        own = next((each for each in keys.keys if each.endswith(f"/{name}")), None)
        hint = f"write {own}" if own else hint
        problems.add(annotations.at(key), "unknown annotation", hint=hint)


def from_annotations(
    annotations: ObjectReader, keys: Annotations, name: str
) -> ResourcePolicy | None:
    """Read the annotations of a policy of the resource ``name``; None without any."""
    depends_on, ready_when, usages = keys.depends_on, keys.ready_when, keys.usages
    values = annotations.value
    if (
        depends_on not in values
        and ready_when not in values
        and usages not in values
        and keys.moved_from not in values
    ):
        return None
    _reject_both(annotations, keys.ready, ready_when)
    texts = str(values.get(depends_on, "")).replace("\n", ",").split(",")
    if depends_on in values and not any(map(str.strip, texts)):
        annotations.problems.add(annotations.at(depends_on), "must name a resource")
    return ResourcePolicy(
        depends_on=_dependencies(annotations, depends_on, filter(str.strip, texts)),
        ready_when=annotations.parsed(ready_when, parse_rule),
        usages=annotations.choice(usages, _FLAGS),
        moved_from=read_old_names(annotations, keys.moved_from, name),
    )


def only_moves(annotations: ObjectReader, keys: Annotations, name: str) -> ResourcePolicy | None:
    """Read the policy of a resource in a dialect that has no other annotations of policies."""
    misplaced = f"{keys.prefix}/moved-from"
    if misplaced != keys.moved_from and misplaced in annotations.value:
        hint = f"write {keys.moved_from}"
        annotations.problems.add(annotations.at(misplaced), "unknown annotation", hint=hint)
    if keys.moved_from not in annotations.value:
        return None
    return ResourcePolicy(moved_from=read_old_names(annotations, keys.moved_from, name))


def from_entry(entry: ObjectReader, name: str) -> ResourcePolicy | None:
    """Read the fields of a policy of the resource ``name``; None without any."""
    values = entry.value
    if (
        "depends_on" not in values
        and "ready_when" not in values
        and "usages" not in values
        and "moved_from" not in values
    ):
        return None
    _reject_both(entry, "ready", "ready_when")
    texts = values.get("depends_on")
    if texts is None:
        texts = []
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        hint = 'write names of resources, as in ["network", "database:status.endpoint"]'
        entry.problems.add(entry.at("depends_on"), "must be a list of texts", hint=hint)
        texts = []
    return ResourcePolicy(
        depends_on=_dependencies(entry, "depends_on", map(str, texts)),
        ready_when=entry.parsed("ready_when", parse_rule),
        usages=entry.flag("usages"),
        moved_from=_old_names_of(entry, name),
    )


def _reject_both(fields: ObjectReader, ready: str, rule: str) -> None:
    if fields.value.get(ready) is not None and fields.value.get(rule) is not None:
        fields.problems.add(fields.at(rule), f"must not be set beside {ready}, which says it all")


def _dependencies(fields: ObjectReader, key: str, texts: Iterable[str]) -> tuple[Dependency, ...]:
    """Parse ``name`` or ``name:path`` each; a repeated text is one dependency."""
    dependencies: dict[str, Dependency] = {}
    for text in map(str.strip, texts):
        name, colon, path = (part.strip() for part in text.partition(":"))
        try:
            is_complete = bool(name) and (not colon or bool(path and parse_path(path)))
            cause = "" if is_complete else f'cannot read the dependency "{text}"'
        except ValueError as error:
            cause = f'cannot read the dependency "{text}": {error}'
        if cause:
            hint = 'write a resource name, or "name:status.path"'
            fields.problems.add(fields.at(key), cause, hint=hint)
        dependencies[text] = Dependency(name=name, path=path or None, text=text)
    return tuple(dependencies.values())


def read_old_names(annotations: ObjectReader, key: str, name: str) -> tuple[str, ...]:
    """Read names that are separated by commas or line breaks."""
    text = annotations.value.get(key)
    if text is None:
        return ()
    return _check_old_names(annotations, key, name, str(text).replace("\n", ",").split(","))


def _old_names_of(entry: ObjectReader, name: str) -> tuple[str, ...]:
    """Read the field ``moved_from``: a text, or a list of texts."""
    value = entry.value.get("moved_from")
    if value is None:
        return ()
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        hint = 'write `"moved_from": "database"`'
        entry.problems.add(entry.at("moved_from"), "must be a text or a list of texts", hint=hint)
        return ()
    return _check_old_names(entry, "moved_from", name, map(str, texts))


def _check_old_names(
    fields: ObjectReader, key: str, name: str, texts: Iterable[str]
) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(filter(None, map(str.strip, texts))))
    if not names:
        fields.problems.add(fields.at(key), "must name a resource")
    if name in names:
        fields.problems.add(fields.at(key), f'must not be the name "{name}" itself')
    return names


# A plain class: there may be hundreds of them in a request, and mypyc creates one in a tenth of the
# time that it takes for a dataclass.
class DesiredResource:
    """A composed resource that the step creates, changes or removes.

    ``resource`` None: the step removes it. It may be shared between requests, so it must not be
    changed. Its null fields are dropped, or sent with ``keeps_nulls``. ``ready`` None: the step
    does not set it. ``replace``: it replaces an earlier step's entry and is not merged into it.
    ``policy`` None: the step sets neither dependencies nor rules of readiness. ``text`` is the
    document that the entry was read from, if it was one. ``payload`` is its encoding, once it was
    encoded as a resource that no earlier step has: it is kept as long as the entry is.
    """

    def __init__(  # noqa: PLR0913 # the fields of an entry
        self,
        *,
        resource: Object | None,
        ready: int | None = None,
        replace: bool = True,
        policy: ResourcePolicy | None = None,
        keeps_nulls: bool = False,
        text: str = "",
    ) -> None:
        self.resource: Final = resource
        self.ready: Final = ready
        self.replace: Final = replace
        self.policy: Final = policy
        self.keeps_nulls: Final = keeps_nulls
        self.text: Final = text
        self.payload: bytes | None = None
        # By what they differ in. They are shared between requests, as the entry is.
        self._copies: dict[int | str, DesiredResource] | None = None

    def with_ready(self, ready: int) -> DesiredResource:
        """Return a copy with this readiness: the same one each time, with its encoding."""
        copy = None if self._copies is None else self._copies.get(ready)
        return copy or self._copy(ready, self.resource, ready)

    def with_name(self, name: str) -> DesiredResource:
        """Return a copy whose annotation remembers its name: the same one each time."""
        # Only its readiness is stated, and the object keeps the annotation that it has.
        if not self.resource:
            return self
        copy = None if self._copies is None else self._copies.get(name)
        if copy is not None:
            return copy
        resource: Object = {}
        merge(resource, self.resource)
        merge(resource, {"metadata": {"annotations": {MOVED_TO: name}}})
        return self._copy(name, resource, self.ready)

    def _copy(self, key: int | str, resource: Object | None, ready: int | None) -> DesiredResource:
        copy = DesiredResource(
            resource=resource,
            ready=ready,
            replace=self.replace,
            policy=self.policy,
            keeps_nulls=self.keeps_nulls,
            text=self.text,
        )
        if self._copies is None:
            self._copies = {}
        self._copies[key] = copy
        return copy
