"""Retry requests to a registry, after the pause that it asks for."""

import time
from collections.abc import Callable, Sequence
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

from function_script.tools.xpkg.transport import HttpResponse, NoAnswerError

_STATUSES: Final = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
}
PAUSES: Final = (1.0, 2.0, 4.0, 8.0)
# A longer Retry-After is a failure.
_LONGEST_PAUSE: Final = 60.0


class RetryPolicy:
    """Runs operations again after transient failures; ``notify`` gets a line before a pause."""

    def __init__(
        self,
        notify: Callable[[str], None],
        sleep: Callable[[float], object] = time.sleep,
        pauses: Sequence[float] = PAUSES,
    ) -> None:
        self._notify = notify
        self._pauses = pauses
        self._sleep = sleep

    def run(self, operation: Callable[[], HttpResponse]) -> HttpResponse:
        """Return the first response that is final, or the last one. Raises NoAnswerError."""
        for pause in self._pauses:
            try:
                response = operation()
            except NoAnswerError as failure:
                if not failure.is_transient:
                    raise
                cause, seconds = failure.text, pause
            else:
                retry_after = read_pause(response)
                seconds = pause if retry_after is None else retry_after
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
        # Both times are by the clock of the registry.
        later, now = (
            parsedate_to_datetime(part) for part in (text, response.headers["Date"] or "")
        )
        return max(0.0, (later - now).total_seconds())
    except (ValueError, TypeError):
        return None
