"""The note about the sandbox on a system that has less for it than Linux."""

from __future__ import annotations

from function_script.cli import terminal


def print_note(*, is_quiet: bool = False) -> None:
    """Say on stderr what programs run without here; nothing where they run as in production.

    Raises SandboxError where they cannot run.
    """
    from function_script.sandbox import system  # noqa: PLC0415 - slow to import

    system.check_programs()
    text = "" if is_quiet else system.note()
    if text:
        terminal.echo(f"note: {text}", err=True)
