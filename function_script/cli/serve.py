"""The command ``serve``: serve the function in a cluster."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Final

import click

from function_script.cli import options

# grpcio has a signed 32-bit integer for the size of a message.
_MAX_MESSAGE_MIB: Final = 2_047
_MAX_WORKERS: Final = 1_000
_DEBUG: Final = "Log every request and what programs print."


_EPILOG: Final = """\b
Examples:
  function-script serve --insecure --address localhost:9443
  function-script serve --tls-certs-dir /tls/server
"""


def _check_allowlist(
    _context: click.Context, _parameter: click.Parameter, entries: tuple[str, ...]
) -> tuple[str, ...]:
    from function_script.request.remote.reference import Allowlist  # noqa: PLC0415 - seldom needed

    try:
        Allowlist(entries)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    return entries


def _absolute(path: Path | None) -> str:
    return "" if path is None else str(path.absolute())


@click.command(
    cls=options.Command,
    epilog=_EPILOG,
    params=[
        *options.operator(),
        options.program_root(),
        options.debug(_DEBUG),
    ],
)
@options.flag(
    "--insecure",
    group="Security",
    help="Serve in plain text, also when certificates are given.",
)
@options.flag(
    "--tls-certs-dir",
    group="Security",
    type=options.PATH,
    metavar="DIR",
    envvar=["FUNCTION_SCRIPT_TLS_CERTS_DIR", "TLS_SERVER_CERTS_DIR"],
    help="Directory with tls.crt, tls.key and ca.crt, for mutual TLS.",
)
@options.flag("--tls-server-certs-dir", group="Security", type=options.PATH, hidden=True)
@options.flag(
    "--address",
    group="Server",
    type=options.address,
    default="[::]:9443",
    metavar="HOST:PORT",
    help="Address of the function; Crossplane calls port 9443. [::] means IPv4 and IPv6.",
)
@options.flag(
    "--health-address",
    group="Server",
    type=options.address_or_nothing,
    default="",
    show_default="nowhere",
    metavar="HOST:PORT",
    help="Address of gRPC health checks in plain text. Empty disables them.",
)
@options.flag(
    "--metrics-address",
    group="Server",
    type=options.address_or_nothing,
    default="[::]:8080",
    metavar="HOST:PORT",
    help="Address of /metrics, /livez and /readyz, in plain HTTP. Empty disables it.",
)
@options.flag(
    "--max-recv-message-size",
    group="Server",
    type=click.IntRange(min=1, max=_MAX_MESSAGE_MIB),
    default=64,
    metavar="MIB",
    envvar=[
        "FUNCTION_SCRIPT_MAX_RECV_MESSAGE_SIZE",
        "FUNCTION_GO_TEMPLATING_MAX_RECV_MESSAGE_SIZE",
    ],
    help="Largest request, in MiB.",
)
@options.flag(
    "--workers",
    group="Server",
    type=click.IntRange(min=1, max=_MAX_WORKERS),
    metavar="N",
    show_default="one for each CPU, at least 2",
    help="Number of programs that run at the same time.",
)
@options.flag(
    "--default-source",
    group="Input",
    type=options.PATH,
    metavar="DIR",
    envvar=["FUNCTION_SCRIPT_DEFAULT_SOURCE", "FUNCTION_GO_TEMPLATING_DEFAULT_SOURCE"],
    help="Directory of templates for inputs of function-go-templating without a source.",
)
@options.flag(
    "--default-options",
    group="Input",
    default="",
    metavar="LIST",
    envvar=["FUNCTION_SCRIPT_DEFAULT_OPTIONS", "FUNCTION_GO_TEMPLATING_DEFAULT_OPTIONS"],
    help="Default template options of function-go-templating inputs, separated by commas.",
)
@options.flag(
    "--capture-dir",
    group="Captures",
    type=options.PATH,
    metavar="DIR",
    help="Directory for captured requests, without secrets, of XRs with the annotation "
    'script.fn.crossplane.io/capture: "true".',
)
@options.flag(
    "--capture-limit",
    group="Captures",
    type=click.IntRange(min=1),
    default=50,
    metavar="N",
    help="Number of cases in --capture-dir, of at most 8 MiB each.",
)
@options.flag(
    "--require-sandbox",
    group="Security",
    help="Do not serve if the system refuses a measure that confines workers, "
    "such as the filter of system calls.",
)
@options.flag(
    "--remote-allow",
    group="Remote programs",
    multiple=True,
    callback=_check_allowlist,
    metavar="HOST[/PREFIX]",
    help="Registry or git server from which programs and modules are fetched. May be repeated. "
    "Without it nothing is fetched.",
)
@options.flag(
    "--remote-cache",
    group="Remote programs",
    type=options.PATH,
    metavar="DIR",
    show_default="in memory only",
    help="Directory that keeps what was fetched over restarts, such as a mounted volume.",
)
@options.flag(
    "--remote-credentials",
    group="Remote programs",
    type=options.PATH,
    metavar="FILE",
    help="Logins by host, in the format of Docker's config.json, also for git servers.",
)
@options.flag(
    "--remote-ca-file",
    group="Remote programs",
    type=options.PATH,
    metavar="FILE",
    help="Additional certificate authorities, in PEM format.",
)
@options.flag(
    "--remote-plain-http",
    group="Remote programs",
    help="Use HTTP without TLS for allowed hosts. Credentials are not sent to them.",
)
def serve(  # noqa: PLR0913 # flags that are more than an option of the server
    *,
    tls_certs_dir: Path | None,
    tls_server_certs_dir: Path | None,
    default_source: Path | None,
    default_options: str,
    remote_cache: Path | None,
    remote_credentials: Path | None,
    remote_ca_file: Path | None,
    remote_plain_http: bool,
    **flags: object,
) -> None:
    """Serve the function to Crossplane.

    Flags without a command are taken for those of serve: `function-script --insecure` serves.
    """
    from function_script.sandbox import system  # noqa: PLC0415 - slow to import

    system.check_server()
    from function_script import server  # noqa: PLC0415 - grpc is slow to import
    from function_script.sandbox.fetcher import FetcherOptions  # noqa: PLC0415 - slow to import

    # Workers have another current directory, so the path must be absolute.
    limits = replace(
        options.read_limits(flags),
        default_source="" if default_source is None else str(default_source.resolve()),
        default_options=default_options,
    )
    fetcher = FetcherOptions(
        cache=_absolute(remote_cache),
        credentials=_absolute(remote_credentials),
        ca_file=_absolute(remote_ca_file),
        plain_http=remote_plain_http,
    )
    special: dict[str, object] = {
        "tls_certs_dir": tls_server_certs_dir or tls_certs_dir,
        "limits": limits,
        "fetcher": fetcher,
    }
    names = {field.name for field in fields(server.ServeOptions)} - special.keys()
    # The other options have the names and types of their flags.
    values = special | {name: flags[name] for name in names}
    server.serve(server.ServeOptions(**values))  # type: ignore[arg-type] # see above
