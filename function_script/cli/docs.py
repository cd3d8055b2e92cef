"""The command ``docs``: print the manual of a name."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from function_script.cli import options, terminal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.engines.language import Entry


@options.command(
    short_help="Print what a name means.",
    # The name may be that of a flag.
    context_settings={"ignore_unknown_options": True},
)
@click.argument("name", required=False)
def docs(name: str | None) -> None:
    """Print what NAME means.

    NAME is a function, filter, test, variable or statement of any language, a field of an input by
    its path, an annotation, a meta document, a key of a case, a flag, or its environment variable.
    For a name of another language, it says what to write. For a command, it says where its help is.
    A group lists its names. Any other word lists the names that contain it or whose meaning does.

    Examples:
      function-script docs
      function-script docs library
      function-script docs get_xr
      function-script docs limits.timeout
      function-script docs depends-on
      function-script docs workers
    """
    from function_script.texts.errors import InputError  # noqa: PLC0415 - slow to import
    from function_script.tools import manual  # noqa: PLC0415 - as above

    group = click.get_current_context().find_root().command
    if not isinstance(group, click.Group) or name is None:
        _print(manual.list_groups())
        return
    flags = _describe_flags(group)
    inner = {" ".join(words): command for words, command in options.list_commands(group)}
    command = group.get_command(click.get_current_context(), name) or inner.get(name)
    if command is None:
        _print(manual.describe(name, flags))
    else:
        help_ = f"function-script {name} --help"
        terminal.echo(f"Command {name}\n\n  {command.get_short_help_str(limit=80)}\n  {help_}")
        # The names that are the same, or have the word.
        with suppress(InputError):
            _print(f"\n{manual.describe(name, flags)}")


def _print(text: str) -> None:
    """Print lines, folded where a terminal would break them in the middle of a word."""
    from function_script.tools import console  # noqa: PLC0415 - as above

    terminal.echo(console.fold(text, console.columns_of(sys.stdout)), nl=False)


def _describe_flags(group: click.Group) -> tuple[Entry, ...]:
    """Return an entry for each flag, one for all commands where it means the same."""
    from function_script.engines.language import Entry  # noqa: PLC0415 - as above

    commands = {
        option: " ".join(path)
        for path, command in options.list_commands(group)
        for option in options.visible_options(command)
    }
    users: dict[Entry, list[click.Option]] = {}
    for title, members in options.by_group([*commands]):
        for option in sorted(members, key=options.long_name):
            names = sorted(option.opts, key=len)
            entry = Entry(
                name=names[-1],
                section=title.lower(),
                summary=str(option.help),
                usage=f"{', '.join(names)} {options.describe_value(option)}".rstrip(),
                aliases=(*names, names[-1].removeprefix("--")),
            )
            users.setdefault(entry, []).append(option)
    return tuple(_with_users(entry, members, commands) for entry, members in users.items())


def _with_users(
    entry: Entry, members: list[click.Option], commands: Mapping[click.Option, str]
) -> Entry:
    """Return the entry of a flag with its commands, and its defaults and variables there."""
    defaults: dict[str, list[str]] = {}
    for option in members:
        defaults.setdefault(options.describe_default(option), []).append(commands[option])
    details = [
        f"Default: {default}"
        if len(owners) == len(members)
        else f"Default of {', '.join(owners)}: {default}"
        for default, owners in defaults.items()
        if default
    ]
    names = sorted({commands[option] for option in members})
    variables = sorted({name for option in members for name in options.variables_of(option)})
    details += [f"Commands: {', '.join(names)}", f"Variables: {', '.join(variables)}"]
    return replace(entry, details=tuple(details), aliases=(*entry.aliases, *variables))
