"""What tests need Linux for, reviewed one by one; elsewhere these files are not collected.

Everything else runs wherever the tools run. Single tests in other files have the mark ``linux``.
"""

from fnmatch import fnmatchcase
from typing import Final

SERVER: Final = "the server, which runs on Linux alone"
PROCESSES: Final = "functions as processes: namespaces, and files as the kernel of Linux has them"
FORKS: Final = "the pool of the server: its zygote, its scheduling, /proc"

# Patterns of paths below this directory.
FILES: Final = {
    "benchmarks/test_judged.py": SERVER,
    "benchmarks/test_soak.py": SERVER,
    "conformance/test_channel_args.py": SERVER,
    "conformance/test_install.py": SERVER,
    "conformance/test_operating_reference.py": SERVER,
    "e2e/test_function_processes.py": PROCESSES,
    "e2e/test_serve*.py": SERVER,
    "hostile/test_leaks.py": FORKS,
    "hostile/test_pool_faults.py": FORKS,
    "hostile/test_served_bombs.py": SERVER,
    "hostile/test_served_clients.py": SERVER,
    "hostile/test_served_floods.py": SERVER,
    "hostile/test_served_neighbours.py": SERVER,
    "property/test_any_request.py": SERVER,
    "unit/sandbox/test_batches.py": FORKS,
    "unit/sandbox/test_capacity.py": "control groups, which only Linux has",
    "unit/sandbox/test_cgroups.py": "control groups, which only Linux has",
    "unit/sandbox/test_confinement.py": FORKS,
    "unit/sandbox/test_dispatcher.py": FORKS,
    "unit/server/test_*.py": SERVER,
    "unit/tools/processes/test_*.py": PROCESSES,
}


def is_left_out(path: str) -> bool:
    """Tell whether a test file, named by its path below this directory, needs Linux."""
    return any(fnmatchcase(path, pattern) for pattern in FILES)
