"""What operators look at while a server runs: its metrics, whether it lives, whether it is ready.

A server's life makes one, opens it and says when it serves; answering tells it of every request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.server import expiry, metrics, transport
from function_script.server.probes import Answer, Probes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import ExitStack

    from function_script.sandbox import Pool
    from function_script.sandbox.measures import Confinement
    from function_script.server.options import ServeOptions
    from function_script.server.records import Record

_OK = Answer(200, b"ok\n")


class Watch:
    """Looks at ``pool``; ``is_serving`` is for the server to set."""

    def __init__(self, pool: Pool, options: ServeOptions) -> None:
        self._pool = pool
        self._options = options
        self._metrics = metrics.Metrics(self._gauges)
        self.observe: Callable[[Record], None] = self._metrics.observe
        """Counts a finished request."""
        self.is_serving = False

    def open(self, stack: ExitStack) -> int:
        """Serve the pages until ``stack`` ends; the port, 0 for nowhere. Raises InputError."""
        address = self._options.metrics_address
        if not address:
            return 0
        return stack.enter_context(Probes(address, self._pages())).port

    def _pages(self) -> Mapping[str, Callable[[], Answer]]:
        return {
            "/metrics": lambda: Answer(200, self._metrics.render(), metrics.CONTENT_TYPE),
            "/livez": lambda: _OK,
            "/readyz": self._readiness,
        }

    def _readiness(self) -> Answer:
        if not self.is_serving:
            return Answer(503, b"not serving\n")
        if not self._pool.is_able():
            return Answer(503, b"no worker\n")
        return Answer(200, f"ok\nconfinement: {self.confinement().summary()}\n".encode())

    def confinement(self) -> Confinement:
        """What holds for all workers, as they reported it themselves."""
        return self._pool.confinement()

    def _gauges(self) -> metrics.Gauges:
        directory = None if self._options.insecure else self._options.tls_certs_dir
        expires = expiry.read(directory / "tls.crt") if directory is not None else None
        return metrics.Gauges(
            load=self._pool.load(),
            certificate_expiry=expires,
            refused=dict(transport.REFUSED),
            confinement=self.confinement(),
        )
