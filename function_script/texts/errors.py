"""The user's problems, as exceptions. Anything else that is raised is a bug of ours.

FatalError              the step cannot go on; becomes one FATAL result
├── InputError          the step's input is not what its kind allows
├── ProgramError        the program does not compile, or failed while it ran
├── DocumentError       what the program produced is not acceptable
├── LimitError          a limit was reached: time, memory, steps, sizes
└── SandboxError        the worker died and no limit explains it
"""

from dataclasses import replace
from typing import Literal, Self, TypeAlias

from function_script.texts import diagnostics
from function_script.texts.diagnostics import Diagnostic, Note
from function_script.texts.source import Span

LimitName: TypeAlias = Literal[
    "time", "memory", "documents", "depth", "nodes", "steps", "source", "output"
]


def cause_of(error: OSError | ValueError) -> str:
    """Return the system's words for an error, in lower case and without the file's path.

    The system refuses some names of files by a ValueError.
    """
    return str(getattr(error, "strerror", None) or error).lower()


class HintedError(ValueError):
    """A function does not take a value; ``hint`` is what the author does about it."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class FatalError(Exception):
    """One or more diagnostics that stop the step.

    ``limit`` names the limit that an operator or an input can set; None for a bound that is built
    in, and for what is no LimitError.
    """

    def __init__(self, *problems: Diagnostic, limit: LimitName | None = None) -> None:
        super().__init__(diagnostics.to_line(problems))
        self.diagnostics = problems
        self.limit = limit

    @classmethod
    def of(  # noqa: PLR0913 - the members of a diagnostic, and the limit
        cls,
        message: str,
        *,
        span: Span | None = None,
        hint: str | None = None,
        notes: tuple[str | Note, ...] = (),
        field: str = "",
        limit: LimitName | None = None,
    ) -> Self:
        """Return an error with a single diagnostic."""
        problem = Diagnostic(message=message, span=span, hint=hint, notes=notes, field=field)
        return cls(problem, limit=limit)

    def with_diagnostics(self, *problems: Diagnostic) -> Self:
        """Return an error of the same class, at the same limit, with other diagnostics."""
        return type(self)(*problems, limit=self.limit)


class InputError(FatalError):
    """The step's input is not what its kind allows."""


class ProgramError(FatalError):
    """The program does not compile, or failed while it ran."""


class DocumentError(FatalError):
    """What the program produced is not acceptable."""


class LimitError(FatalError):
    """A limit was reached: time, memory, steps, sizes."""

    def __init__(self, *problems: Diagnostic, limit: LimitName | None = None) -> None:
        super().__init__(*(replace(problem, kind="limit") for problem in problems), limit=limit)


class SandboxError(FatalError):
    """The worker died and no limit explains it."""
