"""The capture writer: live requests as case files, for composite resources that ask for it.

The request handler hands over requests and responses, which costs a search for one word. A thread
does the rest. A failure in here is a line of the log, and no request waits for it.
"""

import hashlib
import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from function_script.inputs import beneath
from function_script.request import capture
from function_script.request.limits import MIB
from function_script.server import log
from function_script.server.background import Background
from function_script.step import telemetry
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError, cause_of

_LOG = logging.getLogger(__name__)
MAX_REQUEST_BYTES: Final = 4 * MIB
"""The limit for a request and its response together."""
MAX_FILE_BYTES: Final = 8 * MIB
# The thread sleeps this multiple of the time that a capture took, which leaves the CPU to requests.
_REST: Final = 9
_ANNOTATION: Final = capture.ANNOTATION.encode()
_UNSAFE: Final = re.compile(r"[^a-z0-9-]+")
_MAX_NAME: Final = 60
_DIGEST_LENGTH: Final = 8
# For this user only.
_MODE: Final = 0o600


class CaptureWriter:
    """Writes case files into ``directory`` until it has ``max_files``, earlier ones included."""

    def __init__(self, directory: Path, max_files: int) -> None:
        self._directory = beneath.resolve(directory)
        self._max_files = max_files
        self._is_full = False
        self._background = Background("capture", self._write, _REST)
        self.close = self._background.close
        """Write the queued captures, for a few seconds at most."""

    def submit(self, request: bytes, response: bytes, problems: Sequence[Diagnostic]) -> None:
        """Enqueue the request if its composite resource may ask for a capture; never block."""
        if self._is_full or _ANNOTATION not in request:
            return
        if len(request) + len(response) > MAX_REQUEST_BYTES:
            _warn(f"the request and its response have more than {MAX_REQUEST_BYTES // MIB} MiB")
            return
        if not self._background.submit(request, response, problems):
            _warn("others are still being written; it is captured again when it comes again")

    def _write(self, request: bytes, response: bytes, problems: Sequence[Diagnostic]) -> None:
        try:
            self._write_case(request, response, problems)
        except FatalError as error:
            _warn(str(error))
        except OSError as error:
            _warn(f"cannot write it: {cause_of(error)}")
        except Exception:  # noqa: BLE001 - a bug in here must not end the thread
            _LOG.exception("a request was not captured")

    def _write_case(self, request: bytes, response: bytes, problems: Sequence[Diagnostic]) -> None:
        if self._is_full or not capture.is_requested(request):
            return
        text = capture.to_case(request, response, problems).encode()
        info = telemetry.read(request)
        path = self._directory / _file_name(info, text)
        if path.exists():
            return
        if len(text) > MAX_FILE_BYTES:
            _warn(f"the case has more than {MAX_FILE_BYTES // MIB} MiB")
            return
        if len(list(self._directory.glob(f"*{capture.SUFFIX}"))) >= self._max_files:
            self._is_full = True
            _warn(f"there are {self._max_files} files, set by --capture-limit; no more are written")
            return
        beneath.replace(self._directory, [path.name], text, mode=_MODE)
        names = {"kind": info.kind, "namespace": info.namespace, "name": info.name}
        xr = {key: name for key, name in names.items() if name}
        _LOG.info("captured a request", extra=log.fields(file=path.name, **xr))


def _file_name(info: telemetry.RequestInfo, text: bytes) -> str:
    """Return a name that equal cases share, so that an XR at rest is captured once."""
    parts = (info.kind, info.namespace, info.name, info.step)
    readable = "-".join(part for part in parts if part).lower()
    readable = _UNSAFE.sub("-", readable)[:_MAX_NAME].strip("-")
    return f"{readable}-{hashlib.sha256(text).hexdigest()[:_DIGEST_LENGTH]}{capture.SUFFIX}"


def _warn(reason: str) -> None:
    _LOG.warning("a request was not captured", extra=log.fields(error=reason))
