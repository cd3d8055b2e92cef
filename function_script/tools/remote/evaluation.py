"""Evaluate a request of the author's commands, with the remote programs that it lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.sandbox import Answered

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.sandbox import Reply
    from function_script.tools.processes.options import PackageOptions


def run(data: bytes, evaluate: Callable[[bytes], Reply], packages: PackageOptions) -> Reply:
    """Evaluate a request, and again with the contents that it lacks. Raises InputError."""
    reply = evaluate(data)
    if not isinstance(reply, Answered) or not reply.missing:
        return reply
    from function_script.tools.remote import local  # noqa: PLC0415 - slow to import

    return evaluate(local.attach(data, reply.missing, local.source_of(packages)))
