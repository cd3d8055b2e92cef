"""The branches that a run of a template enters: marks in the tree, which are texts of no length."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from jinja2 import nodes
from jinja2.compiler import Frame

from function_script.engines.jinja import engine, programs, tokens
from function_script.engines.jinja.compiler import CodeGenerator
from function_script.engines.recent import remembered
from function_script.request.limits import Limits
from function_script.request.program import Branch, Program, Scope
from function_script.texts.errors import FatalError
from function_script.texts.source import Span, span_at


class _Body(NamedTuple):
    """A body by the number of its template and the offset of its first word."""

    template: str
    first: int
    span: Span
    last_line: int


# The bodies of the program that is compiled, and what the run of one has entered. Generated code
# can import a name of this module, and has no way to an object of one build.
_BODIES: Final[list[_Body]] = []
_ENTERED: Final[set[tuple[str, int]]] = set()


def find(program: Program, scope: Scope, limits: Limits) -> list[Branch]:
    """Run a program once more; return its branches, none if it does not compile.

    An error ends the run: what is behind it is not reached.
    """
    try:
        compiled, bodies = _compile_marked(program, limits)
    except FatalError:
        return []
    _ENTERED.clear()
    with suppress(FatalError):
        engine.render(compiled, scope, limits)
    return [
        Branch(body.span, body.last_line, (body.template, body.first) in _ENTERED)
        for body in bodies
    ]


# All runs of one `check` have one program.
@remembered(4)
def _compile_marked(
    program: Program, limits: Limits
) -> tuple[programs.CompiledProgram, list[_Body]]:
    program.check_size(limits)
    _BODIES.clear()
    return programs.build(program, _MarkingCodeGenerator), [*_BODIES]


def enter(template: str, offset: int) -> str:
    """Note that a run enters the body at an offset of a template; generated code calls it."""
    _ENTERED.add((template, offset))
    return ""


class _MarkingCodeGenerator(CodeGenerator):
    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:
        self.writeline(f"from {__name__} import enter")
        source = self.environment.sources[str(self.name)]
        for body in _find_bodies(node):
            parts = [each for root in body for each in (root, *root.find_all(nodes.Node))]
            # Some nodes are Jinja's own, and have no place.
            places = [each.lineno for each in parts if each.lineno]
            if places:
                first, last = min(places), max(map(_last_offset, parts))
                # A text that begins a body may begin with blanks and empty lines.
                visible = len(source.text) - len(source.text[first:].lstrip())
                line = tokens.line_at(source.text, last)
                _BODIES.append(_Body(str(self.name), first, span_at(source, visible), line))
                mark = nodes.TemplateData("", lineno=first)
                body.insert(0, nodes.Output([mark], lineno=first))
        super().visit_Template(node, frame)

    def write_data(self, node: nodes.TemplateData) -> None:
        if node.data:
            super().write_data(node)
        else:
            self.write(f"enter({self.name!r}, {node.lineno})")


def _last_offset(node: nodes.Node) -> int:
    """Return the offset of a node, and of the last visible character of a text; 0 without one."""
    length = len(node.data.rstrip()) if isinstance(node, nodes.TemplateData) else 0
    return (node.lineno or 0) + max(0, length - 1)


def _find_bodies(tree: nodes.Template) -> Iterator[list[nodes.Node]]:
    """Yield the bodies that a run need not enter."""
    for node in tree.find_all((nodes.If, nodes.For, nodes.Macro, nodes.CallBlock, nodes.Block)):
        yield node.body  # type: ignore[attr-defined] # all have it
        yield getattr(node, "else_", [])
