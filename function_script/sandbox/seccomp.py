"""The seccomp filter of workers: no network, no processes, no writing to the file system.

A worker cannot signal another process or change its limits and priority, either. No language can
make a system call: the filter is for the case that a bug in native code runs injected code. Denied
calls fail with EPERM.
"""

import ctypes
import errno
import os
import struct
from dataclasses import dataclass

_LIBC = ctypes.CDLL(None, use_errno=True)
_SET_MODE_FILTER = 1
# Without it, older kernels slow the whole process down by a mitigation that workers do not need.
_FLAG_SPEC_ALLOW = 4

# linux/bpf_common.h, linux/seccomp.h
_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_ALLOW, _DENY, _KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
# Numbers from here on belong to the x32 ABI of x86, which is not used.
_FOREIGN_NUMBERS = 0x40000000


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """The system call numbers of an architecture.

    ``signals`` have their target process in the first argument, and so has ``prlimit``, 0 for its
    own. ``opens`` are pairs of a call and the index of its flags argument.
    """

    audit_arch: int
    seccomp: int
    denied: tuple[int, ...]
    signals: tuple[int, ...]
    opens: tuple[tuple[int, int], ...]
    prlimit: int
    fcntl: int
    ioctl: int
    prctl: int


# The same on every architecture: newer calls have one number everywhere.
_PIDFD_SEND_SIGNAL = 424
_DENIED_EVERYWHERE = (
    *(_PIDFD_SEND_SIGNAL, 434, 438),  # pidfd_send_signal, pidfd_open, pidfd_getfd
    *(425, 435, 437),  # io_uring_setup, clone3, openat2
    *(428, 429, 430, 432, 442),  # open_tree, move_mount, fsopen, fsmount, mount_setattr
    *(440, 443, 448, 452),  # process_madvise, quotactl_fd, process_mrelease, fchmodat2
)
# Signals for a ready descriptor: F_SETOWN, F_SETSIG, F_SETOWN_EX, F_NOTIFY; and F_SETLEASE, which
# blocks other processes that open the file.
_DENIED_FCNTL = (8, 10, 15, 1024, 1026)
_F_SETFL, _O_ASYNC = 4, 0x2000
# The same by ioctl: FIOSETOWN, SIOCSPGRP, FIOASYNC; and input for a terminal: TIOCSTI, TIOCLINUX.
_DENIED_IOCTL = (0x8901, 0x8902, 0x5452, 0x5412, 0x541C)
# Undoing restrictions: PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_PTRACER.
_DENIED_PRCTL = (1, 4, 0x59616D61)
ARCHITECTURES = {
    "x86_64": Architecture(
        audit_arch=0xC000003E,
        seccomp=317,
        denied=(
            *(41, 42, 43, 49, 50, 53, 288),  # socket, connect, accept, bind, listen, …pair, accept4
            *(56, 57, 58, 59, 322),  # clone, fork, vfork, execve, execveat
            *(101, 310, 311, 323, 298, 321),  # ptrace, process_vm_*, userfaultfd, perf, bpf
            *(155, 161, 165, 166, 272, 308),  # pivot_root, chroot, mount, umount, unshare, setns
            *(248, 249, 250),  # add_key, request_key, keyctl
            *(76, 82, 83, 84, 85, 86, 87, 88),  # truncate, rename … symlink
            *(90, 91, 92, 93, 94, 132, 133, 235),  # chmod, chown and theirs, utime, mknod, utimes
            *(188, 189, 190, 197, 198, 199),  # setxattr, removexattr and theirs
            *(258, 259, 260, 261, 263, 264, 265, 266, 268, 280, 316),  # mkdirat … renameat2
            *(29, 64, 68, 240, 206),  # shmget, semget, msgget, mq_open, io_setup
            # setpriority, sched_setparam … sched_setattr, ioprio_set
            *(141, 142, 144, 203, 314, 251),
            *(312, 256, 279),  # kcmp, migrate_pages, move_pages
            *(175, 176, 313, 246, 320, 169),  # modules, kexec, reboot
            *(164, 227, 159, 305, 170, 171),  # settimeofday and theirs, sethostname, setdomainname
            # iopl, ioperm, acct, swapon, swapoff, quotactl, syslog
            *(172, 173, 163, 167, 168, 179, 103),
            *(135, 153, 300, 303, 304),  # personality, vhangup, fanotify_init, handles of files
        ),
        prlimit=302,
        fcntl=72,
        ioctl=16,
        prctl=157,
        signals=(62, 129, 200, 234, 297),  # kill, rt_sigqueueinfo, tkill, tgkill, rt_tgsigqueueinfo
        opens=((2, 1), (257, 2)),  # open, openat
    ),
    "aarch64": Architecture(
        audit_arch=0xC00000B7,
        seccomp=277,
        denied=(
            *(198, 199, 200, 201, 202, 203, 242),  # socket, …pair, bind, listen, accept, connect
            *(220, 221, 281),  # clone, execve, execveat
            *(117, 270, 271, 282, 241, 280),  # ptrace, process_vm_*, userfaultfd, perf, bpf
            *(39, 40, 41, 51, 97, 268),  # umount, mount, pivot_root, chroot, unshare, setns
            *(217, 218, 219),  # add_key, request_key, keyctl
            *(33, 34, 35, 36, 37, 38, 45, 276),  # mknodat … renameat, truncate, renameat2
            *(52, 53, 54, 55, 88),  # fchmod, fchmodat, fchownat, fchown, utimensat
            *(5, 6, 7, 14, 15, 16),  # setxattr, removexattr and theirs
            *(180, 186, 190, 194, 0),  # mq_open, msgget, semget, shmget, io_setup
            # setpriority, sched_setparam … sched_setattr, ioprio_set
            *(140, 118, 119, 122, 274, 30),
            *(272, 238, 239),  # kcmp, migrate_pages, move_pages
            *(105, 106, 273, 104, 294, 142),  # modules, kexec, reboot
            *(170, 112, 171, 266, 161, 162),  # settimeofday and theirs, sethostname, setdomainname
            *(89, 224, 225, 60, 116),  # acct, swapon, swapoff, quotactl, syslog
            *(92, 58, 262, 264, 265),  # personality, vhangup, fanotify_init, handles of files
        ),
        prlimit=261,
        fcntl=25,
        ioctl=29,
        prctl=167,
        signals=(129, 130, 131, 138, 240),
        opens=((56, 2),),
    ),
}


def install() -> int:
    """Filter this process's calls from now on; return 0, or the errno of the failure.

    Return -1 when the call succeeds and the filter has no effect. The process must have set
    PR_SET_NO_NEW_PRIVS before.
    """
    architecture = ARCHITECTURES.get(os.uname().machine)
    if architecture is None:
        return errno.ENOSYS
    program = build(architecture, os.getpid())
    code = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: the number of instructions, and their address.
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    if _LIBC.syscall(architecture.seccomp, _SET_MODE_FILTER, _FLAG_SPEC_ALLOW, header) != 0:
        return ctypes.get_errno()
    # A harmless call that the filter denies.
    has_failed = _LIBC.syscall(_PIDFD_SEND_SIGNAL, -1, 0, 0, 0) == -1
    return 0 if has_failed and ctypes.get_errno() == errno.EPERM else -1


def build(architecture: Architecture, pid: int) -> bytes:
    """Return the BPF program for the process ``pid``, which may send signals to itself only."""
    rules = [
        _load(_ARCHITECTURE_AT),
        _jump(_JUMP_EQUAL, architecture.audit_arch, if_true=1, if_false=0),
        # Calls of another ABI, such as those of 32 bits on x86_64, have other numbers.
        _return(_KILL),
        _load(_NUMBER_AT),
        *_deny_when(_JUMP_GREATER_EQUAL, _FOREIGN_NUMBERS),
    ]
    for number in (*architecture.denied, *_DENIED_EVERYWHERE):
        rules += _deny_when(_JUMP_EQUAL, number)
    for number in architecture.signals:
        rules += _unless_argument(number, 0, _jump(_JUMP_EQUAL, pid, if_true=0, if_false=1))
    for number, argument in architecture.opens:
        rules += _unless_argument(
            number, argument, _jump(_JUMP_ANY_BIT, _WRITING, if_true=1, if_false=0)
        )
    rules += _unless_argument(architecture.prlimit, 0, _jump(_JUMP_EQUAL, 0, if_true=0, if_false=1))
    rules += _deny_arguments(architecture.ioctl, 1, _DENIED_IOCTL)
    rules += _deny_arguments(architecture.prctl, 0, _DENIED_PRCTL)
    # The command of fcntl is loaded: no signals when a descriptor is ready.
    deny_async = (
        _jump(_JUMP_EQUAL, _F_SETFL, if_true=0, if_false=3),
        _load(_ARGUMENTS_AT + 8 * 2),
        *_deny_when(_JUMP_ANY_BIT, _O_ASYNC),
    )
    rules += _deny_arguments(architecture.fcntl, 1, _DENIED_FCNTL, deny_async)
    return b"".join([*rules, _return(_ALLOW)])


def _deny_arguments(
    number: int, argument: int, values: tuple[int, ...], others: tuple[bytes, ...] = ()
) -> list[bytes]:
    """Return rules that deny a call for ``values`` of an argument, followed by ``others``."""
    # The lower half of an argument: both architectures store it first, and the kernel reads an int.
    rules = [_load(_ARGUMENTS_AT + 8 * argument)]
    for value in values:
        rules += _deny_when(_JUMP_EQUAL, value)
    rules += [*others, _load(_NUMBER_AT)]
    return [_jump(_JUMP_EQUAL, number, if_true=0, if_false=len(rules)), *rules]


def _deny_when(operation: int, value: int) -> list[bytes]:
    return [_jump(operation, value, if_true=0, if_false=1), _return(_DENY)]


def _unless_argument(number: int, argument: int, is_harmless: bytes) -> list[bytes]:
    """Return rules that allow a call when the jump ``is_harmless`` falls through, else deny it."""
    return [
        _jump(_JUMP_EQUAL, number, if_true=0, if_false=4),
        _load(_ARGUMENTS_AT + 8 * argument),
        is_harmless,
        _return(_ALLOW),
        _return(_DENY),
    ]


def _load(offset: int) -> bytes:
    return struct.pack("=HBBI", _LOAD, 0, 0, offset)


def _jump(operation: int, value: int, *, if_true: int, if_false: int) -> bytes:
    return struct.pack("=HBBI", operation, if_true, if_false, value)


def _return(verdict: int) -> bytes:
    return struct.pack("=HBBI", _RETURN, 0, 0, verdict)
