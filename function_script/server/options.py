"""The options of a server."""

from dataclasses import dataclass, field
from pathlib import Path

from function_script.request.limits import Limits
from function_script.request.remote.fetcher import NO_OPTIONS, FetcherOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The flags of ``serve``.

    ``insecure`` overrides ``tls_certs_dir``; one of them is required. An empty
    ``health_address`` or ``metrics_address`` means no such port. ``workers`` None means one for
    each CPU. ``program_root`` is the directory below which FileSystem sources are read.
    ``capture_dir`` receives up to ``capture_limit`` cases of requests whose XRs ask for it.
    ``seed_file`` holds the salt of random values.
    ``remote_allow`` are the hosts, with prefixes, from which programs are fetched as ``fetcher``
    says; without any, nothing is fetched.
    With ``require_sandbox`` the server does not start if workers are not fully confined.
    """

    address: str = "[::]:9443"  # Crossplane calls from other pods, by IPv4 or IPv6
    health_address: str = ""
    metrics_address: str = "[::]:8080"  # kubelet probes it from the node, and Prometheus scrapes it
    insecure: bool = False
    tls_certs_dir: Path | None = None
    debug: bool = False
    max_recv_message_size_mib: int = 64
    workers: int | None = None
    limits: Limits = field(default_factory=Limits)
    program_root: Path | None = None
    capture_dir: Path | None = None
    capture_limit: int = 50
    require_sandbox: bool = False
    seed_file: Path | None = None
    remote_allow: tuple[str, ...] = ()
    fetcher: FetcherOptions = NO_OPTIONS
