"""Evaluators of CEL rules that go on in the processes of earlier tests.

A process of its own, which imports CEL, costs each test more than its rules. A task brings its
schema along, so that nothing of an earlier test counts.
"""

import queue
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from function_script.tools.validate.evaluator import Evaluator

_MAX_IDLE = 2


class Evaluators:
    """The processes that no evaluator uses at the moment."""

    def __init__(self) -> None:
        self._idle: list[tuple[subprocess.Popen[str], queue.Queue[str]]] = []
        # Cases of a project run in several threads.
        self._lock = threading.Lock()

    @contextmanager
    def sharing(self) -> Iterator[None]:
        """Let evaluators that begin meanwhile take such a process, and leave theirs."""
        start, end = Evaluator._start, Evaluator.__exit__

        def begin(evaluator: Evaluator) -> subprocess.Popen[str]:
            with self._lock:
                process, replies = self._idle.pop() if self._idle else (None, None)
            if process is None or replies is None or process.poll() is not None:
                return start(evaluator)
            evaluator._process, evaluator._replies = process, replies
            return process

        def leave(evaluator: Evaluator, *error: object) -> None:
            process = evaluator._process
            with self._lock:
                if process is not None and error[0] is None and len(self._idle) < _MAX_IDLE:
                    self._idle.append((process, evaluator._replies))
                    evaluator._process = None
            end(evaluator, *error)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Evaluator, "_start", begin)
            patch.setattr(Evaluator, "__exit__", leave)
            yield

    def close(self) -> None:
        """End the processes."""
        for process, replies in self._idle:
            evaluator = Evaluator()
            evaluator._process, evaluator._replies = process, replies
            evaluator.stop()
        self._idle.clear()
