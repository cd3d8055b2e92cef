"""Hints for scripts that fail while they run, by the operation in the syntax tree that failed.

Slow, and for errors only. A hint that the tree does not make certain is not given.
"""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, cast

from function_script import conditions, spelling
from function_script.engines import habits
from function_script.engines.starlark import signatures
from function_script.engines.starlark.analysis import syntax
from function_script.engines.starlark.analysis.names import Bindings
from function_script.engines.tables import Rules
from function_script.source import Source, Span

_ATTRIBUTE: Final = re.compile(r"^Object of type `(?P<type>\w+)` has no attribute `(?P<name>\w+)`")
_UNPACK: Final = re.compile(r"^Unpacked \d+ values but expected \d+")
_INTEGER: Final = re.compile(r"^Cannot parse [`\"'](?P<text>.*)[`\"'] as an integer", re.DOTALL)
_FLOAT: Final = re.compile(r"^[`\"'](?P<text>.*)[`\"'] is not a valid number", re.DOTALL)
_QUANTITY: Final = re.compile(r"[0-9.]+(?:[numkMGTPE]|[KMGTPE]i)")
_DECIMAL: Final = re.compile(r"[-+]?[0-9]*\.[0-9]+")
_FIELD: Final = re.compile(r"^Key `(?P<field>[^`]*:[^`]*)` was not found")
_SPECIFICATION: Final = re.compile(r"(?<!\{)\{\w*:([^{}]+)\}")
_PADDING: Final = re.compile(r"0(?P<width>[0-9]+)d?")
_ANNOTATION: Final = re.compile(
    r"^Value `.*` of type `(?P<type>\w+)` does not match the type annotation "
    r"`(?P<type_list>[^`]*)` for argument `(?P<name>\w+)`",
    re.DOTALL,
)
_ARGUMENTS: Final = re.compile(
    r"^(?:Missing|Found|Wrong number of|Unexpected).*(?:parameter|argument|positional)"
)
_OPERATION: Final = re.compile(
    r"^Operation `(?P<operator>[^`]+)` not supported (?:for types `(?P<left>\w+)` and "
    r"`(?P<right>\w+)`|on type `(?P<only>\w+)`)"
)
_PARAMETER: Final = re.compile(r"^Type of parameters? .*actual `(?P<type>\w+)")
_LOCAL: Final = re.compile(r"^Local variable `(?P<name>\w+)` referenced before assignment")
_UNDEFINED: Final = re.compile(
    r"^Variable `(?P<name>\w+)` not found(?:, did you mean `(?P<near>\w+)`)?"
)
NO_RESULT: Final = frozenset({"append", "extend", "insert", "update", "clear", "remove"})
"""The methods that change a list or a dict and give None."""
_CHANGING: Final = NO_RESULT | {"setdefault"}
# A path by dots with a dash in a key: in a difference of two values, blanks are usual.
_DASHED: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\.[A-Za-z_]\w*(?:-[A-Za-z]\w*)+")
# Messages of a response's functions.
_REFUSED_WORD: Final = re.compile(r"fail: (?:reason|status) must be ")
_SEVERITIES: Final = {"Warning": "warning", "Normal": "event", "Fatal": "fatal", "Error": "fatal"}
_STATUSES: Final = frozenset({"True", "False", "Unknown"})
# Hints for loops over values that have no items.
_ITERATIONS: Final = {
    "int": "write range(n) to count to a number",
    "string": "write text.elems() for its characters, or text.split(...)",
}
_METHODS: Final = {
    "string": habits.STRING_METHODS,
    "list": habits.LIST_METHODS,
    "tuple": habits.LIST_METHODS,
    "dict": habits.MAPPING_METHODS,
}
_JSON: Final = {
    **dict.fromkeys(("dumps", "stringify", "marshal", "Marshal"), "write json.encode(value)"),
    **dict.fromkeys(("loads", "parse", "unmarshal", "Unmarshal"), "write json.decode(text)"),
    "dump": "write json.encode(value)",
    "load": "write json.decode(text)",
}


class RunHint(NamedTuple):
    """A hint, a message instead of the interpreter's, and the place of the operation.

    None stands for the interpreter's message, for its place, and for no hint.
    """

    hint: str | None = None
    message: str | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """A failed operation: its node, the tree of its source, and the interpreter's message."""

    message: str
    node: ast.AST
    tree: ast.Module
    source: Source

    def span(self, node: ast.expr) -> Span:
        return syntax.span_of(node, self.source)

    def inside(self) -> Iterator[ast.AST]:
        return ast.walk(self.node)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the node that has another one as its child."""
        for each in ast.walk(self.tree):
            if any(child is node for child in ast.iter_child_nodes(each)):
                return each
        return None


_RULES: Final = Rules[Callable[[_Failure], RunHint | None]]()


def find(message: str, span: Span | None, source: Source | None) -> RunHint | None:
    """Return what is certain of a failure at a place; None if nothing is."""
    if span is None or source is None:
        return None
    tree = syntax.parse(source.text)
    if tree is None:
        return None
    if _REFUSED_WORD.match(message):
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            wrong = find_wrong_word(call)
            place = syntax.span_of(wrong.node, source) if wrong is not None else None
            if wrong is not None and place is not None and place.line == span.line:
                return RunHint(wrong.hint, span=place)
        return None
    node = _node_at(tree, span, source)
    if node is None:
        return None
    failure = _Failure(message=message, node=node, tree=tree, source=source)
    for rule in _RULES:
        if hint := rule(failure):
            return hint
    return None


def _node_at(tree: ast.Module, span: Span, source: Source) -> ast.AST | None:
    """Return the node of a place: the one of the same width, else the largest that begins there."""
    candidates: list[tuple[int, int, ast.AST]] = []
    for node in ast.walk(tree):
        if not isinstance(node, (ast.expr, ast.stmt)) or node.lineno != span.line:
            continue
        place = syntax.span_of(cast("ast.expr", node), source)
        if place.column == span.column:
            size = (node.end_lineno or 0) - node.lineno
            candidates.append((abs(place.width - span.width), -size, node))
    candidates.sort(key=lambda each: each[:2])
    if not candidates:
        return None
    node = candidates[0][2]
    return node.value if isinstance(node, ast.Expr) else node


@_RULES.add
def _attribute(failure: _Failure) -> RunHint | None:
    match = _ATTRIBUTE.match(failure.message)
    if match is None:
        return None
    name, kind = match["name"], match["type"]
    nodes = [n for n in failure.inside() if isinstance(n, ast.Attribute) and n.attr == name]
    match failure.node:
        case ast.Call(func=ast.Attribute(attr=attr) as outer) if attr == name:
            # The calls inside of it have succeeded.
            nodes = [outer]
        case _:
            pass
    if len(nodes) != 1:
        return RunHint()
    node = nodes[0]
    span = attribute_span(node, failure.source)
    is_called = any(
        isinstance(each, ast.Call) and each.func is node for each in ast.walk(failure.tree)
    )
    message = f'a value of type {kind} has no attribute "{name}"'
    return RunHint(_attribute_hint(node, kind, failure, is_called=is_called), message, span)


def attribute_span(node: ast.Attribute, source: Source) -> Span | None:
    """Return the place of an attribute's name."""
    if node.end_lineno is None or node.end_col_offset is None:
        return None
    line = source.text.split("\n")[node.end_lineno - 1]
    end = len(line.encode()[: node.end_col_offset].decode())
    return Span(
        name=source.name,
        line=node.end_lineno,
        column=end - len(node.attr) + 1,
        width=len(node.attr),
    )


def _attribute_hint(
    node: ast.Attribute, kind: str, failure: _Failure, *, is_called: bool
) -> str | None:
    name = node.attr
    if kind == "NoneType":
        return _none_hint(node.value, failure)
    correction = _METHODS.get(kind, {}).get(name)
    if correction is not None and correction.starlark is not None and (is_called or kind != "dict"):
        return correction.starlark
    if kind == "namespace" and name in _JSON:
        return _JSON[name]
    names = signatures.attributes().get(kind, ())
    if kind == "struct":
        names = tuple(signatures.methods())
    near = spelling.nearest(name, names)
    if near is not None and is_called:
        return f'did you mean "{near}"?'
    if kind == "dict" and not is_called:
        return f'fields of a dict: ["{name}"], or .get("{name}")'
    if kind == "list" and not is_called:
        return "take one item of the list, or loop over it"
    return None


def _none_hint(node: ast.expr, failure: _Failure) -> str | None:
    """Return the hint for a value that is None: what gave it, if that always gives None."""
    method = _changing_method(node)
    if method is None and isinstance(node, ast.Name):
        values = Bindings.of([failure.tree]).single_values()
        value = values.get(node.id)
        method = _changing_method(value.expression) if value is not None else None
    if method is not None:
        return f"{method} changes its list or dict and gives None: write it on a line of its own"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        for function in ast.walk(failure.tree):
            if isinstance(function, ast.FunctionDef) and function.name == node.func.id:
                returns = [n for n in ast.walk(function) if isinstance(n, ast.Return) and n.value]
                return None if returns else f"{function.name} returns nothing: write `return value`"
    return None


def _changing_method(node: ast.expr) -> str | None:
    match node:
        case ast.Call(func=ast.Attribute(attr=name)) if name in NO_RESULT:
            return name
        case _:
            return None


@_RULES.add
def _unpack(failure: _Failure) -> RunHint | None:
    if not _UNPACK.match(failure.message):
        return None
    for node in ast.walk(failure.tree):
        match node:
            case (
                ast.For(target=ast.Tuple() as target, iter=items)
                | ast.comprehension(target=ast.Tuple() as target, iter=items)
            ) if failure.node in (target, target.elts[0]):
                match items:
                    case (
                        ast.Call(func=ast.Attribute(attr="items"))
                        | ast.Call(func=ast.Name(id="enumerate" | "zip"))
                    ):
                        return None
                    case _:
                        names = to_source(target).strip("()")
                        text = to_source(items)
                        return RunHint(
                            f"of a dict, write `for {names} in {text}.items()`; of a list, "
                            f"`for {names} in enumerate({text})` counts from 0"
                        )
            case _:
                pass
    return None


@_RULES.add
def _number(failure: _Failure) -> RunHint | None:
    match = _INTEGER.match(failure.message) or _FLOAT.match(failure.message)
    if match is None:
        return None
    return RunHint(number_hint(match["text"], "int"))


def number_hint(text: str, function: str) -> str | None:
    """Return the hint for a text that int or float cannot read; None for other texts."""
    if _QUANTITY.fullmatch(text):
        return f'read a quantity of Kubernetes with quantity("{text}")'
    if _DECIMAL.fullmatch(text) and function == "int":
        return f'write int(float("{text}"))'
    return None


@_RULES.add
def _format(failure: _Failure) -> RunHint | None:
    if "arguments for format string" in failure.message:
        return RunHint('each %s takes one value: "%s-%s" % (a, b)')
    if failure.message.startswith("Unsupported format character"):
        return RunHint('%s, %d, %f and %x take no width: pad with "0" * n')
    if "parameters in format string" in failure.message:
        return RunHint('each {} takes one value: "{}-{}".format(a, b)')
    match = _FIELD.match(failure.message)
    is_format = any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "format"
        for n in failure.inside()
    )
    if match is None or not is_format:
        return None
    specification = match["field"].partition(":")[2]
    hint = format_hint(f"{{{match['field']}}}")
    return RunHint(hint, f'format has no specifications such as ":{specification}"')


def format_hint(text: str) -> str | None:
    """Return the hint for a text with specifications after a colon, for ``format``."""
    match = _SPECIFICATION.search(text)
    if match is None:
        return None
    padding = _PADDING.fullmatch(match[1])
    if padding is not None:
        return f'pad in front: "0" * ({padding["width"]} - len(str(n))) + str(n)'
    return "write {} without a colon" if match[1] in {"d", "s"} else None


@_RULES.add
def _frozen(failure: _Failure) -> RunHint | None:
    if failure.message != "Immutable":
        return None
    changed = _changed(failure.node)
    if changed is None:
        return None
    root = changed
    depth = 0
    while isinstance(root, (ast.Subscript, ast.Attribute)):
        root = root.value
        depth += 1
    if not isinstance(root, ast.Name):
        return None
    values = Bindings.of([failure.tree]).values
    value = values.get(root.id)
    expression = value.expression if value is not None else None
    origin: ast.expr | None
    match expression:
        # A copy of the first level, or another name.
        case ast.Call(func=ast.Name(id="dict" | "list"), args=[origin]) | (
            ast.Name() | ast.Subscript() as origin
        ):
            pass
        case _:
            origin = root if _is_top_level(failure.tree, root.id) else None
    name = to_source(origin) if origin is not None else root.id
    is_list = isinstance(expression, ast.List) or (
        isinstance(origin, ast.Name)
        and origin.id in values
        and isinstance(values[origin.id].expression, ast.List)
    )
    if is_list and not depth:
        return RunHint(f"change a copy: `copy = list({name})`")
    if is_list:
        return RunHint(f"copy each item: `copy = [merge({{}}, item) for item in {name}]`")
    return RunHint(f"change a copy at every depth: `copy = merge({{}}, {name})`")


def _changed(node: ast.AST) -> ast.expr | None:
    """Return the value that a statement or a call changes."""
    match node:
        case (
            ast.Assign(targets=[ast.Subscript(value=value)])
            | ast.AugAssign(target=ast.Subscript(value=value))
        ):
            return value
        case ast.AugAssign(target=ast.Name() as name):
            return name
        case ast.Subscript(value=value):
            return value
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in {
            *_CHANGING,
            "pop",
            "popitem",
        }:
            return value
        case ast.Expr(value=value):
            return _changed(value)
        case _:
            return None


def _is_top_level(tree: ast.Module, name: str) -> bool:
    return any(
        isinstance(each, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id == name for t in each.targets)
        for each in tree.body
    )


@_RULES.add
def _argument(failure: _Failure) -> RunHint | None:
    calls = [node for node in failure.inside() if isinstance(node, ast.Call)]
    call = calls[0] if calls else None
    hint = _call_hint(call, failure.tree) if call is not None else None
    match = _ANNOTATION.match(failure.message)
    if match is not None:
        # None is the default of what may be left out.
        parts = [part.strip() for part in match["type_list"].split("|")]
        types = " or ".join(part for part in parts if part != "None" or len(parts) == 1)
        message = f'argument "{match["name"]}" is of type {types}, not {match["type"]}'
        return RunHint(hint, message)
    if _ARGUMENTS.match(failure.message):
        hint = _pair(call) or hint
        return RunHint(hint) if hint is not None else None
    return None


def to_source(node: ast.AST) -> str:
    """Return an expression as an author writes it: texts in double quotes."""
    text = ast.unparse(node)
    return text if '"' in text else text.replace("'", '"')


def _call_hint(call: ast.Call, tree: ast.Module) -> str | None:
    """Return the hint for how a function is called that the library or the script defines."""
    match call:
        # `rsp.status("region", value)`, which takes a dict.
        case ast.Call(
            func=ast.Attribute(attr=name) as method, args=[ast.Constant(value=str(key)), value]
        ) if (signature := signatures.methods().get(name)) and (
            [each.types for each in signature.parameters] == [{"dict"}]
        ):
            return f'write {to_source(method)}({{"{key}": {to_source(value)}}})'
        case _:
            pass
    if usage := signatures.usage_of(call):
        return f"write {usage}"
    functions = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and isinstance(call.func, ast.Name)
        and node.name == call.func.id
    ]
    if len(functions) != 1:
        return None
    return f"write {functions[0].name}({to_source(functions[0].args)})"


def _pair(call: ast.Call | None) -> str | None:
    """Return the hint for a key function of two arguments, which gets one item; else None."""
    for keyword in call.keywords if call is not None else ():
        match keyword:
            case ast.keyword(arg="key", value=ast.Lambda(args=ast.arguments(args=[_, _]))):
                return "the function gets one item, such as a pair: lambda pair: pair[1]"
            case _:
                pass
    return None


class WrongWord(NamedTuple):
    """An argument of a response's function that is no word it takes."""

    node: ast.expr
    message: str
    hint: str | None


def find_wrong_word(call: ast.Call) -> WrongWord | None:
    """Return the reason or status, written out, that a response does not take."""
    match call:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(), attr="event" | "warning" | "fatal" as name),
            args=[first, ast.Constant(value=str(reason)) as node, *_],
        ) if reason and not conditions.PASCAL_CASE.fullmatch(reason):
            message = f'{name}: the reason must be PascalCase, such as "NotFound"'
            severity = first.value if isinstance(first, ast.Constant) else None
            function = _SEVERITIES.get(severity) if isinstance(severity, str) else None
            hint = f"the message comes first, the reason second: {_usage(name)}"
            if function is not None:
                hint = (
                    f"write {to_source(call.func).rpartition('.')[0]}.{function}({to_source(node)})"
                )
            return WrongWord(node, message, hint)
        case ast.Call(
            func=ast.Attribute(value=ast.Name(), attr="condition"),
            args=[_, ast.Constant(value=str(status)) as node, *_],
        ) if status not in _STATUSES:
            message = 'condition: the status must be True, False or "Unknown"'
            hint = f"write {_usage('condition')}"
            if status.capitalize() in _STATUSES:
                hint = f'write "{status.capitalize()}"'
            return WrongWord(node, message, hint)
        case _:
            return None


def _usage(method: str) -> str:
    return signatures.methods()[method].usage


@_RULES.add
def _operation(failure: _Failure) -> RunHint | None:
    match = _OPERATION.match(failure.message)
    if match is None:
        return _parameter(failure)
    kinds = {match["left"], match["right"]}
    hint: str | None = None
    match match["operator"], failure.node:
        case "call()", _:
            return _call(failure, match["only"])
        case "(iter)", node:
            items = node.iter if isinstance(node, ast.For) else None
            hint = _ITERATIONS.get(match["only"])
            if match["only"] == "function" and items is not None:
                hint = f"call it, with parentheses: {to_source(items)}()"
            return RunHint(hint, span=failure.span(items) if items is not None else None)
        case str(operator), _ if operator.startswith("format(%") and match["only"] == "string":
            hint = "write %s, or convert the text with int(text)"
        case "in" | "[]", ast.Subscript(value=value) if "NoneType" in kinds:
            hint = _none_hint(value, failure)
        case "compare" | "cmp()" | "+" | "-" | "*" | "/" | "//" | "%", _ if "NoneType" in kinds:
            hint = "it is None: get(value, path, default) takes a default"
        case operator, node if "NoneType" not in kinds:
            hint = _operand_hint(operator, match["left"], match["right"], node)
        case _:
            pass
    return RunHint(hint) if hint is not None else None


def _operand_hint(operator: str, left: str | None, right: str | None, node: ast.AST) -> str | None:
    """Return the hint for an operator that does not take two types."""
    hint = None
    match operator, node:
        case "compare" | "cmp()", _ if {left, right} == {"int", "string"}:
            hint = "a number and a text: convert the text with int(text), or leave its quotes out"
        case "+" | "-", (
            ast.BinOp(left=ast.Constant(value=str(text)))
            | ast.BinOp(right=ast.Constant(value=str(text)))
        ) if _QUANTITY.fullmatch(text):
            hint = f'read a quantity of Kubernetes with quantity("{text}")'
        case "+", _ if {left, right} == {"int", "string"}:
            hint = "use str(value), or a format such as %s; int(text) reads a number"
        case "+", _ if {left, right} == {"dict"}:
            hint = "merge dicts with `a | b`"
        case "+", _ if left == "list":
            hint = "put the item into brackets: list + [item]"
        case _:
            pass
    return hint


def _parameter(failure: _Failure) -> RunHint | None:
    match = _PARAMETER.match(failure.message)
    is_join = any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "join"
        for n in failure.inside()
    )
    if match is not None and is_join and "to_join" in failure.message:
        return RunHint(
            "join texts only: [str(item) for item in list]", "the list has other items than texts"
        )
    match failure.node:
        # `resource["status"]["conditions"]["Ready"]`
        case ast.Subscript(
            value=ast.Subscript(
                value=ast.Subscript(value=owner, slice=ast.Constant(value="status")),
                slice=ast.Constant(value="conditions"),
            ),
            slice=ast.Constant(value=str(name)),
        ):
            return RunHint(f'conditions are a list: get_condition({to_source(owner)}, "{name}")')
        case ast.Subscript() if match is not None:
            return RunHint("an index is a number: list[0]")
        case _:
            pass
    if failure.message.startswith("Expected `int`, but got `string"):
        return RunHint("an index is a number: list[0]")
    return None


def _call(failure: _Failure, kind: str | None) -> RunHint | None:
    match failure.node:
        case ast.Call(func=function, args=[ast.Constant(value=str(key))]) if kind == "dict":
            return RunHint(f'write {to_source(function)}["{key}"]')
        case ast.Call(func=function, args=[argument]) if kind in {"dict", "list"}:
            return RunHint(f"write {to_source(function)}[{to_source(argument)}]")
        case ast.Call(func=function, args=[]) if kind is not None:
            return RunHint(f"write {to_source(function)}: a value of type {kind} is no function")
        case _:
            return None


@_RULES.add
def _local(failure: _Failure) -> RunHint | None:
    match = _LOCAL.match(failure.message)
    if match is None:
        return None
    name = match["name"]
    if _is_top_level(failure.tree, name):
        return RunHint(local_hint(name))
    return RunHint(f"give {name} a value before this line, on every way that leads here")


def local_hint(name: str) -> str:
    """Return the hint for a function that changes a name of the top level."""
    return (
        f"{name} outside of functions is a constant: begin with a local name, and return its value"
    )


@_RULES.add
def _undefined(failure: _Failure) -> RunHint | None:
    match = _UNDEFINED.match(failure.message)
    if match is None:
        return None
    name = match["name"]
    for node in ast.walk(failure.tree):
        if isinstance(node, ast.Dict) and any(key is failure.node for key in node.keys):
            return RunHint(f'keys of a dict are in quotes: "{name}"')
        match node:
            case ast.Attribute(value=ast.Name(id="resource") as holder, attr="update") if (
                holder is failure.node
            ):
                # The module of Crossplane's SDK for Python.
                return RunHint('write rsp.resource("name", {...}), with `rsp = response()`')
    line = failure.source.text.split("\n")[getattr(failure.node, "lineno", 1) - 1]
    place = failure.span(failure.node) if isinstance(failure.node, ast.Name) else None
    for path in _DASHED.finditer(line) if place is not None else ():
        if place is not None and path.start() < (place.column or 0) <= path.end():
            # `spec.tags.my-team`
            root, *keys = path[0].split(".")
            members = "".join(f'["{key}"]' for key in keys)
            return RunHint(f"a key with a dash is in brackets and quotes: {root}{members}")
    hint = habits.name_in_starlark(name)
    if hint is None and match["near"] and spelling.nearest(name, (match["near"],)):
        hint = f'did you mean "{match["near"]}"?'
    return RunHint(hint) if hint is not None else None
