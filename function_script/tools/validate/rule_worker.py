"""A process that evaluates rules in CEL, so that one without an end can be ended.

Started by `evaluator`. A line of stdin is a task, a line of stdout its answer, both JSON. The
memory is bounded where the system can bound it.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from function_script.tools.validate import cel
from function_script.tools.validate.evaluator import RuleError, UnsupportedError

if TYPE_CHECKING:
    from function_script.values import Object

_MEMORY_BYTES: Final = 2 << 30


def main() -> None:
    """Answer tasks until stdin ends."""
    _bound_memory()
    schemas: dict[int, Object] = {}
    for line in sys.stdin:
        task = json.loads(line)
        if "schema" in task:
            schemas[task["schema_id"]] = task["schema"]
        answer = _answer(task, schemas[task["schema_id"]])
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


def _bound_memory() -> None:
    # Windows has no such module, and some systems refuse.
    with suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - see above

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = _MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(hard, _MEMORY_BYTES)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
