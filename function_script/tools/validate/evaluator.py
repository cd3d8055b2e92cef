"""Evaluate rules in another process, each within a limit of time.

Called by `rules`. The process is started for the first rule. Works without a POSIX system.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Final, Self, cast

if TYPE_CHECKING:
    from types import TracebackType

    from function_script.values import Object, Value

RULE_SECONDS: Final = 10.0
# Importing the evaluator takes seconds on a busy machine, and no rule is to blame for it.
_START_SECONDS: Final = 60.0
# Every one of these costs RULE_SECONDS.
_MAX_ENDED: Final = 6
_BOOT: Final = """\
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from function_script.tools.validate.rule_worker import main
main()
"""


class RuleError(Exception):
    """The rule failed in itself, as for a field that is not there: the object is invalid."""


class UnsupportedError(Exception):
    """The rule was not evaluated; the text says why."""


class Evaluator:
    """Evaluates expressions until the ``with`` block ends."""

    def __init__(self, rule_seconds: float = RULE_SECONDS) -> None:
        self._rule_seconds = rule_seconds
        self._process: subprocess.Popen[str] | None = None
        self._is_starting = False
        self._answers: queue.Queue[str] = queue.Queue()
        self._schemas: dict[int, Object] = {}
        self._expensive: set[str] = set()
        self._ended = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()

    def evaluate(self, expression: str, value: Value, schema: Object) -> bool | str:
        """Evaluate for ``value``, described by ``schema``; raises RuleError, UnsupportedError.

        An expression that took too long once is not tried again.
        """
        if expression in self._expensive:
            raise UnsupportedError(self._too_expensive())
        if self._ended >= _MAX_ENDED:
            raise UnsupportedError("the rules before it took too long")
        answer = self._ask(expression, value, schema)
        if "fault" in answer:
            raise RuleError(answer["fault"])
        if "unsupported" in answer:
            raise UnsupportedError(answer["unsupported"])
        return cast("bool | str", answer["value"])

    def _ask(self, expression: str, value: Value, schema: Object) -> Object:
        process = self._process or self._start()
        task: Object = {"expression": expression, "value": value, "schema_id": id(schema)}
        if id(schema) not in self._schemas:
            # It is kept, so that its identifier is not given to another one.
            self._schemas[id(schema)] = schema
            task["schema"] = schema
        try:
            if self._is_starting:
                self._answers.get(timeout=_START_SECONDS)
                self._is_starting = False
            stdin = cast("IO[str]", process.stdin)
            stdin.write(f"{json.dumps(task)}\n")
            stdin.flush()
            line = self._answers.get(timeout=self._rule_seconds)
        except queue.Empty:
            self._give_up(expression)
            raise UnsupportedError(self._too_expensive()) from None
        except OSError:
            line = ""
        if not line:
            self._give_up(expression)
            raise UnsupportedError("its evaluation ended the evaluator")
        answer: Object = json.loads(line)
        return answer

    def _too_expensive(self) -> str:
        return f"it is too expensive: it takes longer than {self._rule_seconds:g} s"

    def _give_up(self, expression: str) -> None:
        self._expensive.add(expression)
        self._ended += 1
        self._end()

    def _start(self) -> subprocess.Popen[str]:
        # Without -P a module in the working directory could stand in for one of ours.
        command = [sys.executable, "-P", "-c", _BOOT, json.dumps(sys.path)]
        self._process = process = subprocess.Popen(  # noqa: S603 - our own program
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        self._is_starting = True
        answers: queue.Queue[str] = queue.Queue()
        self._answers = answers
        stdout = cast("IO[str]", process.stdout)
        threading.Thread(target=_read, args=(stdout, answers), daemon=True).start()
        return process

    def _end(self) -> None:
        process, self._process = self._process, None
        self._schemas.clear()
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            # What is left in the buffer cannot be written any more.
            with suppress(OSError):
                cast("IO[str]", stream).close()


def _read(stream: IO[str], answers: queue.Queue[str]) -> None:
    """Hand over each line, and an empty one at the end."""
    try:
        for line in stream:
            answers.put(line)
    except (OSError, ValueError):
        pass
    answers.put("")
