"""Readiness and gauges of a real pool."""

import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from support.timing import PATIENCE_SECONDS

from function_script.sandbox import Pool, PoolOptions
from function_script.server import ServeOptions
from function_script.server.ops import OpsEndpoints

PLACE = ServeOptions(insecure=True, metrics_address="127.0.0.1:0")


@pytest.fixture
def pool() -> Iterator[Pool]:
    """A pool without workers."""
    with Pool(PoolOptions(module="support.sandbox_handlers", workers=1)) as pool:
        yield pool


def fetch(port: int, path: str) -> tuple[int, str]:
    """Return status and text of a page."""
    try:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}{path}", timeout=PATIENCE_SECONDS
        ) as page:
            return page.status, page.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_ready_is_who_serves_and_has_a_worker(pool: Pool) -> None:
    """Both are needed for /readyz; /livez needs neither."""
    ops = OpsEndpoints(pool, PLACE, None)
    with ExitStack() as stack:
        port = ops.open(stack)
        assert fetch(port, "/readyz") == (503, "not ready: not serving\n")
        ops.is_serving = True
        assert fetch(port, "/readyz") == (503, "not ready: no worker\n")
        pool.prefork()
        assert fetch(port, "/readyz") == (
            200,
            f"ok\nconfinement: {ops.confinement().summary()}\n",
        )
        assert 'function_script_workers{state="idle"} 1.0' in fetch(port, "/metrics")[1]
        ops.is_serving = False
        assert fetch(port, "/readyz") == (503, "not ready: not serving\n")
        assert fetch(port, "/livez") == (200, "ok\n")


def test_ops_without_an_address_serves_nothing(pool: Pool) -> None:
    with ExitStack() as stack:
        options = ServeOptions(insecure=True, metrics_address="")
        assert OpsEndpoints(pool, options, None).open(stack) == 0
