"""A response as the parts that expectations look at, and the expectation that it comes again.

Called with responses as protobuf JSON, when a case is captured and when it is replayed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from function_script import objects

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from function_script.values import Object, Value

_FATAL: Final = "SEVERITY_FATAL"
_SEVERITIES: Final = {"SEVERITY_NORMAL": "Normal"}
_STATUSES: Final = {"STATUS_CONDITION_TRUE": "True", "STATUS_CONDITION_FALSE": "False"}
# Where a case is replayed, limits are others, and who notices first may be another.
_LIMIT: Final = re.compile(r".*\b((?:time|more memory) than its limit)\b.*", re.DOTALL)
_SECRET_PARTS: Final = ("data", "stringData")


def to_parts(response: Object) -> Object:
    """What the function answered: resources as it wants them, without what Crossplane adds."""
    desired = _at(response, "desired")
    members = _at(desired, "resources")
    xr = _at(_at(desired, "composite"), "resource")
    results = [one for one in _list(response, "results") if one.get("severity") != _FATAL]
    return {
        "xr": _plain(xr),
        "resources": {
            name: _plain(_at(_at(members, name), "resource")) for name in sorted(members)
        },
        "status": _plain(_at(xr, "status")),
        "ready": {
            name: _at(members, name).get("ready") == "READY_TRUE" for name in sorted(members)
        },
        "conditions": [_condition(one) for one in _list(response, "conditions")],
        "events": [_event(one) for one in results],
        "requirements": _requirements(_at(response, "requirements")),
        "context": _plain(_at(response, "context")),
    }


def to_expected(response: Object, problems: Sequence[str]) -> Object:
    """The field ``expect`` of a case: this response, or the failure that it tells.

    The data of Secrets is left out: a program may make it anew of what is redacted.
    """
    failures = [one for one in _list(response, "results") if one.get("severity") == _FATAL]
    if failures:
        told: list[Value] = [_LIMIT.sub(r"\1", problem) for problem in problems]
        return {"error": told or [one.get("message") for one in failures]}
    parts = to_parts(response)
    parts["resources"] = {
        name: _without_data(_at(parts["resources"], name)) for name in _at(parts, "resources")
    }
    expected: Object = {}
    expected.update({key: value for key, value in parts.items() if key != "xr" and value})
    return expected


def _without_data(resource: Object) -> Object:
    if resource.get("kind") != "Secret":
        return resource
    return {key: value for key, value in resource.items() if key not in _SECRET_PARTS}


def _condition(found: Object) -> Object:
    told = {key: found[key] for key in ("type", "reason", "message") if found.get(key)}
    return {**told, "status": _STATUSES.get(str(found.get("status")), "Unknown")}


def _event(found: Object) -> Object:
    told = {key: found[key] for key in ("reason", "message") if found.get(key)}
    return {"severity": _SEVERITIES.get(str(found.get("severity")), "Warning"), **told}


def _requirements(found: Object) -> Object:
    """In the words of a Composition's ``requiredResources``."""
    selectors = {**_at(found, "extra_resources"), **_at(found, "resources")}
    asked: Object = {
        "resources": {name: _selector(_at(selectors, name)) for name in sorted(selectors)},
        "schemas": {
            name: _selector(_at(_at(found, "schemas"), name))
            for name in sorted(_at(found, "schemas"))
        },
    }
    return {key: value for key, value in asked.items() if value}


def _selector(found: Object) -> Object:
    named = {
        "apiVersion": found.get("api_version"),
        "kind": found.get("kind"),
        "name": found.get("match_name"),
        "matchLabels": _at(found, "match_labels").get("labels"),
        "namespace": found.get("namespace"),
    }
    return {key: value for key, value in named.items() if value is not None}


def _plain(value: Value) -> Value:
    """Without nulls, which would expect that there is no such field."""
    return objects.with_integers(objects.without_nulls(value))


def _at(value: Value, key: str) -> Object:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _list(value: Object, key: str) -> Iterator[Object]:
    found = value.get(key)
    return (one for one in (found if isinstance(found, list) else []) if isinstance(one, dict))
