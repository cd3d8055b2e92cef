"""The limits of results and conditions, which Crossplane turns into events and status.

More of a program's own are an error. Of the function's own warnings the first ones are sent.
"""

from dataclasses import replace
from typing import Final

from function_script.contribution import lint
from function_script.contribution.model import Contribution
from function_script.texts.errors import LimitError
from function_script.wire import enums

MAX_RESULTS: Final = 1_000
MAX_CONDITIONS: Final = 100
MAX_WARNINGS: Final = 100
# The limits of the Kubernetes API for the message and the reason of a condition.
MAX_MESSAGE_BYTES: Final = 32 * 1024
MAX_REASON_BYTES: Final = 1024


def enforce(contribution: Contribution) -> Contribution:
    """Return the contribution without surplus warnings; raise LimitError beyond other limits."""
    if not contribution.results and not contribution.conditions:
        return contribution
    for condition in contribution.conditions:
        _check_text(f'condition "{condition.type[:80]}"', condition.message, condition.reason)
        _check_size("a condition's type", condition.type, MAX_REASON_BYTES)
    for number, result in enumerate(contribution.results):
        _check_text(f"result {number + 1}", result.message, result.reason)
    _check_count("conditions", len(contribution.conditions), MAX_CONDITIONS)
    warnings = [
        result
        for result in contribution.results
        if result.severity == enums.SEVERITY_WARNING and result.reason in lint.REASONS
    ]
    _check_count("results", len(contribution.results) - len(warnings), MAX_RESULTS)
    if len(warnings) <= MAX_WARNINGS:
        return contribution
    # By identity, because two results may be equal.
    surplus = {id(result) for result in warnings[MAX_WARNINGS:]}
    results = tuple(result for result in contribution.results if id(result) not in surplus)
    return replace(contribution, results=results)


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
    # A character has four bytes at most: a short text need not be encoded.
    if len(text) * 4 > maximum and (size := len(text.encode("utf-8", "replace"))) > maximum:
        raise LimitError.of(
            f"cannot return {name}: it has {size:,} bytes, and {maximum:,} are allowed",
            hint="shorten it",
        )
