"""Threads that are started before they are needed: later there may be none to be had."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from function_script.sandbox.refusals import explain_threads


def start_threads(count: int, name: str) -> ThreadPoolExecutor:
    """Return an executor whose threads all run; raises SandboxError when they cannot."""
    executor = ThreadPoolExecutor(count, thread_name_prefix=name)
    barrier = threading.Barrier(count + 1)
    try:
        for _ in range(count):
            executor.submit(barrier.wait)
    except RuntimeError as error:
        barrier.abort()
        executor.shutdown(cancel_futures=True)
        raise explain_threads() from error
    barrier.wait()
    return executor
