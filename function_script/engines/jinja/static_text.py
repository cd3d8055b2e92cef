"""The text that every run of a template writes: what stands in no condition, loop or macro.

Called by the tool that looks for mistakes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jinja2 import nodes

from function_script.engines.jinja import parsing
from function_script.engines.jinja.environment import Environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.program import Program


def static_parts(program: Program) -> Iterator[tuple[int, str]]:
    """Pieces of the main template's text and the lines they begin in; it must compile."""
    for node in parsing.parse(Environment(), program.main.text).body:
        if isinstance(node, nodes.Output):
            for part in node.nodes:
                if isinstance(part, nodes.TemplateData):
                    yield part.lineno, part.data
                else:
                    yield part.lineno, "{{ }}"
