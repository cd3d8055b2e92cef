"""The command ``editor``: write the files by which editors help with Compositions."""

from pathlib import Path

import click

from function_script.cli import options, terminal


@options.command(
    options.quiet("which settings are kept, and what other editors need"),
    short_help="Set up editors for a project.",
)
@click.argument("directory", type=options.PATH, default=".")
def editor(directory: Path, *, quiet: bool) -> None:
    """Write into the project DIRECTORY what editors need to help with Compositions.

    A JSON schema of Compositions with our inputs, snippets, a stub of the names that Starlark
    scripts can use, and settings for VS Code. Existing files are overwritten, but not settings.

    Examples:
      function-script editor
      function-script editor my-project
    """
    from function_script.tools import editor as tool  # noqa: PLC0415 - slow to import

    paths = tool.write(directory)
    for path in paths:
        terminal.echo(str(path))
    if quiet:
        return
    if (settings := directory / tool.SETTINGS) not in paths:
        terminal.echo(f"kept: {settings}", err=True)
    terminal.echo(
        f"\nIn other editors, begin a Composition with this line:\n{tool.MODELINE}{tool.SCHEMA}",
        err=True,
    )
