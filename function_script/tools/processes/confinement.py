"""The resource limits of a function's process, and its start."""

import os
import re
import resource
import signal
from contextlib import suppress
from typing import Final

from function_script.tools.processes import namespaces
from function_script.tools.processes.messages import Assignment

_GIB: Final = 1 << 30
# The data of one process; Go and others reserve far more address space than they use.
MAX_DATA_BYTES: Final = 2 * _GIB
_MAX_ADDRESS_SPACE_BYTES: Final = 64 * _GIB
_MAX_FILES: Final = 4096
_MAX_THREADS: Final = 1024
# From this kernel on, processes are counted for each user namespace.
_COUNTING_KERNEL: Final = (5, 14)
_TMP: Final = "/tmp"  # noqa: S108 - of its own
_MAX_PASSWD_CHARACTERS: Final = 1 << 20
# Name, password, user, group, comment, home, shell.
_PASSWD_FIELDS: Final = 7
_DEFAULT_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def prefer_for_oom() -> None:
    """Have the kernel end this process and its children first when memory runs out."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123 - light
        file.write("1000")


def limit(*, is_confined: bool) -> None:
    """Set the limits of this process and its children."""
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_DATA, MAX_DATA_BYTES)
    _lower(resource.RLIMIT_AS, _MAX_ADDRESS_SPACE_BYTES)
    _lower(resource.RLIMIT_NOFILE, _MAX_FILES)
    version = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))
    if is_confined and version >= _COUNTING_KERNEL:
        _lower(resource.RLIMIT_NPROC, _MAX_THREADS)


def execute(assignment: Assignment, log: int) -> None:
    """Replace this process by the function. Raises OSError with the program's name."""
    root = "" if assignment.is_confined else f"{assignment.directory}/rootfs"
    os.setsid()
    namespaces.end_with_parent()
    limit(is_confined=assignment.is_confined)
    namespaces.drop_privileges()
    # Python ignores these, and a program inherits what is ignored.
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    null = os.open("/dev/null", os.O_RDONLY)
    for descriptor, source in enumerate((null, log, log)):
        os.dup2(source, descriptor)
    os.umask(0o022)
    home = _find_home(assignment.user) if assignment.is_confined else "/nonexistent"
    environment = {"PATH": _DEFAULT_PATH, "HOME": home, **assignment.environment}
    directory = _resolve(root, assignment.working_directory)
    os.chdir(directory)
    program = _find_program(root, assignment.arguments[0], environment["PATH"])
    os.execve(program, assignment.arguments, environment)  # noqa: S606 - the entrypoint


def _find_home(user: str) -> str:
    """Return the home of the image's user if it has files, which may be modules, or else /tmp.

    /tmp can be written, and a home cannot. The function of an image for root is not root.
    """
    with suppress(OSError), open("/etc/passwd", errors="replace") as file:  # noqa: PTH123 - light
        for line in file.read(_MAX_PASSWD_CHARACTERS).splitlines():
            fields = line.split(":")
            if len(fields) == _PASSWD_FIELDS and user in {fields[0], fields[2]}:
                home, is_root = fields[5], fields[2] == "0"
                return home if not is_root and os.listdir(home) else _TMP  # noqa: PTH208 - light
    return _TMP


def _find_program(root: str, name: str, path: str) -> str:
    """Return the path of a program as `execvp` finds it."""
    if "/" in name:
        return _resolve(root, name) if name.startswith("/") else name
    for directory in path.split(":"):
        program = _resolve(root, f"{directory or '.'}/{name}")
        if os.access(program, os.X_OK) and not os.path.isdir(program):  # noqa: PTH112 - light
            return program
    return name


def _resolve(root: str, path: str) -> str:
    """Return the path of a file of the image; outside of namespaces links lead elsewhere."""
    if not root:
        return path
    target = os.path.realpath(f"{root}/{path.lstrip('/')}")
    if os.path.commonpath((target, os.path.realpath(root))) != os.path.realpath(root):
        raise OSError(2, "it is a link to a file outside of the image", path)
    return target


def _lower(number: int, value: int) -> None:
    _, hard = resource.getrlimit(number)
    ceiling = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(number, (ceiling, ceiling))
