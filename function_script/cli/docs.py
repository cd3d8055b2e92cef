"""The command ``docs``: print the manual of a name."""

import click

from function_script.cli import options, terminal


@options.command(short_help="Print what a name means.")
@click.argument("name", required=False)
def docs(name: str | None) -> None:
    """Print what NAME means in a program, an input or a document.

    NAME is a function, filter, test, variable or statement of any language, a field of an input by
    its path, an annotation, a meta document, or a key of a case. For a name of another language, it
    says what to write. A group lists its names, and a word the names that contain it or whose
    meaning does; without NAME, all groups are listed.

    Examples:
      function-script docs
      function-script docs library
      function-script docs get_xr
      function-script docs limits.timeout
      function-script docs depends-on
    """
    from function_script.tools import manual  # noqa: PLC0415 - slow to import

    terminal.echo(manual.list_groups() if name is None else manual.describe(name), nl=False)
