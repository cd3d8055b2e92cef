"""Pools of tests that fork their workers from the zygotes of earlier tests.

Whoever opens a pool waits for its zygote, a new interpreter that imports an engine. Tests of what
runs on a pool, and not of its processes, get the same workers sooner from a zygote of the same
configuration. A pool's own state is new in each test, and its workers end with it.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from function_script.engines.registry import ENGINE_MODULES
from function_script.sandbox import system
from function_script.sandbox.idle_workers import WorkerFactory
from function_script.sandbox.worker_process import WorkerProcess
from function_script.sandbox.zygote_config import ZygoteConfig
from function_script.texts.errors import SandboxError

# A zygote has about 40 MiB; most configurations with a directory of programs are used once.
_MAX_ZYGOTES = 6


class Zygotes:
    """The zygotes of a run by their configurations, those that were used last at the end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._factories: dict[ZygoteConfig, WorkerFactory] = {}
        self._users: dict[ZygoteConfig, int] = {}
        self._build = system.build_factory

    @contextmanager
    def sharing(self) -> Iterator[None]:
        """Let the pools that are opened meanwhile share zygotes; elsewhere than on Linux, none."""
        if system.missing():
            yield
            return
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(system, "build_factory", self._lease)
            yield

    def close(self) -> None:
        """End all zygotes."""
        with self._lock:
            for factory in self._factories.values():
                factory.close()
            self._factories.clear()

    def _lease(self, config: ZygoteConfig, *, is_strict: bool) -> WorkerFactory:
        if config.limits.program_root is None:
            # A tool imports an engine when a program needs it: a worker of each test would again.
            config = replace(config, preload=ENGINE_MODULES)
        with self._lock:
            factory = self._factories.pop(config, None)
            if factory is None:
                self._evict()
                factory = self._build(config, is_strict=is_strict)
            self._factories[config] = factory
            self._users[config] = self._users.get(config, 0) + 1
        return _Lease(factory, lambda: self._give_back(config))

    def _evict(self) -> None:
        unused = [config for config in self._factories if not self._users[config]]
        for config in unused[: max(0, len(self._factories) - _MAX_ZYGOTES + 1)]:
            self._factories.pop(config).close()

    def _give_back(self, config: ZygoteConfig) -> None:
        with self._lock:
            self._users[config] -= 1


class _Lease:
    """The factory of one pool, which kills its workers; the zygote does not end with it."""

    def __init__(self, factory: WorkerFactory, give_back: Callable[[], None]) -> None:
        self._factory = factory
        self._give_back = give_back
        self._lock = threading.Lock()
        self._is_closed = False

    def spawn_worker(self) -> WorkerProcess:
        worker = self._factory.spawn_worker()
        with self._lock:
            if not self._is_closed:
                return worker
        worker.discard()
        raise SandboxError.of("the pool of this test is shutting down")

    def close(self) -> None:
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
        self._give_back()
