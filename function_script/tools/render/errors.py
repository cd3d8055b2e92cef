"""Errors of a rendering whose positions the commands find in the author's files."""

from function_script.errors import InputError


class XrError(InputError):
    """The XR cannot be rendered. The fields of the diagnostics are fields of the XR."""
