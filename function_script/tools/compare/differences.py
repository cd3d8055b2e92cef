"""What two responses to one request differ in: the parts that Crossplane acts on.

Texts of messages, the TTL, and what this function adds on purpose are named, and change nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from google.protobuf import json_format

from function_script.contribution import lint
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.objects import Path
from function_script.request.values import Object, Readable
from function_script.step import warning_condition
from function_script.tools import manifests
from function_script.tools.render import messages

Named: TypeAlias = Literal["messages", "TTL", "warnings of this function", "changes in every run"]
"""A kind of difference that is no change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A part of the response that differs; None is a value that is not there, or is secret.

    ``resource`` is the resource name if it is a part of a composed resource, and ``path`` its
    place there; else ``path`` begins with the part of the response: ``xr``, ``context`` and so on.
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
    # This side fills the deprecated field for a caller that may know no other one.
    is_modern = not ours.requirements.extra_resources
    our_parts, our_named = _read_answer(ours, theirs, is_modern=is_modern)
    their_parts, their_named = _read_answer(theirs, ours, is_modern=is_modern)
    differences = [*_compare_states(ours.desired, theirs.desired)]
    for path, their_item, our_item in manifests.compare_values(their_parts, our_parts, ()):
        differences.append(Difference(resource=None, path=path, theirs=their_item, ours=our_item))
    return differences, {kind for kind in our_named if our_named[kind] != their_named[kind]}


def _read_answer(
    response: fnv1.RunFunctionResponse, other: fnv1.RunFunctionResponse, *, is_modern: bool
) -> tuple[Object, Mapping[Named, object]]:
    """Return what a response has besides desired state: parts that Crossplane acts on, and others.

    Warnings that this function alone adds are in no part.
    """
    # A program may warn with a reason of ours; then both have the warning.
    reasons = lint.REASONS - {result.reason for result in other.results}
    results = [
        result
        for result in response.results
        if result.severity != fnv1.SEVERITY_WARNING or result.reason not in reasons
    ]
    conditions = [each for each in response.conditions if each.type != warning_condition.CONDITION]
    context = messages.read_struct(response.context)
    condition = context.pop(warning_condition.CONTEXT_KEY, None)
    parts: Object = {
        "context": context,
        "requirements": _read_requirements(response.requirements, is_modern=is_modern),
        "results": [*map(_classify, results)],
        "conditions": _by_type(conditions),
    }
    counts = (
        len(response.results) - len(results),
        len(response.conditions) - len(conditions),
    )
    return parts, {
        "TTL": response.meta.ttl,
        "warnings of this function": (*counts, condition),
        "messages": [[each.message for each in part] for part in (results, conditions)],
    }


def _compare_states(ours: fnv1.State, theirs: fnv1.State) -> Iterator[Difference]:
    yield from _compare_resources(None, ours.composite, theirs.composite)
    for name in sorted({*ours.resources, *theirs.resources}):
        if name in ours.resources and name in theirs.resources:
            yield from _compare_resources(name, ours.resources[name], theirs.resources[name])
            continue
        our_kind, their_kind = (
            objects.api_version_and_kind(messages.read_struct(each.resources[name].resource))[1]
            if name in each.resources
            else None
            for each in (ours, theirs)
        )
        yield Difference(resource=name, path=(), theirs=their_kind, ours=our_kind)


def _compare_resources(
    name: str | None, ours: fnv1.Resource, theirs: fnv1.Resource
) -> Iterator[Difference]:
    objects_ = [messages.read_struct(each.resource) for each in (theirs, ours)]
    # Beside the object, which may have fields of these names.
    additions: list[Object] = [
        {
            "connectionDetails": {key: data.hex() for key, data in each.connection_details.items()},
            "ready": fnv1.Ready.Name(each.ready).removeprefix("READY_").lower(),
        }
        for each in (theirs, ours)
    ]
    for parts in (objects_, additions):
        for path, their_value, our_value in manifests.compare_values(parts[0], parts[1], ()):
            is_detail = parts is additions and path[0] == "connectionDetails"
            is_hidden = is_detail or any(is_secret(each, path) for each in objects_)
            yield Difference(
                resource=name,
                path=path if name is not None else ("xr", *path),
                theirs=None if is_hidden else their_value,
                ours=None if is_hidden else our_value,
                is_secret=is_hidden,
            )


def is_secret(manifest: Object, path: Path) -> bool:
    """Report whether a part of an object is the data of a Secret."""
    is_data = path[:1] in {(), ("data",), ("stringData",)}
    return is_data and objects.api_version_and_kind(manifest) == manifests.SECRET


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
