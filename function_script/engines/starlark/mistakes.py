"""Mistakes in scripts that compile: what fails whenever it runs, and what nobody can mean.

A finding is certain from the script alone.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from function_script import spelling
from function_script.diagnostics import Diagnostic
from function_script.engines import habits
from function_script.engines.starlark import run_hints, signatures
from function_script.engines.starlark.analysis import kinds, syntax
from function_script.engines.starlark.analysis.names import Bindings, Value
from function_script.program import Program
from function_script.source import Source, Span, excerpt, span_at

_METHODS: Final = {
    "string": habits.STRING_METHODS,
    "list": habits.LIST_METHODS,
    "dict": habits.MAPPING_METHODS,
}
_NO_RESULT: Final = frozenset({"append", "extend", "insert"})
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
_OBJECT_GETTERS: Final = frozenset({"get_observed", "get_desired", "get_xr"})


class _Finding(NamedTuple):
    span: Span
    message: str
    hint: str | None


def find_failures(program: Program) -> Iterator[Diagnostic]:
    """Yield operations that fail in every run that reaches them."""
    for source, tree, values in _trees(program):
        findings = [
            *_missing_attributes(source, tree, values),
            *_changed_constants(source, tree),
            *_wrong_arguments(source, tree, values),
            *_unreadable_numbers(source, tree),
            *_wrong_operands(source, tree, values),
        ]
        if source is program.main:
            findings += _no_result(source, tree)
        yield from _diagnostics(source, findings)


def find_doubts(program: Program) -> Iterator[Diagnostic]:
    """Yield parts that run without an error, and that nobody can mean."""
    for source, tree, values in _trees(program):
        findings = [
            *_comparisons(source, tree, values),
            *_conditions(source, tree),
            *_results_of_changes(source, tree),
            *_never_read(source, tree),
            *_paths(source, tree),
        ]
        yield from _diagnostics(source, findings)


def _trees(program: Program) -> Iterator[tuple[Source, ast.Module, Mapping[str, Value]]]:
    for source in program.sources():
        tree = syntax.parse(source.text)
        if tree is not None:
            values = Bindings.of([tree]).single_values()
            yield source, tree, values


def _diagnostics(source: Source, findings: Iterable[_Finding]) -> Iterator[Diagnostic]:
    unique = dict.fromkeys(findings)
    for finding in sorted(unique, key=lambda each: (each.span.line, each.span.column or 0)):
        yield Diagnostic(
            message=finding.message,
            span=finding.span,
            excerpt=excerpt(source, finding.span),
            hint=finding.hint,
        )


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


# -- Failures


def _missing_attributes(
    source: Source, tree: ast.Module, values: Mapping[str, Value]
) -> Iterator[_Finding]:
    """Find methods that values of a certain type do not have."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        kind = kinds.kind_of(node.value, values) or ""
        names = signatures.attributes().get(kind, ())
        if not names or node.attr in names:
            continue
        correction = _METHODS.get(kind, {}).get(node.attr)
        hint = correction.starlark if correction is not None else None
        near = spelling.nearest(node.attr, names)
        if hint is None and near is not None:
            hint = f'did you mean "{near}"?'
        if hint is None and kind == "dict" and id(node) not in called:
            hint = f'fields of a dict: ["{node.attr}"], or .get("{node.attr}")'
        span = run_hints.attribute_span(node, source) or syntax.span_of(node, source)
        yield _Finding(span, f'a value of type {kind} has no attribute "{node.attr}"', hint)


def _changed_constants(source: Source, tree: ast.Module) -> Iterator[_Finding]:
    """Find functions that change values of the top level, which are frozen, or their names."""
    constants = {
        target.id: statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        local = {
            node.id
            for node in ast.walk(function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        } | {each.arg for each in ast.walk(function) if isinstance(each, ast.arg)}
        counts = _count_stores(function)
        for node in ast.walk(function):
            match node:
                case ast.AugAssign(target=ast.Name(id=name) as target) if (
                    name in constants and counts[name] == 1
                ):
                    message = f'a function cannot change "{name}", which is set outside of it'
                    hint = run_hints.local_hint(name)
                    yield _Finding(syntax.span_of(target, source), message, hint)
                case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name) as target)]) | (
                    ast.Call(
                        func=ast.Attribute(
                            value=ast.Name(id=name) as target,
                            attr="append" | "extend" | "insert" | "update" | "clear" | "pop",
                        )
                    )
                ) if name in constants and name not in local:
                    value = constants[name]
                    if not isinstance(value, (ast.List, ast.Dict, ast.ListComp, ast.DictComp)):
                        continue
                    message = f'a function cannot change "{name}", which is set outside of it'
                    copy = f"list({name})" if _is_list(value) else f"merge({{}}, {name})"
                    hint = f"change a copy: `copy = {copy}`"
                    yield _Finding(syntax.span_of(target, source), message, hint)
                case _:
                    pass


def _is_list(node: ast.expr) -> bool:
    return isinstance(node, (ast.List, ast.ListComp))


def _count_stores(function: ast.FunctionDef) -> dict[str, int]:
    counts: dict[str, int] = {}
    for node in ast.walk(function):
        name = None
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.arg):
            name = node.arg
        if name is not None:
            counts[name] = counts.get(name, 0) + 1
    return counts


def _wrong_arguments(
    source: Source, tree: ast.Module, values: Mapping[str, Value]
) -> Iterator[_Finding]:
    """Find arguments of a type that a predeclared function does not take."""
    bound = Bindings.of([tree])
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if not isinstance(call.func, ast.Name) or bound.is_bound(call.func.id):
            continue
        signature = signatures.functions().get(call.func.id)
        is_plain = not any(isinstance(each, ast.Starred) for each in call.args)
        if signature is None or not is_plain:
            continue
        is_wrong = False
        for argument, parameter in zip(call.args, signature.parameters, strict=False):
            kind = kinds.kind_of(argument, values)
            if kind is None or not parameter.types or kind in parameter.types:
                continue
            if kinds.can_be_equal(kind, next(iter(parameter.types))):
                continue
            types = " or ".join(sorted(parameter.types - {"NoneType"}))
            message = f'argument "{parameter.name}" is of type {types}, not {kind}'
            is_wrong = True
            yield _Finding(syntax.span_of(argument, source), message, f"write {signature.usage}")
        count = len(call.args) + len(call.keywords)
        required = sum(each.is_required for each in signature.parameters)
        is_spread = any(each.arg is None for each in call.keywords)
        if count < required and not is_spread and not is_wrong:
            message = f"{call.func.id} takes {required} arguments, not {count}"
            span = syntax.span_of(call.func, source)
            yield _Finding(span, message, f"write {signature.usage}")


def _unreadable_numbers(source: Source, tree: ast.Module) -> Iterator[_Finding]:
    """Find texts that are no number, and formats that there are not."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Name(id="int" | "float" as name), args=[ast.Constant(value=str(text))]
            ):
                hint = run_hints.number_hint(text, name)
                if hint is not None:
                    message = f'cannot read "{text}" as a number'
                    yield _Finding(syntax.span_of(node.args[0], source), message, hint)
            case ast.Call(
                func=ast.Attribute(value=ast.Constant(value=str(text)) as value, attr="format")
            ):
                hint = run_hints.format_hint(text)
                if hint is not None:
                    message = "format has no specifications after a colon"
                    yield _Finding(syntax.span_of(value, source), message, hint)
            case _:
                pass


def _wrong_operands(
    source: Source, tree: ast.Module, values: Mapping[str, Value]
) -> Iterator[_Finding]:
    """Find sums and comparisons of values of two types."""
    for node in ast.walk(tree):
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
        one, two = kinds.kind_of(left, values), kinds.kind_of(right, values)
        if one is None or two is None or kinds.can_be_equal(one, two):
            continue
        hint = None
        if {one, two} == {"int", "string"}:
            hint = "use str(value) for the number, or int(text) for the text"
        message = f"cannot {verb} a value of type {one} and one of type {two}"
        yield _Finding(syntax.span_of(right, source), message, hint)


def _no_result(source: Source, tree: ast.Module) -> Iterator[_Finding]:
    """Find a main that returns nothing."""
    for function in tree.body:
        if not isinstance(function, ast.FunctionDef) or function.name != "main":
            continue
        nodes = [*ast.walk(function)]
        returns = any(isinstance(node, ast.Return) and node.value is not None for node in nodes)
        stops = any(
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "fail"
            for node in nodes
        )
        if returns or stops:
            continue
        builder = next(
            (
                node.targets[0].id
                for node in nodes
                if isinstance(node, ast.Assign)
                and isinstance(node.targets[0], ast.Name)
                and isinstance(node.value, ast.Call)
                and isinstance(node.value.func, ast.Name)
                and node.value.func.id == "response"
            ),
            None,
        )
        lines = source.text.split("\n")
        offset = sum(len(line) + 1 for line in lines[: function.lineno - 1])
        span = span_at(source, offset, len("def main"))
        hint = f"end it with `return {builder}`" if builder else None
        yield _Finding(span, "main returns nothing", hint)


# -- Doubts


def _comparisons(
    source: Source, tree: ast.Module, values: Mapping[str, Value]
) -> Iterator[_Finding]:
    """Find comparisons of values that can never be equal."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(
                left=left, ops=[ast.Eq() | ast.NotEq() as operator], comparators=[right]
            ):
                result = "false" if isinstance(operator, ast.Eq) else "true"
            case _:
                continue
        if doubt := _doubt_of_type_name(left, right) or _doubt_of_type_name(right, left):
            name, hint = doubt
            message = f"this is always {result}: no type is called {name}"
            yield _Finding(syntax.span_of(right, source), message, hint)
            continue
        one, two = kinds.kind_of(left, values), kinds.kind_of(right, values)
        if one is None or two is None or "NoneType" in {one, two} or kinds.can_be_equal(one, two):
            continue
        message = (
            f"this is always {result}: a value of type {one} is never equal to one of type {two}"
        )
        hint = "compare values of one type"
        if {one, two} == {"int", "string"}:
            hint = "leave the quotes of the number out, or convert with str(...)"
        elif {one, two} == {"bool", "string"}:
            hint = "write True and False without quotes"
        yield _Finding(syntax.span_of(right, source), message, hint)


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


def _conditions(source: Source, tree: ast.Module) -> Iterator[_Finding]:
    """Find conditions that a text makes true, such as ``x == "a" or "b"``."""
    for node in ast.walk(tree):
        if not isinstance(node, (ast.If, ast.IfExp)):
            continue
        for part in ast.walk(node.test):
            match part:
                case ast.BoolOp(op=ast.Or(), values=[ast.Compare(), *others]):
                    for other in others:
                        if isinstance(other, ast.Constant) and isinstance(other.value, str):
                            message = "this condition is always true: a text alone is true"
                            hint = 'write `value in ["a", "b"]`'
                            yield _Finding(syntax.span_of(other, source), message, hint)
                case _:
                    pass


def _results_of_changes(source: Source, tree: ast.Module) -> Iterator[_Finding]:
    """Find lists that are set to the result of a change, which is None."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Assign(value=ast.Call(func=ast.Attribute(value=value, attr=name)) as call)
                | ast.Return(value=ast.Call(func=ast.Attribute(value=value, attr=name)) as call)
            ) if name in _NO_RESULT:
                message = f"{name} changes the list and gives None"
                text = ast.unparse(value)
                hint = f"write {name} on a line of its own, and then {text}"
                if not isinstance(value, (ast.Name, ast.Subscript)):
                    hint = f"give the list a name, and write {name} on a line of its own"
                yield _Finding(syntax.span_of(call, source), message, hint)
            case _:
                pass


def _never_read(source: Source, tree: ast.Module) -> Iterator[_Finding]:
    """Find names that a function sets and never reads."""
    for function in _functions(tree):
        reads = {
            node.id
            for node in ast.walk(function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        # `x += 1` reads, too.
        reads |= {
            node.target.id
            for node in ast.walk(function)
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
        }
        for statement in ast.walk(function):
            match statement:
                case ast.Assign(targets=[ast.Name(id=name) as target], value=value) if (
                    name not in reads and not name.startswith("_")
                ):
                    if any(isinstance(node, ast.Call) for node in ast.walk(value)):
                        # The call may be there for what it does.
                        continue
                    message = f'"{name}" is set and never read'
                    yield _Finding(
                        syntax.span_of(target, source), message, "use it, or take it out"
                    )
                case _:
                    pass


def _paths(source: Source, tree: ast.Module) -> Iterator[_Finding]:
    """Find paths that begin with the wrapper, which getters of objects have taken off."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[_, *others]) if name in _OBJECT_GETTERS:
                paths = others[:1] if name == "get_xr" else others[1:2]
            case _:
                continue
        for path in paths:
            match path:
                case ast.Constant(value=str(text)) if text.startswith("resource."):
                    message = f'{name} gives the object itself, which has no field "resource"'
                    hint = f'write "{text.removeprefix("resource.")}"'
                    yield _Finding(syntax.span_of(path, source), message, hint)
                case _:
                    pass
