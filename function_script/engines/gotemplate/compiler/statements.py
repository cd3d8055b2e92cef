"""Templates to Python functions: the part of the compiler that follows Go's walk.

Called with everything the parser found; what it makes is kept by content and run many times.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Final, NamedTuple

from function_script.engines.gotemplate import access, loops
from function_script.engines.gotemplate.compiler.code import Code, Scope, Site, Value
from function_script.engines.gotemplate.compiler.expressions import (
    CompileContext,
    Expressions,
)
from function_script.engines.gotemplate.errors import EvalError
from function_script.engines.gotemplate.printing import quote
from function_script.engines.gotemplate.run import CompiledProgram, Run
from function_script.engines.gotemplate.syntax.nodes import (
    Action,
    Break,
    Continue,
    If,
    Node,
    Range,
    String,
    Template,
    Text,
    With,
)
from function_script.engines.gotemplate.values import MISSING, Int, NilList, NilMap, is_nil

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

    from function_script.engines.gotemplate.access import MissingKey
    from function_script.engines.gotemplate.syntax.nodes import Identifier, Operand, Pipe, Placed
    from function_script.engines.gotemplate.syntax.parser import Trees

# The name of generated code in tracebacks; no file has it.
FILE: Final = "<gotemplate>"
# CPython compiles at most 20 nested loops.
MAX_LOOPS: Final = 18


def compile_templates(
    trees: Trees, around: CompileContext, missing: MissingKey, manner: CodegenOptions | None = None
) -> CompiledProgram:
    """All templates, ready to run; ``manner`` is how they are compiled, if not as always."""
    manner = manner or CodegenOptions(Statements, {})
    code = generate(trees, around, manner.statements)
    namespace: dict[str, object] = {**_helpers(missing), **manner.helpers, **code.constants}
    exec(compile("\n".join(code.lines), FILE, "exec"), namespace)  # noqa: S102 # our own code
    bodies = {name: namespace[_local(index)] for index, name in enumerate(trees)}
    used = (around.functions[name[2:]] for name in code.constants if name.startswith("f_"))
    mutates = any(function.mutates for function in used)
    return CompiledProgram(bodies, code.sites, mutates, code.failures)  # type: ignore[arg-type] # made above


def generate(trees: Trees, around: CompileContext, kind: type[Statements] | None = None) -> Code:
    """The Python source of all templates: a function each."""
    code = Code()
    for index, (name, root) in enumerate(trees.items()):
        template = (kind or Statements)(code, name, around, frozenset(trees))
        template.template_body(_local(index), root)
    return code


def _local(index: int) -> str:
    return f"template{index}"


def _fail(text: str) -> NoReturn:
    raise EvalError(text)


def _helpers(missing: MissingKey) -> dict[str, object]:
    """All that generated code can name besides its functions: there are no other builtins."""
    return {
        "__builtins__": {},
        **access.readers(missing),
        "find_method": lambda value, name: access.find_method(value, name, missing),
        "call_method": access.call_method,
        "check_argument": access.check_argument,
        "refuse": access.refuse,
        "elements": loops.elements,
        "pairs": loops.pairs,
        "quoted": quote,
        "call": Run.call,
        "draw": Run.draw,
        "measure": Run.measure,
        "show": Run.show,
        "spend": Run.spend,
        "turns": Run.turns,
        "fail": _fail,
        "MISSING": MISSING,
        "NilMap": NilMap,
        "NilList": NilList,
        "INTEGERS": frozenset({int, Int}),
        "Int": Int,
        "PLAIN": frozenset({str, int, Int}),
        "bool": bool,
        "float": float,
        "int": int,
        "is_nil": is_nil,
        "len": len,
        "str": str,
        "type": type,
    }


class CodegenOptions(NamedTuple):
    """How templates are compiled, and what their code can name besides or instead."""

    statements: type[Statements]
    helpers: Mapping[str, object]


class Statements(Expressions):
    """Compiles one template."""

    def __init__(
        self, code: Code, template: str, around: CompileContext, templates: frozenset[str]
    ) -> None:
        super().__init__(code, template, around)
        self.templates = templates
        self.loops = 0
        self.max_loops = MAX_LOOPS

    def template_body(self, local: str, root: list[Node]) -> None:
        """The function that renders the template."""
        with self.code.block(f"def {local}(w, d, run):"):
            self.code.line("r = d")
            self.scope.declare("$", Value("r"))
            self.nodes(root)

    def nodes(self, nodes: list[Node]) -> None:
        """Nodes one after the other."""
        for node in nodes:
            self.node(node)

    def node(self, node: Node) -> None:
        """One node."""
        self.at = node
        match node:
            case Text():
                self.code.line(f"w({node.text!r})", self.site())
            case Action():
                self.action(node)
            case If() | With():
                self.branch(node)
            case Range():
                self.loop(node)
            case Template():
                self.use(node)
            case Break() | Continue():
                self.code.line("break" if isinstance(node, Break) else "continue")

    def action(self, node: Action) -> None:
        """Print a pipeline's value, unless it goes into a variable."""
        value = self.pipeline(node.pipe)
        if node.pipe.declared:
            return
        self.at = node
        self.write(value, node)

    def write(self, value: Value, _: Action) -> None:
        """Print a value."""
        shown = f"{value.code} if type({value.code}) is str else show(run, {value.code})"
        self.code.line(f"w({value.code if value.type == 'string' else shown})", self.site())

    def use(self, node: Template) -> None:
        """``{{ template }}``."""
        if node.name not in self.templates:
            self.fail(f"template {quote(node.name)} not defined")
            return
        data = "MISSING" if node.pipe is None else self.settle(self.pipeline(node.pipe))
        self.at = node
        self.code.line(f"call(run, w, {node.name!r}, {data})", self.site())

    def call(
        self, name: Identifier, node: Placed, words: tuple[Operand, ...], final: Value | None
    ) -> Value:
        """A function's result; an include must name a template that there is."""
        if name.name == "include" and words and isinstance(words[0], String):
            template = words[0].value
            if template not in self.templates:
                site = Site(node, self.template, name.name)
                self.code.failures.append((site, f"template {quote(template)} not defined"))
        return super().call(name, node, words, final)

    def branch(self, node: If | With) -> None:
        """``if`` and ``with``, and the chain of those that hang on their else.

        A chain is flat in Python, whatever its length: a flag says whether one was taken.
        """
        outer_scope, outer_dot = self.scope, self.dot
        chain, rest = _chain(node)
        done = self.code.name("c")
        for index, link in enumerate(chain):
            again = self.code.block(f"if {done}:") if index else nullcontext()
            with again:
                self.scope = header = Scope(self.scope)
                value = self.pipeline(link.pipe)
                if len(chain) > 1 or rest is not None:
                    self.code.line(f"{done} = not {value.code}", self.site())
                with self.code.block(f"if {value.code}:", self.site()):
                    self.inside(header, link.body, value, link)
                self.scope, self.dot = header, outer_dot
        if rest is not None:
            with self.code.block(f"if {done}:"):
                self.scope = Scope(self.scope)
                self.nodes(rest)
        self.scope = outer_scope

    def inside(self, scope: Scope, body: list[Node], value: Value, link: If | With) -> None:
        """The body of an if or a with; a with moves the dot."""
        self.scope = Scope(scope)
        if isinstance(link, With):
            dot = self.code.name("d")
            self.code.line(f"{dot} = {value.code}")
            self.dot = value._replace(code=dot, nil=False, null=False)
        self.nodes(body)

    def loop(self, node: Range) -> None:
        """``range``: over what there is, or else."""
        if self.loops >= self.max_loops:
            self.fail(f"ranges are nested more than {self.max_loops} deep")
            return
        outer_scope, outer_dot = self.scope, self.dot
        declared = node.pipe.declared
        self.scope = Scope(outer_scope)
        value = self.ranged(node.pipe._replace(declared=()))
        kind = "pairs" if len(declared) > 1 else "elements"
        items = self.compute(f"{kind}({value.code})")
        for variable in declared:
            self.bind_range(variable.names[0], value, node)
        header = self.scope
        guard = self.code.block(f"if {items}:") if node.otherwise is not None else nullcontext()
        with guard:
            self.turns(node, items)
        self.scope, self.dot = header, outer_dot
        if node.otherwise is not None:
            with self.code.block("else:"):
                self.scope = Scope(header)
                self.nodes(node.otherwise)
        self.scope = outer_scope

    def ranged(self, pipe: Pipe) -> Value:
        """What a range goes over."""
        return self.pipeline(pipe)

    def bind_range(self, name: str, value: Value, node: Range) -> None:
        """A variable of a range: until the first turn it is all that is ranged over."""
        if node.pipe.assigns or node.otherwise is not None:
            self.bind(name, value._replace(type="any"), assigns=node.pipe.assigns)
        else:
            local = self.code.name("v")
            self.code.changing.add(local)
            self.scope.declare(name, Value(local))

    def turns(self, node: Range, items: str) -> None:
        """The loop itself: the dot and the variables are the element of each turn."""
        dot, key = self.code.name("d"), self.code.name("i")
        declared = [variable.names[0] for variable in node.pipe.declared]
        target = f"{key}, {dot}" if len(declared) > 1 else dot
        self.loops += 1
        start = len(self.code.lines)
        with self.code.block(f"for {target} in turns(run, {items}, COST):", self.site()):
            self.scope = Scope(self.scope)
            self.dot = Value(dot, element=True)
            for name, local in zip(declared, [key, dot] if declared[1:] else [dot], strict=False):
                known = self.scope.find(name)
                if known is not None and (node.pipe.assigns or name in self.assigned):
                    self.code.line(f"{known.code} = {local}")
                else:
                    self.scope.declare(name, Value(local, element=True))
            self.nodes(node.body)
        cost = len(self.code.lines) - start
        self.code.lines[start] = self.code.lines[start].replace("COST", str(cost))
        self.loops -= 1


def _chain(node: If | With) -> tuple[list[If | With], list[Node] | None]:
    """A branch and those of its kind that stand alone in its else; and the last else."""
    chain = [node]
    rest = node.otherwise
    while rest is not None and len(rest) == 1 and type(rest[0]) is type(node):
        chain.append(rest[0])
        rest = chain[-1].otherwise
    return chain, rest
