"""Run a command under a container runtime's worst habits: system calls that are refused.

``python refusing.py seccomp=EPERM,pidfd_open=ENOSYS COMMAND …`` installs a filter that answers
those calls with an errno (0: "done", without doing anything) and becomes the command. ``none``
refuses none. The command cannot look into other processes, or read any file, as root can.
"""

import ctypes
import errno
import os
import struct
import sys
from pathlib import Path

SECCOMP = {"x86_64": 317, "aarch64": 277}
NUMBERS = {
    "x86_64": {"memfd_create": 319, "pidfd_open": 434, "setpgid": 109, "seccomp": 317},
    "aarch64": {"memfd_create": 279, "pidfd_open": 434, "setpgid": 154, "seccomp": 277},
}
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, PR_CAPBSET_DROP = 38, 22, 24
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2
CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_PERFMON = 19, 21, 38
DROPPED = (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_PERFMON)
NONE = "none"
PRCTL = {"x86_64": 157, "aarch64": 167}
WRAPPER = """\
#!/bin/sh
exec {python} {script} {calls} {python} "$@"
"""


def write_wrapper(path: Path, calls: str) -> str:
    """Write an executable that stands for this Python, with ``calls`` refused; its path."""
    path.write_text(WRAPPER.format(python=sys.executable, script=__file__, calls=calls))
    path.chmod(0o755)
    return str(path)


def _program(calls: str) -> bytes:
    machine = os.uname().machine
    rules = [struct.pack("=HBBI", 0x20, 0, 0, 0)]  # load the number
    for call in calls.split(","):
        name, _, reason = call.partition("=")
        verdict = 0x00050000 | (0 if reason == "0" else getattr(errno, reason))
        rules.append(struct.pack("=HBBI", 0x15, 0, 1, NUMBERS[machine][name]))
        rules.append(struct.pack("=HBBI", 0x06, 0, 0, verdict))
        if name == "seccomp":
            # The older way to the same thing: prctl(PR_SET_SECCOMP, …).
            rules.append(struct.pack("=HBBI", 0x15, 0, 4, PRCTL[machine]))
            rules.append(struct.pack("=HBBI", 0x20, 0, 0, 16))
            rules.append(struct.pack("=HBBI", 0x15, 0, 1, PR_SET_SECCOMP))
            rules.append(struct.pack("=HBBI", 0x06, 0, 0, verdict))
            rules.append(struct.pack("=HBBI", 0x20, 0, 0, 0))
    return b"".join([*rules, struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)])


def main() -> None:
    """Install the filter and become the command."""
    calls, *command = sys.argv[1:]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    # Containers do not have them; for others than root this changes nothing.
    for capability in DROPPED:
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    if calls != NONE:
        _refuse(libc, calls)
    os.execvp(command[0], command)  # noqa: S606 # the command of the test


def _refuse(libc: ctypes.CDLL, calls: str) -> None:
    program = _program(calls)
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    if libc.syscall(SECCOMP[os.uname().machine], 1, 0, header) != 0:
        raise OSError(ctypes.get_errno(), "no filter")


if __name__ == "__main__":
    main()
