"""Try again what a registry could not do at the moment, as often and as late as it asks."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from function_script.tools.xpkg.transport import HttpResponse, NoAnswerError

if TYPE_CHECKING:
    from collections.abc import Callable

_STATUSES: Final = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
}
_PAUSES: Final = (1.0, 2.0, 4.0, 8.0)
# A registry that asks for more is not waited for.
_LONGEST_PAUSE: Final = 60.0


class Retrying:
    """Runs operations; ``notify`` gets a line before each pause."""

    def __init__(
        self, notify: Callable[[str], None], sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self._notify = notify
        self._sleep = sleep

    def run(self, operation: Callable[[], HttpResponse]) -> HttpResponse:
        """Return the response, the last one when all were refusals; raises NoAnswerError."""
        for pause in _PAUSES:
            try:
                response = operation()
            except NoAnswerError as failure:
                if not failure.is_transient:
                    raise
                cause, seconds = failure.text, pause
            else:
                stated = read_pause(response)
                seconds = pause if stated is None else stated
                if response.status not in _STATUSES or seconds > _LONGEST_PAUSE:
                    return response
                cause = f"HTTP {response.status}"
            self._notify(f"{cause}: trying again in {seconds:g} s")
            self._sleep(seconds)
        return operation()


def read_pause(response: HttpResponse) -> float | None:
    """Return the seconds of Retry-After, a number or a date; None without one."""
    text = (response.headers.get("Retry-After") or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        # Both by the clock of the registry.
        later, now = (
            parsedate_to_datetime(part) for part in (text, response.headers["Date"] or "")
        )
        return max(0.0, (later - now).total_seconds())
    except (ValueError, TypeError):
        return None
