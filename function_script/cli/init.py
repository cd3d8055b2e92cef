"""The command ``init``: write a project to start from."""

import shlex
from pathlib import Path
from typing import TypedDict, Unpack

import click

from function_script.cli import options, terminal
from function_script.engines import NAMES
from function_script.texts import release


class _InitFlags(TypedDict):
    language: str
    kind: str | None
    group: str | None
    version: str | None
    example: str | None
    package: str
    install: str | None
    quiet: bool


@options.command(options.quiet("what to do next"), short_help="Create a project, with tests.")
@click.argument("directory", type=options.PATH, required=False)
@options.flag(
    "--kind",
    group="Project",
    metavar="KIND",
    show_default="from DIRECTORY: MyDb for my-db",
    help="Kind of the API.",
)
@options.flag(
    "--group",
    group="Project",
    metavar="DOMAIN",
    show_default="platform.example.org",
    help="Group of the API.",
)
@options.flag(
    "--version",
    group="Project",
    metavar="VERSION",
    show_default="v1alpha1",
    help="Version of the API.",
)
@options.flag(
    "--from",
    "example",
    group="Project",
    type=str,
    metavar="FILE",
    help="Example of an XR: the project gets its API, with the types of its fields.",
)
@options.flag(
    "-l",
    "--language",
    group="Project",
    type=click.Choice(NAMES),
    default=NAMES[0],
    help="Language of the program.",
)
@options.flag(
    "--package",
    group="Project",
    default=release.REFERENCE,
    metavar="NAME",
    help="The function's package in your registry: REGISTRY/REPOSITORY:TAG.",
)
@options.flag(
    "--install",
    group="Project",
    metavar="REQUIREMENT",
    show_default="the git URL or wheel that this command was installed from",
    help="Argument of pip install in CI: a git URL, a path in the project, the URL of a wheel.",
)
def init(directory: Path | None, **flags: Unpack[_InitFlags]) -> None:
    """Create a project in DIRECTORY: an API, its Composition, an example and tests.

    DIRECTORY is by default a new one with the name of the kind. Existing files are not changed.

    Examples:
      function-script init my-db
      function-script init my-db --kind Database --language jinja
      function-script init my-db --from xr.yaml
    """
    from function_script.tools import starters  # noqa: PLC0415 - slow to import
    from function_script.tools.starters import api, example_project, origins  # noqa: PLC0415 - slow

    source = origins.Origins(
        package=origins.parse_package(flags["package"]),
        requirement=origins.installed_requirement()
        if flags["install"] is None
        else origins.parse_requirement(flags["install"]),
    )
    kind, group, version = names = (flags["kind"], flags["group"], flags["version"])
    project: api.Api | example_project.Example
    if flags["example"] is not None:
        if any(name is not None for name in names):
            raise click.UsageError("--from: the example has the kind, the group and the version")
        project = example_project.load(flags["example"])
        kind = project.api.kind
    elif kind is None and directory is None:
        raise click.UsageError("name a DIRECTORY, a --kind, or an example with --from")
    else:
        if kind is None and directory is not None:
            kind = api.to_kind(directory.resolve().name)
        kind = kind or api.DEFAULT_KIND
        project = api.parse(kind, group or api.DEFAULT_GROUP, version or api.DEFAULT_VERSION)
    directory = directory or Path(api.to_folder(kind))
    for path in starters.write(flags["language"], directory, source, project):
        terminal.echo(str(path))
    if flags["quiet"]:
        return
    steps = "" if directory.resolve() == Path.cwd() else f"cd {shlex.quote(str(directory))} && "
    terminal.echo(f"\nTry: {steps}function-script test", err=True)
    if source.package.name == release.OWN_PACKAGE:
        terminal.echo(
            "Before you deploy: name your registry in functions.yaml and crossplane.yaml, or pass "
            "it to init: --package NAME",
            err=True,
        )
    if not source.requirement:
        terminal.echo(
            "Before CI runs: set FUNCTION_SCRIPT in ci.yaml, or pass it to init: "
            "--install REQUIREMENT",
            err=True,
        )
