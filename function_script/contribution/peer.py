"""The dialect of function-go-templating: its annotations, meta kinds and context copy.

Its results are kept; where it guessed around a mistake, the mistake is told. See
docs/reference/gotemplate-compatibility.md for every difference on purpose.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from function_script import conditions, wire
from function_script.contribution.dialects import Dialect
from function_script.contribution.returned import STATUS, TARGET
from function_script.contribution.shapes import Composite, Contribution
from function_script.objects import find_path
from function_script.program import plain
from function_script.quantities import parse_duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.fields import Fields, Problems
    from function_script.program import Scope
    from function_script.values import Object, Readable

PREFIX = "gotemplating.fn.crossplane.io"
EXTRA_RESOURCES = "apiextensions.crossplane.io/extra-resources"


def around(scope: Scope, problems: Problems) -> Contribution:
    """What every run adds besides its documents: fetched resources in the context, the XR's TTL."""
    copies = _copies(scope.request["extra_resources"], scope.request["required_resources"])
    annotations = find_path(scope.xr, ("metadata", "annotations"))
    ttl = annotations.get(f"{PREFIX}/ttl") if isinstance(annotations, dict) else None
    seconds = None
    if isinstance(ttl, str):
        try:
            seconds = parse_duration(ttl)
        except ValueError as error:
            problems.add(f'the XR\'s annotation "{PREFIX}/ttl"', str(error))
    return Contribution(context={EXTRA_RESOURCES: copies} if copies else {}, ttl_seconds=seconds)


def _copies(*groups: Readable) -> Object:
    """``{name: {items: [{resource}]}}``; the last group that has anything replaces the others."""
    fetched: Object = {}
    for group in groups:
        found = plain(group)
        if isinstance(found, dict) and found:
            fetched = {name: _items(entry) for name, entry in found.items()}
    return fetched


def _items(entry: object) -> Object:
    items = entry.get("items") if isinstance(entry, dict) else None
    resources = [item["resource"] for item in items or []]
    return {"items": [{"resource": resource} for resource in resources]}


def _connection_details(document: Fields) -> Contribution:
    details: dict[str, bytes] = {}
    for key, text in (document.texts("data") or {}).items():
        try:
            details[key] = base64.b64decode(text, validate=True)
        except binascii.Error:
            document.problems.add(
                f"data.{key}", "must be base64", hint="write the value through b64enc"
            )
    if "data" not in document.value:
        document.problems.add("data", "is required")
    return Contribution(composite=Composite(connection_details=details))


def _claim_conditions(document: Fields) -> Contribution:
    if "conditions" not in document.value:
        document.problems.add("conditions", "is required")
    return Contribution(
        conditions=tuple(_condition(item) for item in document.objects("conditions"))
    )


def _condition(item: Fields) -> wire.Condition:
    item.refuse_unknown(
        "type", "status", "reason", "message", "target", "lastTransitionTime", "observedGeneration"
    )
    kind = item.text("type", required=True) or ""
    conditions.check_type(item, "type", kind)
    return wire.Condition(
        kind,
        item.choice("status", STATUS) or STATUS["Unknown"],
        item.text("reason") or "",
        item.text("message") or None,
        item.choice("target", TARGET) or TARGET["Composite"],
    )


def _context(document: Fields) -> Contribution:
    data = document.object("data", required=True)
    return Contribution(context={} if data is None else data.value)


def _extra_resources(document: Fields) -> Contribution:
    requirements = document.object("requirements", required=True)
    found: Mapping[str, wire.Selector] = {}
    if requirements is not None:
        found = {name: _selector(item) for name, item in requirements.members() if item is not None}
    return Contribution(resources=found)


def _selector(item: Fields) -> wire.Selector:
    item.refuse_unknown("apiVersion", "kind", "matchName", "matchLabels", "namespace")
    name = item.text("matchName") or None
    labels = item.texts("matchLabels")
    if (name is None) == (labels is None):
        item.problems.add(
            item.path,
            "needs exactly one of matchName and matchLabels",
            hint="`matchLabels: {}` asks for every object of the kind",
        )
    return wire.Selector(
        item.text("apiVersion", required=True) or "",
        item.text("kind", required=True) or "",
        name,
        labels,
        item.text("namespace") or None,
    )


PEER = Dialect(
    prefix=PREFIX,
    meta_api_version=f"meta.{PREFIX}/v1alpha1",
    replaces=True,
    keeps_empty=True,
    names_warn=True,
    orders=False,
    kinds={
        "ClaimConditions": _claim_conditions,
        "CompositeConnectionDetails": _connection_details,
        "Context": _context,
        "ExtraResources": _extra_resources,
    },
)
