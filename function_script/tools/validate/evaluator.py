"""Evaluation of CEL rules in another process, each within a time limit.

The first rule starts the process. Works without a POSIX system.
"""

import atexit
import json
import queue
import subprocess
import threading
import time
from contextlib import suppress
from typing import IO, Final, cast

from function_script.request.values import Object, Value
from function_script.tools import own_process

RULE_SECONDS: Final = 10.0
_TOO_EXPENSIVE: Final = f"it is too expensive: it takes longer than {RULE_SECONDS:g} s"
# Importing the evaluator takes seconds on a busy machine; no rule's time limit includes it.
_START_SECONDS: Final = 60.0
# So long may slow rules of a report take before the rest is skipped, and so long takes a fast one.
_SLOW_SECONDS: Final = 60.0
_FAST_SECONDS: Final = 0.1
_MODULE: Final = "function_script.tools.validate.cel"


class RuleError(Exception):
    """The rule itself failed, as for an absent field: the object is invalid."""


class UnsupportedError(Exception):
    """The rule was not evaluated; the text is the reason."""


class Evaluator:
    """Evaluates expressions, one at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._replies: queue.Queue[str] = queue.Queue()
        # Each with its number, by which the process has it.
        self._schemas: dict[int, tuple[int, Object]] = {}
        self._slow_expressions: set[str] = set()
        self._slow_seconds = 0.0
        self._lock = threading.Lock()
        atexit.register(self.stop)

    def begin_report(self) -> None:
        """Forget which rules were slow, and the schemas: another report has others."""
        with self._lock:
            self._slow_expressions.clear()
            self._slow_seconds = 0.0
            self._schemas.clear()

    def evaluate(
        self, expression: str, value: Value, schema: Object, old: Value = None
    ) -> bool | str:
        """Evaluate for ``value``, described by ``schema``; raises RuleError, UnsupportedError.

        ``old`` is the value before a change; None: an expression that names it fails.
        An expression that exceeded the time limit is not evaluated again for the same report.
        """
        # Cases are validated in threads, and the process takes one rule at a time.
        with self._lock:
            if expression in self._slow_expressions:
                raise UnsupportedError(_TOO_EXPENSIVE)
            if self._slow_seconds >= _SLOW_SECONDS:
                raise UnsupportedError("the rules before it took too long")
            reply = self._send(expression, value, schema, old)
        if "fault" in reply:
            raise RuleError(reply["fault"])
        if "unsupported" in reply:
            raise UnsupportedError(reply["unsupported"])
        return cast("bool | str", reply["value"])

    def _send(self, expression: str, value: Value, schema: Object, old: Value) -> Object:
        task: Object = {"expression": expression, "value": value, "old": old}
        if id(schema) not in self._schemas:
            # A reference keeps its id from being reused for another schema.
            self._schemas[id(schema)] = len(self._schemas), schema
            task["schema"] = schema
        task["schema_id"], _ = self._schemas[id(schema)]
        reason = "its evaluation ended the evaluator"
        try:
            process = self._process or self._start()
            start = time.monotonic()
            stdin = cast("IO[str]", process.stdin)
            stdin.write(f"{json.dumps(task)}\n")
            stdin.flush()
            line = self._replies.get(timeout=RULE_SECONDS)
            if (seconds := time.monotonic() - start) > _FAST_SECONDS:
                self._slow_seconds += seconds
        except queue.Empty:
            line, reason = "", _TOO_EXPENSIVE
        except OSError:
            line = ""
        if not line:
            self._slow_expressions.add(expression)
            self._slow_seconds += RULE_SECONDS
            self.stop()
            raise UnsupportedError(reason)
        reply: Object = json.loads(line)
        return reply

    def _start(self) -> subprocess.Popen[str]:
        self._process = process = subprocess.Popen(  # noqa: S603 - our own program
            own_process.command(_MODULE),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        # The reader of a process that was killed puts its last line into its own queue.
        replies: queue.Queue[str] = queue.Queue()
        self._replies = replies
        stdout = cast("IO[str]", process.stdout)
        threading.Thread(target=_read, args=(stdout, replies), daemon=True).start()
        replies.get(timeout=_START_SECONDS)
        return process

    def stop(self) -> None:
        """End the process; the next rule starts another one."""
        process, self._process = self._process, None
        # The next process knows none of them.
        self._schemas.clear()
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            # Closing flushes the buffer, which fails after the process has ended.
            with suppress(OSError):
                cast("IO[str]", stream).close()


EVALUATOR: Final = Evaluator()
"""The evaluator of all reports of this process."""


def _read(stream: IO[str], replies: queue.Queue[str]) -> None:
    """Put each line into the queue, and an empty one at the end."""
    try:
        for line in stream:
            replies.put(line)
    except (OSError, ValueError):
        pass
    replies.put("")
