"""A process that renders hostile templates one after another: a line of JSON in, one out.

Started by test_jinja_attacks.py, which kills it when it takes too long.
"""

import json
import resource
import sys
import time

from function_script.engines.jinja import engine as jinja
from function_script.request.limits import Limits
from function_script.request.program import Lazy, Program, Scope
from function_script.texts.errors import FatalError
from function_script.texts.source import Source

# A fifth of the default: as much as the other limits need to come first.
STEPS = 200_000
ADDRESS_SPACE = 512 << 20
SPEC = {"a": 1, "l": [1, 2, 3], "s": "x"}
BEFORE = "{% set l=[1,2] %}{% set d={'a':1} %}{% set s='abc' %}"


def answer(template: str) -> dict[str, object]:
    """Render a template; return its text, or the error's type and message."""
    observed = {"composite": {"resource": {"spec": SPEC}}, "resources": {}}
    scope = Scope(request=Lazy({"observed": lambda: observed}), uid="uid", seed="uid")
    program = Program(main=Source(name="inline", text=BEFORE + template))
    try:
        rendered = jinja.evaluate(program, scope, Limits(steps=STEPS))
    except FatalError as error:
        span = error.diagnostics[0].span
        place = None if span is None else span.line
        return {"type": type(error).__name__, "message": str(error), "line": place}
    return {"type": "text", "message": rendered.text[:200], "line": None}


def main() -> None:
    """Answer until there are no more templates."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    answer("{{ 1 | string }}")
    for line in sys.stdin:
        before = time.process_time()
        result = answer(json.loads(line))
        result["seconds"] = time.process_time() - before
        result["is_data_unchanged"] = SPEC == {"a": 1, "l": [1, 2, 3], "s": "x"}
        result["peak_kib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
