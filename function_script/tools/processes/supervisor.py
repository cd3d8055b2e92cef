"""Run a function's process: confine and start it, relay its connections, keep the end of its log.

The supervisor ends with the socket to the command, that is, at the latest with the command. In a
PID namespace it is the first process, and the kernel ends all others with it.
"""

import json
import os
import selectors
import signal
import socket
from contextlib import suppress
from typing import Final, NoReturn

from function_script.tools.processes import confinement
from function_script.tools.processes.messages import (
    MAX_MESSAGE_BYTES,
    STATUS,
    Assignment,
    Report,
    encode,
)
from function_script.tools.processes.relay import Relay

MAX_LOG_BYTES: Final = 32 << 20
_TAIL_BYTES: Final = 8 << 10
_CHUNK_BYTES: Final = 1 << 16
# Between two attempts to connect to a function that does not listen yet.
_FIRST_PAUSE_SECONDS: Final = 0.004
_PAUSE_SECONDS: Final = 0.02
_SHORT_PAUSES: Final = 500
_IDLE_SECONDS: Final = 60.0
# The state of a listening socket in /proc/net/tcp.
_LISTEN: Final = "0A"


def main(control_descriptor: int, listener_descriptor: int, _options: str) -> NoReturn:
    """Run the function that the first message assigns, until it or the command ends."""
    control = socket.socket(fileno=control_descriptor)
    listener = socket.socket(fileno=listener_descriptor)
    data = control.recv(MAX_MESSAGE_BYTES)
    if not data:
        os._exit(0)
    assignment = Assignment(**json.loads(data))
    for descriptor in (control_descriptor, listener_descriptor):
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - positional alone
    try:
        confinement.prefer_for_oom()
        confinement.leave_keyring()
        peer = os.getuid()
        if assignment.is_confined:
            # As the user of the namespace, this process may not be able to reach it.
            os.chdir(assignment.directory)
            confinement.enter()
            peer = confinement.peer_user()
            _continue_in_child(control, listener)
            confinement.mount_root("rootfs")
            confinement.drop_privileges()
        else:
            confinement.adopt_orphans()
    except OSError as error:
        _send(control, Report(state="refused", call=error.filename or "", errno=error.errno or 0))
        os._exit(1)
    _Supervisor(assignment, control, listener, peer).run()
    os._exit(0)


def _continue_in_child(control: socket.socket, listener: socket.socket) -> None:
    """Return in a child, the first process of the PID namespace; this process waits for it."""
    # A new PID namespace is that of children: who made it stays in the old one.
    child = os.fork()
    if child:
        control.close()
        listener.close()
        os.waitpid(child, 0)
        os._exit(0)
    confinement.end_with_parent()


class _Supervisor:
    def __init__(
        self, assignment: Assignment, control: socket.socket, listener: socket.socket, peer: int
    ) -> None:
        self._assignment = assignment
        self._control = control
        self._selector = selectors.DefaultSelector()
        self._relay = Relay(listener, assignment.port, peer, self._selector)
        self._tail = bytearray()
        self._log_bytes = 0
        self._is_listening = False
        self._is_over = False
        self._log, writer = os.pipe()
        os.set_blocking(self._log, False)
        self._child, number = _fork(assignment, writer)
        os.close(writer)
        if number:
            self._is_over = True
            _send(control, Report(state="inexecutable", errno=number))

    def run(self) -> None:
        """Supervise the function until it ends, or the command does."""
        wakeup, waker = socket.socketpair()
        for end in (wakeup, waker):
            end.settimeout(0.0)
        # The child may have ended already: the first round looks.
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        self._selector.register(self._log, selectors.EVENT_READ, lambda _: self._read_log())
        self._selector.register(self._control, selectors.EVENT_READ, lambda _: self._answer())
        self._selector.register(wakeup, selectors.EVENT_READ, lambda _: wakeup.recv(_CHUNK_BYTES))
        attempts = 0
        while True:
            self._reap()
            if self._is_over:
                break
            seconds = _IDLE_SECONDS
            if not self._is_listening:
                connection = self._relay.connect()
                if connection is not None:
                    connection.close()
                    self._is_listening = True
                    self._relay.start()
                    _send(self._control, Report(state="listening"))
                attempts += 1
                seconds = _FIRST_PAUSE_SECONDS if attempts < _SHORT_PAUSES else _PAUSE_SECONDS
            for key, events in self._selector.select(seconds):
                with suppress(BlockingIOError):
                    key.data(events)
        self._kill()

    def _answer(self) -> None:
        """Answer a request of the command; end if it has ended."""
        if self._control.recv(MAX_MESSAGE_BYTES) != STATUS:
            self._is_over = True
            return
        self._reap()
        if self._is_over:
            return
        self._read_log()
        ports: set[int] = set()
        # Without a network of its own, the ports would be those of the whole machine.
        for name in ("tcp", "tcp6") if self._assignment.is_confined else ():
            with suppress(OSError), open(f"/proc/self/net/{name}") as file:  # noqa: PTH123 - light
                for line in file.readlines()[1:]:
                    fields = line.split()
                    if fields[3] == _LISTEN:
                        ports.add(int(fields[1].rpartition(":")[2], 16))
        report = Report(state="status", log=self._log_text(), ports=tuple(sorted(ports)))
        _send(self._control, report)

    def _read_log(self) -> None:
        """Read what the function has printed; end a function that prints without end."""
        with suppress(BlockingIOError):
            # A bounded number of reads, so that connections are served in between.
            for _ in range(16):
                data = os.read(self._log, _CHUNK_BYTES)
                if not data:
                    if self._log in self._selector.get_map():
                        self._selector.unregister(self._log)
                    return
                self._log_bytes += len(data)
                self._tail += data
                del self._tail[:-_TAIL_BYTES]
        if self._log_bytes > MAX_LOG_BYTES and not self._is_over:
            self._is_over = True
            _send(self._control, Report(state="flooded", log=self._log_text()))

    def _log_text(self) -> str:
        text = self._tail.decode("utf-8", "replace")
        if self._log_bytes > len(self._tail):
            # The first line is the rest of one.
            text = text.partition("\n")[2] or text
        return text

    def _reap(self) -> None:
        """Take the exit status of every process that has ended."""
        with suppress(ChildProcessError):
            while not self._is_over:
                process, status = os.waitpid(-1, os.WNOHANG)
                if process == 0:
                    return
                if process == self._child:
                    self._is_over = True
                    self._read_log()
                    code = os.waitstatus_to_exitcode(status)
                    _send(self._control, Report(state="exited", status=code, log=self._log_text()))

    def _kill(self) -> None:
        """End all processes of the function; in a PID namespace the kernel does it."""
        if self._assignment.is_confined:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child, signal.SIGKILL)
        # Orphans become children of this process: until there are none.
        with suppress(ChildProcessError):
            while True:
                for process in _children():
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(process, signal.SIGKILL)
                os.waitpid(-1, 0)


def _fork(assignment: Assignment, log: int) -> tuple[int, int]:
    """Start the function; return its process, and the errno if it cannot be executed."""
    # The end of the pipe in the child closes when it executes the entrypoint.
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        number = 1
        try:
            confinement.execute(assignment, log)
        except OSError as error:
            number = error.errno or 1
        finally:
            os.write(writer, bytes([number]))
            os._exit(1)
    os.close(writer)
    data = os.read(reader, 1)
    os.close(reader)
    return child, data[0] if data else 0


def _send(control: socket.socket, report: Report) -> None:
    with suppress(OSError):
        control.send(encode(report))


def _children() -> list[int]:
    path = f"/proc/self/task/{os.getpid()}/children"
    try:
        with open(path) as file:  # noqa: PTH123 - this process imports little
            return list(map(int, file.read().split()))
    except OSError:
        return []
