"""The reference page of the command line, written from the commands themselves."""

from __future__ import annotations

import inspect
from collections import Counter
from typing import TYPE_CHECKING

import click

from function_script.cli import NAME, commands, exit_codes
from function_script.cli.options import (
    by_group,
    describe_default,
    describe_value,
    list_commands,
    long_name,
    variables_of,
    visible_options,
)
from function_script.request import limits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

# Longer than the lines of `--help`.
EXIT_CODES = {
    exit_codes.OK: "fine",
    exit_codes.PROBLEM: "a problem in the input, reported on stderr; "
    "nothing is printed that looks like a result",
    exit_codes.USAGE: "wrong usage: an unknown command or flag, a value of the wrong form",
    exit_codes.BUG: "a bug of ours: please report it, with what `--debug` prints",
    exit_codes.REPORTED: "what `--fail-on` names is in the report",
    exit_codes.INTERRUPTED: "interrupted, which is also how `render --watch` ends",
}
_ROWS = "\n".join(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items())

_HEAD = f"""\
# The command line

<!-- Written by `make goldens`. -->

Every flag can also be set by an environment variable, and a flag wins over its variable. The
variable of `--crds` of `check` is `FUNCTION_SCRIPT_CHECK_CRDS`. Flags of `serve` and `run`, and
[limits](#limits) of all commands, have no name of a command in theirs: `FUNCTION_SCRIPT_ADDRESS`.
A variable with another name stands behind the flag's meaning.
Flags that may be repeated take several values, separated by blanks, from their variable.
Errors are in colour on terminals unless `NO_COLOR` is set.

| exit code | meaning |
|---|---|
{_ROWS}

Some commands print their result although the exit code is 1: `run` prints a response with a FATAL
result; `validate`, `render --validate`, `check` and `test` print their report.
`internal render` speaks to another program: 3 is a FATAL result, and stdout has what there was.

Results go to stdout, everything else to stderr: errors, notes, what programs print.
`--quiet` leaves out what is no result and no problem: notes, progress, totals, cases that passed.

`{NAME}` alone serves where Crossplane has set `TLS_SERVER_CERTS_DIR`.
Elsewhere it lists the commands at a terminal; without one it is an error that says what is missing.
"""


SHARED = "Shared flags"
LIMITS = "Limits"
_LIMIT_FLAGS = {*(limit.flag for limit in limits.LIMITS.values()), "--default-ttl"}


def build() -> str:
    """Return the page `docs/reference/cli.md`."""
    listed = dict(list_commands(commands))
    users = Counter(
        _row(option, path)
        for path, command in listed.items()
        for option in visible_options(command)
    )
    shared = {row for row, number in users.items() if number > 1}
    # Commands that run programs have all of these.
    of_runs = {row for row in shared if any(f"`{flag}`" in row for flag in _LIMIT_FLAGS)}
    sections = [
        _section(path, command, shared, of_runs) for path, command in sorted(listed.items())
    ]
    others = (*_shared_section(SHARED, shared - of_runs), *_shared_section(LIMITS, of_runs))
    return "\n".join([_HEAD, *sections, *others])


def _section(
    path: tuple[str, ...], command: click.Command, shared: Collection[str], of_runs: Collection[str]
) -> str:
    name = " ".join((NAME, *path))
    usage = command.collect_usage_pieces(click.Context(command, info_name=name))
    parts = [
        f"## {' '.join(path)}",
        "",
        "```console",
        f"$ {name} {' '.join(usage)}".rstrip(),
        "```",
        "",
        inspect.cleandoc(command.help or ""),
        "",
    ]
    for group, options in by_group(visible_options(command)):
        rows = [row for option in options if (row := _row(option, path)) not in shared]
        if rows:
            parts += [
                f"**{group}**",
                "",
                *rows,
                "",
            ]
    others = {_row(each, path): each for each in visible_options(command)}
    names = [
        f"`{long_name(option)}`"
        for row, option in others.items()
        if row in shared and row not in of_runs
    ]
    if others.keys() & of_runs:
        names.append(_link(LIMITS))
    if names:
        parts += [f"{_link(SHARED)}: {', '.join(names)}", ""]
    return "\n".join(parts)


def _shared_section(title: str, rows: Collection[str]) -> Iterator[str]:
    yield from (f"## {title}", "", *sorted(rows), "")


def _link(title: str) -> str:
    return f"[{title}](#{title.lower().replace(' ', '-')})"


def _row(option: click.Option, path: tuple[str, ...]) -> str:
    flags = ", ".join(f"`{name}`" for name in sorted(option.opts, key=len))
    if value := describe_value(option):
        flags += f" `{value}`"
    default = describe_default(option)
    if option.show_default is True:
        default = f"`{default}`"
    meaning = " ".join([option.help or "", *_other_variables(option, path)])
    return f"- {flags}: {meaning}" + (f" Default: {default}." if default else "")


def _other_variables(option: click.Option, path: tuple[str, ...]) -> Iterator[str]:
    """Yield a sentence about the variables that do not follow from the flag's name."""
    flag = long_name(option).removeprefix("--")
    regular = {_variable(flag), _variable(*path, flag)}
    others = [f"`{name}`" for name in variables_of(option) if name not in regular]
    if others:
        yield f"Variable: {', '.join(others)}."


def _variable(*words: str) -> str:
    return "_".join(["FUNCTION_SCRIPT", *words]).upper().replace("-", "_").replace(" ", "_")
