"""The build of this installation: compiled, or plain Python."""

from typing import Final

from function_script import wire

# Consequence and cure of plain Python where requests are served.
ADVICE: Final = (
    "reading and writing requests takes seven times the CPU time of a compiled installation, and "
    "most other work two to three times: install with FUNCTION_SCRIPT_COMPILE=1, or use the image"
)


def describe() -> str:
    """Return ``compiled`` or ``plain Python``, as the loaded modules are."""
    return "compiled" if wire.is_compiled() else "plain Python"
