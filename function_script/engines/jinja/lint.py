"""The analyses that `check` makes of Jinja templates."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Final

from jinja2 import nodes

from function_script.engines import foreign_syntax
from function_script.engines.jinja import (
    arguments,
    doubts,
    hints,
    policy,
    positions,
    request_reads,
    tokens,
)
from function_script.engines.jinja.calls import Call, explain_missing
from function_script.engines.jinja.environment import Environment
from function_script.engines.jinja.filters import FILTERS, TESTS
from function_script.engines.jinja.functions import NAMES
from function_script.engines.jinja.parser import parse, parse_program
from function_script.engines.lint import CONDITION_CALL, QUOTED
from function_script.engines.template_lint import TemplateLint
from function_script.request.program import Program
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.source import Source

# The names that Jinja sets for the bodies of some tags.
_OF_BODIES: Final = frozenset({"loop", "caller", "kwargs", "varargs", "super"})
# A name that is used with one of these may be missing.
_GUARDS: Final = ("default", "d", "defined", "undefined")
# Filters that call another filter or a test: the place of its name among their arguments.
_CALLERS: Final[dict[str, tuple[int, str, Mapping[str, Call]]]] = {
    "map": (0, "filter", FILTERS),
    **dict.fromkeys(("select", "reject"), (0, "test", TESTS)),
    **dict.fromkeys(("selectattr", "rejectattr"), (1, "test", TESTS)),
}


class JinjaLint(TemplateLint):
    """The analyses of JinjaTemplate."""

    silent_actions = frozenset({"{%", "{#"})
    random_call = re.compile(r"\b(?:stable_secret|(?P<public>stable_id))(?=\()")
    calls: ClassVar = {
        "condition": re.compile(rf"\{{[{{%][^{{}}#]*?{CONDITION_CALL}"),
        "credentials": re.compile(rf"\bget_credential_data\(\s*{QUOTED}"),
        "observed": re.compile(
            rf"\{{[{{%][^{{}}#]*?\bget_composed_(?:resource|connection_details)\(\s*{QUOTED}"
        ),
        "readiness": re.compile(
            r"\{[{%][^{}#]*?(?P<call>\bis_ready\(\s*)?\bget_composed_resource\("
            rf"\s*{QUOTED}\s*\)"
            r"\s*(?(call)\)|\|\s*is_ready\b(?!\())"
        ),
        "required": re.compile(
            rf"\{{[{{%][^{{}}#]*?\bget_(?:required|extra)_resources\(\s*{QUOTED}"
        ),
    }
    find_accesses = staticmethod(request_reads.find)
    find_comparisons = staticmethod(request_reads.find_comparisons)

    def action_marks(self, _program: Program) -> Sequence[str]:
        """Return what begins an expression, a tag and a comment."""
        return ("{{", "{%", "{#")

    def static_text(self, program: Program) -> Iterator[tuple[int, str]]:
        """Yield the text outside of tags, in no condition, loop or macro."""
        whole = tokens.normalize(program.main).text
        for node in parse(Environment(), whole).body:
            if isinstance(node, nodes.Output):
                for part in node.nodes:
                    text = part.data if isinstance(part, nodes.TemplateData) else "{{ }}"
                    yield tokens.line_at(whole, part.lineno), text

    def find_unknown_names(self, program: Program) -> list[Diagnostic]:
        """Find names that no template of a program sets and no scope has: they have no value.

        A name counts as set if any template sets it anywhere, so every report is a certain mistake.
        """
        templates = parse_program(program)
        facts = [policy.inspect(each.source, each.tree) for each in templates]
        values = {*NAMES}.union(*(each.defined for each in facts))
        for _, _, tree in templates:
            values |= {
                guard.node.name
                for guard in tree.find_all((nodes.Filter, nodes.Test))
                if guard.name in _GUARDS and isinstance(guard.node, nodes.Name)
            }
        # A module that nothing includes may expect names from templates that include it.
        used = {"", *(reference.module for each in facts for reference in each.references)}
        problems: dict[Diagnostic, None] = {}
        for module, source, tree in templates:
            text = source.text
            # A namespace is read where its attribute is set.
            variables: list[nodes.Name | nodes.NSRef] = [*tree.find_all(nodes.NSRef)]
            variables += (name for name in tree.find_all(nodes.Name) if name.ctx == "load")
            for variable in variables if module in used else ():
                if variable.name in values | _OF_BODIES:
                    continue
                begin = text.rfind("\n", 0, variable.lineno) + 1
                line = text[begin:].partition("\n")[0]
                name = variable.name
                hint = hints.unset_hint(name, line, text, values)
                message = f'"{name}" has no value, for nothing sets it'
                problems[_problem(source, variable.lineno, name, message, hint)] = None
        # A module has the names of the place that includes it.
        main = templates[0]
        for variable in () if "loop" in values else _find_misplaced(main.tree):
            message, hint = '"loop" has no value here', hints.name_hint("loop")
            problems[_problem(main.source, variable.lineno, "loop", message, hint)] = None
        return list(problems)

    def find_failures(self, program: Program) -> Iterator[Diagnostic]:
        """Find wrong calls, and `map`, `select` and their like with a filter that is not there."""
        templates = parse_program(program)
        types = arguments.Types(templates)
        for _, source, tree in templates:
            for wrong in arguments.find(tree, types):
                yield positions.to_diagnostic(source, wrong, "")
            for node in tree.find_all(nodes.Filter):
                index, kind, table = _CALLERS.get(node.name, (len(node.args), "filter", {}))
                argument = node.args[index] if index < len(node.args) else None
                match argument:
                    case nodes.Const(value=str() as text, lineno=begin) if text not in table:
                        message, hint = explain_missing(text, kind, table)
                        if kind == "filter" and text.isidentifier() and len(node.args) == 1:
                            hint = hint or f'a field is map(attribute="{text}")'
                        yield _problem(source, begin, text, message, hint)

    def find_doubts(self, program: Program) -> Iterator[Diagnostic]:
        """Find parts that render without an error, and that nobody can mean."""
        yield from doubts.find(program)
        for source, text in self.find_documents(program):
            yield from foreign_syntax.find_dollars([source])
            yield from foreign_syntax.find(source, text, foreign_syntax.IN_JINJA)


def _problem(source: Source, begin: int, word: str, message: str, hint: str | None) -> Diagnostic:
    """Return a diagnostic at a word, at or behind an offset."""
    violation = policy.Violation(offset=begin, name=word, message=message, hint=hint)
    return positions.to_diagnostic(source, violation)


def _find_misplaced(tree: nodes.Template) -> Iterator[nodes.Name]:
    """Yield the uses of `loop` that are certainly outside of a loop, the last one first."""
    # A block is written at the places of all templates that extend this one.
    tags = tree.find_all((nodes.Block, nodes.For))
    parts = [part for tag in tags for part in tag.body]  # type: ignore[attr-defined] # all have it
    inside = {id(name) for part in parts for name in (part, *part.find_all(nodes.Name))}
    for name in reversed([*tree.find_all(nodes.Name)]):
        if (name.ctx, name.name) == ("load", "loop") and id(name) not in inside:
            yield name


LINT: Final = JinjaLint()
