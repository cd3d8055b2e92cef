"""What stands on the page, as one case file that `test` can run.

Called when somebody asks for it. The objects of the page's texts go in as values: comments stay
behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script import documents, objects
from function_script.errors import InputError
from function_script.tools.playground import texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.errors import FatalError
    from function_script.values import Object, Value

_ONE: Final = {"composition": "composition.yaml", "xr": "xr.yaml", "xrd": "xrd.yaml"}
_MANY: Final = {
    "functions": "functions.yaml",
    "observed": "observed.yaml",
    "required": "required.yaml",
    "credentials": "credentials.yaml",
}


def to_case(files: Mapping[str, str], expected: Object) -> str:
    """A ``NAME.case.yaml`` with all that ``files`` give, and ``expected`` as its ``expect``.

    Raises InputError for programs in files, which a single file cannot hold, and DocumentError for
    texts that are not YAML.
    """
    if any(name.startswith("programs/") for name in files):
        raise InputError.of(
            "cannot make one case file: programs are in files of their own",
            hint="put a case.yaml into the folder instead",
        )
    case: Object = {"description": "From the playground."}
    for key, name in _ONE.items():
        found = texts.values(files, name)
        if found:
            case[key] = found[0]
    for key, name in _MANY.items():
        found = texts.values(files, name)
        if found:
            case[key] = [*found]
    case["expect"] = expected
    return documents.to_yaml(case)


def expected(outcome: Object) -> Object:
    """That the same resources come out again, as ready as they are."""
    resources = outcome["resources"]
    named = resources if isinstance(resources, dict) else {}
    return {
        "resources": {name: _without_owner(manifest) for name, manifest in named.items()},
        "ready": outcome["ready"],
    }


def expected_error(error: FatalError) -> Object:
    """That it fails again, in the same words."""
    return {"error": [problem.message for problem in error.diagnostics]}


def _without_owner(manifest: Value) -> Value:
    """The owner is the XR, always, and its uid says nothing to people."""
    if not isinstance(manifest, dict):
        return manifest
    kept = objects.deep_copy(manifest)
    metadata = kept.get("metadata") if isinstance(kept, dict) else None
    if isinstance(metadata, dict):
        metadata.pop("ownerReferences", None)
    return kept
