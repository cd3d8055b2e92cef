"""The process that evaluates CEL rules, so that an endless one can be killed.

`evaluator` starts it. The first line of stdout, an empty JSON object, reports that it is ready.
Then each line of stdin is a task and each line of stdout its reply, both JSON. Memory is limited
where the system can.
"""

import json
import sys
from typing import Final

from function_script.sandbox import system
from function_script.tools.validate import cel
from function_script.tools.validate.evaluator import RuleError, UnsupportedError
from function_script.values import Object

_MEMORY_BYTES: Final = 2 << 30


def main() -> None:
    """Reply to tasks until stdin ends."""
    system.limit_address_space(_MEMORY_BYTES)
    schemas: dict[int, Object] = {}
    _write({})
    for line in sys.stdin:
        task = json.loads(line)
        if "schema" in task:
            schemas[task["schema_id"]] = task["schema"]
        _write(_evaluate(task, schemas[task["schema_id"]]))


def _write(reply: Object) -> None:
    sys.stdout.write(f"{json.dumps(reply)}\n")
    sys.stdout.flush()


def _evaluate(task: Object, schema: Object) -> Object:
    try:
        return {"value": cel.evaluate(str(task["expression"]), task["value"], schema)}
    except RuleError as error:
        return {"fault": str(error)}
    except UnsupportedError as error:
        return {"unsupported": str(error)}
    except (RecursionError, MemoryError):
        return {"unsupported": "it is too expensive"}
    except Exception as error:  # noqa: BLE001 - a fault of the evaluator does not make the object invalid
        return {"unsupported": f"the evaluator failed: {type(error).__name__}"}
