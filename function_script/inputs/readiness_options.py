"""How a step waits, judges readiness and reports it: the input fields that say so.

None of them is the default: a step that says nothing pays nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from function_script import conditions

if TYPE_CHECKING:
    from function_script.reader import ObjectReader

FIELDS = ("autoReady", "resourcesCondition", "usages", "missing", "onExisting")
# Whose readiness is judged: of the resources this step speaks of, or of all that are desired.
Scope: TypeAlias = Literal["Step", "All"]

_SCOPES: dict[str, Scope] = {"Step": "Step", "All": "All"}
_MISSING = {"Error": False, "Defer": True}
_ON_EXISTING = {"Fatal": False, "Keep": True}
_USAGE_VERSIONS = {
    "apiextensions.crossplane.io/v1alpha1": "apiextensions.crossplane.io/v1alpha1",
    "apiextensions.crossplane.io/v1beta1": "apiextensions.crossplane.io/v1beta1",
    "protection.crossplane.io/v1beta1": "protection.crossplane.io/v1beta1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadinessOptions:
    """``auto_ready`` None: readiness is not judged. ``overwrites``: earlier steps' is replaced.

    ``condition``: the type of the condition that sums up the resources; None: only where
    something waits. ``usages``: dependencies become Usages, of ``usage_version`` or of what fits
    the XR. ``defers``: what needs a missing value is withheld; ``keeps``: and stays as it is in
    the cluster.
    """

    auto_ready: Scope | None = None
    overwrites: bool = False
    condition: str | None = None
    usages: bool = False
    usage_version: str | None = None
    defers: bool = False
    keeps: bool = False


def read(fields: ObjectReader) -> ReadinessOptions | None:
    """What an input says; None when it says none of it."""
    if not fields.value.keys() & set(FIELDS):
        return None
    auto = None
    if isinstance(fields.value.get("autoReady"), bool):
        problem = "must be an object, not a boolean"
        fields.problems.add(fields.at("autoReady"), problem, hint="write `autoReady: {}`")
    else:
        auto = fields.object("autoReady")
    if auto is not None:
        auto.refuse_unknown("resources", "overwrite")
    usages = fields.object("usages")
    if usages is not None:
        usages.refuse_unknown("apiVersion")
    return ReadinessOptions(
        auto_ready=None if auto is None else auto.choice("resources", _SCOPES) or "Step",
        overwrites=auto is not None and bool(auto.flag("overwrite")),
        condition=_condition(fields),
        usages=usages is not None,
        usage_version=None if usages is None else usages.choice("apiVersion", _USAGE_VERSIONS),
        defers=bool(fields.choice("missing", _MISSING)),
        keeps=_keeps(fields),
    )


def _condition(fields: ObjectReader) -> str | None:
    if fields.value.get("resourcesCondition") is None:
        return None
    kind = fields.text("resourcesCondition", required=True)
    conditions.check_type(fields, "resourcesCondition", kind or "")
    return kind


def _keeps(fields: ObjectReader) -> bool:
    keeps = fields.choice("onExisting", _ON_EXISTING)
    if keeps and fields.value.get("missing") != "Defer":
        fields.problems.add(fields.at("onExisting"), "Keep needs `missing: Defer` beside it")
    return bool(keeps)
