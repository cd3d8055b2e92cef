"""The text that every run of a template writes: outside of conditions, loops and macros."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jinja2 import nodes

from function_script.engines.jinja import parser
from function_script.engines.jinja.environment import Environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.program import Program


def static_parts(program: Program) -> Iterator[tuple[int, str]]:
    """Yield pieces of the main template's text with their first lines; it must compile."""
    for node in parser.parse(Environment(), program.main.text).body:
        if isinstance(node, nodes.Output):
            for part in node.nodes:
                if isinstance(part, nodes.TemplateData):
                    yield part.lineno, part.data
                else:
                    yield part.lineno, "{{ }}"
