"""A model of what Crossplane does with the answers of a step: one reconcile after the other.

What a step desires is applied, and what it does not desire any more is deleted. An answer that is
FATAL changes nothing. What it requires is looked up, and the step is called again.
"""

import copy
from dataclasses import dataclass, field
from typing import cast

from support.builders import XR, call, request, to_dict

from function_script.request.values import Object

# The calls that Crossplane makes at most.
_MAX_CALLS = 6


@dataclass(kw_only=True)
class Cluster:
    """Composed resources by their resource names, and what else steps may ask for.

    ``required`` are objects that steps may require, by name alone; ``parts`` are further parts of
    each request, in protobuf JSON.
    """

    xr: Object = field(default_factory=lambda: copy.deepcopy(XR))
    resources: dict[str, Object] = field(default_factory=dict)
    required: list[Object] = field(default_factory=list)
    parts: dict[str, object] = field(default_factory=dict)

    def reconcile(self, step: Object) -> list[Object]:
        """Run a step and do what it says; gives its results."""
        response = self._settle(step)
        results = cast("list[Object]", response.get("results", []))
        if not any(result["severity"] == "SEVERITY_FATAL" for result in results):
            desired = cast("Object", response.get("desired", {}))
            self._apply(cast("dict[str, Object]", desired.get("resources", {})))
        return results

    def provide(self, status: Object, details: Object) -> None:
        """Every resource gets this status and these connection details, which are in base64."""
        for entry in self.resources.values():
            cast("Object", entry["resource"])["status"] = status
            entry["connection_details"] = details

    def objects(self) -> dict[str, Object]:
        """The composed resources by their resource names, as they are in the cluster."""
        objects_by_name = {
            name: cast("Object", each["resource"]) for name, each in self.resources.items()
        }
        return copy.deepcopy(objects_by_name)

    def _settle(self, step: Object) -> Object:
        """The response to the last call, for which all is fetched that the one before required."""
        fetched: Object = {}
        for _ in range(_MAX_CALLS):
            observed = {"composite": {"resource": self.xr}, "resources": self.resources}
            parts = {"observed": observed, "required_resources": fetched, **self.parts}
            response = to_dict(call(request(step, **parts)))
            requirements = cast("Object", response.get("requirements", {}))
            selectors = cast("dict[str, Object]", requirements.get("resources", {}))
            if selectors.keys() <= fetched.keys():
                return response
            fetched = {name: self._fetch(selector) for name, selector in selectors.items()}
        raise AssertionError(f"the requirements do not settle: {sorted(selectors)}")

    def _fetch(self, selector: Object) -> Object:
        matches = [
            each
            for each in self.required
            if cast("Object", each["metadata"])["name"] == selector["match_name"]
        ]
        return {"items": [{"resource": each} for each in matches]}

    def _apply(self, desired: dict[str, Object]) -> None:
        before, self.resources = self.resources, {}
        for name, entry in desired.items():
            resource = copy.deepcopy(cast("Object", entry["resource"]))
            existing = before.get(name)
            if existing is None:
                metadata = cast("Object", resource.setdefault("metadata", {}))
                metadata.setdefault("name", f"demo-{name}")
                metadata["namespace"] = "here"
                self.resources[name] = {"resource": resource}
            else:
                unchanged = cast("Object", existing["resource"])
                metadata = cast("Object", unchanged["metadata"]) | cast(
                    "Object", resource.get("metadata", {})
                )
                whole = {**resource, "metadata": metadata}
                if "status" in unchanged:
                    whole["status"] = unchanged["status"]
                self.resources[name] = {**existing, "resource": whole}
