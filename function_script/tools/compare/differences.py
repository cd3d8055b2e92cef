"""What two responses to one request differ in: the parts that Crossplane acts on.

Texts of messages, the TTL, and what this function adds on purpose are named, and change nothing.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from google.protobuf import json_format
from google.protobuf.message import Message

from function_script.contribution import lint
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.objects import Path
from function_script.request.values import Object, Readable
from function_script.step import warning_condition
from function_script.step.sequencing import withholding
from function_script.tools import manifests
from function_script.tools.render import messages

Named: TypeAlias = Literal["messages", "TTL", "warnings of this function", "changes in every run"]
"""A kind of difference that is no change."""

_TYPE: Final = ("apiVersion", "kind")


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
    for path, their_item, our_item in objects.compare_values(their_parts, our_parts, ()):
        differences.append(Difference(resource=None, path=path, theirs=their_item, ours=our_item))
    return differences, {kind for kind in our_named if our_named[kind] != their_named[kind]}


def _read_answer(
    response: fnv1.RunFunctionResponse, other: fnv1.RunFunctionResponse, *, is_modern: bool
) -> tuple[Object, Mapping[Named, object]]:
    """Return what a response has besides desired state: parts that Crossplane acts on, and others.

    Warnings that this function alone adds are in no part. Of two conditions with one type the last
    counts.
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
    # Its keys change with every input; desired state and readiness have what waits.
    context.pop(withholding.CONTEXT_KEY, None)
    parts: Object = {
        "context": context,
        "requirements": _read_requirements(response.requirements, is_modern=is_modern),
        "results": [_read_verdict(each, "severity") for each in results],
        "conditions": {each.type: _read_verdict(each, "status") for each in conditions},
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
    for name in (None, *sorted({*ours.resources, *theirs.resources})):
        their_parts, our_parts = (_read_resource(name, each) for each in (theirs, ours))
        if not (their_parts and our_parts):
            kinds = [
                objects.api_version_and_kind(each[0])[1] if each else None
                for each in (their_parts, our_parts)
            ]
            yield Difference(resource=name, path=(), theirs=kinds[0], ours=kinds[1])
        for their_part, our_part in zip(their_parts, our_parts, strict=False):
            for path, their_value, our_value in objects.compare_values(their_part, our_part, ()):
                is_detail = our_part is not our_parts[0] and path[0] == "connectionDetails"
                is_hidden = is_detail or any(
                    manifests.is_secret(each[0], path) for each in (their_parts, our_parts)
                )
                yield Difference(
                    resource=name,
                    path=path if name is not None else ("xr", *path),
                    theirs=None if is_hidden else their_value,
                    ours=None if is_hidden else our_value,
                    is_secret=is_hidden,
                )


def _read_resource(name: str | None, state: fnv1.State) -> list[Object]:
    """Return an object, and what is beside it: it may have fields of these names.

    Nothing for a resource that is not there; ``name`` None is the XR. What Crossplane writes
    itself is left out: the XR's type, and empty metadata, annotations and labels.
    """
    if name is not None and name not in state.resources:
        return []
    resource = state.composite if name is None else state.resources[name]
    details: Object = {key: data.hex() for key, data in resource.connection_details.items()}
    additions: Object = {"connectionDetails": details, "ready": _to_word(_name(resource, "ready"))}
    value = messages.read_struct(resource.resource)
    if name is None:
        return [{key: value[key] for key in value if key not in _TYPE}, additions]
    if isinstance(metadata := value.setdefault("metadata", {}), dict):
        value["metadata"] = {key: metadata[key] for key in metadata if metadata[key] != {}}
    return [value, additions]


def _read_requirements(message: fnv1.Requirements, *, is_modern: bool) -> Object:
    """Return requirements; a modern caller reads the deprecated field as it reads the other one."""
    text = json_format.MessageToJson(message, preserving_proto_field_name=True, sort_keys=True)
    value: Object = json.loads(text)
    extra = value.pop("extra_resources", None) if is_modern else None
    resources = value.get("resources", {})
    if isinstance(extra, dict) and isinstance(resources, dict):
        value["resources"] = {**extra, **resources}
    return value


def _read_verdict(message: fnv1.Result | fnv1.Condition, field: str) -> Object:
    """Return a result or a condition without its text; ``field`` has its severity or status."""
    word = _to_word(_name(message, field))
    return {field: word, "reason": message.reason, "target": _name(message, "target")}


def _name(message: Message, field: str) -> str:
    """Return the constant in a field, or the number of one that the protocol here does not have."""
    number = getattr(message, field)
    constants = message.DESCRIPTOR.fields_by_name[field].enum_type
    constant = constants and constants.values_by_number.get(number)
    return constant.name if constant else str(number)


def _to_word(constant: str) -> str:
    """Return the last word: "warning" of ``SEVERITY_WARNING``."""
    return constant.rpartition("_")[2].lower()
