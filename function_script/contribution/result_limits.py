"""The bounds of results and conditions, which Crossplane turns into events and status.

Called when everything is read. An author who goes beyond them gets an error; of the warnings that
are the function's own, the first ones are enough.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from function_script.contribution import lint
from function_script.errors import LimitError
from function_script.wire import enums

if TYPE_CHECKING:
    from function_script import wire
    from function_script.contribution.model import Contribution

MAX_RESULTS: Final = 1_000
MAX_CONDITIONS: Final = 100
MAX_WARNINGS: Final = 100
# The Kubernetes API's bounds of a condition's message and reason.
MAX_MESSAGE_BYTES: Final = 32 * 1024
MAX_REASON_BYTES: Final = 1024


def enforce(wanted: Contribution) -> Contribution:
    """Return ``wanted`` with as many warnings as are useful; raises LimitError."""
    for condition in wanted.conditions:
        _check_text(f'condition "{condition.type[:80]}"', condition.message, condition.reason)
        _check_size("a condition's type", condition.type, MAX_REASON_BYTES)
    for number, result in enumerate(wanted.results):
        _check_text(f"result {number + 1}", result.message, result.reason)
    _check_count("conditions", len(wanted.conditions), MAX_CONDITIONS)
    own = [result for result in wanted.results if _is_own(result)]
    _check_count("results", len(wanted.results) - len(own), MAX_RESULTS)
    if len(own) <= MAX_WARNINGS:
        return wanted
    rest = {id(result) for result in own[MAX_WARNINGS:]}
    return replace(wanted, results=tuple(each for each in wanted.results if id(each) not in rest))


def _is_own(result: wire.Result) -> bool:
    return result.severity == enums.SEVERITY_WARNING and result.reason in lint.REASONS


def _check_count(name: str, count: int, maximum: int) -> None:
    if count > maximum:
        raise LimitError.of(
            f"cannot return {count:,} {name}: a step may return {maximum:,}",
            hint="Crossplane makes an event of each result and keeps conditions in the XR's "
            "status; return one that sums up",
        )


def _check_text(owner: str, message: str | None, reason: str | None) -> None:
    _check_size(f"the message of {owner}", message or "", MAX_MESSAGE_BYTES)
    _check_size(f"the reason of {owner}", reason or "", MAX_REASON_BYTES)


def _check_size(name: str, text: str, maximum: int) -> None:
    # Most texts are so short that nobody needs to encode them.
    if len(text) * 4 > maximum and (size := len(text.encode("utf-8", "replace"))) > maximum:
        raise LimitError.of(
            f"cannot return {name}: it has {size:,} bytes, and {maximum:,} are allowed",
            hint="shorten it",
        )
