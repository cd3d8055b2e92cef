"""Templates to Python functions: the compiler follows Go's walk, evalPipeline and evalArg.

The functions are cached by the template's text and run many times.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Final, NamedTuple

from function_script.engines.gotemplate import access, loops
from function_script.engines.gotemplate.compiler import constants
from function_script.engines.gotemplate.compiler.code import Code, Scope, Site, Value
from function_script.engines.gotemplate.compiler.shortcuts import any_code, shorten
from function_script.engines.gotemplate.errors import EvalError
from function_script.engines.gotemplate.function import Function, Injects
from function_script.engines.gotemplate.printing import quote
from function_script.engines.gotemplate.run import CompiledProgram, Run
from function_script.engines.gotemplate.syntax.nodes import (
    Action,
    Bool,
    Break,
    Chain,
    Command,
    Continue,
    Dot,
    Field,
    Identifier,
    If,
    Nil,
    Node,
    Number,
    Operand,
    Pipe,
    Placed,
    Range,
    String,
    Template,
    Text,
    Variable,
    With,
    to_source,
)
from function_script.engines.gotemplate.values import MISSING, Int, NilList, NilMap, is_nil

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

    from function_script.engines.gotemplate.access import MissingKey
    from function_script.engines.gotemplate.syntax.parser import Trees

# The name of generated code in tracebacks; no file has it.
FILE: Final = "<gotemplate>"
# CPython compiles at most 20 nested loops.
MAX_LOOPS: Final = 18
# `get1` to `get5` read chains of as many fields.
_MAX_READER: Final = 5
# A string below this length is not worth charging for.
_SMALL: Final = 64

_EXACT: Final = {"string": "str", "int": "Int", "int64": "int", "float64": "float", "bool": "bool"}
_NOTHING: Final = Value("MISSING", null=False)


class CompileContext(NamedTuple):
    """What the compiler must know of a template's surroundings.

    ``assigned`` are the names of variables that some ``=`` changes. ``mutates``: data may change
    while templates run.
    """

    functions: Mapping[str, Function]
    assigned: frozenset[str]
    mutates: bool = True


class CodegenOptions(NamedTuple):
    """How templates are compiled, and what their code can name besides or instead."""

    generator: type[CodeGenerator]
    code_globals: Mapping[str, object]


def compile_templates(
    trees: Trees,
    context: CompileContext,
    missing: MissingKey,
    options: CodegenOptions | None = None,
) -> CompiledProgram:
    """All templates, ready to run; ``options`` is how they are compiled, if not as always."""
    options = options or CodegenOptions(CodeGenerator, {})
    code = generate(trees, context, options.generator)
    namespace: dict[str, object] = {
        **_code_globals(missing),
        **options.code_globals,
        **code.constants,
    }
    exec(compile("\n".join(code.lines), FILE, "exec"), namespace)  # noqa: S102 # our own code
    bodies = {name: namespace[_local(index)] for index, name in enumerate(trees)}
    used = (context.functions[name[2:]] for name in code.constants if name.startswith("f_"))
    mutates = any(function.mutates for function in used)
    return CompiledProgram(bodies, code.sites, mutates, code.failures)  # type: ignore[arg-type] # made above


def generate(
    trees: Trees, context: CompileContext, kind: type[CodeGenerator] | None = None
) -> Code:
    """The Python source of all templates: a function each."""
    code = Code()
    for index, (name, root) in enumerate(trees.items()):
        template = (kind or CodeGenerator)(code, name, context, frozenset(trees))
        template.template_body(_local(index), root)
    return code


def _local(index: int) -> str:
    return f"template{index}"


def _fail(text: str) -> NoReturn:
    raise EvalError(text)


def _code_globals(missing: MissingKey) -> dict[str, object]:
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
        "seed_random": Run.seed_random,
        "measure": Run.measure,
        "format_value": Run.format_value,
        "spend": Run.spend,
        "iterate": Run.iterate,
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


class CodeGenerator:
    """Compiles one template into ``code``.

    ``at`` is the node that Go would name in an error at this moment: the text of an error depends
    on it.
    """

    def __init__(
        self, code: Code, template: str, context: CompileContext, templates: frozenset[str]
    ) -> None:
        self.code = code
        self.template = template
        self.templates = templates
        self.functions = context.functions
        # A variable that is assigned anywhere may hold anything.
        self.assigned = context.assigned
        self.mutates = context.mutates
        self.scope = Scope()
        self.dot = Value("d")
        self.at: Placed = Dot(0)
        self.loops = 0
        self.max_loops = MAX_LOOPS

    # Nodes

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
                self.compile_template_call(node)
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
        text = f"{value.code} if type({value.code}) is str else format_value(run, {value.code})"
        self.code.line(f"w({value.code if value.type == 'string' else text})", self.site())

    def compile_template_call(self, node: Template) -> None:
        """``{{ template }}``."""
        if node.name not in self.templates:
            self.fail(f"template {quote(node.name)} not defined")
            return
        data = "MISSING" if node.pipe is None else self.missing_for_nil(self.pipeline(node.pipe))
        self.at = node
        self.code.line(f"call(run, w, {node.name!r}, {data})", self.site())

    def branch(self, node: If | With) -> None:
        """``if`` and ``with``, and the chain of those that hang on their else.

        A chain is flat in Python, whatever its length: a flag says whether one was taken.
        """
        outer_scope, outer_dot = self.scope, self.dot
        chain, rest = _chain(node)
        is_false = self.code.name("c")
        for index, link in enumerate(chain):
            again = self.code.block(f"if {is_false}:") if index else nullcontext()
            with again:
                self.scope = header = Scope(self.scope)
                value = self.pipeline(link.pipe)
                if len(chain) > 1 or rest is not None:
                    self.code.line(f"{is_false} = not {value.code}", self.site())
                with self.code.block(f"if {value.code}:", self.site()):
                    self.inside(header, link.body, value, link)
                self.scope, self.dot = header, outer_dot
        if rest is not None:
            with self.code.block(f"if {is_false}:"):
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
            self.loop_body(node, items)
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

    def loop_body(self, node: Range, items: str) -> None:
        """The loop itself: the dot and the variables are the element of each turn."""
        dot, key = self.code.name("d"), self.code.name("i")
        declared = [variable.names[0] for variable in node.pipe.declared]
        target = f"{key}, {dot}" if len(declared) > 1 else dot
        self.loops += 1
        start = len(self.code.lines)
        with self.code.block(f"for {target} in iterate(run, {items}, COST):", self.site()):
            self.scope = Scope(self.scope)
            self.dot = Value(dot, element=True)
            for name, local in zip(declared, [key, dot] if declared[1:] else [dot], strict=False):
                variable = self.scope.find(name)
                if variable is not None and (node.pipe.assigns or name in self.assigned):
                    self.code.line(f"{variable.code} = {local}")
                else:
                    self.scope.declare(name, Value(local, element=True))
            self.nodes(node.body)
        cost = len(self.code.lines) - start
        self.code.lines[start] = self.code.lines[start].replace("COST", str(cost))
        self.loops -= 1

    # Lines

    def site(self, value: Value | None = None) -> Site:
        """Where the next line comes from: the current node."""
        return Site(self.at, self.template, None, value is not None and value.element)

    def compute(self, expression: str, value: Value | None = None) -> str:
        """A new name for what ``expression`` gives."""
        name = self.code.name()
        self.code.line(f"{name} = {expression}", self.site(value))
        return name

    def fail(self, text: str) -> Value:
        """Code that fails when it is reached, as Go finds out only then."""
        site = self.site()
        self.code.failures.append((site, text))
        self.code.line(f"fail({text!r})", site)
        return _NOTHING

    # Pipelines and commands

    def pipeline(self, pipe: Pipe) -> Value:
        """The value of a pipeline; its variables are declared or assigned on the way."""
        self.at = pipe
        value: Value | None = None
        for command in pipe.commands:
            value = self.command(command, value)._replace(from_pipeline=True, element=False)
        result = value or _NOTHING
        for variable in pipe.declared:
            self.bind(variable.names[0], result, assigns=pipe.assigns)
        return result

    def bind(self, name: str, value: Value, *, assigns: bool) -> None:
        """Give a variable its value: a new one, or with ``assigns`` one that is there."""
        from_pipeline = self.missing_for_nil(value)
        if not assigns:
            local = self.code.name("v")
            self.code.line(f"{local} = {from_pipeline}")
            is_null = value.null and from_pipeline == value.code
            local_value = Value(local, value.type, nil=value.nil, null=is_null)
            if value.origin is not None and value.origin.start not in self.code.changing:
                local_value = local_value._replace(origin=value.origin)
            if name in self.assigned:
                self.code.changing.add(local)
                local_value = Value(local)
            self.scope.declare(name, local_value)
            return
        variable = self.scope.find(name)
        if variable is None:
            self.fail(f"undefined variable: {name}")
            return
        self.code.line(f"{variable.code} = {from_pipeline}")

    def command(self, command: Command, final: Value | None) -> Value:
        """One stage of a pipeline; ``final`` is what the stage before it gave."""
        first, has_arguments = command.words[0], len(command.words) > 1 or final is not None
        if isinstance(first, (Field, Chain)) or (
            isinstance(first, Variable) and (len(first.names) > 1)
        ):
            start, names = self.chain_start(first)
            if not has_arguments:
                return self.fields(start, names)
            return self.method(command, start, names, final)
        if isinstance(first, Identifier):
            self.at = first
            return self.call(first, command, command.words[1:], final)
        if not isinstance(first, Pipe):
            self.at = first
        if has_arguments:
            return self.fail(f"can't give argument to non-function {to_source(first)}")
        if isinstance(first, Nil):
            return self.fail("nil is not a command")
        return self.pipeline(first) if isinstance(first, Pipe) else self.simple(first)

    def simple(self, word: Operand) -> Value:
        """The dot, a variable or a constant."""
        if isinstance(word, Dot):
            return self.dot
        if isinstance(word, Variable):
            variable = self.scope.find(word.names[0])
            return variable or self.fail(f"undefined variable: {word.names[0]}")
        return self.constant(word) if isinstance(word, (Bool, Number, String)) else _NOTHING

    def constant(self, word: constants.Constant, type_name: str = "any") -> Value:
        """A constant, for a parameter of this type."""
        try:
            return constants.of_type(word, type_name, self.code)
        except constants.UnsuitableError as error:
            return self.fail(str(error))

    # Fields

    def chain_start(self, node: Field | Chain | Variable) -> tuple[Value, tuple[str, ...]]:
        """Where a chain of fields begins, and its names."""
        self.at = node
        if isinstance(node, Field):
            return self.dot, node.names
        if isinstance(node, Variable):
            return self.simple(Variable(node.position, node.names[:1])), node.names[1:]
        if isinstance(node.start, Nil):
            return self.fail(f"indirection through explicit nil in {to_source(node)}"), node.names
        start = self.operand(node.start)
        return self.leave_pipeline(start) if start.from_pipeline else start, node.names

    def fields(self, start: Value, names: tuple[str, ...]) -> Value:
        """The value at the end of a chain; what was read before need not be read again."""
        listed = ", ".join(map(repr, names))
        reader = f"get{len(names)}" if len(names) <= _MAX_READER else "get"
        expression = f"{reader}({start.code}, {listed})"
        name = self.code.find_name(expression)
        if name is None:
            name = self.compute(expression, start)
            if not self.mutates and start.code not in self.code.changing:
                self.code.remember(expression, name)
        return Value(name)

    def method(
        self, command: Command, start: Value, names: tuple[str, ...], final: Value | None
    ) -> Value:
        """A field that is given arguments: only a method may be."""
        receiver = start
        if len(names) > 1:
            receiver = self.fields(start, names[:-1])._replace(element=True)
        method = self.compute(f"find_method({receiver.code}, {names[-1]!r})", receiver)
        result = self.code.name()
        self.code.line(f"{result} = MISSING")
        with self.code.block(f"if {method} is not None:"):
            arguments = [self.argument(word, "value").code for word in command.words[1:]]
            if final is not None:
                arguments.append(self.check(final, "value").code)
            listed = "".join(f"{argument}, " for argument in arguments)
            site = Site(command.words[0], self.template, names[-1])
            self.code.line(f"{result} = call_method({method}, ({listed}))", site)
        return Value(result)

    # Calls

    def call(
        self, name: Identifier, node: Placed, words: tuple[Operand, ...], final: Value | None
    ) -> Value:
        """Return a function's result; an include must name a template that is defined."""
        if name.name == "include" and words and isinstance(words[0], String):
            template = words[0].value
            if template not in self.templates:
                site = Site(node, self.template, name.name)
                self.code.failures.append((site, f"template {quote(template)} not defined"))
        function = self.functions[name.name]
        types = function.parameter_types
        count = len(words) + (final is not None)
        if function.variadic and count < len(types) - 1:
            counts = f"want at least {len(types) - 1} got {len(words)}"
            return self.fail(f"wrong number of args for {name.name}: {counts}")
        if not function.variadic and count != len(types):
            counts = f"want {len(types)} got {count}"
            return self.fail(f"wrong number of args for {name.name}: {counts}")
        if name.name in {"and", "or"}:
            return self.choose(words, final, stops_at="not " if name.name == "and" else "")
        arguments = [
            self.argument(word, types[min(index, len(types) - 1)])
            for index, word in enumerate(words)
        ]
        if final is not None:
            arguments.append(self.check(final, types[min(len(words), len(types) - 1)]))
        codes = [
            _passed(value, types[min(index, len(types) - 1)])
            for index, value in enumerate(arguments)
        ]
        if function.injects is Injects.SOURCE:
            codes.insert(0, repr(to_source(words[0])) if words else "''")
        return self.invoke(function, node, arguments, codes)

    def invoke(
        self, function: Function, node: Placed, arguments: list[Value], codes: list[str]
    ) -> Value:
        """The line that calls a function, and the one that charges for what it made."""
        if function.injects is Injects.RANDOM:
            # The call's own text is its place: edits elsewhere do not change what it draws.
            codes = [f"seed_random(run, {f'{self.template}: {to_source(node)}'!r})", *codes]
        elif function.injects in {Injects.ALLOCATOR, Injects.RUN}:
            codes = ["run", *codes]
        self.code.constants[f"f_{function.name}"] = function.call
        call = f"f_{function.name}({', '.join(codes)})"
        short = shorten(function.name, arguments, call)
        unknown = function.returns == "any"
        value = short or Value(call, function.returns, nil=unknown, null=unknown)
        name, site = self.code.name(), Site(node, self.template, function.name)
        if function.cost:
            self.code.line(f"spend(run, {function.cost})", site)
        self.code.line(f"{name} = {value.code}", site)
        if value.type == "string":
            self.code.line(f"if len({name}) > {_SMALL}: measure(run, {name})", site)
        elif value.type == "any" and short is None and function.allocates:
            self.code.line(f"measure(run, {name})", site)
        return value._replace(code=name)

    def choose(self, words: tuple[Operand, ...], final: Value | None, *, stops_at: str) -> Value:
        """``and`` and ``or``: operands are computed only until one decides."""
        result = self.code.name()
        goes_on = f"if {result}:" if stops_at else f"if not {result}:"
        for index, word in enumerate(words):
            block = self.code.block(goes_on) if index else nullcontext()
            with block:
                self.code.line(f"{result} = {self.argument(word, 'value').code}")
        if final is not None:
            condition = goes_on if words else ""
            self.code.line(f"{condition} {result} = {self.check(final, 'value').code}".strip())
        return Value(result)

    # Arguments

    def operand(self, word: Operand) -> Value:
        """The value of a word that is no constant."""
        self.at = word
        if isinstance(word, Pipe):
            return self.pipeline(word)
        if isinstance(word, Identifier):
            return self.call(word, word, (), None)
        if isinstance(word, (Field, Chain)) or (isinstance(word, Variable) and word.names[1:]):
            return self.fields(*self.chain_start(word))
        return self.simple(word)

    def argument(self, word: Operand, type_name: str) -> Value:
        """A word as an argument for a parameter of this type, checked."""
        self.at = word
        if isinstance(word, (Nil, Bool, Number, String)):
            return self.constant(word, type_name)
        return self.check(self.operand(word), type_name)

    def check(self, value: Value, type_name: str) -> Value:
        """A value as an argument, once it is of the parameter's type."""
        if type_name in {"any", value.type}:
            return value
        final = self.leave_pipeline(value) if value.from_pipeline else value
        if type_name == "value":
            return final
        if type_name in _EXACT:
            test = f"if type({value.code}) is not {_EXACT[type_name]}:"
            self.code.line(f"{test} refuse({final.code}, {type_name!r})", self.site())
            return Value(value.code, type_name, nil=False, null=False)
        checked = self.compute(f"check_argument({final.code}, {type_name!r})")
        return Value(checked, nil=False, null=False)

    def leave_pipeline(self, value: Value) -> Value:
        """The value as it leaves a pipeline: MISSING for nil."""
        return value._replace(code=self.missing_for_nil(value), null=False)

    def missing_for_nil(self, value: Value) -> str:
        """The code of ``at_end``."""
        if not value.null:
            return value.code
        return f"(MISSING if {value.code} is None else {value.code})"


def _chain(node: If | With) -> tuple[list[If | With], list[Node] | None]:
    """A branch and those of its kind that stand alone in its else; and the last else."""
    chain = [node]
    rest = node.otherwise
    while rest is not None and len(rest) == 1 and type(rest[0]) is type(node):
        chain.append(rest[0])
        rest = chain[-1].otherwise
    return chain, rest


def _passed(value: Value, type_name: str) -> str:
    """The code of an argument: for ``any``, nil is None."""
    return any_code(value) if type_name == "any" else value.code
