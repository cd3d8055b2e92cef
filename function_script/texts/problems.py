"""Mistakes in fields of untrusted objects, each with the path of its field and perhaps a hint."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from function_script.texts import spelling
from function_script.texts.diagnostics import Code, Diagnostic, Note
from function_script.texts.source import Span


class Problem(NamedTuple):
    """A mistake in the field at ``path``; an empty path is the object as a whole.

    ``path`` is written as in ``spec.rules[0].host``. ``note`` has another position.
    """

    path: str
    text: str
    hint: str | None = None
    note: Note | None = None
    code: Code | None = None

    def __str__(self) -> str:
        return f"{self.path}: {self.text}" if self.path else self.text

    def to_diagnostic(self, prefix: str = "", span: Span | None = None) -> Diagnostic:
        """Return a diagnostic of the text with the path before it, and ``prefix`` before both."""
        return Diagnostic(
            message=f"{prefix}{self}",
            span=span,
            hint=self.hint,
            field=self.path,
            notes=() if self.note is None else (self.note,),
            code=self.code,
        )


class ProblemList:
    """Problems of one object, in the order in which they were added; false when there are none."""

    __slots__ = ("_problems",)

    def __init__(self) -> None:
        self._problems: list[Problem] = []

    def add(
        self,
        path: str,
        text: str,
        *,
        hint: str | None = None,
        note: Note | None = None,
        code: Code | None = None,
    ) -> None:
        """Add one problem of the field at ``path``."""
        self._problems.append(Problem(path, text, hint, note, code))

    def extend(self, others: ProblemList) -> None:
        """Add the problems of another list."""
        self._problems += others

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._problems)

    def __len__(self) -> int:
        return len(self._problems)


def suggest(
    name: str, names: Mapping[str, object] | tuple[str, ...], otherwise: str | None = None
) -> str | None:
    """Return the hint that names the nearest of ``names``, or else ``otherwise``."""
    near = spelling.nearest(name, names)
    return f'did you mean "{near}"?' if near else otherwise


def list_choices(names: Collection[str], text: str | None = None) -> str:
    """Return "there is a", or "there are a, b"; ``text`` is another list of ``names``."""
    verb = "is" if len(names) == 1 else "are"
    return f"there {verb} {', '.join(names) if text is None else text}"
