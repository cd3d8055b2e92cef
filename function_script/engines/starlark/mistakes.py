"""Mistakes in scripts that compile: what fails whenever it runs, and what nobody can mean.

A finding is certain from the script alone.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from function_script import spelling
from function_script.diagnostics import Diagnostic
from function_script.engines import habits, leftovers
from function_script.engines.starlark import run_hints, signatures
from function_script.engines.starlark.analysis import kinds, syntax
from function_script.engines.starlark.analysis.names import Bindings, Value
from function_script.engines.tables import Rules
from function_script.program import Program
from function_script.source import Source, Span, excerpt, span_at

_METHODS: Final = {
    "string": habits.STRING_METHODS,
    "list": habits.LIST_METHODS,
    "dict": habits.MAPPING_METHODS,
}
# Methods that lists alone have, and that give None.
_LIST_CHANGES: Final = frozenset({"append", "extend", "insert"})
_RESOURCE: Final = "resource"
# JSONPath, and paths of JSON Patch. The key of an annotation has other parts in front of a slash.
_FOREIGN_PATH: Final = re.compile(r"\$\.|/?(?:spec|status|metadata)/[\w/]+$")
# Text in braces that would be the value of a name in an f-string or in JavaScript.
_INTERPOLATION: Final = re.compile(r"(?P<lead>\$?)\{(?P<name>[A-Za-z_]\w*)\}")
# An expression of a template that begins with a name.
_EXPRESSION: Final = re.compile(r"\{\{-? *(?P<name>[A-Za-z_]\w*)(?:[.\[][^{}]*)?\}\}")
_TYPES: Final = frozenset(
    {
        *("NoneType", "bool", "dict", "float", "function", "int", "list", "namespace", "range"),
        *("string", "struct", "tuple"),
    }
)
_OTHER_TYPES: Final = {
    **dict.fromkeys(("str", "String", "text"), "string"),
    **dict.fromkeys(("object", "map", "mapping", "hash"), "dict"),
    **dict.fromkeys(("array", "slice"), "list"),
    **dict.fromkeys(("integer", "number"), "int"),
    **dict.fromkeys(("boolean",), "bool"),
    **dict.fromkeys(("none", "None", "null"), "NoneType"),
}
_CONSTRUCTORS: Final = frozenset({"bool", "dict", "float", "int", "list", "str", "tuple"})
_RESULT: Final = 'return {"desired": {"resources": {...}}}'
_OBJECT_GETTERS: Final = frozenset({"get_observed", "get_desired", "get_xr"})


class _Finding(NamedTuple):
    span: Span
    message: str
    hint: str | None


class _Script(NamedTuple):
    """A source with its tree, the names that it binds, and the values of those bound once."""

    source: Source
    tree: ast.Module
    bindings: Bindings
    values: Mapping[str, Value]
    is_main: bool

    def at(self, node: ast.expr, message: str, hint: str | None) -> _Finding:
        return _Finding(syntax.span_of(node, self.source), message, hint)

    def kind_of(self, node: ast.expr) -> str | None:
        """Return the type of an expression that is certain from names and constants."""
        return kinds.kind_of(node, self.values)

    def signature_of(self, name: str) -> signatures.Signature | None:
        """Return the signature of a predeclared function; None for names of the script's own."""
        return None if self.bindings.is_bound(name) else signatures.functions().get(name)


_Rule: TypeAlias = Callable[[_Script], Iterator[_Finding]]
_FAILURES: Final = Rules[_Rule]()
_DOUBTS: Final = Rules[_Rule]()


def find_failures(program: Program) -> Iterator[Diagnostic]:
    """Yield operations that fail in every run that reaches them."""
    return _find(_FAILURES, program)


def find_doubts(program: Program) -> Iterator[Diagnostic]:
    """Yield parts that run without an error, and that nobody can mean."""
    return _find(_DOUBTS, program)


def _find(rules: Rules[_Rule], program: Program) -> Iterator[Diagnostic]:
    for source in program.sources():
        tree = syntax.parse(source.text)
        if tree is None:
            continue
        bindings = Bindings.of([tree])
        is_main = source is program.main
        script = _Script(source, tree, bindings, bindings.single_values(), is_main)
        unique = dict.fromkeys(finding for rule in rules for finding in rule(script))
        for finding in sorted(unique, key=lambda each: (each.span.line, each.span.column or 0)):
            yield Diagnostic(
                message=finding.message,
                span=finding.span,
                excerpt=excerpt(source, finding.span),
                hint=finding.hint,
            )


# -- Failures


@_FAILURES.add
def _missing_attributes(script: _Script) -> Iterator[_Finding]:
    """Find methods that values of a certain type do not have."""
    callees = {id(node.func) for node in ast.walk(script.tree) if isinstance(node, ast.Call)}
    for node in ast.walk(script.tree):
        if not isinstance(node, ast.Attribute):
            continue
        kind = script.kind_of(node.value) or ""
        names = signatures.attributes().get(kind, ())
        if not names or node.attr in names:
            continue
        correction = _METHODS.get(kind, {}).get(node.attr)
        hint = correction.starlark if correction is not None else None
        near = spelling.nearest(node.attr, names)
        if hint is None and near is not None:
            hint = f'did you mean "{near}"?'
        if hint is None and kind == "dict" and id(node) not in callees:
            hint = f'fields of a dict: ["{node.attr}"], or .get("{node.attr}")'
        span = run_hints.attribute_span(node, script.source) or syntax.span_of(node, script.source)
        yield _Finding(span, f'a value of type {kind} has no attribute "{node.attr}"', hint)


@_FAILURES.add
def _changed_constants(script: _Script) -> Iterator[_Finding]:
    """Find functions that change values of the top level, which are frozen, or their names."""
    constants = {
        target.id: statement.value
        for statement in script.tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    for function in (node for node in script.tree.body if isinstance(node, ast.FunctionDef)):
        stores = Counter(
            node.arg if isinstance(node, ast.arg) else node.id
            for node in ast.walk(function)
            if isinstance(node, ast.arg)
            or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        )
        for node in ast.walk(function):
            match node:
                case ast.AugAssign(target=ast.Name(id=name) as target) if stores[name] == 1:
                    hint = run_hints.local_hint(name)
                case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name) as target)]) | (
                    ast.Call(
                        func=ast.Attribute(
                            value=ast.Name(id=name) as target,
                            attr="append" | "extend" | "insert" | "update" | "clear" | "pop",
                        )
                    )
                ) if not stores[name]:
                    match constants.get(name):
                        case ast.List() | ast.ListComp():
                            hint = f"change a copy: `copy = list({name})`"
                        case ast.Dict() | ast.DictComp():
                            hint = f"change a copy: `copy = merge({{}}, {name})`"
                        case _:
                            continue
                case _:
                    continue
            if name in constants:
                message = f'a function cannot change "{name}", which is set outside of it'
                yield script.at(target, message, hint)


@_FAILURES.add
def _wrong_arguments(script: _Script) -> Iterator[_Finding]:
    """Find arguments of a type that a predeclared function does not take."""
    for call in (node for node in ast.walk(script.tree) if isinstance(node, ast.Call)):
        if not isinstance(call.func, ast.Name):
            continue
        signature = script.signature_of(call.func.id)
        is_plain = not any(isinstance(each, ast.Starred) for each in call.args)
        if signature is None or not is_plain:
            continue
        is_wrong = False
        for argument, parameter in zip(call.args, signature.parameters, strict=False):
            kind = script.kind_of(argument)
            if kind is None or not parameter.types or kind in parameter.types:
                continue
            if kinds.can_be_equal(kind, next(iter(parameter.types))):
                continue
            types = " or ".join(sorted(parameter.types - {"NoneType"}))
            message = f'argument "{parameter.name}" is of type {types}, not {kind}'
            is_wrong = True
            yield script.at(argument, message, f"write {signature.usage}")
        count = len(call.args) + len(call.keywords)
        required = sum(each.is_required for each in signature.parameters)
        is_spread = any(each.arg is None for each in call.keywords)
        if count < required and not is_spread and not is_wrong:
            message = f"{call.func.id} takes {required} arguments, not {count}"
            yield script.at(call.func, message, f"write {signature.usage}")


@_FAILURES.add
def _refused_texts(script: _Script) -> Iterator[_Finding]:
    """Find texts that are no number, no format, and no reason or status of a response."""
    for node in ast.walk(script.tree):
        match node:
            case ast.Call(
                func=ast.Name(id="int" | "float" as name),
                args=[ast.Constant(value=str(text)) as number],
            ):
                if hint := run_hints.number_hint(text, name):
                    yield script.at(number, f'cannot read "{text}" as a number', hint)
            case ast.Call(
                func=ast.Attribute(value=ast.Constant(value=str(text)) as value, attr="format")
            ):
                if hint := run_hints.format_hint(text):
                    yield script.at(value, "format has no specifications after a colon", hint)
            case ast.Call() if wrong := run_hints.find_wrong_word(node):
                yield script.at(*wrong)


@_FAILURES.add
def _wrong_operands(script: _Script) -> Iterator[_Finding]:
    """Find sums and comparisons of values of two types."""
    for node in ast.walk(script.tree):
        match node:
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                verb = "add"
            case ast.Compare(
                left=left,
                ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()],
                comparators=[right],
            ):
                verb = "compare"
            case _:
                continue
        one, two = script.kind_of(left), script.kind_of(right)
        if one is None or two is None or kinds.can_be_equal(one, two):
            continue
        hint = None
        if {one, two} == {"int", "string"}:
            hint = "use str(value) for the number, or int(text) for the text"
        message = f"cannot {verb} a value of type {one} and one of type {two}"
        yield script.at(right, message, hint)


@_FAILURES.add
def _no_result(script: _Script) -> Iterator[_Finding]:
    """Find a main that returns nothing, a list or a text."""
    for function in script.tree.body if script.is_main else ():
        if not isinstance(function, ast.FunctionDef) or function.name != "main":
            continue
        lines = script.source.text.split("\n")
        offset = sum(len(line) + 1 for line in lines[: function.lineno - 1])
        span = span_at(script.source, offset, len("def main"))
        nodes = [*ast.walk(function)]
        values = [node.value for node in nodes if isinstance(node, ast.Return)]
        is_plain = not any(isinstance(node, ast.FunctionDef) for node in nodes[1:])
        if values and is_plain and all(isinstance(v, (ast.List, ast.ListComp)) for v in values):
            yield _Finding(span, "main returns a list", _RESULT)
        texts = [v for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str)]
        if values and is_plain and texts == values:
            advice = f"{_RESULT}; from_yaml(text) reads an object"
            yield _Finding(span, "main returns a text", advice)
        builder = None
        for node in nodes:
            match node:
                case ast.Return(value=ast.expr()) | ast.Call(func=ast.Name(id="fail")):
                    break
                case ast.Assign(
                    targets=[ast.Name(id=name), *_], value=ast.Call(func=ast.Name(id="response"))
                ):
                    builder = builder or name
                case _:
                    pass
        else:
            hint = f"end it with `return {builder}`" if builder else None
            yield _Finding(span, "main returns nothing", hint)


# -- Doubts


@_DOUBTS.add
def _comparisons(script: _Script) -> Iterator[_Finding]:
    """Find comparisons of values that can never be equal."""
    for node in ast.walk(script.tree):
        match node:
            case ast.Compare(
                left=left, ops=[ast.Eq() | ast.NotEq() as operator], comparators=[right]
            ):
                result = "false" if isinstance(operator, ast.Eq) else "true"
            case _:
                continue
        if doubt := _doubt_of_type_name(left, right) or _doubt_of_type_name(right, left):
            name, hint = doubt
            yield script.at(right, f"this is always {result}: no type is called {name}", hint)
            continue
        one, two = (script.kind_of(each) or _kind_of_result(each, script) for each in (left, right))
        if one is None or two is None or "NoneType" in {one, two} or kinds.can_be_equal(one, two):
            continue
        message = (
            f"this is always {result}: a value of type {one} is never equal to one of type {two}"
        )
        hint = "compare values of one type"
        match left, right:
            case (ast.Call(func=ast.Name(id="get_condition")) as call, _) | (
                _,
                ast.Call(func=ast.Name(id="get_condition")) as call,
            ):
                hint = f'its status is a text: {run_hints.to_source(call)}["status"]'
            case _ if {one, two} == {"int", "string"}:
                hint = "leave the quotes of the number out, or convert with str(...)"
            case _ if {one, two} == {"bool", "string"}:
                hint = "write True and False without quotes"
            case _:
                pass
        yield script.at(right, message, hint)


def _kind_of_result(node: ast.expr, script: _Script) -> str | None:
    """Return the type of what a predeclared function returns; None for other expressions."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if signature := script.signature_of(name):
            return next(iter(signature.result)) if len(signature.result) == 1 else None
        case _:
            return None


def _doubt_of_type_name(call: ast.expr, other: ast.expr) -> tuple[str, str] | None:
    """Return the name and the hint for ``type(x) == "str"`` or ``type(x) == dict``."""
    match call, other:
        case ast.Call(func=ast.Name(id="type")), ast.Constant(value=str(name)) if (
            name not in _TYPES
        ):
            near = _OTHER_TYPES.get(name) or spelling.nearest(name, tuple(_TYPES))
            hint = f'write "{near}"' if near else f"there are {', '.join(sorted(_TYPES))}"
            return f'"{name}"', hint
        case ast.Call(func=ast.Name(id="type")), ast.Name(
            id="str" | "dict" | "list" | "int" | "bool" | "float" | "tuple" as name
        ):
            text = "string" if name == "str" else name
            return name, f'write type(value) == "{text}"'
        case _:
            return None


@_DOUBTS.add
def _conditions(script: _Script) -> Iterator[_Finding]:
    """Find conditions that a text makes true, such as ``x == "a" or "b"``."""
    for node in ast.walk(script.tree):
        if not isinstance(node, (ast.If, ast.IfExp)):
            continue
        for part in ast.walk(node.test):
            match part:
                case ast.BoolOp(op=ast.Or(), values=[ast.Compare(), *others]):
                    for other in others:
                        if isinstance(other, ast.Constant) and isinstance(other.value, str):
                            message = "this condition is always true: a text alone is true"
                            yield script.at(other, message, 'write `value in ["a", "b"]`')
                case _:
                    pass


@_DOUBTS.add
def _results_of_changes(script: _Script) -> Iterator[_Finding]:
    """Find lists that are set to the result of a change, which is None."""
    for node in ast.walk(script.tree):
        match node:
            case (
                ast.Assign(value=ast.Call(func=ast.Attribute(value=value, attr=name)) as call)
                | ast.Return(value=ast.Call(func=ast.Attribute(value=value, attr=name)) as call)
            ) if name in run_hints.NO_RESULT:
                pass
            case _:
                continue
        match value:
            case _ if name in _LIST_CHANGES:
                noun = "list"
            case (
                ast.Dict()
                | ast.List()
                | ast.Subscript()
                | ast.Call(func=ast.Name(id="dict" | "list" | "merge"))
            ):
                noun = "value"
            case _:
                # Something else than data may have a method of this name.
                continue
        hint = f"write {name} on a line of its own, and then {ast.unparse(value)}"
        if not isinstance(value, (ast.Name, ast.Subscript)):
            hint = f"give the {noun} a name, and write {name} on a line of its own"
        yield script.at(call, f"{name} changes the {noun} and gives None", hint)


@_DOUBTS.add
def _never_read(script: _Script) -> Iterator[_Finding]:
    """Find names that a function sets and never reads."""
    for function in ast.walk(script.tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        reads: set[str] = set()
        texts = ""
        for node in ast.walk(function):
            match node:
                # `x += 1` reads, too.
                case ast.Name(id=name, ctx=ast.Load()) | ast.AugAssign(target=ast.Name(id=name)):
                    reads.add(name)
                case ast.Constant(value=str(text)):
                    texts += f"{text}\n"
                case _:
                    pass
        names_in_braces = {match["name"] for match in _INTERPOLATION.finditer(texts)}
        for statement in ast.walk(function):
            match statement:
                case ast.Assign(targets=[ast.Name(id=name) as target], value=value) if (
                    name not in reads
                    and not name.startswith("_")
                    # A call may be there for its effect.
                    and not any(isinstance(node, ast.Call) for node in ast.walk(value))
                ):
                    hint = "use it, or take it out"
                    if name in names_in_braces:
                        hint = f'a text with a value begins with f: f"{{{name}}}"'
                    yield script.at(target, f'"{name}" is set and never read', hint)
                case _:
                    pass


@_DOUBTS.add
def _one_value_tuples(script: _Script) -> Iterator[_Finding]:
    """Find names that a comma at the end of the line sets to a tuple of one value."""
    for node in ast.walk(script.tree):
        match node:
            case ast.Assign(targets=[ast.Name()], value=ast.Tuple(elts=[item]) as value) if (
                item.lineno,
                item.col_offset,
            ) == (value.lineno, value.col_offset):
                message = "the comma at the end makes a list of this value"
                yield script.at(item, message, "take the comma out")
            case _:
                pass


@_DOUBTS.add
def _texts_for_resources(script: _Script) -> Iterator[_Finding]:
    """Find functions of resources that get a resource's name."""
    for node in ast.walk(script.tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[argument, *_]) if (
                (signature := script.signature_of(name))
                and [each.name for each in signature.parameters[:1]] == [_RESOURCE]
                and script.kind_of(argument) == "string"
            ):
                message = f"{name} takes a resource, not its name"
                hint = f"write get_observed(req, {run_hints.to_source(argument)})"
                yield script.at(argument, message, hint)
            case _:
                pass


@_DOUBTS.add
def _leavings(script: _Script) -> Iterator[_Finding]:
    """Find texts that are leavings of another language: expressions that nothing replaces."""
    formats = {
        id(node.value)
        for node in ast.walk(script.tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Constant)
    }
    names = {
        node.id
        for node in ast.walk(script.tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for node in _data_texts(script.tree):
        if id(node) in formats or not isinstance(node.value, str):
            continue
        text = node.value
        if leftover := leftovers.of_value(text):
            yield script.at(node, leftover.message, leftover.hint)
            continue
        match = _EXPRESSION.search(text) or next(
            (each for each in _INTERPOLATION.finditer(text) if each["lead"]), None
        )
        if "\n" not in text and match is not None and match["name"] in names:
            message = f"{match[0]} is a text here: nothing replaces it"
            yield script.at(node, message, 'write the value itself, as in "a-%s" % value')


def _data_texts(node: ast.AST) -> Iterator[ast.Constant]:
    """Yield the texts that are values of dicts and lists, but not below a Composition."""
    if isinstance(node, ast.Dict):
        for value in node.values:
            if isinstance(value, ast.Constant) and value.value == "Composition":
                return
    for child in ast.iter_child_nodes(node):
        is_key = isinstance(node, ast.Dict) and child in node.keys
        if isinstance(child, ast.Constant) and isinstance(node, (ast.Dict, ast.List)):
            if not is_key and isinstance(child.value, str):
                yield child
        else:
            yield from _data_texts(child)


@_DOUBTS.add
def _paths(script: _Script) -> Iterator[_Finding]:
    """Find paths that begin with the wrapper, which getters of objects have taken off."""
    for node in ast.walk(script.tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[_, *others]) if name in _OBJECT_GETTERS:
                paths = others[:1] if name == "get_xr" else others[1:2]
            case ast.Call(
                func=ast.Attribute(attr="set_status"),
                args=[ast.Constant(value=str(text)) as status_path, _],
            ) if text.startswith("status."):
                hint = f'write "{text.removeprefix("status.")}"'
                yield script.at(status_path, "the path begins below status", hint)
                continue
            case _:
                continue
        for path in paths:
            match path:
                case ast.Constant(value=str(text)) if text.startswith("resource."):
                    message = f'{name} gives the object itself, which has no field "resource"'
                    yield script.at(path, message, f'write "{text.removeprefix("resource.")}"')
                case ast.Constant(value=str(text)) if _FOREIGN_PATH.match(text):
                    plain = text.removeprefix("$").removeprefix("/").replace("/", ".").lstrip(".")
                    message = f"no object has this path: {name} gives its default every time"
                    yield script.at(path, message, f'write "{plain}"')
                case _:
                    pass
