"""The parts of the operating system that a pool needs, and the factory that they allow.

Linux has all of them; macOS and other POSIX systems have enough for plain workers; Windows has not.
"""

from __future__ import annotations

import importlib
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from function_script.texts.errors import SandboxError

if TYPE_CHECKING:
    from function_script.sandbox.idle_workers import WorkerFactory
    from function_script.sandbox.zygote_config import ZygoteConfig

_FULL: Final = (
    ("socket", "AF_UNIX"),
    ("socket", "SOCK_SEQPACKET"),
    ("socket", "send_fds"),
    ("os", "memfd_create"),
    ("os", "pidfd_open"),
    ("os", "P_PIDFD"),
    ("os", "sched_setscheduler"),
    ("select", "poll"),
    ("signal", "pidfd_send_signal"),
    ("fcntl", "F_ADD_SEALS"),
    ("mmap", "MADV_REMOVE"),
)
_SERVER: Final = (("select", "epoll"),)
_PLAIN: Final = (
    ("os", "fork"),
    ("os", "pread"),
    ("resource", "setrlimit"),
    ("signal", "setitimer"),
    ("signal", "SIGKILL"),
)
_STATM: Final = Path("/proc/self/statm")


@cache
def missing() -> tuple[str, ...]:
    """Return the names that a server's pool needs and this system lacks."""
    files = () if _STATM.exists() else (str(_STATM),)
    return (*_lacking(_FULL), *files)


def note() -> str:
    """Return a note on what plain workers lack; empty where Linux' workers are used."""
    if not missing():
        return ""
    return (
        "programs run without a filter of system calls here, and their memory is watched from "
        "outside: this system lacks what Linux has for both"
    )


def check_programs() -> None:
    """Raise SandboxError where no workers can be spawned."""
    if missing() and (lacking := _lacking(_PLAIN)):
        raise SandboxError.of(
            f"cannot run programs: this system has no {lacking[0]}",
            hint="programs are not run on Windows; use WSL or the image",
        )


def check_server() -> None:
    """Raise SandboxError where `serve` cannot run, before its modules are imported."""
    if lacking := (*missing(), *_lacking(_SERVER)):
        raise SandboxError.of(
            f"cannot serve: `serve` runs on Linux alone, and this system has no {lacking[0]}",
            hint="run the image",
        )


def limit_address_space(max_bytes: int) -> None:
    """Limit the memory of this process, where the system has such a limit."""
    # Windows has no such module, and some systems refuse.
    with suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - see above

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = max_bytes if hard == resource.RLIM_INFINITY else min(hard, max_bytes)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def build_factory(config: ZygoteConfig, *, is_strict: bool) -> WorkerFactory:
    """Return a factory of workers; raise SandboxError where the system has too little for one.

    For ``is_strict`` see ``ForkServer``.
    """
    if not missing():
        from function_script.sandbox import fork_server  # noqa: PLC0415 - imports names of Linux

        return fork_server.ForkServer(config, is_strict=is_strict)
    check_programs()
    if is_strict:
        raise SandboxError.of("cannot confine programs: this system lacks what Linux has for it")
    from function_script.sandbox import plain  # noqa: PLC0415 - imports names of POSIX

    return plain.PlainFactory(config)


def _lacking(names: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Return the names that this system's standard library lacks."""
    lacking = []
    for module, name in names:
        try:
            is_present = hasattr(importlib.import_module(module), name)
        except ImportError:
            is_present = False
        if not is_present:
            lacking.append(f"{module}.{name}")
    return tuple(lacking)
