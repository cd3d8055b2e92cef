"""Inputs of function-go-templating with a remote program, which that function does not have."""

from typing import Final

from function_script.inputs.kinds import API_VERSION
from function_script.reader import ObjectReader
from function_script.remote.parsing import FIELD, FORMS, SOURCE

_HINT: Final = f"with `apiVersion: {API_VERSION}` and `source: {SOURCE}`, {FORMS}"


def refuse(fields: ObjectReader) -> bool:
    """Add a problem if an input has a remote program; report whether it has."""
    is_source = fields.value.get("source") == SOURCE
    if not is_source and fields.value.get(FIELD) is None:
        return False
    path = fields.at("source" if is_source else FIELD)
    problem = "cannot fetch a program for an input of function-go-templating"
    fields.problems.add(path, problem, hint=_HINT)
    return True
