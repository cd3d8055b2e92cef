"""The commands ``render`` and ``render operation``: run a pipeline without a cluster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

import click

from function_script.cli import exit_codes, options, render_options, terminal, watch_output
from function_script.cli.validate import ReportFlags, print_report, report_flags
from function_script.texts.errors import InputError
from function_script.tools.project import STDIN

if TYPE_CHECKING:
    from function_script.sandbox.pool import Pool
    from function_script.tools.project import Project
    from function_script.tools.render.command import Options
    from function_script.tools.render.loading import RenderPaths
    from function_script.tools.validate.report import Report


class _Flags(render_options.Flags, ReportFlags, TypedDict):
    xr: Path
    composition: Path | None
    functions: Path | None
    include_full_xr: bool
    observed_resources: Path | None
    extra_resources: tuple[Path, ...]
    xrd: Path | None
    skip_xr_validation: bool
    skip_validation: bool
    watch: bool
    validate: bool
    crds: tuple[str, ...]
    fetch: bool
    blame: bool
    explain: str | None


_NO_XRD: Final = "none"


@options.command(
    *render_options.shared("COMPOSITION"),
    render_options.required_schemas("-s"),
    *report_flags(),
    *options.shared("--fetch", "--skip-xr-validation", "--skip-validation"),
    options.watch("Render or validate"),
    options.quiet("notes and warnings"),
    short_help="Render an XR with a Composition.",
)
@click.argument("xr", type=options.PATH, default=".")
@click.argument("composition", type=options.PATH, required=False)
@click.argument("functions", type=options.PATH, required=False)
@options.flag(
    "-x",
    "--include-full-xr",
    group="Output",
    help="Print the XR with its whole spec and metadata.",
)
@options.flag(
    "-o",
    "--observed-resources",
    group="Input",
    metavar="PATH",
    help="Existing composed resources: a file or a directory.",
)
@options.flag(
    "--extra-resources",
    group="Input",
    multiple=True,
    metavar="PATH",
    help="The old name of --required-resources.",
)
@options.flag(
    "--xrd",
    group="Input",
    metavar="PATH",
    help="XRD: the XR is validated by it; supplies defaults and the XR's scope. Default: "
    "definition.yaml, xrd.yaml or one with such a word in its name, beside the Composition, if one "
    "defines the XR. none: no XRD.",
)
@options.flag(
    "--blame",
    group="Output",
    help="Print before each line the file and line that wrote it.",
)
@options.flag(
    "--explain",
    group="Output",
    metavar="RESOURCE.FIELD",
    help="Print one value, the line that wrote it, and what that line reads. The XR is xr.",
)
@options.flag(
    "--validate",
    group="Validation",
    help="Validate the documents instead of printing them.",
)
@options.flag(
    "--crds",
    group="Validation",
    multiple=True,
    metavar="SOURCE",
    help="Schemas of composed resources: files, directories or packages, joined by commas. The XRD "
    "and crds/ beside the Composition are always among them. May be repeated.",
)
def render(**flags: Unpack[_Flags]) -> int:
    """Show what a Composition makes of an XR, without a cluster.

    Prints the XR and its composed resources as Crossplane would write them. Steps of this function
    run here, in the sandbox of production; --explain-functions says how the others run.

    XR is a file or, by default the current one, a directory with xr.yaml and composition.yaml. The
    directory may also hold functions.yaml, observed.yaml, required.yaml, credentials.yaml,
    xrd.yaml, schemas/ and context/KEY.yaml.

    Examples:
      function-script render examples/starlark-robots
      function-script render xr.yaml composition.yaml -o observed.yaml -r
      function-script render --watch
      function-script render --validate --crds crds/
      function-script render --explain bucket.spec.forProvider.region
    """
    _check_flags(flags)
    file = flags["composition"] or flags["xr"] / "composition.yaml"
    if flags["xr"].is_dir() and not file.exists():
        hint = "name a directory with xr.yaml and composition.yaml, or the two files"
        if (flags["xr"] / "operation.yaml").exists():
            hint = f'it has an Operation: function-script render operation "{flags["xr"]}"'
        raise InputError.of(f'cannot render "{flags["xr"]}": it has no composition.yaml', hint=hint)
    with render_options.open_sandbox(file, _project(flags), flags, is_quiet=flags["quiet"]) as pool:
        from function_script.tools.render import command  # noqa: PLC0415 - slow to import

        run_options = replace(
            render_options.read_options(
                flags, full_xr=flags["include_full_xr"], is_quiet=flags["quiet"]
            ),
            skips_xr_validation=flags["skip_xr_validation"],
            skips_validation=flags["skip_validation"],
        )
        paths = _paths(flags)
        is_own = flags["composition"] is None and paths.xrd == flags["xr"] / "xrd.yaml"
        if paths.xrd is not None and flags["xrd"] is None and not (is_own or flags["quiet"]):
            terminal.echo_note(f'the XRD is "{paths.xrd}"; --xrd none renders without it')
        if flags["explain_functions"]:
            return render_options.print_choices(*command.explain(paths, run_options))
        with run_options.rendering.servers:
            if flags["watch"]:
                _watch(flags, run_options, pool)
            if flags["validate"]:
                report = _validate(flags, run_options, pool)
                return print_report(report, flags)
            terminal.echo_exact(_render(flags, run_options, pool))
    return exit_codes.OK


def _check_flags(flags: _Flags) -> None:
    """Raise UsageError for flags that contradict each other."""
    if flags["output"] == "json" and not flags["validate"]:
        raise click.UsageError("--output json is for --validate: documents are printed as YAML")
    if (flags["blame"] or flags["explain"] is not None) and (flags["watch"] or flags["validate"]):
        raise click.UsageError("--blame and --explain are for documents that are printed once")
    if flags["blame"] and flags["explain"] is not None:
        raise click.UsageError("--blame is for documents, and --explain for one value of them")
    if flags["watch"] and STDIN in ",".join(flags["crds"]).split(","):
        raise click.UsageError("--watch: --crds cannot be read from stdin again and again")


def _render(flags: _Flags, run_options: Options, pool: Pool) -> str:
    """Return the documents, with or without a margin, or the chain behind a value."""
    from function_script import documents  # noqa: PLC0415 - slow to import
    from function_script.tools.render import command  # noqa: PLC0415 - slow to import

    blame = command.render_composition(_paths(flags), run_options, pool)
    if flags["explain"] is not None:
        return blame.explain(flags["explain"])
    return blame.to_text() if flags["blame"] else documents.to_yaml_stream(blame.documents)


def _watch(flags: _Flags, run_options: Options, pool: Pool) -> None:
    """Render or validate at every change of a file. Only an interrupt ends it."""
    from function_script import documents  # noqa: PLC0415 - slow to import
    from function_script.tools.render import command, loading, output  # noqa: PLC0415 - as above

    def files() -> list[Path]:
        return loading.list_files(_paths(flags))

    if flags["validate"]:
        watch_output.watch(
            lambda: _validate(flags, run_options, pool),
            files,
            lambda report: print_report(report, flags),
        )
    watch_output.watch(
        lambda: command.render_composition(_paths(flags), run_options, pool).documents,
        files,
        lambda result: terminal.echo_exact(documents.to_yaml_stream(result)),
        compare=output.diff,
    )


def _validate(flags: _Flags, run_options: Options, pool: Pool) -> Report:
    """Return the report of ``render -x | validate``."""
    from function_script import documents  # noqa: PLC0415 - slow to import
    from function_script.texts.source import Source  # noqa: PLC0415 - slow to import
    from function_script.tools import bounded  # noqa: PLC0415 - slow to import
    from function_script.tools.render import command, output  # noqa: PLC0415 - slow to import
    from function_script.tools.validate import command as validate  # noqa: PLC0415 - as above
    from function_script.tools.validate.packages import PackageSchemas  # noqa: PLC0415 - as above

    paths = _paths(flags)
    extensions = [str(path) for path in (paths.xrd, *paths.crds) if path is not None]
    packages = PackageSchemas(cache=flags["cache_dir"], fetches=flags["fetch"])
    catalog, notes = validate.load_catalog(
        extensions, packages, flags["crossplane_image"], paths.project
    )
    if not extensions:
        notes.append("there are no schemas: --xrd and --crds name them")
    full = replace(run_options, output=output.OutputOptions(full_xr=True), skips_validation=True)
    blame = command.render_composition(paths, full, pool)
    text = documents.to_yaml_stream(blame.documents)
    rendered = bounded.read_documents(Source(name="rendered", text=text))
    return validate.check_documents(rendered, catalog, notes, blame.find_writer)


def _project(flags: _Flags) -> Project:
    """Return the files that may be read: a Composition's directory, and what is named."""
    named = (
        *(flags["xr"], flags["functions"], flags["observed_resources"], flags["xrd"]),
        *render_options.split_paths(flags["extra_resources"]),
        *(Path(source) for source in ",".join(flags["crds"]).split(",") if source),
    )
    return render_options.read_project(flags["composition"] or flags["xr"], flags, named)


def _paths(flags: _Flags) -> RenderPaths:
    from function_script.tools import sources  # noqa: PLC0415 - slow to import
    from function_script.tools.render import loading  # noqa: PLC0415 - slow to import

    composition = flags["composition"]
    project = _project(flags)
    if composition is None:
        if flags["xr"].is_file():
            raise click.UsageError("COMPOSITION is missing, and XR is no directory")
        base = loading.find_render_paths(flags["xr"], project)
    else:
        base = loading.RenderPaths(
            xr=flags["xr"],
            composition=composition,
            functions=flags["functions"],
            project=project,
            xrd=loading.find_xrd(composition, flags["xr"], project),
            crds=loading.find_crds(composition.parent),
        )
    paths = render_options.add_paths(base, flags)
    xrd = None if str(flags["xrd"]) == _NO_XRD else flags["xrd"]
    return replace(
        paths,
        observed=flags["observed_resources"] or base.observed,
        required=(*paths.required, *render_options.split_paths(flags["extra_resources"])),
        xrd=base.xrd if flags["xrd"] is None else xrd,
        crds=[*base.crds, *sources.split(flags["crds"])],
        fetches=flags["fetch"],
    )


class _OperationFlags(render_options.Flags, TypedDict):
    operation: Path
    functions: Path | None
    watched_resource: Path | None


@options.command(
    *render_options.shared("OPERATION"),
    render_options.required_schemas(),
    name="render operation",
)
@click.argument("operation", type=options.PATH)
@click.argument("functions", type=options.PATH, required=False)
@options.flag(
    "-o",
    "--include-full-operation",
    group="Output",
    help="Print the Operation with its spec. This is the default.",
)
@options.flag(
    "-w",
    "--watched-resource",
    group="Input",
    metavar="FILE",
    help="The object that a WatchOperation watches; every step requires it.",
)
def render_operation(**flags: Unpack[_OperationFlags]) -> int:
    """Show what an Operation does, without a cluster.

    OPERATION is a file with an Operation, or with a CronOperation or WatchOperation, whose template
    is run. Prints the Operation with its status and the resources it applies.

    OPERATION may be a directory with operation.yaml. It may also hold functions.yaml, watched.yaml,
    required.yaml, credentials.yaml, schemas/ and context/KEY.yaml.

    Examples:
      function-script render operation examples/operation-report
      function-script render operation operation.yaml -e required.yaml -r
      function-script render operation watchoperation.yaml -w changed.yaml
    """
    path = flags["operation"]
    file = path / "operation.yaml" if path.is_dir() else path
    named = (flags["functions"], flags["watched_resource"])
    project = render_options.read_project(path, flags, named)
    with render_options.open_sandbox(file, project, flags) as pool:
        from function_script.tools.render import command, loading  # noqa: PLC0415 - slow to import

        run_options = render_options.read_options(flags)
        if path.is_dir():
            base = loading.find_operation_paths(path, project)
        else:
            base = loading.OperationPaths(operation=path, project=project)
        paths = replace(
            render_options.add_paths(base, flags),
            functions=flags["functions"] or base.functions,
            watched=flags["watched_resource"] or base.watched,
        )
        if flags["explain_functions"]:
            return render_options.print_choices(*command.explain(paths, run_options))
        with run_options.rendering.servers:
            terminal.echo_exact(command.render_operation(paths, run_options, pool))
    return exit_codes.OK
