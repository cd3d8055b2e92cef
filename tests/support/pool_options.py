"""Pools of one worker, which runs the commands of ``sandbox_handlers``."""

from dataclasses import replace

from support.timing import PATIENCE_SECONDS

from function_script.request.limits import MIB, Limits
from function_script.sandbox.pool import PoolOptions

# For runs that must not reach their time limit, on the slowest machine.
PATIENT = PoolOptions(
    module="support.sandbox_handlers",
    limits=Limits(timeout_seconds=PATIENCE_SECONDS, memory_bytes=128 * MIB),
    workers=1,
    slow_workers=2,
    min_idle=0,
)
TIMEOUT_SECONDS = 0.4
HASTY = replace(PATIENT, limits=replace(PATIENT.limits, timeout_seconds=TIMEOUT_SECONDS))
