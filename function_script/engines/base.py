"""What the main path asks of a language.

Held by each module in the table of engines. Nothing here knows a language.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from function_script.limits import Limits
    from function_script.program import Program, Scope, ScriptResult, TemplateResult


class Engine(Protocol):
    """A language: a module with these functions is enough."""

    def evaluate(
        self, program: Program, scope: Scope, limits: Limits
    ) -> TemplateResult | ScriptResult:
        """Compile (or take from the cache) and run; raises nothing but FatalError."""

    def check(self, program: Program, limits: Limits) -> None:
        """Compile only; raises FatalError with every problem that shows without running."""

    def unused_modules(self, program: Program, limits: Limits) -> tuple[str, ...]:
        """The modules a program that passes ``check`` has certainly no use for, by name."""
