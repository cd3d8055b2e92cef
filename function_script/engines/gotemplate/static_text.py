"""The text that every run of a template writes: outside of conditions, loops and definitions."""

from collections.abc import Iterator

from function_script.engines.gotemplate import programs
from function_script.engines.gotemplate.syntax.nodes import Action, Text
from function_script.program import Program


def static_parts(program: Program) -> Iterator[tuple[int, str]]:
    """Yield parts of the main template's text and the lines they begin in."""
    for node in programs.parse_main(program):
        line = program.main.text.count("\n", 0, node.position) + 1
        if isinstance(node, Text):
            yield line, node.text
        elif isinstance(node, Action):
            yield line, "{{ }}"
