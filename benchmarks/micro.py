"""Time each stage of a request by itself, so that a regression has an address.

``python benchmarks/micro.py``. Microseconds of CPU time, the least of several rounds, in this
process; the relay is that of all processes. Documents are known, as in a steady state.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import programs
from measure import cpu_seconds
from workloads import Workload, requests

from function_script import contribution, inputs, wire
from function_script.request.limits import Limits
from function_script.sandbox.outcome import Failed
from function_script.sandbox.pool import Pool, PoolOptions
from function_script.step import desired, function, response

if TYPE_CHECKING:
    from collections.abc import Callable

LIMITS = Limits()
ROUNDS = 15
RELAYS = 2_000
POINTS = ((3, 3, False), (50, 50, False), (50, 3, True), (500, 50, False), (500, 3, True))


def main() -> None:
    """Print a table per language, then the relay."""
    print(f"codec compiled: {wire.is_compiled()}")
    for language in ("jinja", "starlark"):
        heads = "".join(f"{title:>11}" for title in stages(language, Workload(**point(POINTS[0]))))
        print(f"\n{language:>9} {'observed':>9} {'produced':>9} {'touched':>8}{heads}")
        for chosen in POINTS:
            workload = Workload(**point(chosen))
            times = stages(language, workload)
            figures = "".join(f"{each:>11.0f}" for each in times.values())
            touched = "3" if workload.few else "all"
            print(f"{'':>9} {workload.observed:>9} {workload.produced:>9} {touched:>8}{figures}")
    print()
    for size in (14_000, 194_000, 1_900_000):
        print(f"relay of {size:>9,} bytes: {relay(size):.0f} us")


def point(chosen: tuple[int, int, bool]) -> dict[str, int | bool]:
    """The fields of a workload with known documents."""
    observed, produced, few = chosen
    return {"observed": observed, "produced": produced, "few": few, "new": False}


def stages(language: str, workload: Workload) -> dict[str, float]:
    """Microseconds of each stage, in the order of `function.run`, and of all of it."""
    data = requests(workload, getattr(programs, language)(few=workload.few))[0]
    index = wire.index_request(data)
    outside = function.external_sources(index)
    step = inputs.parse_cached(index.input or b"", LIMITS, outside)
    engine = step.language.engine
    decoded = index.observed.resources.values() if index.observed is not None else ()
    structs = [resource.struct or b"" for resource in decoded]
    result = engine.evaluate(step.program, function.scope_of(index, step), LIMITS)
    scope = function.scope_of(index, step)
    part = contribution.read(result, scope, LIMITS)
    state = desired.merge(index, part)
    return {
        "index": best(lambda: wire.index_request(data)),
        "input": best(lambda: inputs.parse_cached(index.input or b"", LIMITS, outside)),
        "scope": best(lambda: function.scope_of(index, step).xr),
        "decode all": best(lambda: [wire.decode_struct(struct) for struct in structs]),
        "evaluate": best(
            lambda: engine.evaluate(step.program, function.scope_of(index, step), LIMITS)
        ),
        "documents": best(lambda: contribution.read(result, scope, LIMITS)),
        "merge": best(lambda: desired.merge(index, part)),
        "encode": best(
            lambda: response.encode(index, state, part, step.ttl_seconds or 60.0, LIMITS)
        ),
        "whole": best(lambda: function.handle(data, LIMITS, lambda _: None)),
    }


def best(work: Callable[[], object]) -> float:
    """The least CPU time of several rounds, in microseconds; each round lasts a while."""
    work()
    began = time.process_time()
    work()
    repeats = max(1, int(0.002 / max(time.process_time() - began, 1e-6)))
    rounds = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(repeats):
            work()
        rounds.append((time.process_time() - began) / repeats)
    return min(rounds) * 1e6


def relay(size: int) -> float:
    """CPU time of pool and worker for one request of that size that is only looked at."""
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)
    data = bytes(size)
    with Pool(PoolOptions(module="echo", workers=1)) as pool:
        for _ in range(RELAYS // 10):
            reply = pool.run(data, 10.0)
            if isinstance(reply, Failed):
                raise RuntimeError(str(reply.error))  # noqa: TRY004 - its type says that it failed
        before = cpu_seconds(os.getpid())
        for _ in range(RELAYS):
            pool.run(data, 10.0)
        return (cpu_seconds(os.getpid()) - before) / RELAYS * 1e6


if __name__ == "__main__":
    main()
