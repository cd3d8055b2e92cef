"""The command ``validate``: check resources and steps' inputs against their schemas."""

from typing import Final, TypedDict, Unpack

import click

from function_script.cli import options, validate_options
from function_script.cli.flags import Command

_EPILOG: Final = """\b
Examples:
  function-script validate xrd.yaml,crds/ resources/
  function-script render examples/starlark-robots -x | function-script validate crds/ -
"""


class _Flags(validate_options.Flags, TypedDict):
    extensions: str
    resources: str
    quiet: bool
    debug: bool


@click.command(
    cls=Command,
    short_help="Validate resources by their schemas.",
    epilog=_EPILOG,
    params=[*validate_options.shared("-o"), options.quiet("notes"), options.debug()],
)
@click.argument("extensions")
@click.argument("resources")
def validate(**flags: Unpack[_Flags]) -> int:
    """Check RESOURCES, and the inputs of Compositions' steps, against their schemas.

    EXTENSIONS are the XRDs, CRDs and packages that define them; our own input kinds are always
    known. Both are files, directories or - for stdin, several of them joined by commas.

    The exit code is 1 when something is invalid.
    """
    from function_script.tools import validate as tool  # noqa: PLC0415 - slow to import

    report = tool.validate(
        [flags["extensions"]],
        [flags["resources"]],
        cache_directory=flags["cache_dir"],
        crossplane_image=flags["crossplane_image"],
    )
    return validate_options.print_report(report, flags, is_quiet=flags["quiet"])
