"""A Python without what one system has: the names are gone in every process that it starts.

``interpreter.py`` puts this module into a copy of the standard library, where `encodings` imports
it: the first module of all, in an isolated interpreter too. The copy says which system to look
like, and has no file that is not needed for that.
"""

from __future__ import annotations

import _frozen_importlib
import _frozen_importlib_external
import builtins
import errno
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

# Names that CPython has on Linux and not on macOS; a star stands for any ending.
DARWIN = {
    "posix": """
        CLONE_* EFD_* GRND_* MFD_* O_DIRECT O_LARGEFILE O_NOATIME O_PATH O_RSYNC O_TMPFILE P_ALL
        P_PGID P_PID P_PIDFD PIDFD_* POSIX_FADV_* RTLD_DEEPBIND SCHED_BATCH SCHED_IDLE
        SCHED_RESET_ON_FORK SPLICE_* TFD_* XATTR_* copy_file_range eventfd* fdatasync getrandom
        getresgid getresuid getxattr listxattr memfd_create pidfd_open pipe2 posix_fadvise
        posix_fallocate removexattr
        sched_getaffinity sched_getparam sched_getscheduler sched_param sched_rr_get_interval
        sched_setaffinity sched_setparam sched_setscheduler setns setresgid setresuid setxattr
        splice timerfd* unshare waitid waitid_result
        """,
    "_signal": """
        SIGCLD SIGPOLL SIGPWR SIGRTMAX SIGRTMIN SIGSTKFLT pidfd_send_signal sigtimedwait sigwaitinfo
        """,
    "time": "CLOCK_BOOTTIME CLOCK_MONOTONIC_RAW_APPROX CLOCK_TAI pthread_getcpuclockid",
    "_socket": """
        AF_ALG AF_BLUETOOTH AF_CAN AF_NETLINK AF_PACKET AF_QIPCRTR AF_TIPC AF_VSOCK MSG_CMSG_CLOEXEC
        MSG_CONFIRM MSG_ERRQUEUE MSG_FASTOPEN MSG_MORE SO_BINDTODEVICE SO_DOMAIN SO_MARK SO_PASSCRED
        SO_PASSSEC SO_PEERCRED SO_PEERSEC SO_PRIORITY SO_PROTOCOL SOCK_CLOEXEC SOCK_NONBLOCK
        SOCK_SEQPACKET TCP_CORK TCP_DEFER_ACCEPT TCP_INFO TCP_LINGER2 TCP_QUICKACK TCP_SYNCNT
        TCP_USER_TIMEOUT TCP_WINDOW_CLAMP
        """,
    "select": "EPOLL* epoll",
    "resource": """
        RLIMIT_MSGQUEUE RLIMIT_NICE RLIMIT_OFILE RLIMIT_RTPRIO RLIMIT_RTTIME RLIMIT_SIGPENDING
        RUSAGE_THREAD prlimit
        """,
    "mmap": """
        MADV_DODUMP MADV_DOFORK MADV_DONTDUMP MADV_DONTFORK MADV_HUGEPAGE MADV_HWPOISON
        MADV_MERGEABLE MADV_NOHUGEPAGE MADV_REMOVE MADV_UNMERGEABLE MAP_DENYWRITE MAP_EXECUTABLE
        MAP_POPULATE MAP_STACK
        """,
    "fcntl": """
        DN_* F_ADD_SEALS F_GETLEASE F_GETPIPE_SZ F_GETSIG F_GET_SEALS F_NOTIFY F_SEAL_* F_SETLEASE
        F_SETPIPE_SZ F_SETSIG
        """,
}
# Names that CPython does not have on Windows. `sys.platform` and `os.name` stay: told otherwise,
# the standard library and click would load what only Windows has.
WINDOWS = {
    "posix": """
        *SCHED_* fork forkpty getegid geteuid getgid getgroups getpgid getpgrp getpriority getresgid
        getresuid getsid getuid initgroups killpg memfd_create mkfifo nice pidfd_open pread preadv
        pwrite pwritev sched_* sendfile setegid seteuid setgid setgroups setpgid setpriority
        setregid setresgid setresuid setreuid setsid setuid sysconf sysconf_names uname wait wait3
        wait4 waitid WIFSIGNALED WTERMSIG
        """,
    "_signal": """
        ITIMER_* SIGALRM SIGCHLD SIGCLD SIGCONT SIGHUP SIGIO SIGKILL SIGPIPE SIGPOLL SIGPROF SIGPWR
        SIGQUIT SIGRT* SIGSTKFLT SIGSTOP SIGSYS SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1
        SIGUSR2 SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ SIGBUS SIG_BLOCK SIG_SETMASK SIG_UNBLOCK alarm
        getitimer pause pidfd_send_signal pthread_kill pthread_sigmask setitimer siginterrupt
        sigpending sigtimedwait sigwait sigwaitinfo
        """,
    "time": "CLOCK_* clock_getres clock_gettime* clock_settime* pthread_getcpuclockid tzset",
    "_socket": "AF_UNIX CMSG_* SCM_* SOCK_CLOEXEC SOCK_NONBLOCK",
    "select": "EPOLL* POLL* epoll poll",
    "mmap": "MADV_* MAP_* PROT_*",
}
ABSENT_ON_WINDOWS = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")
_SYMBOLS = {"mallopt", "malloc_trim", "memfd_create", "pidfd_open", "prctl", "sched_setscheduler"}
_SEQPACKET = 5
_RLIMIT_AS = 9


def matches(name: str, pattern: str) -> bool:
    """Tell whether a name is meant by one of the words above."""
    if pattern.startswith("*"):
        return pattern.strip("*") in name
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def take_names(module: ModuleType, patterns: str) -> None:
    """Delete the names from a module."""
    words = patterns.split()
    for name in list(vars(module)):
        if any(matches(name, word) for word in words):
            delattr(module, name)


def refuse_imports(names: tuple[str, ...]) -> None:
    """Have no such modules for our package; the standard library of POSIX is made of them."""
    real = builtins.__import__

    def import_(
        name: str,
        globals: dict | None = None,  # noqa: A002 - as others call it
        locals: dict | None = None,  # noqa: A002 - same
        fromlist: tuple[str, ...] = (),
        level: int = 0,
    ) -> ModuleType:
        importer = str((globals or {}).get("__name__"))
        if name in names and importer.startswith(("function_script", "__main__")):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, globals, locals, fromlist, level)

    builtins.__import__ = import_


def install(system: str) -> None:
    """Make this interpreter look like ``darwin`` or ``win32``."""
    names = DARWIN if system == "darwin" else WINDOWS

    def change(module: ModuleType) -> None:
        take_names(module, names.get(module.__name__, ""))
        if system == "darwin" and module.__name__ in CHANGES:
            CHANGES[module.__name__](module)

    if system == "darwin":
        sys.platform = system
        sys.addaudithook(refuse)
    else:
        refuse_imports(ABSENT_ON_WINDOWS)
    # Those that the interpreter has imported before this one; all others are changed when loaded.
    for name in names.keys() & sys.modules.keys():
        change(sys.modules[name])
    for loader in (
        _frozen_importlib.BuiltinImporter,
        _frozen_importlib_external.ExtensionFileLoader,
    ):
        follow(loader, change)


def follow(loader: type, change: Callable[[ModuleType], None]) -> None:
    """Have a loader change every module that it has loaded."""
    real = loader.exec_module

    def exec_module(*args: object) -> None:
        real(*args)
        change(args[-1])

    loader.exec_module = exec_module


def refuse(event: str, args: tuple[object, ...]) -> None:
    """Refuse what macOS has not: an audit hook sees every file, socket and symbol."""
    if event in {"open", "os.listdir", "os.scandir"} and is_in_proc(args[0]):
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", args[0])
    if event == "socket.__new__" and args[2] == _SEQPACKET:
        raise OSError(errno.EPROTONOSUPPORT, "Protocol not supported")
    if event == "ctypes.dlsym" and args[1] in _SYMBOLS:
        raise AttributeError(f"dlsym(RTLD_DEFAULT, {args[1]}): symbol not found")


def is_in_proc(path: object) -> bool:
    """Tell whether a path leads below /proc, or is that."""
    if isinstance(path, bytes):
        path = path.decode("utf-8", "replace")
    text = path if isinstance(path, str) else getattr(path, "__fspath__", str)()
    return text == "/proc" or text.startswith("/proc/")


def change_posix(posix: ModuleType) -> None:
    """Have calls that no audit hook sees find nothing below /proc; count memory in bytes."""
    for name in ("access", "lstat", "readlink", "stat"):
        setattr(posix, name, without_proc(getattr(posix, name)))
    real = posix.wait4

    def wait4(pid: int, options: int) -> tuple[int, int, object]:
        ended, status, usage = real(pid, options)
        return ended, status, in_bytes(usage)

    posix.wait4 = wait4


def without_proc(call: Callable[..., object]) -> Callable[..., object]:
    """Wrap a call of the file system."""

    def checked(path: object, *args: object, **kwargs: object) -> object:
        if not isinstance(path, int) and is_in_proc(path):
            if call.__name__ == "access":
                return False
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)
        return call(path, *args, **kwargs)

    checked.__name__ = call.__name__
    return checked


def change_clock(time: ModuleType) -> None:
    """Have no clock of another process."""
    real = time.clock_gettime

    def clock_gettime(clock: int) -> float:
        if clock < 0:
            raise OSError(errno.EINVAL, "Invalid argument")
        return real(clock)

    time.clock_gettime = clock_gettime


def in_bytes(usage: object) -> object:
    """Return the same usage of resources as macOS says it."""
    values = list(usage)
    values[2] *= 1024
    return type(usage)(values)


def change_resource(resource: ModuleType) -> None:
    """Let the address space grow whatever its limit is, and count memory in bytes."""
    real_setrlimit, real_getrusage = resource.setrlimit, resource.getrusage

    def setrlimit(which: int, limits: tuple[int, int]) -> None:
        if which != _RLIMIT_AS:
            real_setrlimit(which, limits)

    def getrusage(who: int) -> object:
        return in_bytes(real_getrusage(who))

    resource.setrlimit, resource.getrusage = setrlimit, getrusage


CHANGES = {"posix": change_posix, "time": change_clock, "resource": change_resource}
