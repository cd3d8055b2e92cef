"""A response, as protobuf JSON, in the parts of a case: for its capture and for its replay."""

from collections.abc import Iterator, Sequence
from typing import Final

from function_script.request import objects
from function_script.request.values import Object, Value
from function_script.step import warning_condition
from function_script.step.sequencing import withholding
from function_script.texts.diagnostics import Diagnostic

_FATAL: Final = "SEVERITY_FATAL"
_SEVERITIES: Final = {"SEVERITY_NORMAL": "Normal"}
_STATUSES: Final = {"STATUS_CONDITION_TRUE": "True", "STATUS_CONDITION_FALSE": "False"}
# A replay has other limits, and another part of the sandbox may report the limit first: these words
# are in the message of each.
_LIMITS: Final = {"time": "time than its limit", "memory": "more memory than its limit"}
_SECRET_PARTS: Final = ("data", "stringData")


def to_parts(response: Object) -> Object:
    """Return the parts of a response that a case's expectations compare."""
    desired = _at(response, "desired")
    members = _at(desired, "resources")
    xr = _at(_at(desired, "composite"), "resource")
    results = [item for item in _list(response, "results") if item.get("severity") != _FATAL]
    return {
        "xr": _normalize(xr),
        "resources": {
            name: _normalize(_at(_at(members, name), "resource")) for name in sorted(members)
        },
        "status": _normalize(_at(xr, "status")),
        "ready": {
            name: _at(members, name).get("ready") == "READY_TRUE" for name in sorted(members)
        },
        "conditions": [
            {
                **_texts(item, "type", "reason", "message"),
                "status": _STATUSES.get(str(item.get("status")), "Unknown"),
            }
            for item in _list(response, "conditions")
        ],
        "events": [
            {
                "severity": _SEVERITIES.get(str(item.get("severity")), "Warning"),
                **_texts(item, "reason", "message"),
            }
            for item in results
        ],
        "requirements": {
            key: selectors
            for key, selectors in to_requirements(_at(response, "requirements")).items()
            if selectors
        },
        "context": _normalize(_at(response, "context")),
    }


def to_expected(response: Object, problems: Sequence[Diagnostic]) -> Object:
    """Return the field ``expect`` of a case: the parts of this response, or its FATAL messages.

    ``problems`` replace the messages. The data of Secrets is omitted, because a program may derive
    it from values that are redacted.
    """
    failures = [item for item in _list(response, "results") if item.get("severity") == _FATAL]
    if failures:
        messages: list[Value] = [_to_words(problem) for problem in problems]
        return {"error": messages or [item.get("message") for item in failures]}
    parts = to_parts(response)
    # Both keys name the input, which is redacted in the case; the condition repeats Warnings.
    for key in (warning_condition.CONTEXT_KEY, withholding.CONTEXT_KEY):
        _at(parts, "context").pop(key, None)
    parts["conditions"] = [
        condition
        for condition in _list(parts, "conditions")
        if condition.get("type") != warning_condition.CONDITION
    ]
    resources = _at(parts, "resources")
    for name in resources:
        resource = _at(resources, name)
        if resource.get("kind") == "Secret":
            resources[name] = {key: resource[key] for key in resource if key not in _SECRET_PARTS}
    return {key: value for key, value in parts.items() if key != "xr" and value}


def _to_words(problem: Diagnostic) -> str:
    code = problem.code
    if code is None or code.name != "limit":
        return problem.message
    return _LIMITS.get(code.subject, problem.message)


def _texts(message: Object, *keys: str) -> Object:
    """Return the fields that are not empty."""
    return {key: message[key] for key in keys if message.get(key)}


def to_requirements(message: Object) -> dict[str, Object]:
    """Return requirements with the keys of a Composition's ``requiredResources``."""
    selectors = {**_at(message, "extra_resources"), **_at(message, "resources")}
    schemas = _at(message, "schemas")
    return {
        "resources": {name: _to_selector(_at(selectors, name)) for name in sorted(selectors)},
        "schemas": {name: _to_selector(_at(schemas, name)) for name in sorted(schemas)},
    }


def _to_selector(message: Object) -> Object:
    labels = message.get("match_labels")
    selector: Object = {
        "apiVersion": message.get("api_version"),
        "kind": message.get("kind"),
        "name": message.get("match_name"),
        "matchLabels": {**_at(labels, "labels")} if labels is not None else None,
        "namespace": message.get("namespace"),
    }
    return {key: value for key, value in selector.items() if value is not None}


def _normalize(value: Value) -> Value:
    """Return a value without nulls, and with integral doubles, as a Struct has them, as integers.

    A null in an expectation means that the field must not exist.
    """
    return objects.with_integers(objects.without_nulls(value))


def _at(value: Value, key: str) -> Object:
    member = value.get(key) if isinstance(value, dict) else None
    return member if isinstance(member, dict) else {}


def _list(value: Object, key: str) -> Iterator[Object]:
    items = value.get(key)
    return (item for item in (items if isinstance(items, list) else []) if isinstance(item, dict))
