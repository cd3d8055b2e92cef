"""The page's content as one case file that `test` can run.

The objects in the page's texts are written as values, so comments are lost.
"""

from collections.abc import Mapping
from typing import Final

from function_script import documents, objects
from function_script.errors import FatalError, InputError
from function_script.tools.playground import folders
from function_script.values import Object, Value

_ONE: Final = {"composition": "composition.yaml", "xr": "xr.yaml", "xrd": "xrd.yaml"}
_MANY: Final = {
    "functions": "functions.yaml",
    "observed": "observed.yaml",
    "required": "required.yaml",
    "credentials": "credentials.yaml",
}


def to_case(files: Mapping[str, str], expected: Object) -> str:
    """Return a ``NAME.case.yaml`` with the inputs in ``files`` and the expectation ``expected``.

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
        values = folders.read_values(files, name)
        if values:
            case[key] = values[0]
    for key, name in _MANY.items():
        values = folders.read_values(files, name)
        if values:
            case[key] = [*values]
    case["expect"] = expected
    return documents.to_yaml(case)


def expected(outcome: Object) -> Object:
    """Return the expectation of the same resources with the same readiness."""
    resources = outcome["resources"]
    by_name = resources if isinstance(resources, dict) else {}
    return {
        "resources": {name: _without_owner(manifest) for name, manifest in by_name.items()},
        "ready": outcome["ready"],
    }


def expected_error(error: FatalError) -> Object:
    """Return the expectation of the same error messages."""
    return {"error": [problem.message for problem in error.diagnostics]}


def _without_owner(manifest: Value) -> Value:
    """Drop the owner: it is always the XR, and its uid is generated."""
    if not isinstance(manifest, dict):
        return manifest
    copy = objects.deep_copy(manifest)
    metadata = copy.get("metadata") if isinstance(copy, dict) else None
    if isinstance(metadata, dict):
        metadata.pop("ownerReferences", None)
    return copy
