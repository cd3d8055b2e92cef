"""The parts of a reply of a pool, and of the process that gave it."""

from pathlib import Path

from function_script.sandbox.outcome import Cause, Failed, Reply
from function_script.step.telemetry import Answered


def parent_of(pid: int) -> int:
    """Return the process id of the parent."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def text(reply: Reply) -> bytes:
    """Return a response."""
    assert isinstance(reply, Answered), reply
    return reply.response


def answer(reply: Reply) -> str:
    """Return the text of a response."""
    return text(reply).decode()


def cause(reply: Reply) -> Cause:
    """Return the cause of a failure."""
    assert isinstance(reply, Failed), reply
    return reply.cause
