"""The dialect of function-go-templating: its annotations, meta kinds and context copy.

What it accepts is accepted, with its results; where it guesses around a mistake, a warning tells
the mistake. See docs/reference/gotemplate-compatibility.md for every difference on purpose.
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

from function_script import conditions, wire
from function_script.contribution import lint
from function_script.contribution.annotations import Annotations
from function_script.contribution.dialects import Dialect
from function_script.contribution.from_response import READY, STATUS, TARGET
from function_script.contribution.model import Composite, Contribution
from function_script.diagnostics import Diagnostic
from function_script.objects import EXTRA_RESOURCES, find_path
from function_script.problems import ProblemList
from function_script.program import plain
from function_script.quantities import parse_signed_duration
from function_script.reader import ObjectReader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from function_script.program import Scope
    from function_script.values import Object, Readable, Value

PREFIX = "gotemplating.fn.crossplane.io"
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def extra_context(scope: Scope, doubts: Sequence[Diagnostic]) -> Contribution:
    """What every run adds besides its documents: fetched resources in the context, the XR's TTL.

    A desired XR is there afterwards in any case, for templates of later steps to look into.
    ``doubts`` are the input's.
    """
    copies = _copies(scope.request["extra_resources"], scope.request["required_resources"])
    found = find_path(scope.xr, ("metadata", "annotations", f"{PREFIX}/ttl"))
    seconds = None
    if isinstance(found, str):
        try:
            seconds = parse_signed_duration(found)
        except ValueError as error:
            message = f'the XR\'s annotation "{PREFIX}/ttl" counts as 0: {error}'
            doubts, seconds = [*doubts, Diagnostic(message=message)], 0.0
    return Contribution(
        composite=Composite(as_written=True),
        context={EXTRA_RESOURCES: copies} if copies else {},
        ttl_seconds=seconds,
        results=lint.dialect_warnings(doubts),
    )


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
    return {"items": [_item(item) for item in items]} if items else {}


def _item(item: Object) -> Object:
    """A fetched resource as Go's JSON has the message: by its field names, numbers for words."""
    copied: Object = {"resource": item["resource"]}
    details = item.get("connection_details")
    if isinstance(details, dict) and details:
        copied["connection_details"] = {key: _to_base64(value) for key, value in details.items()}
    if item.get("ready"):
        copied["ready"] = READY[str(item["ready"])]
    return copied


def _to_base64(value: Value) -> Value:
    """The scope has bytes as text, or as ``{"base64": ...}`` where they are not UTF-8."""
    if isinstance(value, str):
        return base64.b64encode(value.encode()).decode()
    return value["base64"] if isinstance(value, dict) else value


def _connection_details(document: ObjectReader) -> Contribution:
    """One value that is no text makes all of them nothing; of one, what base64 it begins with."""
    noted = document.noting(ProblemList())
    texts = noted.texts("data") or {}
    if "data" not in document.value:
        noted.problems.add("data", "is missing")
    if noted.problems:
        noted.problems.add("data", "is left out as a whole")
        return Contribution(results=_warned("CompositeConnectionDetails", noted.problems))
    details = {key: _decoded(noted, key, text) for key, text in texts.items()}
    return Contribution(
        composite=Composite(connection_details=details),
        results=_warned("CompositeConnectionDetails", noted.problems),
    )


def _decoded(noted: ObjectReader, key: str, text: str) -> bytes:
    text = text.replace("\r", "").replace("\n", "")
    begun = _BASE64.match(text)
    found = begun[0] if begun is not None else ""
    if found != text:
        problem = "is no base64: only what comes before the mistake is taken"
        noted.problems.add(f"data.{key}", problem, hint="write the value through b64enc")
    return base64.b64decode(found)


def _claim_conditions(document: ObjectReader) -> Contribution:
    if "conditions" not in document.value:
        document.problems.add("conditions", "is required")
    advice = ProblemList()
    found = tuple(_condition(item, advice) for item in document.objects("conditions"))
    return Contribution(conditions=found, results=_warned("ClaimConditions", advice))


def _condition(item: ObjectReader, advice: ProblemList) -> wire.Condition:
    noted = item.noting(advice)
    noted.refuse_unknown(
        "type", "status", "reason", "message", "target", "lastTransitionTime", "observedGeneration"
    )
    kind = item.text("type") or ""
    if not kind:
        advice.add(noted.at("type"), "is required")
    conditions.check_type(item if kind in conditions.RESERVED_CONDITIONS else noted, "type", kind)
    return wire.Condition(
        kind,
        _status(item, noted) or STATUS["Unknown"],
        item.text("reason") or "",
        item.text("message") or None,
        noted.choice("target", TARGET, exact=True) or TARGET["Composite"],
    )


def _status(item: ObjectReader, noted: ObjectReader) -> int | None:
    if item.text("status") is None:
        return None
    return noted.choice("status", STATUS, exact=True)


def _warned(kind: str, advice: ProblemList) -> tuple[wire.Result, ...]:
    return lint.dialect_warnings([problem.to_diagnostic(f"{kind}: ") for problem in advice])


def _context(document: ObjectReader) -> Contribution:
    if "data" not in document.value:
        document.problems.add("data", "is required")
    data = document.object("data")
    return Contribution(context={} if data is None else data.value)


def _extra_resources(document: ObjectReader) -> Contribution:
    if "requirements" not in document.value:
        document.problems.add("requirements", "is required")
    requirements = document.object("requirements")
    found: Mapping[str, wire.Selector] = {}
    advice = ProblemList()
    if requirements is not None:
        members = requirements.members()
        found = {name: _selector(item, advice) for name, item in members if item is not None}
    return Contribution(resources=found, results=_warned("ExtraResources", advice))


def _selector(item: ObjectReader, advice: ProblemList) -> wire.Selector:
    """By name if there is one, else by labels; without either it is everything of the kind."""
    noted = item.noting(advice)
    noted.refuse_unknown("apiVersion", "kind", "matchName", "matchLabels", "namespace")
    name = item.text("matchName") or None
    labels = _labels(item)
    if name is None and labels is None:
        problem = "has neither matchName nor matchLabels, and so asks for every object of the kind"
        advice.add(noted.path, problem, hint="`matchLabels: {}` asks for them without this warning")
    elif name is not None and labels is not None:
        advice.add(noted.path, "has both matchName and matchLabels: the name counts")
    return wire.Selector(
        item.text("apiVersion", required=True) or "",
        item.text("kind", required=True) or "",
        name,
        (labels or {}) if name is None else None,
        item.text("namespace") or None,
    )


def _labels(item: ObjectReader) -> dict[str, str] | None:
    """Labels; one that is null is an empty text."""
    found = item.value.get("matchLabels")
    if isinstance(found, dict):
        stated: Object = {key: "" if text is None else text for key, text in found.items()}
        item = ObjectReader({**item.value, "matchLabels": stated}, item.path, item.problems)
    return item.texts("matchLabels")


PEER = Dialect(
    annotations=Annotations(PREFIX, claims_all=False),
    meta_api_version=f"meta.{PREFIX}/v1alpha1",
    replaces=True,
    keeps_empty=True,
    lenient=True,
    orders=False,
    kinds={
        "ClaimConditions": _claim_conditions,
        "CompositeConnectionDetails": _connection_details,
        "Context": _context,
        "ExtraResources": _extra_resources,
    },
)
