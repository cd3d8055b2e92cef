"""The frames between a server and its fetcher: a header in JSON, and content as bytes."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Final, Protocol

from function_script.remote.reference import RemoteReference
from function_script.remote.store import Failure, FetchKey

_LENGTH_BYTES: Final = 4
_MAX_BYTES: Final = 64 << 20


class Stream(Protocol):
    """A buffered stream of a socket."""

    def read(self, size: int, /) -> bytes:
        """Read bytes; fewer at the end."""

    def write(self, data: bytes, /) -> int:
        """Write bytes."""

    def flush(self) -> None:
        """Send what was written."""


def write_order(
    stream: Stream, number: int, key: FetchKey, credentials: Mapping[str, bytes] | None
) -> None:
    """Write the order of a fetch. Raises OSError."""
    data = (
        None
        if credentials is None
        else {name: base64.b64encode(value).decode() for name, value in credentials.items()}
    )
    header = {"number": number, "reference": asdict(key.reference), "scope": key.scope}
    _write(stream, json.dumps({**header, "credentials": data}).encode())


def read_order(stream: Stream) -> tuple[int, FetchKey, Mapping[str, bytes] | None]:
    """Read an order. Raises EOFError."""
    order = json.loads(_read(stream))
    data = order["credentials"]
    credentials = data and {name: base64.b64decode(value) for name, value in data.items()}
    key = FetchKey(RemoteReference(**order["reference"]), order["scope"])
    return order["number"], key, credentials


def write_outcome(stream: Stream, number: int, outcome: bytes | Failure) -> None:
    """Write the outcome of the order ``number``. Raises OSError."""
    failure = None if isinstance(outcome, bytes) else list(outcome)
    _write(stream, json.dumps({"number": number, "failure": failure}).encode())
    _write(stream, outcome if isinstance(outcome, bytes) else b"")


def read_outcome(stream: Stream) -> tuple[int, bytes | Failure]:
    """Read an outcome. Raises EOFError."""
    header = json.loads(_read(stream))
    payload = _read(stream)
    failure = header["failure"]
    return header["number"], payload if failure is None else Failure(*failure)


def _write(stream: Stream, data: bytes) -> None:
    stream.write(len(data).to_bytes(_LENGTH_BYTES, "big") + data)
    stream.flush()


def _read(stream: Stream) -> bytes:
    length = int.from_bytes(_read_exactly(stream, _LENGTH_BYTES), "big")
    if length > _MAX_BYTES:
        raise EOFError
    return _read_exactly(stream, length)


def _read_exactly(stream: Stream, length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return data
