"""The analyses that `check` makes of Go templates."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Final

from function_script.engines import foreign_syntax
from function_script.engines.gotemplate import arguments, doubts, programs, request_reads
from function_script.engines.gotemplate.syntax import nodes
from function_script.engines.lint import (
    QUOTED,
    CallKind,
    FieldAccess,
    FieldComparison,
    Mention,
    guarded,
    unchanged,
)
from function_script.engines.template_lint import TemplateLint
from function_script.request.program import Program
from function_script.texts.diagnostics import Diagnostic

# Values of `missingkey` that let a template print a missing value.
_LENIENT: Final = ("default", "zero")


def _match_call(name: str) -> re.Pattern[str]:
    return re.compile(rf"\{{\{{-?(?!-? */\*)[^{{}}]*?\b{name}\s+(?:[.$]\s+)?{QUOTED}")


class GoTemplateLint(TemplateLint):
    """The analyses of GoTemplate."""

    random_call = re.compile(r"\b(?:rand(?:AlphaNum|Alpha|Ascii|Numeric|Bytes)|uuidv4)\b")
    calls: ClassVar = {
        "clock": re.compile(r"\{\{-?(?!-? */\*)[^{}\"`]*?(?<![.$\w])(?P<name>now|ago)\b"),
        "credentials": re.compile(rf"\bgetCredentialData\s+(?:[.$]\s+)?{QUOTED}"),
        "observed": _match_call("getComposed(?:Resource|ConnectionDetails)"),
        "required": _match_call("getExtraResources"),
    }

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

    def find_accesses(self, program: Program) -> list[FieldAccess]:
        """Find the fields of the request that the main template certainly reads and uses."""
        walker = request_reads.walk(program)
        reads = guarded(unchanged(walker.reads, walker.changed_paths), walker.tested_paths)
        if programs.read_settings(program.options).missing not in _LENIENT:
            return reads
        # A missing value passes, also a field of it, unless `index` looks into it.
        return [
            read._replace(is_guarded=read.is_guarded or read.path not in walker.indexed_paths)
            for read in reads
        ]

    def find_comparisons(self, program: Program) -> Iterable[FieldComparison]:
        """Find comparisons of fields of the request with constants."""
        return request_reads.walk(program).comparisons

    def find_names(self, program: Program, kind: CallKind) -> Iterator[Mention]:
        """Find names; functions that read the clock where the input's options allow them."""
        allowed = programs.read_settings(program.options).allowed
        if kind != "clock" or "stable_values" in allowed:
            yield from super().find_names(program, kind)

    def find_failures(self, program: Program) -> Iterator[Diagnostic]:
        """Find wrong calls, and comparisons of values with other types."""
        grammar = programs.read_settings(program.options).grammar()
        for source, trees in programs.parse_texts(program):
            for finding in arguments.find_failures(trees, grammar):
                yield finding.to_diagnostic(source)

    def find_doubts(self, program: Program) -> Iterator[Diagnostic]:
        """Find what runs and cannot be meant."""
        grammar = programs.read_settings(program.options).grammar()
        for source, trees in programs.parse_texts(program):
            for finding in doubts.find(trees, source, grammar):
                yield finding.to_diagnostic(source)
        for part in request_reads.walk(program).parts:
            message = "a getter takes the request, and not a part of it"
            if part.span.width == 1:
                message = "the dot is not the request here: range and with set it to another value"
            yield part.to_diagnostic(message, "write $")
        for source, text in self.find_documents(program):
            yield from foreign_syntax.find_dollars([source])
            yield from foreign_syntax.find(source, text, foreign_syntax.IN_GO)


LINT: Final = GoTemplateLint()
