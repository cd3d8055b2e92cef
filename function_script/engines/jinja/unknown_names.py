"""Names that no template of a program sets and no scope has: they never have a value.

A name counts as set if any template sets it anywhere, so every report is a certain mistake.
"""

from collections.abc import Iterator
from typing import Final

from jinja2 import nodes

from function_script.diagnostics import Diagnostic
from function_script.engines.jinja import hints, policy, positions, scope, tokens
from function_script.engines.jinja.environment import Environment
from function_script.engines.jinja.filters import FILTERS
from function_script.engines.jinja.policy import Violation
from function_script.engines.jinja.tests import TESTS
from function_script.problems import suggest
from function_script.program import Program

# Names that Jinja itself sets: in loops, in macros, in blocks.
_SPECIAL: Final = ("loop", "caller", "varargs", "kwargs", "super")
# A name that is used with one of these may be missing.
_GUARDS: Final = ("default", "d", "defined", "undefined")


def find_unknown(program: Program) -> list[Diagnostic]:
    """Return a problem for each use of such a name; the program must compile."""
    environment = Environment()
    sources = {"": program.main, **program.modules}
    trees = {name: tokens.parse(environment, source.text) for name, source in sources.items()}
    templates = [policy.inspect(template, FILTERS, TESTS) for template in trees.values()]
    defined = {*scope.NAMES, *_SPECIAL}
    defined = defined.union(
        *(each.defined for each in templates), *map(_guarded_names, trees.values())
    )
    # A module that nothing includes may expect names from templates that include it.
    used = {
        "",
        *(reference.module for each in templates for reference in each.references),
    }
    return [
        positions.violation_to_diagnostic(sources[name], violation)
        for name, template in trees.items()
        if name in used
        for violation in dict.fromkeys(_unknown(template, defined, sources[name].text))
    ]


def _guarded_names(template: nodes.Template) -> set[str]:
    guards = [*template.find_all(nodes.Filter), *template.find_all(nodes.Test)]
    return {
        each.node.name
        for each in guards
        if each.name in _GUARDS and isinstance(each.node, nodes.Name)
    }


def _unknown(template: nodes.Template, defined: set[str], text: str) -> Iterator[Violation]:
    for name in template.find_all(nodes.Name):
        if name.ctx == "load" and name.name not in defined:
            begin = text.rfind("\n", 0, name.lineno) + 1
            line = text[begin:].partition("\n")[0]
            yield Violation(
                line=1,
                offset=name.lineno,
                width=len(name.name),
                message=f'"{name.name}" has no value, for nothing sets it',
                hint=hints.key_hint(line, name.name)
                or hints.unset_hint(name.name, text)
                or hints.name_hint(name.name)
                or suggest(name.name, tuple(defined)),
            )
