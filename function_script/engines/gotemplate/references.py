"""Named templates that a program refers to, and the modules that it does not need."""

from typing import Final

from function_script.engines.gotemplate import programs
from function_script.engines.gotemplate.run import MAIN
from function_script.engines.gotemplate.syntax import nodes, parser
from function_script.engines.gotemplate.syntax.parser import ParseFailure, Trees
from function_script.program import Program

_INCLUDE: Final = "include"


def find_unused(program: Program) -> tuple[str, ...]:
    """Return the modules whose templates are never named; none when in doubt."""
    sources = programs.sources_of(program)
    grammar = sources.settings.grammar()
    try:
        unused = {
            name: parser.parse(name, source.text, grammar).trees for name, source in sources.texts
        }
    except ParseFailure:
        return ()
    pending = [unused.pop(MAIN)]
    while pending:
        names = _names_of(pending.pop())
        if names is None:
            return ()
        used = [name for name, trees in unused.items() if not names.isdisjoint(trees)]
        pending += [unused.pop(name) for name in used]
    return tuple(unused)


def _names_of(trees: Trees) -> frozenset[str] | None:
    """Return the names of the templates that are used; None when one of them is computed."""
    names: set[str] = set()
    unknown = 0
    for part in nodes.walk_nodes(list(trees.values())):
        match part:
            case nodes.Template(name=name):
                names.add(name)
            case nodes.Identifier(name=function) if function == _INCLUDE:
                unknown += 1
            case nodes.Command(
                words=(nodes.Identifier(name=function), nodes.String(value=name), *_)
            ) if function == _INCLUDE:
                names.add(name)
                unknown -= 1
    return frozenset(names) if unknown == 0 else None
