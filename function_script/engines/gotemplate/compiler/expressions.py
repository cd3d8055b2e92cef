"""Pipelines to Python: the part of the compiler that follows Go's evalPipeline and evalArg.

``at`` is the node Go would name in an error at this moment; the text of an error depends on it.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Final, NamedTuple

from function_script.engines.gotemplate.compiler import constants
from function_script.engines.gotemplate.compiler.code import Code, Scope, Site, Value
from function_script.engines.gotemplate.compiler.shortcuts import any_code, shorten
from function_script.engines.gotemplate.function import Function, Injects
from function_script.engines.gotemplate.syntax.nodes import (
    Bool,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    Nil,
    Number,
    Operand,
    Pipe,
    Placed,
    String,
    Variable,
    to_source,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_READER: Final = 5
# Below this length a string is not worth charging for.
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


class Expressions:
    """Compiles the expressions of one template into ``code``."""

    def __init__(self, code: Code, template: str, around: CompileContext) -> None:
        self.code = code
        self.template = template
        self.functions = around.functions
        # A variable that is assigned anywhere may hold anything.
        self.assigned = around.assigned
        self.mutates = around.mutates
        self.scope = Scope()
        self.dot = Value("d")
        self.at: Placed = Dot(0)

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
            value = self.command(command, value)._replace(settled=True, element=False)
        found = value or _NOTHING
        for variable in pipe.declared:
            self.bind(variable.names[0], found, assigns=pipe.assigns)
        return found

    def bind(self, name: str, value: Value, *, assigns: bool) -> None:
        """Give a variable its value: a new one, or with ``assigns`` one that is there."""
        settled = self.settle(value)
        if not assigns:
            local = self.code.name("v")
            self.code.line(f"{local} = {settled}")
            is_null = value.null and settled == value.code
            kept = Value(local, value.type, nil=value.nil, null=is_null)
            if value.origin is not None and value.origin.start not in self.code.changing:
                kept = kept._replace(origin=value.origin)
            if name in self.assigned:
                self.code.changing.add(local)
                kept = Value(local)
            self.scope.declare(name, kept)
            return
        known = self.scope.find(name)
        if known is None:
            self.fail(f"undefined variable: {name}")
            return
        self.code.line(f"{known.code} = {settled}")

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
            known = self.scope.find(word.names[0])
            return known or self.fail(f"undefined variable: {word.names[0]}")
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
        return self.at_end(start) if start.settled else start, node.names

    def fields(self, start: Value, names: tuple[str, ...]) -> Value:
        """The value at the end of a chain; what was read before need not be read again."""
        listed = ", ".join(map(repr, names))
        reader = f"get{len(names)}" if len(names) <= _MAX_READER else "get"
        expression = f"{reader}({start.code}, {listed})"
        found = self.code.known(expression)
        if found is None:
            found = self.compute(expression, start)
            if not self.mutates and start.code not in self.code.changing:
                self.code.remember(expression, found)
        return Value(found)

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
        """A function's result."""
        function = self.functions[name.name]
        types = function.parameters
        count = len(words) + (final is not None)
        if function.variadic and count < len(types) - 1:
            wanted = f"want at least {len(types) - 1} got {len(words)}"
            return self.fail(f"wrong number of args for {name.name}: {wanted}")
        if not function.variadic and count != len(types):
            wanted = f"want {len(types)} got {count}"
            return self.fail(f"wrong number of args for {name.name}: {wanted}")
        if name.name in {"and", "or"}:
            return self.choose(words, final, stops_at="not " if name.name == "and" else "")
        arguments = [
            self.argument(word, types[min(index, len(types) - 1)])
            for index, word in enumerate(words)
        ]
        if final is not None:
            arguments.append(self.check(final, types[min(len(words), len(types) - 1)]))
        given = [
            _passed(value, types[min(index, len(types) - 1)])
            for index, value in enumerate(arguments)
        ]
        if function.needs is Injects.SOURCE:
            given.insert(0, repr(to_source(words[0])) if words else "''")
        return self.invoke(function, node, arguments, given)

    def invoke(
        self, function: Function, node: Placed, arguments: list[Value], given: list[str]
    ) -> Value:
        """The line that calls a function, and the one that charges for what it made."""
        if function.needs is Injects.DRAW:
            # The call's own text is its place: edits elsewhere do not change what it draws.
            given = [f"draw(run, {f'{self.template}: {to_source(node)}'!r})", *given]
        elif function.needs in {Injects.BUDGET, Injects.RUN}:
            given = ["run", *given]
        self.code.constants[f"f_{function.name}"] = function.call
        call = f"f_{function.name}({', '.join(given)})"
        short = shorten(function.name, arguments, call)
        unknown = function.gives == "any"
        value = short or Value(call, function.gives, nil=unknown, null=unknown)
        name, site = self.code.name(), Site(node, self.template, function.name)
        if function.cost:
            self.code.line(f"spend(run, {function.cost})", site)
        self.code.line(f"{name} = {value.code}", site)
        if value.type == "string":
            self.code.line(f"if len({name}) > {_SMALL}: measure(run, {name})", site)
        elif value.type == "any" and short is None and function.makes:
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
        given = self.at_end(value) if value.settled else value
        if type_name == "value":
            return given
        if type_name in _EXACT:
            test = f"if type({value.code}) is not {_EXACT[type_name]}:"
            self.code.line(f"{test} refuse({given.code}, {type_name!r})", self.site())
            return Value(value.code, type_name, nil=False, null=False)
        checked = self.compute(f"check_argument({given.code}, {type_name!r})")
        return Value(checked, nil=False, null=False)

    def at_end(self, value: Value) -> Value:
        """The value as it leaves a pipeline: MISSING for nil."""
        return value._replace(code=self.settle(value), null=False)

    def settle(self, value: Value) -> str:
        """The code of ``at_end``."""
        if not value.null:
            return value.code
        return f"(MISSING if {value.code} is None else {value.code})"


def _passed(value: Value, type_name: str) -> str:
    """The code of an argument: for ``any``, nil is None."""
    return any_code(value) if type_name == "any" else value.code
