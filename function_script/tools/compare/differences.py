"""What two responses to one request differ in: the parts that Crossplane acts on.

Texts of messages, the TTL, and what this function adds on purpose are named, and change nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from google.protobuf import json_format

from function_script.contribution import lint
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.objects import Path
from function_script.request.values import Object, Readable
from function_script.step import warning_condition
from function_script.tools.render import messages

Named: TypeAlias = Literal[
    "errors on both sides", "messages", "TTL", "warnings of this function", "changes in every run"
]
"""A kind of difference that is no change."""

_SECRET: Final = ("v1", "Secret")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A part of the response that differs; None is a value that is not there.

    ``resource`` is the resource name if it is a part of a composed resource, and ``path`` its
    place there; else ``path`` begins with the part of the response: ``xr``, ``context`` and so on.
    ``is_secret``: the values must not be shown.
    """

    resource: str | None
    path: Path
    theirs: Readable
    ours: Readable
    is_secret: bool = False

    @property
    def place(self) -> tuple[str | None, Path]:
        """The place without the values."""
        return self.resource, self.path


def find(
    ours: fnv1.RunFunctionResponse, theirs: fnv1.RunFunctionResponse
) -> tuple[list[Difference], set[Named]]:
    """Return the differences, and the kinds of those that are no change."""
    named: set[Named] = set()
    if ours.meta.ttl != theirs.meta.ttl:
        named.add("TTL")
    our, their = _Answer(ours, theirs), _Answer(theirs, ours)
    if our.warnings != their.warnings:
        named.add("warnings of this function")
    if our.texts != their.texts:
        named.add("messages")
    # This side fills the deprecated field for a caller that may know no other one.
    is_modern = not ours.requirements.extra_resources
    our_requirements, their_requirements = (
        _read_requirements(each.requirements, is_modern=is_modern) for each in (ours, theirs)
    )
    differences = [*_compare_states(ours.desired, theirs.desired)]
    parts: Sequence[tuple[str, Readable, Readable]] = (
        ("context", our.context, their.context),
        ("requirements", our_requirements, their_requirements),
        ("results", [*map(_classify, our.results)], [*map(_classify, their.results)]),
        ("conditions", _by_type(our.conditions), _by_type(their.conditions)),
    )
    for part, our_value, their_value in parts:
        for path, their_item, our_item in compare_values(their_value, our_value, (part,)):
            differences.append(
                Difference(resource=None, path=path, theirs=their_item, ours=our_item)
            )
    return differences, named


class _Answer:
    """A response without the warnings that this function alone adds, which ``other`` lacks."""

    def __init__(self, response: fnv1.RunFunctionResponse, other: fnv1.RunFunctionResponse) -> None:
        # A program may warn with a reason of ours; then both have the warning.
        reasons = lint.REASONS - {result.reason for result in other.results}
        self.results = [
            result
            for result in response.results
            if result.severity != fnv1.SEVERITY_WARNING or result.reason not in reasons
        ]
        self.conditions = [
            each for each in response.conditions if each.type != warning_condition.CONDITION
        ]
        self.texts = [[each.message for each in part] for part in (self.results, self.conditions)]
        self.context = messages.read_struct(response.context)
        condition = self.context.pop(warning_condition.CONTEXT_KEY, None)
        count = len(response.results) - len(self.results)
        self.warnings = (count, len(response.conditions) - len(self.conditions), condition)


def _compare_states(ours: fnv1.State, theirs: fnv1.State) -> Iterator[Difference]:
    yield from _compare_resources(None, ours.composite, theirs.composite)
    for name in sorted({*ours.resources, *theirs.resources}):
        if name not in ours.resources or name not in theirs.resources:
            kind = _describe(
                ours.resources[name] if name in ours.resources else theirs.resources[name]
            )
            is_here = name in ours.resources
            yield Difference(
                resource=name,
                path=(),
                theirs=None if is_here else kind,
                ours=kind if is_here else None,
            )
            continue
        yield from _compare_resources(name, ours.resources[name], theirs.resources[name])


def _describe(resource: fnv1.Resource) -> str:
    return objects.api_version_and_kind(messages.read_struct(resource.resource))[1]


def _compare_resources(
    name: str | None, ours: fnv1.Resource, theirs: fnv1.Resource
) -> Iterator[Difference]:
    prefix: Path = () if name is not None else ("xr",)
    our_object = messages.read_struct(ours.resource)
    their_object = messages.read_struct(theirs.resource)
    for path, their_value, our_value in compare_values(their_object, our_object, prefix):
        yield Difference(
            resource=name,
            path=path,
            theirs=their_value,
            ours=our_value,
            is_secret=is_secret(their_object, path),
        )
    details = (dict(theirs.connection_details), dict(ours.connection_details))
    for key in sorted({*details[0], *details[1]}):
        values = [None if key not in each else "text" for each in details]
        if details[0].get(key) != details[1].get(key):
            path = (*prefix, "connectionDetails", key)
            yield Difference(
                resource=name, path=path, theirs=values[0], ours=values[1], is_secret=True
            )
    if ours.ready != theirs.ready:
        their_ready, our_ready = (
            fnv1.Ready.Name(each).removeprefix("READY_").lower()
            for each in (theirs.ready, ours.ready)
        )
        yield Difference(resource=name, path=(*prefix, "ready"), theirs=their_ready, ours=our_ready)


def is_secret(manifest: Object, path: Path) -> bool:
    """Report whether a part of an object is the data of a Secret."""
    is_data = path[:1] in {(), ("data",), ("stringData",)}
    return is_data and objects.api_version_and_kind(manifest) == _SECRET


def compare_values(
    theirs: Readable, ours: Readable, path: Path
) -> Iterator[tuple[Path, Readable, Readable]]:
    """Yield the least parts that differ, with both values."""
    if isinstance(theirs, Mapping) and isinstance(ours, Mapping):
        for key in sorted({*theirs, *ours}):
            if key not in theirs or key not in ours:
                yield (*path, key), theirs.get(key), ours.get(key)
            else:
                yield from compare_values(theirs[key], ours[key], (*path, key))
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for index, (their_item, our_item) in enumerate(zip(theirs, ours, strict=True)):
            yield from compare_values(their_item, our_item, (*path, index))
    # In Python, True equals 1.
    elif theirs != ours or isinstance(theirs, bool) != isinstance(ours, bool):
        yield path, theirs, ours


def _read_requirements(message: fnv1.Requirements, *, is_modern: bool) -> Object:
    """Return requirements; a modern caller reads the deprecated field as it reads the other one."""
    value: Object = json_format.MessageToDict(message, preserving_proto_field_name=True)
    extra = value.pop("extra_resources", None) if is_modern else None
    resources = value.get("resources", {})
    if isinstance(extra, dict) and isinstance(resources, dict):
        value["resources"] = {**extra, **resources}
    return value


def _classify(result: fnv1.Result) -> Object:
    """Return a result without its text."""
    return {
        "severity": fnv1.Severity.Name(result.severity).removeprefix("SEVERITY_").lower(),
        "reason": result.reason,
        "target": fnv1.Target.Name(result.target),
    }


def _by_type(conditions: Sequence[fnv1.Condition]) -> Object:
    """Return conditions without their texts; of two with one type the last counts."""
    return {
        each.type: {
            "status": fnv1.Status.Name(each.status).removeprefix("STATUS_CONDITION_").lower(),
            "reason": each.reason,
            "target": fnv1.Target.Name(each.target),
        }
        for each in conditions
    }
