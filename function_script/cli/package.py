"""``function-script package``: from the metadata and an image to what Crossplane installs."""

from __future__ import annotations

from pathlib import Path
from typing import Final, TypedDict, Unpack

import click

from function_script.cli import options

_PATH: Final = click.Path(path_type=Path)


class _Flags(TypedDict):
    package_root: Path
    input_crds: Path
    output: Path | None
    runtime_image: Path | None
    debug: bool


@click.group()
def package() -> None:
    """Build the package that Crossplane installs."""


_BUILD_EXAMPLES: Final = """\b
Examples:
  function-script package build
  function-script package build --runtime-image image.tar -o function-script.xpkg
"""


@package.command(epilog=_BUILD_EXAMPLES, params=[options.debug()])
@click.option(
    "--package-root",
    type=_PATH,
    default="package",
    show_default=True,
    metavar="DIR",
    help="Directory with crossplane.yaml.",
)
@click.option(
    "--input-crds",
    type=_PATH,
    default="input_crds",
    show_default=True,
    metavar="DIR",
    help="Directory with the CRDs of the input kinds.",
)
@click.option(
    "-o",
    "--output",
    type=_PATH,
    metavar="FILE",
    show_default="NAME-DIGEST.xpkg",
    help="File to write.",
)
@click.option(
    "--runtime-image",
    type=_PATH,
    metavar="PATH",
    help="The function's image: a tarball of docker save, or an OCI layout.",
)
def build(**flags: Unpack[_Flags]) -> None:
    """Write an .xpkg file, without Docker and the same bytes every time.

    Without --runtime-image the package holds metadata and CRDs only.
    """
    from function_script.tools import xpkg  # noqa: PLC0415 - slow to import

    built = xpkg.build(
        flags["package_root"],
        flags["input_crds"],
        output=flags["output"],
        runtime_image=flags["runtime_image"],
    )
    click.echo(f"{built.path} {built.digest}")
