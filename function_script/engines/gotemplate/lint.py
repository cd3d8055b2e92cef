"""The analyses that `check` makes of Go templates."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from function_script.engines import foreign_syntax
from function_script.engines.gotemplate import doubts, programs, request_reads
from function_script.engines.gotemplate.syntax import nodes
from function_script.engines.lint import FieldAccess, FieldComparison
from function_script.engines.template_lint import QUOTED, TemplateLint
from function_script.request.program import Program
from function_script.texts.diagnostics import Diagnostic


class GoTemplateLint(TemplateLint):
    """The analyses of GoTemplate."""

    random_call = re.compile(r"\b(?:rand(?:AlphaNum|Alpha|Ascii|Numeric|Bytes)|uuidv4)\b")
    clock_call = re.compile(r"\{\{-?(?!-? */\*)[^{}\"`]*?(?<![.$\w])(?P<name>now|ago)\b")
    observed_getter = re.compile(
        r"\{\{-?(?!-? */\*)[^{}]*?\bgetComposed(?:Resource|ConnectionDetails)\s+(?:[.$]\s+)?"
        + QUOTED
    )
    credentials_getter = re.compile(rf"\bgetCredentialData\s+(?:[.$]\s+)?{QUOTED}")

    def action_marks(self, program: Program) -> Sequence[str]:
        """Return the left delimiter."""
        return (programs.read_settings(program.options).delims[0],)

    def static_text(self, program: Program) -> Iterator[tuple[int, str]]:
        """Yield the text outside of actions, in no condition, loop or definition.

        Nothing for several templates that were joined.
        """
        if "parts" in program.options:
            return
        for node in programs.parse_main(program):
            line = program.main.text.count("\n", 0, node.position) + 1
            if isinstance(node, nodes.Text):
                yield line, node.text
            elif isinstance(node, nodes.Action):
                yield line, "{{ }}"

    def find_reads(self, program: Program) -> list[FieldAccess]:
        """Find the fields of the request that a program certainly reads."""
        return request_reads.find(program)

    def find_comparisons(self, program: Program) -> Iterable[FieldComparison]:
        """Find comparisons of fields of the request with constants."""
        return request_reads.find_comparisons(program)

    def find_failures(self, program: Program) -> Iterable[Diagnostic]:
        """Find comparisons of values with other types."""
        return doubts.find_failures(program)

    def find_doubts(self, program: Program) -> Iterator[Diagnostic]:
        """Find what runs and cannot be meant."""
        yield from doubts.find(program)
        for source, text in self.find_documents(program):
            yield from foreign_syntax.find_dollars([source])
            yield from foreign_syntax.find(source, text, foreign_syntax.IN_GO)


LINT: Final = GoTemplateLint()
