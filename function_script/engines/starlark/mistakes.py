"""Mistakes in scripts that compile: what fails whenever it runs, and what nobody can mean.

A finding is certain from the script alone.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from function_script import spelling
from function_script.diagnostics import Diagnostic
from function_script.engines import habits, leftovers
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
# Methods that give None, whatever has them, and those that dicts and lists have.
_NO_RESULT: Final = frozenset({"append", "extend", "insert"})
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
            *_wrong_words(source, tree),
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
            *_one_value_tuples(source, tree),
            *_texts_for_resources(source, tree, values),
            *_leavings(source, tree),
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


def _wrong_words(source: Source, tree: ast.Module) -> Iterator[_Finding]:
    """Find reasons and statuses that a response does not take."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (wrong := run_hints.find_wrong_word(node)):
            yield _Finding(syntax.span_of(wrong.node, source), wrong.message, wrong.hint)


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
    """Find a main that returns nothing, or a list."""
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
        lines = source.text.split("\n")
        offset = sum(len(line) + 1 for line in lines[: function.lineno - 1])
        span = span_at(source, offset, len("def main"))
        values = [node.value for node in nodes if isinstance(node, ast.Return)]
        is_plain = not any(isinstance(node, ast.FunctionDef) for node in nodes[1:])
        if values and is_plain and all(isinstance(v, (ast.List, ast.ListComp)) for v in values):
            yield _Finding(span, "main returns a list", 'return {"desired": {"resources": {...}}}')
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
        hint = f"end it with `return {builder}`" if builder else None
        yield _Finding(span, "main returns nothing", hint)


# -- Doubts


def _comparisons(
    source: Source, tree: ast.Module, values: Mapping[str, Value]
) -> Iterator[_Finding]:
    """Find comparisons of values that can never be equal."""
    bound = Bindings.of([tree])
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
        one, two = (
            kinds.kind_of(each, values) or _kind_of_result(each, bound) for each in (left, right)
        )
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
        if condition := _condition_call(left, right):
            hint = f'its status is a text: {condition}["status"]'
        yield _Finding(syntax.span_of(right, source), message, hint)


def _kind_of_result(node: ast.expr, bound: Bindings) -> str | None:
    """Return the type of what a predeclared function returns; None for other expressions."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if not bound.is_bound(name):
            signature = signatures.functions().get(name)
            types = signature.result if signature is not None else frozenset()
            return next(iter(types)) if len(types) == 1 else None
        case _:
            return None


def _condition_call(*nodes: ast.expr) -> str | None:
    """Return the call of ``get_condition`` among operands, as it is written; None without one."""
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id="get_condition")):
                return run_hints.to_source(node)
            case _:
                pass
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
            ) if name in _NO_RESULT or (name in run_hints.NO_RESULT and _is_data(value)):
                noun = "list" if name in _NO_RESULT else "value"
                message = f"{name} changes the {noun} and gives None"
                text = ast.unparse(value)
                hint = f"write {name} on a line of its own, and then {text}"
                if not isinstance(value, (ast.Name, ast.Subscript)):
                    hint = f"give the {noun} a name, and write {name} on a line of its own"
                yield _Finding(syntax.span_of(call, source), message, hint)
            case _:
                pass


def _is_data(node: ast.expr) -> bool:
    """Report whether an expression is a dict or a list, as far as its form says."""
    match node:
        case ast.Dict() | ast.List() | ast.Subscript():
            return True
        case ast.Call(func=ast.Name(id="dict" | "list" | "merge")):
            return True
        case _:
            return False


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
                    hint = _interpolation_hint(name, function) or "use it, or take it out"
                    yield _Finding(syntax.span_of(target, source), message, hint)
                case _:
                    pass


def _interpolation_hint(name: str, function: ast.FunctionDef) -> str | None:
    """Return the hint for a name that a plain text has in braces; None if none has it."""
    for node in ast.walk(function):
        match node:
            case ast.Constant(value=str(text)):
                for match in _INTERPOLATION.finditer(text):
                    if match["name"] == name:
                        return f'a text with a value begins with f: f"{{{name}}}"'
            case _:
                pass
    return None


def _one_value_tuples(source: Source, tree: ast.Module) -> Iterator[_Finding]:
    """Find names that a comma at the end of the line sets to a tuple of one value."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name()], value=ast.Tuple(elts=[item]) as value) if (
                item.lineno,
                item.col_offset,
            ) == (value.lineno, value.col_offset):
                message = "the comma at the end makes a list of this value"
                yield _Finding(syntax.span_of(item, source), message, "take the comma out")
            case _:
                pass


def _texts_for_resources(
    source: Source, tree: ast.Module, values: Mapping[str, Value]
) -> Iterator[_Finding]:
    """Find functions of resources that get a resource's name."""
    bound = Bindings.of([tree])
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[argument, *_]) if not bound.is_bound(name):
                signature = signatures.functions().get(name)
                parameters = signature.parameters if signature is not None else ()
            case _:
                continue
        if not parameters or parameters[0].name != _RESOURCE:
            continue
        if kinds.kind_of(argument, values) == "string":
            text = run_hints.to_source(argument)
            message = f"{name} takes a resource, not its name"
            yield _Finding(
                syntax.span_of(argument, source), message, f"write get_observed(req, {text})"
            )


def _leavings(source: Source, tree: ast.Module) -> Iterator[_Finding]:
    """Find texts that are leavings of another language: expressions that nothing replaces."""
    formats = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Constant)
    }
    names = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for node in _data_texts(tree):
        if id(node) in formats or not isinstance(node.value, str):
            continue
        text = node.value
        if leftover := leftovers.of_value(text):
            yield _Finding(syntax.span_of(node, source), leftover.message, leftover.hint)
            continue
        match = _EXPRESSION.search(text) or next(
            (each for each in _INTERPOLATION.finditer(text) if each["lead"]), None
        )
        if "\n" not in text and match is not None and match["name"] in names:
            message = f"{match[0]} is a text here: nothing replaces it"
            hint = 'write the value itself, as in "a-%s" % value'
            yield _Finding(syntax.span_of(node, source), message, hint)


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


def _paths(source: Source, tree: ast.Module) -> Iterator[_Finding]:
    """Find paths that begin with the wrapper, which getters of objects have taken off."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[_, *others]) if name in _OBJECT_GETTERS:
                paths = others[:1] if name == "get_xr" else others[1:2]
            case ast.Call(
                func=ast.Attribute(attr="set_status"),
                args=[ast.Constant(value=str(text)) as status_path, _],
            ) if text.startswith("status."):
                message = "the path begins below status"
                hint = f'write "{text.removeprefix("status.")}"'
                yield _Finding(syntax.span_of(status_path, source), message, hint)
                continue
            case _:
                continue
        for path in paths:
            match path:
                case ast.Constant(value=str(text)) if text.startswith("resource."):
                    message = f'{name} gives the object itself, which has no field "resource"'
                    hint = f'write "{text.removeprefix("resource.")}"'
                    yield _Finding(syntax.span_of(path, source), message, hint)
                case ast.Constant(value=str(text)) if _FOREIGN_PATH.match(text):
                    plain = text.removeprefix("$").removeprefix("/").replace("/", ".").lstrip(".")
                    message = f"no object has this path: {name} gives its default every time"
                    yield _Finding(syntax.span_of(path, source), message, f'write "{plain}"')
                case _:
                    pass
