"""The command ``snapshot``: a dump of a cluster for ``plan``."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TypedDict, Unpack

import click

from function_script.cli import exit_codes, options, terminal
from function_script.texts.errors import InputError, cause_of


class _Flags(TypedDict):
    file: Path
    context: str | None
    namespace: str | None
    kubectl: str
    also: tuple[str, ...]
    dry_run: bool
    quiet: bool


@options.command(
    options.quiet("what is read"),
    options.debug(),
    short_help="Dump the XRs of a cluster for plan.",
)
@click.argument("file", type=options.PATH, metavar="FILE")
@options.flag(
    "--context", group="Input", metavar="NAME", help="Context of kubectl; default: the current one."
)
@options.flag(
    "--namespace",
    group="Input",
    metavar="NAME",
    help="Read objects of this namespace, and those without one; default: of all namespaces.",
)
@options.flag(
    "--also",
    group="Input",
    multiple=True,
    metavar="KIND",
    help="Another kind to read, as kubectl names it: one that steps require. May be repeated.",
)
@options.flag(
    "--kubectl",
    group="Input",
    default="kubectl",
    metavar="PROGRAM",
    help="The program that reads the cluster.",
)
@options.flag(
    "--dry-run",
    group="Output",
    help="Print the first commands and run none. Those for XRs, what they compose and Secrets "
    "depend on the cluster.",
)
def snapshot(**flags: Unpack[_Flags]) -> int:
    """Write the XRs of a cluster and what they compose to a new file, for plan.

    kubectl get reads XRDs, Compositions and their revisions, Functions, all XRs, the kinds that
    they refer to, the CRDs of these, and the Secrets that these objects name, whose values are
    masked in the file. Nothing is changed. Only you can read the file. The exit code is 1 when
    something could not be read.

    Examples:
      function-script snapshot dump.json
      function-script snapshot dump.json --context production --also zones
      function-script snapshot dump.json --dry-run
    """
    from function_script.tools.plan.snapshot import Snapshot  # noqa: PLC0415 - slow to import

    dump = Snapshot(
        kubectl=flags["kubectl"],
        context=flags["context"],
        namespace=flags["namespace"],
        others=flags["also"],
    )
    if flags["dry_run"]:
        for command in dump.list_commands():
            terminal.echo(shlex.join(command))
        return exit_codes.OK

    def report(name: str) -> None:
        if not flags["quiet"]:
            terminal.echo(f"reading {name}", err=True)

    # A file that cannot be written is an error before the cluster is read, which may take minutes.
    _write(flags["file"], "")
    flags["file"].unlink()
    dump.take(report)
    _write(flags["file"], dump.to_text())
    for name, reason in dump.unread.items():
        terminal.echo(f"cannot read {name}: {reason}", err=True)
    return exit_codes.PROBLEM if dump.unread else exit_codes.OK


def _write(path: Path, text: str) -> None:
    """Write a new file that nobody else can read. Raises InputError."""
    if path == Path("-"):
        raise InputError.of('cannot write the dump to "-": it needs the name of a file')
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InputError.of(f'cannot write "{path}": {cause_of(error)}') from error
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except BaseException:
        # Half a file would be a dump that lacks objects.
        path.unlink()
        raise
