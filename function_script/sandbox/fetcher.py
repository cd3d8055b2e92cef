"""The server's side of the fetcher: spawn it, send it orders, store the outcomes, replace it.

Orders and outcomes are lines of JSON.
"""

import base64
import json
import logging
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from io import BufferedIOBase
from queue import SimpleQueue
from typing import Final

from function_script.request.remote.reference import RemoteReference
from function_script.request.remote.store import ContentStore, Failure, FetchKey
from function_script.sandbox.spawn import end, spawn
from function_script.texts.errors import cause_of

_LOG = logging.getLogger(__name__)
_MODULE: Final = "function_script.tools.remote.process"
# Proxies, certificate authorities, and the directory of temporary files and of git.
_INHERITED_VARIABLES: Final = (
    *("PATH", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)
_ENDED: Final = Failure("the process that fetches ended")
_CLOSE_SECONDS: Final = 2.0
_MAX_LINE_BYTES: Final = 64 << 20
LINE_ERRORS: Final = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""The errors of a stream that ends, and of lines that neither side writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetcherOptions:
    """The operator's options: the cache's directory, files with logins and authorities, plain HTTP.

    An empty text is the absence of an option.
    """

    cache: str = ""
    credentials: str = ""
    ca_file: str = ""
    plain_http: bool = False


class _Process:
    """The process and the stream to it. The constructor raises OSError."""

    def __init__(self, options: FetcherOptions) -> None:
        ours, peer = socket.socketpair()
        with peer:
            self._process = spawn(
                _MODULE,
                [peer.fileno()],
                json.dumps(asdict(options)),
                variables=_INHERITED_VARIABLES,
                has_session=True,
            )
        self.stream = ours.makefile("rwb")
        self._socket = ours

    def close(self) -> None:
        """End the process: it exits when the socket is closed, and is killed otherwise."""
        end(self._process, self._socket, _CLOSE_SECONDS)


class Fetcher:
    """A process that fetches, with a thread that writes orders and one that reads outcomes.

    ``store`` has the state. The constructor spawns the process and raises OSError. A process that
    ends is spawned again for the next order.
    """

    def __init__(self, options: FetcherOptions) -> None:
        self._options = options
        self._orders = SimpleQueue[tuple[FetchKey, Mapping[str, bytes] | None] | None]()
        self._keys: dict[int, FetchKey] = {}
        self.store: Final = ContentStore(lambda key, data: self._orders.put((key, data)))
        self._process: _Process | None = _Process(options)
        self._reader = self._start_reader(self._process)
        self._writer = threading.Thread(target=self._write, name="fetch-orders", daemon=True)
        self._writer.start()

    def close(self) -> None:
        """End the process."""
        self._orders.put(None)
        self._writer.join(_CLOSE_SECONDS)
        if self._process is not None:
            self._process.close()

    def _write(self) -> None:
        number = 0
        while (order := self._orders.get()) is not None:
            key, credentials = order
            number += 1
            try:
                # The reader forgets a process that ends, at any time.
                process = self._process
                if process is None or not self._reader.is_alive():
                    process = self._process = _Process(self._options)
                    self._reader = self._start_reader(process)
                self._keys[number] = key
                write_order(process.stream, number, key, credentials)
            except OSError as error:
                _LOG.warning("cannot fetch: %s", cause_of(error))
                self._keys.pop(number, None)
                self.store.settle(key, _ENDED)

    def _start_reader(self, process: _Process) -> threading.Thread:
        reader = threading.Thread(
            target=self._read, args=(process,), name="fetch-outcomes", daemon=True
        )
        reader.start()
        return reader

    def _read(self, process: _Process) -> None:
        with suppress(*LINE_ERRORS):
            while True:
                number, outcome = read_outcome(process.stream)
                # An answer to no order raises KeyError, and ends a process that is not sound.
                key = self._keys.pop(number)
                if isinstance(outcome, Failure):
                    _LOG.warning("cannot fetch %s: %s", key.reference, outcome.reason)
                self.store.settle(key, outcome)
        process.close()
        self._keys.clear()
        # The next order, which may be one that waited for those below, is for another process.
        self._process = None
        self.store.abandon(_ENDED)


def write_order(
    stream: BufferedIOBase, number: int, key: FetchKey, credentials: Mapping[str, bytes] | None
) -> None:
    """Write the order of a fetch. Raises OSError."""
    data = (
        None
        if credentials is None
        else {name: base64.b64encode(value).decode() for name, value in credentials.items()}
    )
    header = {"number": number, "reference": asdict(key.reference), "scope": key.scope}
    _write_line(stream, {**header, "credentials": data})


def read_order(stream: BufferedIOBase) -> tuple[int, FetchKey, Mapping[str, bytes] | None]:
    """Read an order. Raises ValueError at the end."""
    order = json.loads(stream.readline(_MAX_LINE_BYTES))
    data = order["credentials"]
    credentials = data and {name: base64.b64decode(value) for name, value in data.items()}
    key = FetchKey(RemoteReference(**order["reference"]), order["scope"])
    return order["number"], key, credentials


def write_outcome(stream: BufferedIOBase, number: int, outcome: bytes | Failure) -> None:
    """Write the outcome of the order ``number``. Raises OSError."""
    value = base64.b64encode(outcome).decode() if isinstance(outcome, bytes) else list(outcome)
    _write_line(stream, [number, value])


def read_outcome(stream: BufferedIOBase) -> tuple[int, bytes | Failure]:
    """Read an outcome. Raises ValueError at the end."""
    number, value = json.loads(stream.readline(_MAX_LINE_BYTES))
    return number, base64.b64decode(value) if isinstance(value, str) else Failure(*value)


def _write_line(stream: BufferedIOBase, value: object) -> None:
    stream.write(json.dumps(value).encode() + b"\n")
    stream.flush()
