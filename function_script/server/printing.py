"""Logs what programs print, without the secrets of their requests: for --debug.

Answering hands the text over and goes on. Secrets are looked for in a thread, and no answer waits
for that; a text that comes while too many wait is withheld.
"""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from function_script import redaction
from function_script.limits import MIB
from function_script.server import log

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_REQUEST_BYTES: Final = 4 * MIB
"""Of a larger request the text is withheld: so many requests may be held as wait here."""

WITHHELD: Final = (
    "the text is withheld: too many others wait to be searched for secrets, or its request has "
    f"more than {MAX_REQUEST_BYTES // MIB} MiB"
)
_MAX_WAITING: Final = 8
# After a text it rests for so many times what that took: requests come first.
_REST: Final = 3
_CLOSING_SECONDS: Final = 5.0


class _Printed(NamedTuple):
    text: str
    identity: Mapping[str, str]
    request: bytes


class Printer:
    """A thread that logs printed texts, until ``close``."""

    def __init__(self) -> None:
        self._is_closing = threading.Event()
        self._waiting: queue.Queue[_Printed | None] = queue.Queue(_MAX_WAITING)
        self._thread = threading.Thread(target=self._work, name="printing", daemon=True)
        self._thread.start()

    def offer(self, text: str, identity: Mapping[str, str], request: bytes) -> None:
        """Have a text logged that the program of ``request`` printed; never waits."""
        if len(request) <= MAX_REQUEST_BYTES:
            try:
                self._waiting.put_nowait(_Printed(text, identity, request))
            except queue.Full:
                pass
            else:
                return
        log.write_printed(WITHHELD, identity)

    def close(self) -> None:
        """Log the texts that wait, for a short while at most."""
        self._is_closing.set()
        try:
            self._waiting.put(None, timeout=_CLOSING_SECONDS)
        except queue.Full:
            return
        self._thread.join(_CLOSING_SECONDS)

    def _work(self) -> None:
        while (printed := self._waiting.get()) is not None:
            began = time.monotonic()
            text = redaction.redact_text(printed.text, printed.request)
            log.write_printed(text, printed.identity)
            self._is_closing.wait(_REST * (time.monotonic() - began))
