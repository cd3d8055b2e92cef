"""The command ``run``: a request in, the response out, both as JSON."""

import sys
from pathlib import Path
from typing import TypedDict, Unpack

import click

from function_script.cli import exit_codes, options, terminal


class _Flags(TypedDict):
    request: str
    function: str | None
    offline: bool
    program_root: Path | None
    capture: Path | None


@options.command(
    *options.operator(),
    options.program_root(),
    *options.shared("--offline"),
    *options.reporting(),
    short_help="Answer a single request.",
)
@click.argument("request", type=options.TEXT_PATH, default="-", metavar="[REQUEST]")
@options.flag(
    "--capture",
    group="Output",
    metavar="FILE",
    help="Write the request and the response, without secrets, as a case (NAME.case.yaml).",
)
@options.flag(
    "--function",
    group="Functions",
    metavar="PACKAGE",
    help="Call the function of this package instead, which runs as a confined process; with "
    "=process after it also where it cannot be confined.",
)
def run(**flags: Unpack[_Flags]) -> int:
    """Call the function once with a RunFunctionRequest and print the RunFunctionResponse.

    REQUEST is a file with the request as protobuf JSON (or the same as YAML); - or nothing reads
    stdin. Field names may be written as in the protocol or in camelCase; unknown ones are ignored.

    A response with a FATAL result is printed as well, and the exit code is 1.

    Examples:
      function-script run request.json
      function-script run < request.yaml | jq .results
      function-script run request.json --capture bug.case.yaml
      function-script run req.json --function registry.example.org/function-x:v1
    """
    package, path = flags["function"], flags["capture"]
    if package and path is not None:
        raise click.UsageError("--capture: a case is of this function, and not of a package's")
    from function_script.tools import run as tool  # noqa: PLC0415 - slow to import
    from function_script.tools import sources  # noqa: PLC0415 - slow to import

    packages = options.read_packages(is_offline=flags["offline"])
    if package:
        request = tool.parse(sources.load_argument(flags["request"]))
        result = tool.run_package(package, request, packages)
    else:
        root = flags["program_root"]
        limits = options.read_limits(flags).with_root(None if root is None else root.resolve())
        pool = options.read_pool(flags, limits)
        if path is not None:
            tool.check_name(path)
        request = tool.parse(sources.load_argument(flags["request"]))
        terminal.print_sandbox_note()
        result = tool.run(request, pool, case=path, packages=packages)
    if result.log:
        terminal.echo_text(result.log)
    terminal.echo(result.text)
    if result.error is None:
        return exit_codes.OK
    sys.stdout.flush()
    return exit_codes.report_problem(result.error)
