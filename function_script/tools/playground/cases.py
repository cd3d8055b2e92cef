"""The page's content as one case file that `test` can run.

The objects in the page's texts are written as values, so comments are lost.
"""

from collections.abc import Sequence

from function_script import documents
from function_script.request import objects
from function_script.request.values import Object
from function_script.texts.errors import FatalError
from function_script.tools.render import RenderInputs


def to_case(inputs: RenderInputs, functions: Sequence[Object], expectation: Object) -> str:
    """Return a ``NAME.case.yaml`` with the inputs and the expectation."""
    case: Object = {
        "description": "From the playground.",
        "composition": inputs.composition,
        "xr": inputs.xr,
        "xrd": inputs.xrd,
        "functions": [*functions],
        "observed": [*inputs.observed],
        "required": [*inputs.required],
        "credentials": [*inputs.credentials],
        "schemas": [*inputs.schemas],
        "context": inputs.context,
    }
    parts: Object = {key: value for key, value in case.items() if value}
    return documents.to_yaml({**parts, "expect": expectation})


def expect_outcome(outcome: Object) -> Object:
    """Return the expectation of the same resources with the same readiness."""
    resources = outcome["resources"]
    by_name = objects.deep_copy(resources) if isinstance(resources, dict) else {}
    for manifest in by_name.values() if isinstance(by_name, dict) else ():
        metadata = manifest.get("metadata") if isinstance(manifest, dict) else None
        if isinstance(metadata, dict):
            # The owner is always the XR, and its uid is generated.
            metadata.pop("ownerReferences", None)
    return {"resources": by_name, "ready": outcome["ready"]}


def expect_error(error: FatalError) -> Object:
    """Return the expectation of the same error messages."""
    return {"error": [problem.message for problem in error.diagnostics]}
