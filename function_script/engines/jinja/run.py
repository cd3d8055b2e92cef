"""One run of a template: its budget, what it may see, and what it has imported so far.

Everything that changes while a template runs hangs on this value, which lives for one run.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from function_script.engines.jinja.budget import Budget

if TYPE_CHECKING:
    from jinja2.environment import TemplateModule

    from function_script.engines.jinja.environment import Environment
    from function_script.limits import Limits
    from function_script.program import Scope

_MAX_LOG_CHARACTERS = 64 * 1024


class Run:
    """What functions and filters of templates get as their first argument.

    ``variables`` is what every template of the program can name. ``is_rehearsal``: the text is
    only made again to find out where a line comes from, so nothing may be logged twice.
    """

    __slots__ = (
        "_logged",
        "budget",
        "environment",
        "is_rehearsal",
        "modules",
        "scope",
        "variables",
    )

    def __init__(self, environment: Environment, scope: Scope, limits: Limits) -> None:
        self.environment = environment
        self.scope = scope
        self.budget = Budget(limits)
        self.variables: dict[str, object] = {}
        self.modules: dict[str, TemplateModule] = {}
        self.is_rehearsal = False
        self._logged = 0

    def close(self) -> None:
        """Let go of the data: contexts know their run, which is a circle."""
        self.variables.clear()
        self.modules.clear()

    def log(self, line: str) -> None:
        """Write one line to stderr, until the run has logged its share."""
        room = _MAX_LOG_CHARACTERS - self._logged
        if self.is_rehearsal or room <= 0:
            return
        self._logged += len(line)
        sys.stderr.write(line[:room].replace("\n", "\\n") + "\n")
