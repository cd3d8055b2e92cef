"""Captures live requests as case files, for composite resources that ask for it.

Answering hands over requests and responses, which costs it a search for one word; a thread does
the rest. Whatever goes wrong in here is a line of the log, and no request waits for it.
"""

from __future__ import annotations

import hashlib
import logging
import os
import queue
import re
import threading
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from function_script import capture, telemetry
from function_script.errors import FatalError
from function_script.limits import MIB
from function_script.server import log

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from function_script.diagnostics import Diagnostic

_LOG = logging.getLogger(__name__)
MAX_REQUEST_BYTES: Final = 4 * MIB
"""Of a request and its response together."""
MAX_FILE_BYTES: Final = 8 * MIB
_MAX_WAITING: Final = 8
# Between two requests it rests for so many times what the last one took: requests come first.
_REST: Final = 9
_MARK: Final = capture.ANNOTATION.encode()
_UNSAFE: Final = re.compile(r"[^a-z0-9-]+")
_MAX_NAME: Final = 60
_DIGEST: Final = 8


class _PendingCapture(NamedTuple):
    request: bytes
    response: bytes
    problems: Sequence[Diagnostic]


class CaptureWriter:
    """Writes up to ``most`` files into ``directory``, those that are there already counted."""

    def __init__(self, directory: Path, most: int) -> None:
        self._directory = directory
        self._most = most
        self._is_full = False
        self._is_closing = threading.Event()
        self._waiting: queue.Queue[_PendingCapture | None] = queue.Queue(_MAX_WAITING)
        self._thread = threading.Thread(target=self._work, name="capture", daemon=True)
        self._thread.start()

    def offer(self, request: bytes, response: bytes, problems: Sequence[Diagnostic]) -> None:
        """Have the request captured if its composite resource asks for it; never waits."""
        if self._is_full or _MARK not in request:
            return
        if len(request) + len(response) > MAX_REQUEST_BYTES:
            _complain(f"the request and its response have more than {MAX_REQUEST_BYTES // MIB} MiB")
            return
        try:
            self._waiting.put_nowait(_PendingCapture(request, response, problems))
        except queue.Full:
            _complain("others are still being written; it is captured again when it comes again")

    def close(self) -> None:
        """Write what waits, for a short while at most."""
        self._is_closing.set()
        try:
            self._waiting.put(None, timeout=1.0)
        except queue.Full:
            return
        self._thread.join(timeout=5.0)

    def _work(self) -> None:
        while (captured := self._waiting.get()) is not None:
            began = time.monotonic()
            try:
                self._write(captured)
            except FatalError as error:
                _complain(str(error))
            except OSError as error:
                _complain(f"cannot write it: {error.strerror}")
            except Exception:  # noqa: BLE001 - a bug in here must not end the recording
                _LOG.exception("a request was not captured")
            self._is_closing.wait(_REST * (time.monotonic() - began))

    def _write(self, captured: _PendingCapture) -> None:
        if self._is_full or not capture.is_wanted(captured.request):
            return
        text = capture.to_case(*captured).encode()
        path = self._directory / _name(captured.request, text)
        if path.exists():
            return
        if len(text) > MAX_FILE_BYTES:
            _complain(f"the case has more than {MAX_FILE_BYTES // MIB} MiB")
            return
        if len(list(self._directory.glob(f"*{capture.SUFFIX}"))) >= self._most:
            self._is_full = True
            _complain(f"there are {self._most} files, set by --capture-limit; no more are written")
            return
        _replace(path, text)
        _LOG.info("captured a request", extra=log.fields(file=path.name, **_of(captured.request)))


def _name(request: bytes, text: bytes) -> str:
    """The same for the same case, so that an XR at rest is captured once."""
    info = telemetry.read(request)
    parts = (info.kind, info.namespace, info.name, info.step)
    readable = "-".join(part for part in parts if part).lower()
    readable = _UNSAFE.sub("-", readable)[:_MAX_NAME].strip("-")
    return f"{readable}-{hashlib.sha256(text).hexdigest()[:_DIGEST]}{capture.SUFFIX}"


def _replace(path: Path, text: bytes) -> None:
    """Whole or not at all, and for nobody else to read."""
    part = path.with_name(f".{path.name}.part")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with os.fdopen(os.open(part, flags, 0o600), "wb") as file:
            file.write(text)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def _of(request: bytes) -> dict[str, str]:
    info = telemetry.read(request)
    names = {"kind": info.kind, "namespace": info.namespace, "name": info.name}
    return {key: name for key, name in names.items() if name}


def _complain(why: str) -> None:
    _LOG.warning("a request was not captured", extra=log.fields(error=why))
