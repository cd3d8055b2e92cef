"""The command ``package``: build, push and inspect packages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypedDict, Unpack

import click

from function_script.cli import options, terminal
from function_script.texts.errors import InputError
from function_script.tools.project import Project

if TYPE_CHECKING:
    from function_script.tools.xpkg.credentials import Trust

_META: Final = "crossplane.yaml"
_INPUT_CRDS: Final = Path("input_crds")

_PLAIN_HTTP_HINT: Final = (
    "--plain-http speaks HTTP without TLS to it; anybody on the way can read and change it"
)


class _BuildFlags(TypedDict):
    package_root: Path | None
    input_crds: Path | None
    examples: Path | None
    ignore: tuple[str, ...]
    allow_outside: tuple[Path, ...]
    output: Path | None
    runtime_image: tuple[Path, ...]
    quiet: bool


class _RegistryFlags(TypedDict):
    plain_http: bool
    ca_file: Path | None


class _PushFlags(_RegistryFlags, TypedDict):
    name: str
    packages: tuple[Path, ...]
    module: bool
    allow_outside: tuple[Path, ...]
    quiet: bool


class _InspectFlags(_RegistryFlags, TypedDict):
    place: str
    output: Literal["text", "json"]


_PLAIN_HTTP: Final = options.flag(
    "--plain-http",
    group="Registry",
    help="Use HTTP without TLS, also for credentials. Only in a network that you trust.",
)
_CA_FILE: Final = options.flag(
    "--ca-file",
    group="Registry",
    metavar="FILE",
    help="Additional certificate authorities for the registry, in PEM format.",
)


def _trust(flags: _RegistryFlags) -> Trust:
    from function_script.tools.xpkg import credentials  # noqa: PLC0415 - slow to import

    return credentials.Trust(
        plain_http=flags["plain_http"], plain_http_hint=_PLAIN_HTTP_HINT, ca_file=flags["ca_file"]
    )


@click.group(short_help="Build, push and inspect packages.")
def package() -> None:
    """Build, push and inspect packages, which is what Crossplane installs."""


@package.command(
    cls=options.Command,
    short_help="Write a package file, without Docker.",
    params=[
        *options.shared("--allow-outside"),
        options.quiet("progress, and which files are left out"),
        *options.reporting(),
    ],
)
@options.flag(
    "--package-root",
    group="Input",
    show_default="where crossplane.yaml is: . or package",
    metavar="DIR",
    help="Directory with crossplane.yaml.",
)
@options.flag(
    "--input-crds",
    group="Input",
    show_default=str(_INPUT_CRDS),
    metavar="DIR",
    help="Directory with the CRDs of the input kinds of a Function.",
)
@options.flag(
    "--examples",
    group="Input",
    metavar="PATH",
    help="Examples to put into the package: a directory or a file.",
)
@options.flag(
    "--ignore",
    group="Input",
    multiple=True,
    metavar="PATTERN",
    help="Files to leave out, such as 'tests/*'. May be repeated.",
)
@options.flag(
    "-o",
    "--output",
    group="Output",
    metavar="FILE",
    show_default="NAME-DIGEST.xpkg",
    help="File to write. With several platforms, each name is added to it.",
)
@options.flag(
    "--runtime-image",
    group="Input",
    multiple=True,
    metavar="PATH",
    help="The function's image: a tarball of docker save, or an OCI layout. "
    "Repeated for several platforms.",
)
def build(**flags: Unpack[_BuildFlags]) -> None:
    """Write an .xpkg file, without Docker and the same bytes every time.

    crossplane.yaml says what it is: a Configuration, which takes the XRDs, Compositions and
    Operations beside it, or a Function. Without --runtime-image a Function's package holds metadata
    and CRDs only.

    Examples:
      function-script package build
      function-script package build --examples xr.yaml -o apps.xpkg
      function-script package build --runtime-image image.tar
    """
    from function_script.tools.xpkg import manifest, packages  # noqa: PLC0415 - slow to import

    root = flags["package_root"] or Path("." if Path(_META).is_file() else "package")
    if not (root / _META).is_file() and not root.is_dir():
        raise InputError.of(
            f'cannot build the package: there is no {_META} in "{flags["package_root"] or Path()}"',
            hint="run the command beside it, or name its directory: --package-root DIR",
        )
    crds = flags["input_crds"] or _INPUT_CRDS
    usual = Project([Path()], allowed=flags["allow_outside"])
    for path, is_named in ((root, flags["package_root"]), (crds, flags["input_crds"])):
        # A link that the command line does not name is not followed.
        if not is_named:
            usual.resolve(path)
    contents = manifest.Contents(
        package_root=root,
        input_crds=crds,
        examples=flags["examples"],
        ignore=flags["ignore"],
        allowed=flags["allow_outside"],
    )
    # Without an image the build is too short for progress.
    is_quiet = flags["quiet"] or not flags["runtime_image"]
    with terminal.show_progress(is_quiet=is_quiet) as display:
        results = packages.build(
            contents,
            output=flags["output"],
            runtime_images=flags["runtime_image"],
            progress=display,
        )
    parts = results[0].package
    if parts.left_out and not flags["quiet"]:
        terminal.echo(f"left out: {', '.join(parts.left_out)}", err=True)
    if parts.other_functions and not flags["quiet"]:
        names = ", ".join(parts.other_functions)
        terminal.echo(f"no package in dependsOn is installed as: {names}", err=True)
    for result in results:
        terminal.echo(f"{result.path} {result.digest}")


@package.command(
    cls=options.Command,
    short_help="Push package files to a registry.",
    params=[
        *options.shared("--allow-outside"),
        options.quiet("progress"),
        *options.reporting(),
    ],
)
@click.argument("name")
@click.argument("packages", nargs=-1, required=True, type=options.PATH, metavar="FILE...")
@options.flag(
    "--module",
    group="Input",
    help="Push programs and modules for `source: Remote`: files, or directories of files.",
)
@_PLAIN_HTTP
@_CA_FILE
def push(**flags: Unpack[_PushFlags]) -> None:
    """Push package files to NAME, which is REGISTRY/REPOSITORY:TAG.

    Several files are pushed as one package for several platforms. With --module, they are programs
    and modules, and the reference with its digest is printed. Credentials are those of docker
    login. The registry is called over HTTPS; one on this machine may have no TLS.

    Examples:
      function-script package push registry.example.org/team/apps:v1.0.0 apps.xpkg
      function-script package push localhost/function-x:v1 amd64.xpkg arm64.xpkg
      function-script package push --module registry.example.org/team/lib:v1 lib/
    """
    from function_script.tools.xpkg import packages  # noqa: PLC0415 - slow to import

    trust = _trust(flags)
    name, files = flags["name"], flags["packages"]
    with terminal.show_progress(is_quiet=flags["quiet"]) as display:
        if flags["module"]:
            from function_script.tools.remote import oci  # noqa: PLC0415 - slow to import

            text = oci.push(name, files, display, trust, flags["allow_outside"])
        else:
            text = f"{name} {packages.push(name, files, display, trust)}"
    terminal.echo(text)


@package.command(
    cls=options.Command,
    short_help="Print the contents of a package.",
    params=[options.output("text", "json"), *options.reporting()],
)
@click.argument("place", metavar="FILE|NAME")
@_PLAIN_HTTP
@_CA_FILE
def inspect(**flags: Unpack[_InspectFlags]) -> None:
    """Print what is in a package: metadata, objects, platforms, layers and their digests.

    It is a file, or in a registry: REGISTRY/REPOSITORY:TAG or …@DIGEST. Of the latter only the
    layer with the metadata is fetched.

    Examples:
      function-script package inspect apps.xpkg
      function-script package inspect registry.example.org/team/apps:v1.0.0
    """
    from function_script.tools.xpkg import inspector  # noqa: PLC0415 - slow to import

    trust = _trust(flags)
    report = inspector.inspect(flags["place"], trust)
    is_json = flags["output"] == "json"
    terminal.echo(inspector.to_json(report) if is_json else inspector.to_text(report))
