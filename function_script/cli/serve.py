"""The command ``serve``: serve the function in a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Unpack

import click

from function_script.cli import options

if TYPE_CHECKING:
    from function_script.server import ServeFlags

# grpcio has a signed 32-bit integer for the size of a message.
_MAX_MESSAGE_MIB: Final = 2_047
_MAX_WORKERS: Final = 1_000
_DEBUG: Final = "Log every request and what programs print."


def _check_allowlist(
    _context: click.Context, _parameter: click.Parameter, entries: tuple[str, ...]
) -> tuple[str, ...]:
    from function_script.request.remote.reference import Allowlist  # noqa: PLC0415 - seldom needed

    try:
        Allowlist(entries)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    return entries


@options.command(
    *options.operator(),
    options.program_root(),
    options.debug(_DEBUG),
)
@options.flag(
    "--insecure",
    group="Security",
    help="Serve in plain text, also when certificates are given.",
)
@options.flag(
    "--tls-certs-dir",
    group="Security",
    metavar="DIR",
    envvar=["FUNCTION_SCRIPT_TLS_CERTS_DIR", "TLS_SERVER_CERTS_DIR"],
    help="Directory with tls.crt, tls.key and ca.crt, for mutual TLS.",
)
@options.flag("--tls-server-certs-dir", group="Security", type=options.PATH, hidden=True)
@options.flag(
    "--address",
    group="Server",
    type=options.address,
    default="[::]:9443",  # Crossplane calls from other pods, by IPv4 or IPv6
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
    default="[::]:8080",  # kubelet probes it from the node, and Prometheus scrapes it
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
    metavar="DIR",
    show_default="in memory only",
    help="Directory that keeps what was fetched over restarts, such as a mounted volume.",
)
@options.flag(
    "--remote-credentials",
    group="Remote programs",
    metavar="FILE",
    help="Logins by host, in the format of Docker's config.json, also for git servers.",
)
@options.flag(
    "--remote-ca-file",
    group="Remote programs",
    metavar="FILE",
    help="Additional certificate authorities, in PEM format.",
)
@options.flag(
    "--remote-plain-http",
    group="Remote programs",
    help="Use HTTP without TLS for allowed hosts. Credentials are not sent to them.",
)
def serve(**flags: Unpack[ServeFlags]) -> None:
    """Serve the function to Crossplane.

    Flags without a command are taken for those of serve: `function-script --insecure` serves.

    Examples:
      function-script serve --insecure --address localhost:9443
      function-script serve --tls-certs-dir /tls/server
    """
    from function_script.sandbox import system  # noqa: PLC0415 - slow to import

    system.check_server()
    from function_script import server  # noqa: PLC0415 - grpc is slow to import

    source = flags["default_source"]
    # Workers have another current directory, so the path must be absolute.
    limits = replace(
        options.read_limits(flags),
        default_source="" if source is None else str(source.absolute()),
        default_options=flags["default_options"],
    )
    flags["tls_certs_dir"] = flags["tls_server_certs_dir"] or flags["tls_certs_dir"]
    server.serve(flags, limits)
