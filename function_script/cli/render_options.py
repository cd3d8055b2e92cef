"""Flags that ``render`` and ``render operation`` share, and how they are read.

Called while the command modules are imported, so it must import nothing slow.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict

import click

from function_script.cli import confinement, options, terminal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from function_script.sandbox import Pool
    from function_script.tools.render.command import Options


_PAIR: Final = re.compile("[^=]+=")


class Flags(TypedDict):
    """What ``shared`` are parsed to."""

    context_files: tuple[str, ...]
    context_values: tuple[str, ...]
    include_function_results: bool
    include_context: bool
    required_resources: tuple[Path, ...]
    function_credentials: Path | None
    function_annotations: tuple[str, ...]
    function: tuple[str, ...]
    timeout: float
    program_root: Path | None
    debug: bool


def shared(file: str) -> list[click.Parameter]:
    """The flags; ``file`` is the argument beside which programs are found."""
    return [
        *_context(),
        *_given(),
        *_functions(),
        options.program_root(f"programs/ beside {file}"),
        options.functions(),
        options.debug(),
    ]


def _context() -> list[click.Parameter]:
    return [
        click.Option(
            ["--context-files"],
            multiple=True,
            metavar="KEY=PATH",
            help="Context for the first step, from a JSON or YAML file. May be repeated, or "
            "several be joined by semicolons.",
        ),
        click.Option(
            ["--context-values"],
            multiple=True,
            metavar="KEY=VALUE",
            help="Context for the first step, as JSON or YAML; wins over files. May be repeated, "
            "or several be joined by semicolons.",
        ),
        click.Option(
            ["-r", "--include-function-results"],
            is_flag=True,
            help="Print events too, as kind Result.",
        ),
        click.Option(
            ["-c", "--include-context"],
            is_flag=True,
            help="Print the last step's context, as kind Context.",
        ),
    ]


def _given() -> list[click.Parameter]:
    return [
        click.Option(
            ["-e", "--required-resources"],
            type=options.PATH,
            multiple=True,
            metavar="PATH",
            help="Objects that steps may require: a file or a directory. May be repeated, or "
            "several be joined by commas.",
        ),
        click.Option(
            ["--function-credentials"],
            type=options.PATH,
            metavar="PATH",
            help="Secrets for steps' credentials: a file or a directory.",
        ),
    ]


def required_schemas(*short: str) -> click.Option:
    """Schemas, with the ``short`` names that a command gives the flag."""
    return click.Option(
        [*short, "--required-schemas"],
        type=options.PATH,
        metavar="PATH",
        help="OpenAPI v3 documents (*.json) with schemas that steps may require: a file or a "
        "directory.",
    )


def _functions() -> list[click.Parameter]:
    return [
        click.Option(
            ["-a", "--function-annotations"],
            multiple=True,
            metavar="KEY=VALUE",
            help="Annotation to set on every Function. May be repeated, or several be joined by "
            "commas.",
        ),
        click.Option(
            ["--timeout"],
            type=options.duration,
            default="1m",
            show_default=True,
            metavar="DURATION",
            help="Time all steps together may take.",
        ),
    ]


def read_options(flags: Flags, *, full_xr: bool = False) -> Options:
    """What the shared flags say beside the paths."""
    from function_script.tools.render import command, output  # noqa: PLC0415 - slow to import

    return command.Options(
        wanted=output.OutputOptions(
            full_xr=full_xr,
            results=flags["include_function_results"],
            context=flags["include_context"],
        ),
        runtimes=options.read_runtimes(flags["function"]),
        annotations=dict(pairs(flags["function_annotations"], "--function-annotations", ",")),
        timeout_seconds=flags["timeout"],
        print=partial(terminal.echo, err=True),
    )


def sandbox(file: Path, flags: Flags, *, is_quiet: bool = False) -> Pool:
    """A sandbox for the programs of ``file``; it gets ready while the tools are imported."""
    from function_script.tools import local_pool  # noqa: PLC0415 - slow to import

    pool = local_pool.open_pool(flags["program_root"] or local_pool.programs_beside(file), file)
    confinement.print_note(is_quiet=is_quiet)
    return pool


def context_files(flags: Flags) -> list[tuple[str, Path]]:
    """Keys and files of the first step's context."""
    found = pairs(flags["context_files"], "--context-files", ";")
    return [(key, Path(path)) for key, path in found]


def context_values(flags: Flags) -> list[tuple[str, str]]:
    """Keys and values of the first step's context."""
    return pairs(flags["context_values"], "--context-values", ";")


def split_paths(paths: Iterable[Path]) -> list[Path]:
    """Paths of which one flag may name several, joined by commas; a file's own name wins."""
    return [
        Path(part)
        for path in paths
        for part in ([str(path)] if path.exists() else _split(str(path), ","))
    ]


def _split(text: str, separator: str) -> list[str]:
    r"""The parts between separators, but for one after a backslash."""
    parts = re.split(rf"(?<!\\){separator}", text)
    return [part.replace(f"\\{separator}", separator) for part in parts]


def pairs(texts: Iterable[str], flag: str, separator: str) -> list[tuple[str, str]]:
    """``KEY=VALUE`` taken apart; wrong usage when one is not of this form.

    One flag may give several with separators between them. A text of which a part is no pair is
    a single one: its value has the separator.
    """
    return [_pair(text, flag) for joined in texts for text in _separate(joined, separator)]


def _separate(text: str, separator: str) -> list[str]:
    parts = _split(text, separator)
    return parts if all(_PAIR.match(part) for part in parts) else [text]


def _pair(text: str, flag: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise click.UsageError(f'{flag}: "{text}" is not of the form KEY=VALUE')
    return key, value
