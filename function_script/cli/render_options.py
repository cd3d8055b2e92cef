"""The flags that ``render`` and ``render operation`` share.

The command modules import this to declare their flags, so it must import nothing slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import click

from function_script.cli import exit_codes, options, terminal
from function_script.texts.errors import InputError
from function_script.tools import project

if TYPE_CHECKING:
    from function_script.sandbox.pool import Pool
    from function_script.texts.diagnostics import Diagnostic
    from function_script.tools.render import renderer
    from function_script.tools.render.command import Options
    from function_script.tools.render.functions import Choice
    from function_script.tools.render.loading import PipelinePaths

Paths = TypeVar("Paths", bound="PipelinePaths")

_PAIR: Final = re.compile("[^=]+=")


class PipelineFlags(options.RenderingFlags):
    """The values of the flags of `pipeline`."""

    context_files: tuple[str, ...]
    context_values: tuple[str, ...]
    required_resources: tuple[Path, ...]
    required_schemas: Path | None
    function_credentials: Path | None
    function_annotations: tuple[str, ...]
    program_root: Path | None


class Flags(PipelineFlags):
    """The values of the flags of `shared`."""

    include_function_results: bool
    include_context: bool
    explain_functions: bool


def shared(file: str) -> list[click.Parameter]:
    """Return the flags of commands that print documents; programs are beside ``file``."""
    return [
        options.Flag(
            ["-r", "--include-function-results"],
            group="Output",
            help="Print events as well, as kind Result.",
        ),
        options.Flag(
            ["-c", "--include-context"],
            group="Output",
            help="Print the last step's context, as kind Context.",
        ),
        *pipeline(f"programs/ beside {file}"),
        options.Flag(
            ["--explain-functions"],
            group="Functions",
            help="Print how each step's function would run and why, and run nothing.",
        ),
    ]


def pipeline(programs: str) -> list[click.Parameter]:
    """Return the flags of commands that run steps; ``programs`` is the default of their root."""
    return [
        options.Flag(
            ["--context-files"],
            group="Input",
            multiple=True,
            metavar="KEY=PATH",
            help="Context for the first step, from a JSON or YAML file. May be repeated, or "
            "several be joined by semicolons.",
        ),
        options.Flag(
            ["--context-values"],
            group="Input",
            multiple=True,
            metavar="KEY=VALUE",
            help="Context for the first step, as JSON or YAML; wins over files. May be repeated, "
            "or several be joined by semicolons.",
        ),
        options.Flag(
            ["-e", "--required-resources"],
            group="Input",
            multiple=True,
            metavar="PATH",
            help="Objects that steps may require: a file or a directory. May be repeated, or "
            "several be joined by commas.",
        ),
        options.Flag(
            ["--function-credentials"],
            group="Functions",
            metavar="PATH",
            help="Secrets for steps' credentials: a file or a directory.",
        ),
        options.Flag(
            ["-a", "--function-annotations"],
            group="Functions",
            multiple=True,
            metavar="KEY=VALUE",
            help="Annotation to set on every Function. May be repeated, or several be joined by "
            "commas.",
        ),
        options.timeout("all steps together"),
        *options.operator(has_timeout=True),
        options.program_root(programs),
        *options.functions(),
        *options.reporting(),
    ]


def required_schemas(*short: str) -> click.Option:
    """Return the flag of schemas, with the ``short`` names of a command."""
    return options.Flag(
        [*short, "--required-schemas"],
        group="Input",
        metavar="PATH",
        help="OpenAPI v3 documents (*.json) with schemas that steps may require: a file or a "
        "directory.",
    )


def read_rendering(
    flags: PipelineFlags, *, is_quiet: bool = True, hides_packages: bool = False
) -> renderer.Options:
    """Return the options of the renderer, as `options.read_rendering`, for one pipeline."""
    rendering = options.read_rendering(
        flags, is_quiet=is_quiet, hides_packages=hides_packages, retries=True
    )
    pairs = split_pairs(flags["function_annotations"], "--function-annotations", ",")
    return replace(rendering, annotations=dict(pairs), print=terminal.echo_text)


def read_options(flags: Flags, *, full_xr: bool = False, is_quiet: bool = False) -> Options:
    """Return the options that the shared flags set, apart from the paths."""
    from function_script.tools.render import command, output  # noqa: PLC0415 - slow to import

    return command.Options(
        rendering=read_rendering(flags, is_quiet=is_quiet, hides_packages=is_quiet),
        output=output.OutputOptions(
            full_xr=full_xr,
            results=flags["include_function_results"],
            context=flags["include_context"],
        ),
        report=terminal.echo_problem,
    )


def read_project(
    root: Path, flags: PipelineFlags, named: Iterable[Path | None] = ()
) -> project.Project:
    """Return the files that may be read: below ``root``, those that flags name, and ``named``."""
    named = (
        *(flags["program_root"], flags["function_credentials"], flags["required_schemas"]),
        *split_paths(flags["required_resources"]),
        *(path for _, path in context_files(flags)),
        *named,
    )
    return project.Project.of([root], named=named, allowed=flags["allow_outside"])


def add_paths(base: Paths, flags: PipelineFlags) -> Paths:
    """Return the paths of ``base`` with those of flags, which win over the files of an example."""
    return replace(
        base,
        required=(*base.required, *split_paths(flags["required_resources"])),
        schemas=flags["required_schemas"] or base.schemas,
        credentials=flags["function_credentials"] or base.credentials,
        context=[*base.context, *context_files(flags)],
        context_values=split_pairs(flags["context_values"], "--context-values", ";"),
        programs=flags["program_root"],
    )


def open_sandbox(
    file: Path,
    files: project.Project,
    flags: PipelineFlags,
    *,
    text: str | None = None,
    is_quiet: bool = False,
) -> Pool:
    """Open a sandbox for the programs of ``file``; it starts while the tools are imported.

    ``files`` are those that may be read; ``text`` is what the file would hold if it is none.
    """
    from function_script.tools import local_pool  # noqa: PLC0415 - slow to import

    programs = flags["program_root"] or local_pool.programs_beside(file)
    engines = (
        local_pool.engines_of([file], files) if text is None else local_pool.engines_in([text])
    )
    root = None if programs is None else files.resolve(programs)
    limits = options.read_limits(flags).with_root(root)
    pool = local_pool.open_pool(engines, options.read_pool(flags, limits))
    terminal.print_sandbox_note(is_quiet=is_quiet)
    return pool


def print_choices(choices: Iterable[Choice], problems: Sequence[Diagnostic]) -> int:
    """Print how functions would run, and the problems of others. Return the exit code."""
    for choice in choices:
        terminal.echo(choice.explain())
    return exit_codes.report_problem(InputError(*problems)) if problems else exit_codes.OK


def context_files(flags: PipelineFlags) -> list[tuple[str, Path]]:
    """Return keys and files of the first step's context."""
    pairs = split_pairs(flags["context_files"], "--context-files", ";")
    return [(key, Path(path)) for key, path in pairs]


def split_paths(paths: Iterable[Path]) -> list[Path]:
    """Split paths joined by commas, unless the whole text is the name of a file."""
    return [
        Path(part)
        for path in paths
        for part in ([str(path)] if path.exists() else _split(str(path), ","))
    ]


def _split(text: str, separator: str) -> list[str]:
    r"""Split at separators, but not at one after a backslash."""
    parts = re.split(rf"(?<!\\){separator}", text)
    return [part.replace(f"\\{separator}", separator) for part in parts]


def split_pairs(texts: Iterable[str], flag: str, separator: str) -> list[tuple[str, str]]:
    """Split ``KEY=VALUE`` texts. Raises UsageError for a text that is not of this form.

    A text may hold several pairs with separators between them. If a part of it is not a pair, the
    text is one pair, and its value has the separator.
    """
    pairs = []
    for text in texts:
        parts = _split(text, separator)
        for pair in parts if all(_PAIR.match(part) for part in parts) else [text]:
            key, equals, value = pair.partition("=")
            if not (key and equals):
                raise click.UsageError(f'{flag}: "{pair}" is not of the form KEY=VALUE')
            pairs.append((key, value))
    return pairs
