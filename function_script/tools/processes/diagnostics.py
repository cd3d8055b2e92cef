"""The error of a function that cannot be run as a process."""

from function_script.errors import InputError


def cannot_run(
    function: str, cause: str, *, hint: str | None = None, notes: tuple[str, ...] = ()
) -> InputError:
    """Build the error."""
    return InputError.of(f'cannot run function "{function}": {cause}', hint=hint, notes=notes)
