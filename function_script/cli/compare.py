"""The command ``compare``: what changes with another function, or another version of the files."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Literal, Unpack

import click

from function_script.cli import exit_codes, options, terminal


class _Flags(options.RenderingFlags):
    paths: tuple[str, ...]
    variants: int
    cluster: Path | None
    with_: str | None
    ignore: tuple[str, ...]
    output: Literal["text", "json", "markdown"]
    fail_on: tuple[Literal["difference", "not-compared"], ...]
    all: bool


@options.command(
    *options.rendering(),
    *options.shared("--ignore"),
    options.output("text", "json", "markdown"),
    *options.reporting(),
    short_help="Compare two functions, or two versions.",
)
@click.argument("paths", nargs=-1, type=options.TEXT_PATH, metavar="[PATH]...")
@options.flag(
    "--with",
    "with_",
    group="Input",
    metavar="REF|PATH",
    help="Compare with another version: a revision of git, of which PATH is read, or a file or "
    "directory. Both versions of every pipeline run, and no function is compared.",
)
@options.flag(
    "--cluster",
    group="Input",
    type=click.Path(exists=True, path_type=Path),
    metavar="DUMP",
    help="Compare with the live XRs, too: objects of the cluster, as for plan.",
)
@options.flag(
    "--variants",
    group="Runs",
    type=click.IntRange(min=0),
    default=10,
    metavar="N",
    help="Compare with the XRs at hand, and with at most N that the XRD allows.",
)
@options.flag(
    "--fail-on",
    group="Output",
    multiple=True,
    type=click.Choice(["difference", "not-compared"]),
    help="End with exit code 10 if there is one. May be repeated.",
)
@options.flag("--all", group="Output", help="List what differs and changes nothing, too.")
def compare(**flags: Unpack[_Flags]) -> int:
    """Compare function-go-templating with this function on the same requests.

    Each step with an input of function-go-templating runs on both sides: by the function that
    functions.yaml beside the Composition names, and here. Compared are desired state, readiness,
    connection details, context, requirements, conditions, and the severity of results. What cannot
    run on both sides is "not compared", and never equal.

    With --with, whole pipelines run in two versions of the Compositions instead. Captured requests
    below PATH (NAME.case.yaml) are further requests of their step.

    PATH is a file with a Composition, or a directory, which is searched to any depth. By default it
    is the current directory.

    Examples:
      function-script compare
      function-script compare platform --function function-go-templating=docker
      function-script compare platform --with main
      function-script compare -o markdown --fail-on difference
    """
    from function_script.tools import console, local_pool, revisions  # noqa: PLC0415 - slow
    from function_script.tools.project import Project  # noqa: PLC0415 - as above

    paths = flags["paths"] or (".",)
    named, other = [*map(Path, paths)], None
    engines = local_pool.engines_of(named, Project.of(named, allowed=flags["allow_outside"]))
    # The sandbox starts while the tool is imported.
    with local_pool.open_pool(engines) as pool, ExitStack() as stack:
        from function_script.tools.compare import command, report  # noqa: PLC0415 - slow to import
        from function_script.tools.plan import dump  # noqa: PLC0415 - as above

        if flags["with_"] is not None:
            other = stack.enter_context(revisions.open_version(flags["with_"], named))
            named += other.paths
        tool_options = command.Options(
            rendering=options.read_rendering(flags),
            pool=pool,
            project=Project.of(named, allowed=flags["allow_outside"]),
            variants=flags["variants"],
            ignored=flags["ignore"],
            dump=dump.load(flags["cluster"]) if flags["cluster"] is not None else None,
            version=other,
        )
        with tool_options.rendering.servers:
            rows = command.run(paths, tool_options)
    result = report.make(rows, shows_all=flags["all"])
    text = result.write(flags["output"], console.columns_of(sys.stdout))
    terminal.echo(text if other is None else other.rename(text))
    fails = {
        "difference": any(row.changes for row in rows),
        "not-compared": any(row.uncompared for row in rows),
    }
    return exit_codes.REPORTED if any(fails[each] for each in flags["fail_on"]) else exit_codes.OK
