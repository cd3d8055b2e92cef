"""The confinement of a function's process: namespaces, privileges, limits; and its start.

The supervisor's process calls `enter`, forks, and its child calls `mount_root` and
`drop_privileges`: an image's files are all there is then. All functions raise OSError, whose
``filename`` is the name of the call.
"""

import ctypes
import errno
import fcntl
import os
import re
import resource
import signal
import socket
import struct
from contextlib import suppress
from typing import Final, NamedTuple

from function_script.tools.processes.messages import Assignment

# sched.h
_CLONE_NEWNS, _CLONE_NEWUTS, _CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
_CLONE_NEWUSER, _CLONE_NEWPID, _CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
_CLONE_NEWCGROUP: Final = 0x02000000
_ALL: Final = (
    _CLONE_NEWUSER
    | _CLONE_NEWNS
    | _CLONE_NEWPID
    | _CLONE_NEWNET
    | _CLONE_NEWIPC
    | _CLONE_NEWUTS
    | _CLONE_NEWCGROUP
)
# sys/mount.h
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 32, 4096, 16384, 1 << 18
_MNT_DETACH: Final = 2
# linux/prctl.h, linux/capability.h
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 1, 4, 24
_PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 36, 38
_CAPABILITY_VERSION: Final = 0x20080522
_MAX_CAPABILITIES: Final = 64
# linux/sockios.h, linux/if.h
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1
# linux/keyctl.h
_JOIN_SESSION_KEYRING: Final = 1


class _Calls(NamedTuple):
    """The numbers of calls for which the C library has no function."""

    pivot_root: int
    keyctl: int


_CALLS: Final = {
    "x86_64": _Calls(155, 250),
    "aarch64": _Calls(41, 219),
    "riscv64": _Calls(41, 219),
    "ppc64le": _Calls(203, 271),
    "s390x": _Calls(217, 280),
    "armv7l": _Calls(218, 311),
}

USER: Final = 65532
"""The user and group of functions, in their namespace: "nonroot" in the images of distroless."""
_ROOT: Final = 65533
_NOBODY: Final = 65534
_DEVICES: Final = ("null", "zero", "full", "random", "urandom")
_TMP_OPTIONS: Final = "mode=1777,size=256m,nr_inodes=65536"
_SHM_OPTIONS: Final = "mode=1777,size=64m"
_DEV_OPTIONS: Final = "mode=755,size=64k"
_PATHS: Final = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}

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

_LIBC: Final = ctypes.CDLL(None, use_errno=True)


def leave_keyring() -> None:
    """Leave the keyring of the user's session, which may have tickets and keys of file systems."""
    if calls := _CALLS.get(os.uname().machine):
        # Fails where the kernel or a container has no keyrings, which is as good.
        _LIBC.syscall(calls.keyctl, _JOIN_SESSION_KEYRING, None)


def enter() -> None:
    """Enter new namespaces as `USER`; the next child is in the new PID namespace, too.

    The user of this process is `USER` there. If that is root, it is nobody, so that a function
    owns no file of the system.
    """
    user, group = os.getuid(), os.getgid()
    if os.uname().machine not in _CALLS:
        raise OSError(errno.ENOSYS, "an unknown machine", "pivot_root")
    # In a container, root may be the only user that there is.
    if user == 0 and _is_mapped(_NOBODY):
        _enter_as_root()
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
    else:
        _unshare()
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{USER} {user} 1")
        _write("/proc/self/gid_map", f"{USER} {group} 1")


def peer_user() -> int:
    """Return the user in the namespace whose processes may connect: that of the command."""
    # See `_enter_as_root`.
    return _ROOT if _is_mapped(_ROOT) else USER


def _enter_as_root() -> None:
    """Unshare, and have a child, which is still outside, map nobody and root to users inside."""
    reader, writer = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(writer)
            if os.read(reader, 1):
                for name in ("uid_map", "gid_map"):
                    _write(f"/proc/{parent}/{name}", f"{USER} {_NOBODY} 1\n{_ROOT} 0 1")
                status = 0
        except OSError as error:
            status = error.errno or 1
        finally:
            os._exit(status)
    os.close(reader)
    try:
        # Refused where the user namespace of a container forbids it.
        with suppress(PermissionError):
            os.setgroups([])
        _unshare()
        os.write(writer, b"m")
    finally:
        os.close(writer)
        _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        raise OSError(code, os.strerror(code), "uid_map")


def _unshare() -> None:
    _check(_LIBC.unshare(_ALL), "unshare")


def _is_mapped(user: int) -> bool:
    with open("/proc/self/uid_map") as file:  # noqa: PTH123 - this process imports little
        ranges = [(int(first), int(count)) for first, _, count in map(str.split, file)]
    return any(first <= user < first + count for first, count in ranges)


def mount_root(files: str) -> None:
    """Make a directory below the current one the root of this process, without other files.

    The root is read-only. /tmp and /dev/shm are empty and in memory, /dev has five devices, /proc
    shows the processes of the namespace. The loopback interface is the only one.
    """
    _mount(None, "/", None, _MS_REC | _MS_PRIVATE)
    _mount(files, files, None, _MS_BIND)
    _remount_read_only(files, _MS_NOSUID | _MS_NODEV)
    os.chdir(files)
    _mount("tmpfs", "tmp", "tmpfs", _MS_NOSUID | _MS_NODEV, _TMP_OPTIONS)
    _mount("tmpfs", "dev", "tmpfs", _MS_NOSUID, _DEV_OPTIONS)
    for name in _DEVICES:
        path = f"dev/{name}"
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o666))
        _mount(f"/dev/{name}", path, None, _MS_BIND)
        _remount_read_only(path, _MS_NOSUID | _MS_NOEXEC)
    for name, target in _PATHS.items():
        os.symlink(target, f"dev/{name}")  # noqa: PTH211 - this process imports little
    os.mkdir("dev/shm")  # noqa: PTH102 - this process imports little
    _mount("tmpfs", "dev/shm", "tmpfs", _MS_NOSUID | _MS_NODEV, _SHM_OPTIONS)
    _remount_read_only("dev", _MS_NOSUID | _MS_NOEXEC)
    _mount("proc", "proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    # A function cannot make namespaces, in which it would have privileges.
    _write("proc/sys/user/max_user_namespaces", "0")
    _remount_read_only("proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    _check(_LIBC.syscall(_CALLS[os.uname().machine].pivot_root, b".", b"."), "pivot_root")
    _check(_LIBC.umount2(b".", _MNT_DETACH), "umount2")
    os.chdir("/")
    socket.sethostname("function")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        # struct ifreq: a name and flags, with padding.
        fcntl.ioctl(probe, _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", _IFF_UP))


def drop_privileges() -> None:
    """Give up every capability for this process and its children, for good."""
    for number in range(_MAX_CAPABILITIES):
        # Fails for capabilities that this kernel does not have.
        _LIBC.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
    header = struct.pack("@Ii", _CAPABILITY_VERSION, 0)
    _check(_LIBC.capset(header, bytes(24)), "capset")
    # None come back by setuid and the like, and nobody may inspect this process.
    _check(_LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    _check(_LIBC.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl")


def end_with_parent() -> None:
    """Have the kernel end this process when its parent ends."""
    _check(_LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")


def adopt_orphans() -> None:
    """Make descendants of this process its children when their parents end."""
    _check(_LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")


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
    end_with_parent()
    limit(is_confined=assignment.is_confined)
    drop_privileges()
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


def _mount(
    source: str | None, target: str, kind: str | None, flags: int, options: str | None = None
) -> None:
    texts = [None if text is None else text.encode() for text in (source, target, kind, options)]
    source_bytes, target_bytes, kind_bytes, option_bytes = texts
    status = _LIBC.mount(
        source_bytes, target_bytes, kind_bytes, ctypes.c_ulong(flags), option_bytes
    )
    _check(status, f"mount {target}")


def _remount_read_only(target: str, flags: int) -> None:
    # Flags that the file system has cannot be taken from a mount of it.
    present = os.statvfs(target).f_flag & (_MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    _mount(None, target, None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | present | flags)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:  # noqa: PTH123 - this process imports little
        file.write(text)


def _check(status: int, call: str) -> None:
    if status != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), call)
