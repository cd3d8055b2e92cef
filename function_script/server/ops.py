"""The endpoints for operators: /metrics, /livez and /readyz."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from function_script.remote.fetcher import Fetcher
from function_script.sandbox import Pool
from function_script.sandbox.confinement import Confinement
from function_script.server import log, metrics, rpc
from function_script.server.ops_http import HttpResponse, OpsHttpServer

if TYPE_CHECKING:
    from function_script.server.certificates import CertificateFiles
    from function_script.server.options import ServeOptions
    from function_script.server.request_record import RequestRecord


class OpsEndpoints:
    """The state and metrics of a server; the server sets ``is_serving``."""

    def __init__(
        self,
        pool: Pool,
        options: ServeOptions,
        certificates: CertificateFiles | None,
        fetcher: Fetcher | None = None,
    ) -> None:
        self._pool = pool
        self._fetcher = fetcher
        self._options = options
        self._certificates = certificates
        self._metrics = metrics.Metrics(self._gauges)
        self.observe: Callable[[RequestRecord], None] = self._metrics.observe
        """Count a finished request."""
        self.is_serving = False

    def open(self, stack: ExitStack) -> int:
        """Serve the pages until ``stack`` closes; return the port, or 0. Raises InputError."""
        address = self._options.metrics_address
        if not address:
            return 0
        pages = {
            "/metrics": lambda: HttpResponse(200, self._metrics.render(), metrics.CONTENT_TYPE),
            "/livez": lambda: HttpResponse(200, b"ok\n"),
            "/readyz": self._readiness,
        }
        return stack.enter_context(OpsHttpServer(address, pages)).port

    def _readiness(self) -> HttpResponse:
        if not self.is_serving:
            return HttpResponse(503, b"not ready: not serving\n")
        if not self._pool.is_available():
            return HttpResponse(503, b"not ready: no worker\n")
        return HttpResponse(200, f"ok\nconfinement: {self.confinement().summary()}\n".encode())

    def confinement(self) -> Confinement:
        """Return the confinement of all workers, as they reported it."""
        return self._pool.confinement()

    def _gauges(self) -> metrics.Gauges:
        return metrics.Gauges(
            load=self._pool.stats(),
            certificate_expiry=self._read_expiry(),
            rejected=dict(rpc.rejected_by_status),
            dropped_lines=log.dropped_lines(),
            confinement=self.confinement(),
            remote_counts={} if self._fetcher is None else self._fetcher.store.counts,
            running_fetches=0 if self._fetcher is None else self._fetcher.store.running,
        )

    def _read_expiry(self) -> float | None:
        """Return the end of the newest certificate, which is used from now on."""
        if self._certificates is None:
            return None
        self._certificates.reload_if_changed()
        return self._certificates.content.not_after
