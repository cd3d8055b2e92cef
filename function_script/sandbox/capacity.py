"""The size of a pool: how many slots the CPUs, memory and process limit of a container allow."""

import math
import os

from function_script.sandbox import cgroups

_MIN_WORKERS = 2
_MIN_SLOW_WORKERS = 4
_MAX_SLOW_WORKERS = 64
# The threads of a server without gRPC's, two that capturing and tracing add, and the zygote.
_SERVER_PROCESSES = 17
# gRPC starts one thread for each CPU of the machine, within bounds, and four more.
_MIN_GRPC_THREADS = 4
_MAX_GRPC_THREADS = 16
_OTHER_GRPC_THREADS = 4
# A worker that starts while another one exits.
_SPARE_PROCESSES = 1
# The rest is for the server, the zygote and the memory that all workers share.
_SHARE_OF_MEMORY = 0.8


def cpu_count() -> int:
    """Return the number of fast slots: one per CPU, for heavy runs leave them."""
    return max(_MIN_WORKERS, math.ceil(_cpus()))


def heavy_slots() -> int:
    """Return the number of heavy runs at a time: one per whole CPU."""
    return max(1, int(_cpus()))


def usual_share(runs: int) -> float:
    """Return the share of a CPU that each of so many runs gets while nothing else is busy."""
    return min(_cpus() / max(runs, 1), 1.0)


def max_slow_slots(memory_bytes: int, workers: int) -> int:
    """Return how many more workers may each use ``memory_bytes`` of the container's memory."""
    fitting = int(_memory_bytes() * _SHARE_OF_MEMORY) // memory_bytes - workers
    slow = min(max(fitting, _MIN_SLOW_WORKERS), _MAX_SLOW_WORKERS)
    processes = processes_left()
    if processes is None:
        return slow
    # The needed processes have the least number of slow workers in them.
    room = processes - needed_processes(workers) + _MIN_SLOW_WORKERS
    return min(slow, max(room, 1))


def needed_processes(workers: int) -> int:
    """Return the least number of processes and threads of a server with so many workers."""
    return server_threads() + workers + _SPARE_PROCESSES + _MIN_SLOW_WORKERS


def server_threads() -> int:
    """Return the number of threads of a server and its zygote."""
    threads = min(max(os.cpu_count() or 1, _MIN_GRPC_THREADS), _MAX_GRPC_THREADS)
    return _SERVER_PROCESSES + threads + _OTHER_GRPC_THREADS


def processes_left() -> int | None:
    """Return how many processes and threads may run here, this one included; None: no limit."""
    allowed = cgroups.read_limits().processes
    try:
        import resource  # noqa: PLC0415 - Windows has none
    except ImportError:
        return allowed
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    # The kernel does not apply it to root.
    if soft == resource.RLIM_INFINITY or os.getuid() == 0:
        return allowed
    return soft if allowed is None else min(soft, allowed)


def count_cpus() -> int:
    """Return the number of CPUs that this process may run on, or else of all CPUs."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpus() -> float:
    quota = cgroups.read_limits().cpus
    cpus = count_cpus()
    return cpus if quota is None else min(cpus, quota)


def _memory_bytes() -> int:
    try:
        installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError):
        # POSIX does not define the name, and Windows has no such function.
        installed = 0
    allowed = cgroups.read_limits().memory_bytes
    return installed if allowed is None else min(installed, allowed)
