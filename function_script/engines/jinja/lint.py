"""The analyses that `check` makes of Jinja templates."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from jinja2 import nodes

from function_script.diagnostics import Diagnostic
from function_script.engines import foreign_syntax
from function_script.engines.jinja import doubts, parser, request_reads, unknown_names
from function_script.engines.jinja.environment import Environment
from function_script.engines.reads import FieldAccess, FieldComparison
from function_script.engines.template_lint import QUOTED, TemplateLint
from function_script.program import Program


class JinjaLint(TemplateLint):
    """The analyses of JinjaTemplate."""

    silent_actions = frozenset({"{%", "{#"})
    random_call = re.compile(r"\b(?:stable_secret|(?P<public>stable_id))(?=\()")
    credentials_getter = re.compile(rf"\bget_credential_data\(\s*{QUOTED}")

    def action_marks(self, _program: Program) -> Sequence[str]:
        """Return what begins an expression, a tag and a comment."""
        return ("{{", "{%", "{#")

    def static_text(self, program: Program) -> Iterator[tuple[int, str]]:
        """Yield the text outside of tags, in no condition, loop or macro."""
        for node in parser.parse(Environment(), program.main.text).body:
            if isinstance(node, nodes.Output):
                for part in node.nodes:
                    text = part.data if isinstance(part, nodes.TemplateData) else "{{ }}"
                    yield part.lineno, text

    def find_reads(self, program: Program) -> list[FieldAccess]:
        """Find the fields of the request that a program certainly reads."""
        return request_reads.find(program)

    def find_unknown_names(self, program: Program) -> list[Diagnostic]:
        """Find names that nothing sets; only a condition may use such a name without an error."""
        return unknown_names.find_unknown(program)

    def find_comparisons(self, program: Program) -> Iterable[FieldComparison]:
        """Find comparisons of fields of the request with constants."""
        return request_reads.find_comparisons(program)

    def find_doubts(self, program: Program) -> Iterator[Diagnostic]:
        """Find parts that render without an error, and that nobody can mean."""
        yield from doubts.find(program)
        for source, text in self.find_documents(program):
            yield from foreign_syntax.find_dollars([source])
            yield from foreign_syntax.find(source, text, (foreign_syntax.LINE_STATEMENT,))


LINT: Final = JinjaLint()
