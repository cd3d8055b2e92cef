"""The note about a weaker sandbox on systems other than Linux."""

from function_script.cli import terminal


def print_note(*, is_quiet: bool = False) -> None:
    """Print on stderr which measures the sandbox lacks here; nothing if it is as in production.

    Raises SandboxError if programs cannot run.
    """
    from function_script.sandbox import system  # noqa: PLC0415 - slow to import

    system.check_programs()
    text = "" if is_quiet else system.note()
    if text:
        terminal.echo(f"note: {text}", err=True)
