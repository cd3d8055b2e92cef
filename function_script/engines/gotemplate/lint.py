"""The analyses that `check` makes of Go templates."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from function_script.engines import foreign_syntax
from function_script.engines.gotemplate import arguments, doubts, programs, request_reads
from function_script.engines.gotemplate.language import LANGUAGE
from function_script.engines.gotemplate.positions import find_span
from function_script.engines.gotemplate.request_reads import GETTERS
from function_script.engines.gotemplate.syntax import nodes
from function_script.engines.lint import (
    CallKind,
    FieldAccess,
    FieldComparison,
    Mention,
    guarded,
    unchanged,
    without_defaults,
)
from function_script.engines.template_lint import TemplateLint
from function_script.request.program import Program
from function_script.texts.diagnostics import Diagnostic

# Values of `missingkey` that let a template print a missing value.
_LENIENT: Final = ("default", "zero")

# The functions of a kind of calls that have a name as their first text.
_NAMING: Final[Mapping[CallKind, Sequence[str]]] = {
    "condition": ("getResourceCondition",),
    "credentials": ("getCredentialData",),
    "observed": [name for name, (part, *_) in GETTERS.items() if part == "observed"],
    "required": [name for name, (part, *_) in GETTERS.items() if part == "requiredResources"],
}


class GoTemplateLint(TemplateLint):
    """The analyses of GoTemplate."""

    random_call = re.compile(r"\b(?:rand(?:AlphaNum|Alpha|Ascii|Numeric|Bytes)|uuidv4)\b")

    def action_marks(self, program: Program) -> Sequence[str]:
        """Return the left delimiter."""
        return (programs.read_settings(program.options).delims[0],)

    def static_text(self, program: Program) -> Iterator[tuple[int, str]]:
        """Yield the text outside of actions, in no condition, loop or definition.

        Nothing in the dialect of function-go-templating, which may join several templates.
        """
        if not programs.read_settings(program.options).is_own:
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
        walker = request_reads.walk(program)
        return without_defaults(unchanged(walker.comparisons, walker.changed_paths))

    def find_names(self, program: Program, kind: CallKind) -> Iterator[Mention]:
        """Find names; functions that read the clock where the input's options allow them."""
        allowed = programs.read_settings(program.options).allowed
        if kind == "clock" and "stable_values" not in allowed:
            return
        yield from super().find_names(program, kind)
        for source, trees in programs.parse_texts(program):
            for node in nodes.walk_trees(trees):
                match node:
                    case nodes.Identifier(name=text) if (
                        kind == "clock" and text in LANGUAGE.clock_functions
                    ):
                        place = find_span(source, node.position, len(text))
                    case (
                        nodes.Command(words=(_, nodes.String(value=text) as name, *_))
                        | nodes.Command(words=(_, _, nodes.String(value=text) as name))
                    ) if node.function in _NAMING.get(kind, ()):
                        # Without its quotes.
                        place = find_span(source, name.position + 1, len(name.quoted) - 2)
                    case _:
                        continue
                yield Mention(text, place.source, place.span)

    def find_failures(self, program: Program) -> Iterator[Diagnostic]:
        """Find calls that fail whenever they run."""
        grammar = programs.read_settings(program.options).grammar()
        for source, trees in programs.parse_texts(program):
            for finding in arguments.find_failures(trees, grammar):
                yield finding.to_diagnostic(source)

    def find_doubts(self, program: Program) -> Iterator[Diagnostic]:
        """Find what runs and cannot be meant."""
        for source, trees in programs.parse_texts(program):
            for finding in doubts.find(trees, source):
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
