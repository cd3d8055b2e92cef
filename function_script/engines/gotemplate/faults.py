"""What goes wrong while a template runs, in Go's words; the position is added from outside.

Functions raise CallError, the evaluator EvalError. Neither leaves the engine: run.py turns them
into diagnostics.
"""

from __future__ import annotations


class GoError(Exception):
    """A template's failure; ``text`` is Go's message without the position."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class CallError(GoError):
    """A function refused its arguments; Go says "error calling NAME: " in front."""


class EvalError(GoError):
    """An expression cannot be evaluated: a wrong type, a field of nil, a missing key."""


class ParseError(GoError):
    """The template's text is not Go template syntax; ``position`` is set by the parser."""

    def __init__(self, text: str, position: int | None = None) -> None:
        super().__init__(text)
        self.position = position
