"""Names that no template of a program sets and no scope has: they can never have a value.

Called by the tool that looks for mistakes without running anything. A name counts as set when
any of the templates sets it anywhere, so that only certain mistakes are told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jinja2 import nodes

from function_script.engines.jinja import parsing, positions, scope, tree
from function_script.engines.jinja.environment import Environment
from function_script.engines.jinja.filters import FILTERS
from function_script.engines.jinja.tests import TESTS
from function_script.engines.jinja.tree import Violation
from function_script.problems import suggest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.diagnostics import Diagnostic
    from function_script.program import Program

# What Jinja itself sets: in loops, in macros, in blocks.
_SPECIAL: Final = ("loop", "caller", "varargs", "kwargs", "super")
# Who asks with these knows that the name may be missing.
_ASKING: Final = ("default", "d", "defined", "undefined")


def find_unknown(program: Program) -> list[Diagnostic]:
    """A problem for each place that uses such a name; the program must compile."""
    environment = Environment()
    sources = {"": program.main, **program.modules}
    trees = {name: parsing.parse(environment, source.text) for name, source in sources.items()}
    surveys = [tree.survey(template, FILTERS, TESTS) for template in trees.values()]
    known = {*scope.NAMES, *_SPECIAL}
    known = known.union(*(survey.defined for survey in surveys), *map(_asked, trees.values()))
    # A module that nothing includes may be meant for names that others would set.
    used = {"", *(reference.module for survey in surveys for reference in survey.references)}
    return [
        positions.of_finding(sources[name], finding)
        for name, template in trees.items()
        if name in used
        for finding in dict.fromkeys(_unknown(template, known))
    ]


def _asked(template: nodes.Template) -> set[str]:
    asking = [*template.find_all(nodes.Filter), *template.find_all(nodes.Test)]
    return {
        each.node.name
        for each in asking
        if each.name in _ASKING and isinstance(each.node, nodes.Name)
    }


def _unknown(template: nodes.Template, known: set[str]) -> Iterator[Violation]:
    for name in template.find_all(nodes.Name):
        if name.ctx == "load" and name.name not in known:
            yield Violation(
                line=name.lineno,
                message=f'"{name.name}" has no value, for nothing sets it',
                name=name.name,
                hint=suggest(name.name, tuple(known)),
            )
