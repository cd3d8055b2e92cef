"""The command ``plan``: what a change of Compositions does to the XRs of a cluster."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack, cast

import click

from function_script.cli import exit_codes, options, terminal
from function_script.texts.errors import InputError

if TYPE_CHECKING:
    from function_script.sandbox.pool import Pool
    from function_script.tools.plan.planning import Planner
    from function_script.tools.plan.xr_plans import XrPlan


class _Flags(options.RenderingFlags):
    after: Path
    cluster: Path
    before: str | None
    output: Literal["text", "json", "markdown"]
    until_ready: bool
    names: bool
    fail_on: tuple[Literal["change", "destroy", "invalid", "unknown"], ...]


def main() -> None:
    """Plan one part for the process of a `plan`."""
    from function_script.tools import own_process  # noqa: PLC0415 - slow to import

    own_process.answer(_plan_part)


def _plan_part(flags: _Flags, part: int, part_count: int) -> list[XrPlan]:
    from function_script.tools import local_pool  # noqa: PLC0415 - slow to import

    with (
        local_pool.open_pool() as pool,
        _open_planner(flags, pool, hides_packages=True) as planner,
    ):
        return [*planner.plan(part, part_count)]


@contextmanager
def _open_planner(flags: _Flags, pool: Pool, *, hides_packages: bool) -> Iterator[Planner]:
    """Yield a planner. Raises FatalError."""
    from function_script.tools.plan import dump, planning, sides  # noqa: PLC0415 - slow
    from function_script.tools.project import Project  # noqa: PLC0415 - as above
    from function_script.tools.render.sides import Sides  # noqa: PLC0415 - as above

    after = flags["after"]
    before = None if flags["before"] is None else Path(flags["before"])
    named = [after] if before is None else [after, before]
    project = Project.of(named, allowed=flags["allow_outside"])
    rendering = options.read_rendering(flags, hides_packages=hides_packages)
    with rendering.servers:
        cluster = dump.load(flags["cluster"])
        makers = Sides(pool, project, rendering, cluster.definitions)
        files = [sides.load(each, project, makers, cluster) for each in named]
        planner = planning.Planner(cluster, makers, *files, until_ready=flags["until_ready"])
        if not planner.has_change:
            raise InputError.of(f'cannot plan: there is no Composition in "{after}"')
        yield planner


@options.command(
    *options.rendering(),
    options.output("text", "json", "markdown"),
    *options.reporting(),
    short_help="Show what a change does to live XRs.",
)
@click.argument("after", type=options.PATH, default=Path(), metavar="[PATH]")
@options.flag(
    "--cluster",
    group="Input",
    type=click.Path(exists=True, path_type=Path),
    required=True,
    metavar="DUMP",
    help="Objects of the cluster: a file of kubectl get -o yaml or -o json, or a directory.",
)
@options.flag(
    "--before",
    group="Input",
    metavar="REF|PATH",
    help="Compositions before the change: a file or a directory, or a revision of git, of which "
    "PATH is read; default: those of the dump.",
)
@options.flag(
    "--until-ready",
    group="Input",
    help="Plan the reconciles after the next one, too, with all ready that is composed.",
)
@options.flag("--names", group="Output", help="List every XR and object.")
@options.flag(
    "--fail-on",
    group="Output",
    multiple=True,
    type=click.Choice(["change", "destroy", "invalid", "unknown"]),
    help="End with exit code 10 if there is one; change is any difference. May be repeated.",
)
def plan(**flags: Unpack[_Flags]) -> int:
    """Plan what changed Compositions do to the XRs of a cluster, without the cluster.

    Each XR of the dump is rendered before and after the change, with the objects that it composed.
    The report has one entry for each line that changes something, deletions first. An XR whose
    change cannot be known is "unknown", with the reason, and never without changes.

    PATH has the changed Compositions, and XRDs: a file or a directory. By default it is the current
    directory.

    Examples:
      function-script snapshot dump.json
      function-script plan --cluster dump.json
      function-script plan platform --cluster dump.json --before main
    """
    from function_script.tools import console, local_pool, revisions  # noqa: PLC0415 - slow

    # The sandbox starts while the tool is imported.
    with local_pool.open_pool() as pool, ExitStack() as stack:
        from function_script.tools import own_process  # noqa: PLC0415 - as above
        from function_script.tools.plan import report  # noqa: PLC0415 - slow

        other = None
        if flags["before"] is not None:
            other = stack.enter_context(revisions.open_version(flags["before"], [flags["after"]]))
            # The other processes read the same directory.
            flags["before"] = str(other.paths[0])
        # Into a file or a pipe nothing is printed.
        is_quiet = not sys.stderr.isatty()
        with terminal.show_progress(is_quiet=is_quiet) as progress:
            progress.line("planning")
            planner = stack.enter_context(_open_planner(flags, pool, hides_packages=False))
            count = planner.count_processes([flags["after"], flags["cluster"]])
            others = [
                stack.enter_context(own_process.call(__name__, flags, part, count))
                for part in range(1, count)
            ]
            plans = [*planner.plan(part_count=count, report=progress.share)]
            for wait in others:
                plans += cast("list[XrPlan]", wait())
        plans = [*planner.relate(plans)]
        notes = [*planner.list_notes(plans)]
        result = report.make(plans, notes, has_names=flags["names"])
        text = result.write(flags["output"], console.columns_of(sys.stdout))
    terminal.echo(text if other is None else other.rename(text))
    changes = [change for each in plans for change in each.changes]
    fails = {
        "change": bool(changes),
        "destroy": any(change.verb == "destroy" for change in changes),
        "invalid": any(each.verdict in {"invalid", "fails"} for each in plans),
        "unknown": any(each.verdict == "unknown" for each in plans),
    }
    return exit_codes.REPORTED if any(fails[each] for each in flags["fail_on"]) else exit_codes.OK
