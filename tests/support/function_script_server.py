"""The entrypoint of the tests' function: a gRPC server of few lines, for an image that has no gRPC.

Its argument ``--mode`` selects what it does. The standard library alone is in its image.
"""

import ctypes
import os
import socket
import struct
import sys
import time
from pathlib import Path

DATA, HEADERS, SETTINGS, PING = 0, 1, 4, 6
END_STREAM = ACK = 1
END_HEADERS = 4
# HPACK: ":status: 200" is entry 8 of the static table; the others are literals without an index.
STATUS_200 = b"\x88"
PATHS = (
    "/",
    "/function",
    "/etc",
    "/proc",
    "/proc/sys/kernel/core_pattern",
    "/dev",
    "/tmp",  # noqa: S108 - its own
    "/dev/shm",  # noqa: S108 - its own
)


def literal(name: bytes, value: bytes) -> bytes:
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def length(number: int) -> bytes:
    data = b""
    while number >= 0x80:
        data += bytes([number & 0x7F | 0x80])
        number >>= 7
    return data + bytes([number])


def respond(request: bytes) -> bytes:
    """Return the request's desired state, and a result that says what the function sees."""
    response, at = b"", 0
    while at < len(request):
        key, at = varint(request, at)
        size, at = varint(request, at)
        if key == 3 << 3 | 2:
            # RunFunctionRequest.desired is RunFunctionResponse.desired.
            response += bytes([2 << 3 | 2]) + length(size) + request[at : at + size]
        at += size
    text = look_around().encode()
    result = bytes([1 << 3, 3, 2 << 3 | 2]) + length(len(text)) + text
    return response + bytes([3 << 3 | 2]) + length(len(result)) + result


def look_around() -> str:
    """Describe the confinement, as the function sees it."""
    facts = {
        "arguments": sys.argv[1:],
        "environment": dict(os.environ),
        "directory": str(Path.cwd()),
        "user": os.getuid(),
        "process": os.getpid(),
        "root": list_names("/"),
        "processes": sorted(int(name) for name in list_names("/proc") if name.isdigit()),
        "status": read_status(),
        "writable": [path for path in PATHS if is_writable(path)],
        "devices": list_names("/dev"),
        "interfaces": [name for _, name in socket.if_nameindex()],
        "descriptors": list_names("/proc/self/fd"),
        "answers": attempts(),
    }
    return repr(facts)


def read_status() -> dict[str, str]:
    lines = Path("/proc/self/status").read_text().splitlines()
    return dict(line.split(":\t") for line in lines)


def list_names(directory: str) -> list[str]:
    return sorted(path.name for path in Path(directory).iterdir())


def attempts() -> dict[str, int]:
    """Try what is forbidden."""
    libc = ctypes.CDLL(None, use_errno=True)
    results = {}
    for name, call in {
        "unshare": lambda: libc.unshare(0x10000000),
        "mount": lambda: libc.mount(b"x", b"/tmp", b"tmpfs", 0, None),
        "ptrace": lambda: libc.ptrace(16, 1, 0, 0),
        "chmod": lambda: libc.chmod(b"/dev/null", 0o777),
        "kill": lambda: libc.kill(1, 9),
    }.items():
        results[name] = call()
    return results


def is_writable(path: str) -> bool:
    name = f"{path}/probe"
    try:
        os.close(os.open(name if Path(path).is_dir() else path, os.O_CREAT | os.O_WRONLY))
    except OSError:
        return False
    return True


def read(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        chunk = connection.recv(count - len(data))
        if not chunk:
            raise EOFError
        data += chunk
    return data


def serve(connection: socket.socket, mode: str) -> None:
    read(connection, len(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
    # A large window for each stream; connections are for few requests.
    connection.sendall(frame(SETTINGS, 0, 0, struct.pack(">HI", 4, (1 << 31) - 1)))
    bodies: dict[int, bytes] = {}
    while True:
        head = read(connection, 9)
        size = struct.unpack(">I", b"\0" + head[:3])[0]
        kind, flags, stream = struct.unpack(">BBI", head[3:])
        payload = read(connection, size)
        if kind == SETTINGS and not flags & ACK:
            connection.sendall(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            connection.sendall(frame(PING, ACK, 0, payload))
        elif kind == DATA:
            bodies[stream] = bodies.get(stream, b"") + payload
            if flags & END_STREAM:
                answer(connection, stream, bodies.pop(stream)[5:], mode)


def answer(connection: socket.socket, stream: int, request: bytes, mode: str) -> None:
    if mode == "crash-at-request":
        os.write(1, b"panic: a request\n")
        os.kill(os.getppid(), 9)
        os._exit(3)
    if mode == "stop-at-request":
        os.write(1, b"stopped by a request\n")
        os.kill(os.getppid(), 15)
        sleep()
    if mode == "hang-at-request":
        sleep()
    message = respond(request)
    content = literal(b"content-type", b"application/grpc")
    connection.sendall(
        frame(HEADERS, END_HEADERS, stream, STATUS_200 + content)
        + frame(DATA, 0, stream, struct.pack(">BI", 0, len(message)) + message)
        + frame(HEADERS, END_HEADERS | END_STREAM, stream, literal(b"grpc-status", b"0"))
    )


def main() -> None:
    mode = os.environ.get("MODE", "serve")
    port = 9443
    for argument in sys.argv[1:]:
        if argument.startswith("--address=") and mode != "no-address":
            port = int(argument.rpartition(":")[2])
        elif argument != "--insecure" and not argument.startswith("--mark="):
            sys.exit(f"unknown flag {argument.partition('=')[0]}")
    MODES.get(mode, lambda: None)()
    listener = socket.create_server(("", 8080 if mode == "elsewhere" else port))
    if mode == "silent":
        sleep()
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            try:
                serve(connection, mode)
            except (EOFError, OSError):
                os._exit(0)
        connection.close()


def crash() -> None:
    os.write(2, b"starting\nno \x1b[31mconfiguration\n")
    sys.exit(4)


def flood() -> None:
    while True:
        os.write(1, b"x" * 65536)


def take_memory() -> None:
    """Reserve memory without writing to it."""
    bytearray(3 << 30)


def fill_disk() -> None:
    """Write until there is no room, and say how much there was."""
    size = 0
    with Path("/tmp/file").open("wb", buffering=0) as file:  # noqa: S108 - its own
        try:
            while size < 4 << 30:
                size += file.write(bytes(1 << 20))
        except OSError as error:
            sys.exit(f"{size >> 20} MiB: {error.strerror}")


def sleep() -> None:
    time.sleep(3600)


def leave_child() -> None:
    """Start a process in a session of its own."""
    if os.fork() == 0:
        os.setsid()
        sleep()


MODES = {
    "crash": crash,
    "flood": flood,
    "hang": sleep,
    "children": leave_child,
    "memory": take_memory,
    "disk": fill_disk,
}
main()
