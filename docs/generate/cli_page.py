"""The reference page of the command line, written from the commands themselves."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import click

from function_script.cli import NAME, commands, exit_codes
from function_script.cli.options import by_group

if TYPE_CHECKING:
    from collections.abc import Iterator

# Longer than the lines of `--help`.
EXIT_CODES = {
    exit_codes.OK: "fine",
    exit_codes.PROBLEM: "a problem in the input, reported on stderr; "
    "nothing is printed that looks like a result",
    exit_codes.USAGE: "wrong usage: an unknown command or flag, a value of the wrong form",
    exit_codes.BUG: "a bug of ours: please report it, with what `--debug` prints",
    exit_codes.INTERRUPTED: "interrupted, which is also how `render --watch` ends",
}
_ROWS = "\n".join(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items())

_HEAD = f"""\
# The command line

<!-- Written by `make goldens`. -->

Every flag can also be set by the environment variable beside it; a flag wins over its variable.
Flags that may be repeated take several values, separated by blanks, from their variable.
Errors are written to stderr, in colour on terminals unless `NO_COLOR` is set.
`-h` or `--help` after any command prints its help.

| exit code | meaning |
|---|---|
{_ROWS}

Some commands print their result although the exit code is 1: `run` prints a response with a FATAL
result; `validate`, `render --validate`, `check` and `test` print their report.
`internal render` speaks to another program: 3 is a FATAL result, and stdout has what there was.

Results go to stdout, everything else to stderr: errors, notes, what programs print.
`--output` says in which form a report is printed. `--quiet` leaves out what is no result and no
problem: notes, progress, totals, cases that passed.

Flags without a command are those of `serve`, as functions' images are started that way:
`{NAME} --insecure` serves. So does `{NAME}` alone where Crossplane has set `TLS_SERVER_CERTS_DIR`.
Elsewhere `{NAME}` alone lists the commands at a terminal; without one it is an error that says
what is missing.
"""


def build() -> str:
    """Return the page `docs/reference/cli.md`."""
    return "\n".join([_HEAD, *_sections(commands, NAME)])


def _sections(group: click.Group, path: str) -> Iterator[str]:
    for name in sorted(group.commands):
        command = group.commands[name]
        if isinstance(command, click.Group):
            yield from _sections(command, f"{path} {name}")
        else:
            yield _section(command, f"{path} {name}")


def _section(command: click.Command, path: str) -> str:
    usage = command.collect_usage_pieces(click.Context(command, info_name=path))
    parts = [
        f"## {path.removeprefix(f'{NAME} ')}",
        "",
        "```console",
        f"$ {path} {' '.join(usage)}".rstrip(),
        "```",
        "",
        inspect.cleandoc(command.help or ""),
        "",
    ]
    for group, options in by_group(command.params):
        rows = [
            _row(option)
            for option in sorted(options, key=lambda each: max(each.opts, key=len))
            if not option.hidden
        ]
        parts += [f"**{group}**", "", "| flag | variable | default | meaning |"]
        parts += ["|---|---|---|---|", *rows, ""]
    return "\n".join(parts)


def _row(option: click.Option) -> str:
    flags = ", ".join(f"`{name}`" for name in sorted(option.opts, key=len))
    if not option.is_flag:
        choices = option.type.choices if isinstance(option.type, click.Choice) else ()
        flags += f" `{option.metavar or '|'.join(choices)}`"
    variables = option.envvar if isinstance(option.envvar, list) else [option.envvar]
    names = ", ".join(f"`{name}`" for name in variables)
    default = f"`{option.default}`" if option.show_default is True else option.show_default
    return f"| {_escaped(flags)} | {names} | {default or ''} | {_escaped(option.help or '')} |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
