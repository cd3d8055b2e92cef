"""The command ``vendor``: pin, lock and copy remote programs."""

from pathlib import Path
from typing import TypedDict, Unpack

import click

from function_script.cli import exit_codes, options, terminal
from function_script.tools.project import Project


class _Flags(TypedDict):
    compositions: tuple[str, ...]
    check: bool
    update: bool
    output: Path | None
    allow_outside: tuple[Path, ...]


@options.command(
    *options.shared("--allow-outside"),
    *options.reporting(),
    short_help="Pin, lock and copy remote programs.",
)
@click.argument("compositions", nargs=-1, metavar="[COMPOSITION]...")
@options.flag(
    "--check",
    group="Output",
    help="Write nothing and fetch nothing; fail if a lock file is not up to date.",
)
@options.flag(
    "--update",
    group="Input",
    help="Resolve tags and branches again, and write what they are now.",
)
@options.flag(
    "-o",
    "--output",
    group="Output",
    metavar="DIR",
    help="Directory for copies. Commands read the directory vendor/ where they are called.",
)
def vendor(**flags: Unpack[_Flags]) -> int:
    """Pin the remote programs and modules of Compositions to what their tags and branches are now.

    COMPOSITION is a file or a directory, by default the current one. A tag gets its digest, and a
    branch becomes a commit, in the file itself. function-script.lock beside it has what was
    locked. Credentials are those of docker login.

    Examples:
      function-script vendor
      function-script vendor --output vendor composition.yaml
      function-script vendor --check
    """
    from function_script.tools.remote import local  # noqa: PLC0415 - slow to import
    from function_script.tools.remote import vendor as tool  # noqa: PLC0415 - as above

    if flags["check"] and flags["update"]:
        raise click.UsageError("--check writes nothing, so --update is not possible with it")
    arguments = flags["compositions"] or (".",)
    project = Project.of(map(Path, arguments), allowed=flags["allow_outside"])
    if flags["check"]:
        tool.check(arguments, project, flags["output"])
        return exit_codes.OK
    source = local.source_of(options.read_packages(is_offline=False))
    entries = tool.vendor(
        arguments, project, source, output=flags["output"], is_update=flags["update"]
    )
    for entry in entries:
        terminal.echo(f"{entry.reference} {entry.reference.path}".rstrip())
    if not entries:
        terminal.echo("nothing to pin: no step has a remote program or module", err=True)
    return exit_codes.OK
