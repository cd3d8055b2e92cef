"""A process that evaluates rules in CEL, so that one without an end can be ended.

Started by `evaluator`. The first line of stdout is empty JSON: it is ready. Then a line of stdin
is a task, and a line of stdout its answer, both JSON. Memory is bounded where the system can.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Final

from function_script.sandbox import system
from function_script.tools.validate import cel
from function_script.tools.validate.evaluator import RuleError, UnsupportedError

if TYPE_CHECKING:
    from function_script.values import Object

_MEMORY_BYTES: Final = 2 << 30


def main() -> None:
    """Answer tasks until stdin ends."""
    system.limit_address_space(_MEMORY_BYTES)
    schemas: dict[int, Object] = {}
    _write({})
    for line in sys.stdin:
        task = json.loads(line)
        if "schema" in task:
            schemas[task["schema_id"]] = task["schema"]
        _write(_answer(task, schemas[task["schema_id"]]))


def _write(answer: Object) -> None:
    sys.stdout.write(f"{json.dumps(answer)}\n")
    sys.stdout.flush()


def _answer(task: Object, schema: Object) -> Object:
    try:
        return {"value": cel.evaluate(str(task["expression"]), task["value"], schema)}
    except RuleError as error:
        return {"fault": str(error)}
    except UnsupportedError as error:
        return {"unsupported": str(error)}
    except (RecursionError, MemoryError):
        return {"unsupported": "it is too expensive"}
    except Exception as error:  # noqa: BLE001 - the evaluator's own faults say nothing of the object
        return {"unsupported": f"the evaluator failed: {type(error).__name__}"}
