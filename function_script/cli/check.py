"""The command ``check``: find mistakes in a Composition's steps without running them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, Literal, TypedDict, Unpack

import click

from function_script.cli import exit_codes, options, terminal

if TYPE_CHECKING:
    from pathlib import Path


class _Flags(TypedDict):
    compositions: tuple[str, ...]
    output: Literal["text", "json", "sarif"]
    xrd: Path | None
    crds: tuple[Path, ...]
    ignore: tuple[str, ...]
    strict: bool
    salted: bool
    quiet: bool
    program_root: Path | None
    debug: bool


_EPILOG: Final = """\b
Examples:
  function-script check composition.yaml
  function-script check examples --strict --output json
"""


@click.command(
    short_help="Find mistakes without a run.",
    epilog=_EPILOG,
    params=[
        options.program_root("programs/ beside each file"),
        options.output("text", "json", "sarif"),
        options.quiet("the totals"),
        options.debug(),
    ],
)
@click.argument("compositions", nargs=-1, required=True, metavar="COMPOSITION...")
@click.option(
    "--xrd",
    type=options.PATH,
    metavar="PATH",
    help="XRD: the fields that programs can read; "
    "default: definition.yaml or xrd.yaml beside each file.",
)
@click.option(
    "--crds",
    type=options.PATH,
    multiple=True,
    metavar="PATH",
    help="CRDs of composed resources: a file, a directory or a package. May be repeated.",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="GLOB",
    help="Leave out files and folders of this name, or of this path below a directory; "
    "* also stands for /. May be repeated.",
)
@click.option(
    "--salted",
    is_flag=True,
    help="The server has a --seed-file, so that random texts of programs may be secrets.",
)
@click.option("--strict", is_flag=True, help="Fail on warnings, too.")
def check(**flags: Unpack[_Flags]) -> int:
    """Find mistakes in the steps of Compositions and Operations without running anything.

    COMPOSITION is a file, a directory, which is searched to any depth, or - for stdin; a file may
    also hold an input or an XR alone. Steps of other functions are only counted, and whatever else
    is in a directory is left alone.

    The exit code is 1 when there are errors.
    """
    from function_script.tools import check as tool  # noqa: PLC0415 - slow to import
    from function_script.tools import console as frames  # noqa: PLC0415 - slow to import

    schemas = tool.load(flags["xrd"], flags["crds"])
    report = tool.check(
        flags["compositions"],
        flags["program_root"],
        schemas,
        flags["ignore"],
        is_salted=flags["salted"],
    )
    if flags["output"] == "json":
        text = tool.render_json(report)
    elif flags["output"] == "sarif":
        text = tool.render_sarif(report)
    else:
        colourful = frames.is_colourful(sys.stdout)
        text = tool.render_text(report, colourful=colourful, is_quiet=flags["quiet"])
    if text:
        terminal.echo_coloured(text)
    return exit_codes.OK if report.is_success(strict=flags["strict"]) else exit_codes.PROBLEM
