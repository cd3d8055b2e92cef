"""Templates to Python functions: the compiler follows Go's walk, evalPipeline and evalArg.

The functions are cached by the template's text and run many times.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Final, NamedTuple, NoReturn

from function_script.engines.gotemplate import errors, printing, runtime, values
from function_script.engines.gotemplate.compiler import expressions
from function_script.engines.gotemplate.compiler.code import Code, Scope, Site, Value
from function_script.engines.gotemplate.function import Function, Injects
from function_script.engines.gotemplate.run import CompiledProgram, Run
from function_script.engines.gotemplate.syntax import nodes
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


def _fail(text: str) -> NoReturn:
    raise errors.EvalError(text)


# The global names of all generated code.
_CODE_GLOBALS: Final[Mapping[str, object]] = {
    "call_method": runtime.call_method,
    "check_argument": runtime.check_argument,
    "refuse": runtime.refuse,
    "elements": runtime.elements,
    "pairs": runtime.pairs,
    "quoted": printing.quote,
    "call": Run.call,
    "seed_random": Run.seed_random,
    "measure": Run.measure,
    "format_value": Run.format_value,
    "spend": Run.spend,
    "iterate": Run.iterate,
    "fail": _fail,
    "MISSING": values.MISSING,
    "NilMap": values.NilMap,
    "NilList": values.NilList,
    "INTEGERS": frozenset({int, values.Int}),
    "Int": values.Int,
    "PLAIN": frozenset({str, int, values.Int}),
    "bool": bool,
    "float": float,
    "int": int,
    "is_nil": values.is_nil,
    "len": len,
    "str": str,
    "type": type,
}


class CompileContext(NamedTuple):
    """The facts about all templates of a program that each of them is compiled with.

    ``assigned`` are the names of variables that some ``=`` changes. ``mutates``: data may change
    while templates run.
    """

    functions: Mapping[str, Function]
    assigned: frozenset[str]
    mutates: bool = True


class CodegenOptions(NamedTuple):
    """The generator of a kind of templates, and the additional global names of their code."""

    generator: type[CodeGenerator]
    code_globals: Mapping[str, object]


def compile_templates(
    trees: Trees,
    context: CompileContext,
    missing: runtime.MissingKey,
    options: CodegenOptions | None = None,
) -> CompiledProgram:
    """Compile all templates; ``options`` are those of a stricter kind of templates."""
    options = options or CodegenOptions(CodeGenerator, {})
    code = generate(trees, context, options.generator)
    namespace: dict[str, object] = {
        "__builtins__": {},
        **_CODE_GLOBALS,
        **runtime.readers(missing),
        "find_method": lambda value, name: runtime.find_method(value, name, missing),
        **options.code_globals,
        **code.constants,
    }
    exec(compile("\n".join(code.lines), FILE, "exec"), namespace)  # noqa: S102 # our own code
    templates = {name: namespace[_local(index)] for index, name in enumerate(trees)}
    functions = (context.functions[name[2:]] for name in code.constants if name.startswith("f_"))
    mutates = any(function.mutates for function in functions)
    return CompiledProgram(templates, code.sites, mutates, code.failures)  # type: ignore[arg-type] # made above


def generate(
    trees: Trees, context: CompileContext, generator: type[CodeGenerator] | None = None
) -> Code:
    """Generate the Python source of all templates: a function each."""
    code = Code()
    make = generator or CodeGenerator
    for index, (name, root) in enumerate(trees.items()):
        make(code, name, context, frozenset(trees)).compile_template(_local(index), root)
    return code


def _local(index: int) -> str:
    return f"template{index}"


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
        self.at: nodes.Placed = nodes.Dot(0)
        self.loops = 0
        self.max_loops = MAX_LOOPS

    # Nodes

    def compile_template(self, local: str, root: list[nodes.Node]) -> None:
        """Add the function that renders the template."""
        with self.code.block(f"def {local}(w, d, run):"):
            self.code.line("r = d")
            self.scope.declare("$", Value("r"))
            self.compile_nodes(root)

    def compile_nodes(self, body: list[nodes.Node]) -> None:
        """Compile the nodes of a body in order."""
        for node in body:
            self.compile_node(node)

    def compile_node(self, node: nodes.Node) -> None:
        """Compile one node."""
        self.at = node
        match node:
            case nodes.Text():
                self.code.line(f"w({node.text!r})", self.site())
            case nodes.Action():
                self.compile_action(node)
            case nodes.If() | nodes.With():
                self.compile_branch(node)
            case nodes.Range():
                self.compile_range(node)
            case nodes.Template():
                self.compile_template_call(node)
            case nodes.Break() | nodes.Continue():
                self.code.line("break" if isinstance(node, nodes.Break) else "continue")

    def compile_action(self, node: nodes.Action) -> None:
        """Print a pipeline's value, unless it goes into a variable."""
        value = self.compile_pipeline(node.pipe)
        if node.pipe.declared:
            return
        self.at = node
        self.write_value(value, node)

    def write_value(self, value: Value, _: nodes.Action) -> None:
        """Print a value."""
        text = f"{value.code} if type({value.code}) is str else format_value(run, {value.code})"
        self.code.line(f"w({value.code if value.type == 'string' else text})", self.site())

    def compile_template_call(self, node: nodes.Template) -> None:
        """Compile ``{{ template }}``."""
        if node.name not in self.templates:
            self.write_failure(f"template {printing.quote(node.name)} not defined")
            return
        data = (
            "MISSING"
            if node.pipe is None
            else self.missing_for_nil(self.compile_pipeline(node.pipe))
        )
        self.at = node
        self.code.line(f"call(run, w, {node.name!r}, {data})", self.site())

    def compile_branch(self, node: nodes.If | nodes.With) -> None:
        """Compile ``if`` and ``with``, and the chain of those in their else.

        A chain is flat in Python, whatever its length: a flag says whether to go on.
        """
        outer_scope, outer_dot = self.scope, self.dot
        chain, rest = _chain(node)
        is_false = self.code.name("c")
        for index, link in enumerate(chain):
            block = self.code.block(f"if {is_false}:") if index else nullcontext()
            with block:
                self.scope = pipe_scope = Scope(self.scope)
                value = self.compile_pipeline(link.pipe)
                if len(chain) > 1 or rest is not None:
                    self.code.line(f"{is_false} = not {value.code}", self.site())
                with self.code.block(f"if {value.code}:", self.site()):
                    self.compile_branch_body(pipe_scope, link.body, value, link)
                self.scope, self.dot = pipe_scope, outer_dot
        if rest is not None:
            with self.code.block(f"if {is_false}:"):
                self.scope = Scope(self.scope)
                self.compile_nodes(rest)
        self.scope = outer_scope

    def compile_branch_body(
        self, scope: Scope, body: list[nodes.Node], value: Value, link: nodes.If | nodes.With
    ) -> None:
        """Compile the body of an if or a with; a with moves the dot."""
        self.scope = Scope(scope)
        if isinstance(link, nodes.With):
            dot = self.code.name("d")
            self.code.line(f"{dot} = {value.code}")
            self.dot = value._replace(code=dot, nil=False, null=False)
        self.compile_nodes(body)

    def compile_range(self, node: nodes.Range) -> None:
        """Compile ``range`` and its else."""
        if self.loops >= self.max_loops:
            self.write_failure(f"ranges are nested more than {self.max_loops} deep")
            return
        outer_scope, outer_dot = self.scope, self.dot
        declared = node.pipe.declared
        self.scope = Scope(outer_scope)
        value = self.compile_range_value(
            nodes.Pipe(node.pipe.position, (), node.pipe.assigns, node.pipe.commands)
        )
        kind = "pairs" if len(declared) > 1 else "elements"
        items = self.assign(f"{kind}({value.code})")
        for variable in declared:
            self.bind_range_variable(variable.names[0], value, node)
        range_scope = self.scope
        block = self.code.block(f"if {items}:") if node.otherwise is not None else nullcontext()
        with block:
            self.compile_loop(node, items)
        self.scope, self.dot = range_scope, outer_dot
        if node.otherwise is not None:
            with self.code.block("else:"):
                self.scope = Scope(range_scope)
                self.compile_nodes(node.otherwise)
        self.scope = outer_scope

    def compile_range_value(self, pipe: nodes.Pipe) -> Value:
        """Compile the value that a range iterates over."""
        return self.compile_pipeline(pipe)

    def bind_range_variable(self, name: str, value: Value, node: nodes.Range) -> None:
        """Declare a variable of a range; before the first iteration it has the whole value."""
        if node.pipe.assigns or node.otherwise is not None:
            self.bind(name, value._replace(type="any"), assigns=node.pipe.assigns)
        else:
            local = self.code.name("v")
            self.code.changing.add(local)
            self.scope.declare(name, Value(local))

    def compile_loop(self, node: nodes.Range, items: str) -> None:
        """Compile the loop; the dot and the variables are the element of an iteration."""
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
            self.compile_nodes(node.body)
        cost = len(self.code.lines) - start
        self.code.lines[start] = self.code.lines[start].replace("COST", str(cost))
        self.loops -= 1

    # Lines

    def site(self, value: Value | None = None) -> Site:
        """Return the site of the next line: the current node."""
        return Site(self.at, self.template, None, value is not None and value.element)

    def assign(self, expression: str, value: Value | None = None) -> str:
        """Assign an expression to a new name."""
        name = self.code.name()
        self.code.line(f"{name} = {expression}", self.site(value))
        return name

    def write_failure(self, text: str) -> Value:
        """Add a line that fails when it is reached: Go, too, fails only then."""
        site = self.site()
        self.code.failures.append((site, text))
        self.code.line(f"fail({text!r})", site)
        return _NOTHING

    # Pipelines and commands

    def compile_pipeline(self, pipe: nodes.Pipe) -> Value:
        """Compile a pipeline; its variables are declared or assigned."""
        self.at = pipe
        value: Value | None = None
        for command in pipe.commands:
            value = self.compile_command(command, value)._replace(from_pipeline=True, element=False)
        result = value or _NOTHING
        for variable in pipe.declared:
            self.bind(variable.names[0], result, assigns=pipe.assigns)
        return result

    def bind(self, name: str, value: Value, *, assigns: bool) -> None:
        """Assign a variable: a new one, or with ``assigns`` an existing one."""
        code = self.missing_for_nil(value)
        if not assigns:
            local = self.code.name("v")
            self.code.line(f"{local} = {code}")
            is_null = value.null and code == value.code
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
            self.write_failure(f"undefined variable: {name}")
            return
        self.code.line(f"{variable.code} = {code}")

    def compile_command(self, command: nodes.Command, final: Value | None) -> Value:
        """Compile one stage of a pipeline; ``final`` is the value of the stage before it."""
        first, has_arguments = command.words[0], len(command.words) > 1 or final is not None
        if isinstance(first, (nodes.Field, nodes.Chain)) or (
            isinstance(first, nodes.Variable) and (len(first.names) > 1)
        ):
            start, names = self.compile_chain_start(first)
            if not has_arguments:
                return self.compile_fields(start, names)
            return self.compile_method(command, start, names, final)
        if isinstance(first, nodes.Identifier):
            self.at = first
            return self.compile_call(first, command, command.words[1:], final)
        if not isinstance(first, nodes.Pipe):
            self.at = first
        if has_arguments:
            return self.write_failure(
                f"can't give argument to non-function {nodes.to_source(first)}"
            )
        if isinstance(first, nodes.Nil):
            return self.write_failure("nil is not a command")
        return (
            self.compile_pipeline(first)
            if isinstance(first, nodes.Pipe)
            else self.compile_simple(first)
        )

    def compile_simple(self, word: nodes.Operand) -> Value:
        """Compile the dot, a variable or a constant."""
        if isinstance(word, nodes.Dot):
            return self.dot
        if isinstance(word, nodes.Variable):
            variable = self.scope.find(word.names[0])
            return variable or self.write_failure(f"undefined variable: {word.names[0]}")
        return (
            self.compile_constant(word)
            if isinstance(word, (nodes.Bool, nodes.Number, nodes.String))
            else _NOTHING
        )

    def compile_constant(self, word: expressions.Constant, type_name: str = "any") -> Value:
        """Compile a constant for a parameter of a type."""
        try:
            return expressions.constant_value(word, type_name, self.code)
        except expressions.UnsuitableError as error:
            return self.write_failure(str(error))

    # Fields

    def compile_chain_start(
        self, node: nodes.Field | nodes.Chain | nodes.Variable
    ) -> tuple[Value, tuple[str, ...]]:
        """Compile the start of a chain of fields; return it and the names."""
        self.at = node
        if isinstance(node, nodes.Field):
            return self.dot, node.names
        if isinstance(node, nodes.Variable):
            return self.compile_simple(nodes.Variable(node.position, node.names[:1])), node.names[
                1:
            ]
        if isinstance(node.start, nodes.Nil):
            return self.write_failure(
                f"indirection through explicit nil in {nodes.to_source(node)}"
            ), node.names
        start = self.compile_operand(node.start)
        return self.leave_pipeline(start) if start.from_pipeline else start, node.names

    def compile_fields(self, start: Value, names: tuple[str, ...]) -> Value:
        """Compile a chain of fields; an earlier read of the same chain is used again."""
        names_code = ", ".join(map(repr, names))
        reader = f"get{len(names)}" if len(names) <= _MAX_READER else "get"
        expression = f"{reader}({start.code}, {names_code})"
        name = self.code.find_name(expression)
        if name is None:
            name = self.assign(expression, start)
            if not self.mutates and start.code not in self.code.changing:
                self.code.record(expression, name)
        return Value(name)

    def compile_method(
        self, command: nodes.Command, start: Value, names: tuple[str, ...], final: Value | None
    ) -> Value:
        """Compile a field with arguments: only methods have them."""
        receiver = start
        if len(names) > 1:
            receiver = self.compile_fields(start, names[:-1])._replace(element=True)
        method = self.assign(f"find_method({receiver.code}, {names[-1]!r})", receiver)
        result = self.code.name()
        self.code.line(f"{result} = MISSING")
        with self.code.block(f"if {method} is not None:"):
            arguments = [self.compile_argument(word, "value").code for word in command.words[1:]]
            if final is not None:
                arguments.append(self.check_value(final, "value").code)
            arguments_code = "".join(f"{argument}, " for argument in arguments)
            site = Site(command.words[0], self.template, names[-1])
            self.code.line(f"{result} = call_method({method}, ({arguments_code}))", site)
        return Value(result)

    # Calls

    def compile_call(
        self,
        name: nodes.Identifier,
        node: nodes.Placed,
        words: tuple[nodes.Operand, ...],
        final: Value | None,
    ) -> Value:
        """Compile a call; an include must name a template that is defined."""
        if name.name == "include" and words and isinstance(words[0], nodes.String):
            template = words[0].value
            if template not in self.templates:
                site = Site(node, self.template, name.name)
                self.code.failures.append(
                    (site, f"template {printing.quote(template)} not defined")
                )
        function = self.functions[name.name]
        types = function.parameter_types
        count = len(words) + (final is not None)
        if function.variadic and count < len(types) - 1:
            counts = f"want at least {len(types) - 1} got {len(words)}"
            return self.write_failure(f"wrong number of args for {name.name}: {counts}")
        if not function.variadic and count != len(types):
            counts = f"want {len(types)} got {count}"
            return self.write_failure(f"wrong number of args for {name.name}: {counts}")
        if name.name in {"and", "or"}:
            return self.compile_short_circuit(
                words, final, stops_at="not " if name.name == "and" else ""
            )
        arguments = [
            self.compile_argument(word, types[min(index, len(types) - 1)])
            for index, word in enumerate(words)
        ]
        if final is not None:
            arguments.append(self.check_value(final, types[min(len(words), len(types) - 1)]))
        codes = [
            expressions.any_code(value)
            if types[min(index, len(types) - 1)] == "any"
            else value.code
            for index, value in enumerate(arguments)
        ]
        if function.injects is Injects.SOURCE:
            codes.insert(0, repr(nodes.to_source(words[0])) if words else "''")
        return self.write_call(function, node, arguments, codes)

    def write_call(
        self, function: Function, node: nodes.Placed, arguments: list[Value], codes: list[str]
    ) -> Value:
        """Add the line that calls a function, and the line that charges for its result."""
        if function.injects is Injects.RANDOM:
            # The call's source text is its key: edits elsewhere do not change its random numbers.
            codes = [f"seed_random(run, {f'{self.template}: {nodes.to_source(node)}'!r})", *codes]
        elif function.injects in {Injects.ALLOCATOR, Injects.RUN}:
            codes = ["run", *codes]
        self.code.constants[f"f_{function.name}"] = function.call
        call = f"f_{function.name}({', '.join(codes)})"
        shortcut = expressions.shorten(function.name, arguments, call)
        is_any = function.returns == "any"
        value = shortcut or Value(call, function.returns, nil=is_any, null=is_any)
        name, site = self.code.name(), Site(node, self.template, function.name)
        if function.cost:
            self.code.line(f"spend(run, {function.cost})", site)
        self.code.line(f"{name} = {value.code}", site)
        if value.type == "string":
            self.code.line(f"if len({name}) > {_SMALL}: measure(run, {name})", site)
        elif value.type == "any" and shortcut is None and function.allocates:
            self.code.line(f"measure(run, {name})", site)
        return value._replace(code=name)

    def compile_short_circuit(
        self, words: tuple[nodes.Operand, ...], final: Value | None, *, stops_at: str
    ) -> Value:
        """Compile ``and`` and ``or``: operands are computed only until one decides."""
        result = self.code.name()
        header = f"if {result}:" if stops_at else f"if not {result}:"
        for index, word in enumerate(words):
            block = self.code.block(header) if index else nullcontext()
            with block:
                self.code.line(f"{result} = {self.compile_argument(word, 'value').code}")
        if final is not None:
            condition = header if words else ""
            self.code.line(
                f"{condition} {result} = {self.check_value(final, 'value').code}".strip()
            )
        return Value(result)

    # Arguments

    def compile_operand(self, word: nodes.Operand) -> Value:
        """Compile a word other than a constant."""
        self.at = word
        if isinstance(word, nodes.Pipe):
            return self.compile_pipeline(word)
        if isinstance(word, nodes.Identifier):
            return self.compile_call(word, word, (), None)
        if isinstance(word, (nodes.Field, nodes.Chain)) or (
            isinstance(word, nodes.Variable) and word.names[1:]
        ):
            return self.compile_fields(*self.compile_chain_start(word))
        return self.compile_simple(word)

    def compile_argument(self, word: nodes.Operand, type_name: str) -> Value:
        """Compile a word as an argument for a parameter of a type, checked."""
        self.at = word
        if isinstance(word, (nodes.Nil, nodes.Bool, nodes.Number, nodes.String)):
            return self.compile_constant(word, type_name)
        return self.check_value(self.compile_operand(word), type_name)

    def check_value(self, value: Value, type_name: str) -> Value:
        """Check a value for a parameter of a type."""
        if type_name in {"any", value.type}:
            return value
        final = self.leave_pipeline(value) if value.from_pipeline else value
        if type_name == "value":
            return final
        if type_name in _EXACT:
            test = f"if type({value.code}) is not {_EXACT[type_name]}:"
            self.code.line(f"{test} refuse({final.code}, {type_name!r})", self.site())
            return Value(value.code, type_name, nil=False, null=False)
        checked = self.assign(f"check_argument({final.code}, {type_name!r})")
        return Value(checked, nil=False, null=False)

    def leave_pipeline(self, value: Value) -> Value:
        """Return the value as it leaves a pipeline: MISSING for nil."""
        return value._replace(code=self.missing_for_nil(value), null=False)

    def missing_for_nil(self, value: Value) -> str:
        """Return the code of a value, with MISSING for nil."""
        if not value.null:
            return value.code
        return f"(MISSING if {value.code} is None else {value.code})"


def _chain(
    node: nodes.If | nodes.With,
) -> tuple[list[nodes.If | nodes.With], list[nodes.Node] | None]:
    """Return a branch and those of its kind that are alone in its else; and the last else."""
    chain = [node]
    rest = node.otherwise
    while rest is not None and len(rest) == 1 and type(rest[0]) is type(node):
        chain.append(rest[0])
        rest = chain[-1].otherwise
    return chain, rest
