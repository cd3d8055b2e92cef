"""Fields of an input for readiness, creation order and missing values.

A step without any of them costs nothing.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from function_script.request.reader import ObjectReader
from function_script.step import conditions

FIELDS = ("autoReady", "resourcesCondition", "usages", "missing", "onExisting")
# Judge readiness of the step's own resources, or of all that are desired.
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
    """Options of readiness and order.

    ``auto_ready`` None: readiness is not judged. ``overwrite_stated``: readiness that earlier
    steps stated is judged anew. ``condition`` is the type of the condition that reports the
    resources; None: one only while something is blocked. ``usages``: dependencies become Usages,
    of the apiVersion ``usage_version`` or of the one that fits the XR. ``defer_missing``: a
    resource that needs a missing value is withheld; ``keep_existing``: one that exists stays as
    it is in the cluster.
    """

    auto_ready: Scope | None = None
    overwrite_stated: bool = False
    condition: str | None = None
    usages: bool = False
    usage_version: str | None = None
    defer_missing: bool = False
    keep_existing: bool = False


def read(fields: ObjectReader) -> ReadinessOptions | None:
    """Parse the readiness fields; None if none is set."""
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
        overwrite_stated=auto is not None and bool(auto.flag("overwrite")),
        condition=_condition(fields),
        usages=usages is not None,
        usage_version=None if usages is None else usages.choice("apiVersion", _USAGE_VERSIONS),
        defer_missing=bool(fields.choice("missing", _MISSING)),
        keep_existing=_keep_existing(fields),
    )


def _condition(fields: ObjectReader) -> str | None:
    if fields.value.get("resourcesCondition") is None:
        return None
    kind = fields.text("resourcesCondition", required=True)
    conditions.check_type(fields, "resourcesCondition", kind or "")
    return kind


def _keep_existing(fields: ObjectReader) -> bool:
    keep = fields.choice("onExisting", _ON_EXISTING)
    if keep and fields.value.get("missing") != "Defer":
        fields.problems.add(fields.at("onExisting"), "Keep needs `missing: Defer` beside it")
    return bool(keep)
