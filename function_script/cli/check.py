"""``function-script check``: what is wrong with a Composition's steps, without running them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

import click

from function_script.cli import failures, options

if TYPE_CHECKING:
    from pathlib import Path


class _Flags(TypedDict):
    compositions: tuple[str, ...]
    output: Literal["text", "json"]
    strict: bool
    program_root: Path | None
    debug: bool


@click.command(params=[options.program_root("programs/ beside each file"), options.debug()])
@click.argument("compositions", nargs=-1, required=True, metavar="COMPOSITION...")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print the report.",
)
@click.option("--strict", is_flag=True, help="Fail on warnings, too.")
def check(**flags: Unpack[_Flags]) -> int:
    """Find mistakes in the steps of Compositions and Operations without running anything.

    COMPOSITION is a file, a directory, which is searched to any depth, or - for stdin; a file may
    also hold an input alone. Steps of other functions are left alone.

    The exit code is 1 when there are errors.
    """
    from function_script.tools import check as tool  # noqa: PLC0415 - slow to import
    from function_script.tools import report as frames  # noqa: PLC0415 - slow to import

    report = tool.check(flags["compositions"], flags["program_root"])
    if flags["output"] == "json":
        text = tool.render_json(report)
    else:
        text = tool.render_text(report, colourful=frames.is_colourful(sys.stdout))
    click.echo(text, color=True)
    return failures.OK if report.is_success(strict=flags["strict"]) else failures.PROBLEM
