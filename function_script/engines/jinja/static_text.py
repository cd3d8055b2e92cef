"""The text that every run of a template writes: outside of conditions, loops and macros."""

from collections.abc import Iterator

from jinja2 import nodes

from function_script.engines.jinja import parser
from function_script.engines.jinja.environment import Environment
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
