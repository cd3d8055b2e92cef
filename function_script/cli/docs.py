"""The command ``docs``: print the manual of a name."""

from contextlib import suppress

import click

from function_script.cli import options, terminal


@options.command(short_help="Print what a name means.")
@click.argument("name", required=False)
def docs(name: str | None) -> None:
    """Print what NAME means in a program, an input or a document.

    NAME is a function, filter, test, variable or statement of any language, a field of an input by
    its path, an annotation, a meta document, or a key of a case. For a name of another language, it
    says what to write. A group lists its names, and a word the names that contain it or whose
    meaning does; of a command, it says where its help is. Without NAME, all groups are listed.

    Examples:
      function-script docs
      function-script docs library
      function-script docs get_xr
      function-script docs limits.timeout
      function-script docs depends-on
    """
    from function_script.texts.errors import InputError  # noqa: PLC0415 - slow to import
    from function_script.tools import manual  # noqa: PLC0415 - as above

    group = click.get_current_context().find_root().command
    command = group.commands.get(name or "") if isinstance(group, click.Group) else None
    if name is None:
        terminal.echo(manual.list_groups(), nl=False)
    elif command is None:
        terminal.echo(manual.describe(name), nl=False)
    else:
        help_ = f"function-script {name} --help"
        terminal.echo(f"Command {name}\n\n  {command.get_short_help_str()}\n  {help_}")
        # The names that are the same, or have the word.
        with suppress(InputError):
            terminal.echo(f"\n{manual.describe(name)}", nl=False)
