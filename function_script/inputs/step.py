"""What an input says, as a value; and where a program may come from besides the input."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.inputs.files import Files
    from function_script.inputs.progress import Progress
    from function_script.limits import Limits
    from function_script.program import Program
    from function_script.values import Object, Readable

Language: TypeAlias = Literal["starlark", "jinja", "gotemplate"]
# Whose rules hold where ours and function-go-templating's differ: annotations, merge, data.
Dialect: TypeAlias = Literal["script", "gotemplating"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step, ready to run.

    ``limits`` are the operator's, narrowed by the input. ``ttl_seconds`` None: the input says
    nothing. ``program.options`` are the language's own, checked: ``undefined`` ("Lenient",
    "Strict") for jinja; for gotemplate ``delims`` ([left, right]), ``missingkey`` ("default",
    "zero", "error"), ``stable_values`` and ``crypto`` (booleans), ``dialect``, and ``parts``: for
    a text joined from several templates each one's name and first line, [[name, line], …].
    """

    api_version: str
    kind: str
    language: Language
    program: Program
    limits: Limits
    dialect: Dialect = "script"
    params: Object = field(default_factory=dict)
    ttl_seconds: float | None = None
    keep_managed_fields: bool = False
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where programs come from that are not in the input.

    ``environment`` gives the context's environment object when it is asked for (empty when
    there is none): ``source: Environment`` of function-go-templating reads a template from it.
    None for either: nothing is looked for there, and the program stays empty.
    """

    files: Files | None
    environment: Callable[[], Readable] | None
