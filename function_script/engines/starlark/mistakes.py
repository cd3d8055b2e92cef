"""Mistakes in scripts that compile: what fails when it runs, and what nobody can mean.

One table of rules for two uses. `check` asks them of a whole script, before it runs: a finding is
certain from the text alone. After a failure, the rules of its code are asked of the operation that
failed, with the types that the interpreter has reported.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final, TypeAlias

from function_script.engines import habits, leftovers
from function_script.engines.signatures import NULL, Signature
from function_script.engines.starlark import calls, signatures
from function_script.engines.starlark.analysis import syntax
from function_script.engines.starlark.analysis.kinds import Kinds, can_be_equal
from function_script.engines.starlark.analysis.names import OBJECT_GETTERS, Bindings
from function_script.engines.starlark.analysis.request_reads import trace
from function_script.engines.starlark.interpreter import NONE, Failure, Finding
from function_script.engines.tables import Rules
from function_script.request import objects, quantities
from function_script.request.program import Program
from function_script.request.values import Readable, with_article
from function_script.texts import field_names, spelling
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.problems import list_choices, suggest
from function_script.texts.source import Source, Span

_DATA: Final = ("dict", "list", "string", NONE)
# Methods that lists alone have, and that give None.
_LIST_CHANGES: Final = frozenset({"append", "extend", "insert"})
_DECIMAL: Final = re.compile(r"[-+]?[0-9]*\.[0-9]+")
_SPECIFICATION: Final = re.compile(r"(?<!\{)\{\w*:([^{}]+)\}")
_PADDING: Final = re.compile(r"0(?P<width>[0-9]+)d?")
# A path by dots with a dash in a key: in a difference of two values, blanks are usual.
_DASHED: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\.[A-Za-z_]\w*(?:-[A-Za-z]\w*)+")
# JSONPath, and paths of JSON Patch. The key of an annotation has other parts in front of a slash.
_FOREIGN_PATH: Final = re.compile(r"\$\.|/?(?:spec|status|metadata)/[\w/]+$")
# A path by dots to a label or an annotation whose key has dots or slashes.
_LABEL: Final = re.compile(
    r"(?P<path>(?:[\w.]+\.)?metadata\.(?:labels|annotations))\.(?P<key>[\w-]+[./][\w./-]+)"
)
# An expression of a template or of JavaScript that begins with a name.
_EXPRESSION: Final = re.compile(r"(?:\$\{|\{\{-? *)(?P<name>[A-Za-z_]\w*)(?:[.\[][^{}]*)? *-?\}\}?")
_TYPES: Final = frozenset(
    {
        *("NoneType", "bool", "dict", "float", "function", "int", "list", "namespace", "range"),
        *("string", "struct", "tuple"),
    }
)
PARAMETERS: Final = "main must take exactly one argument"
RESULT: Final = 'return {"desired": {"resources": {...}}}'
"""How a response is written, for who returns another value."""
_FILLED: Final = "its functions fill it, such as rsp.resource(name, body)"
_COPY: Final = "list(value) copies a list, and merge({}, value) a dict"

# What a value without items needs, for a loop over it.
_LOOPS: Final = {
    "int": "write range(n) to count to a number",
    "string": "write text.elems() for its characters, or text.split(...)",
}
_LOOPS_FAIL: Final = frozenset({"int", "float", "bool", "string", "function", NONE})
_SIGNS: Final[dict[type, str]] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_ORDERING: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Script:
    """A source with its tree, and the types of its expressions.

    ``node`` is what the rules look into: the tree, or the operation of a ``failure``, for which
    ``request`` is at hand.
    """

    source: Source
    tree: ast.Module
    kinds: Kinds
    is_main: bool
    node: ast.AST
    failure: Failure | None = None
    request: Mapping[str, Readable] = field(default_factory=dict)

    def walk(self) -> Iterator[ast.AST]:
        return ast.walk(self.node)

    def at(self, node: ast.expr, message: str | None, hint: str | None) -> Finding:
        return Finding(syntax.span_of(node, self.source), message, hint)

    def say(self, hint: str | None, message: str | None = None) -> Finding:
        """Return a finding at the interpreter's place."""
        return Finding(None, message, hint)


_Rule: TypeAlias = Callable[[_Script], Iterator[Finding]]
# Each with the codes of the failures that it explains.
_FAILURES: Final = Rules[tuple[tuple[str, ...], _Rule]]()
_DOUBTS: Final = Rules[_Rule]()


def _explains(*codes: str) -> Callable[[_Rule], _Rule]:
    """Return a decorator that enters a rule, for `check` and for failures of these codes."""

    def register(rule: _Rule) -> _Rule:
        _FAILURES.add((codes, rule))
        return rule

    return register


def find_failures(program: Program) -> Iterator[Diagnostic]:
    """Yield operations that fail in every run that reaches them."""
    return _find([rule for _, rule in _FAILURES], program)


def find_doubts(program: Program) -> Iterator[Diagnostic]:
    """Yield parts that run without an error, and that nobody can mean."""
    return _find(_DOUBTS, program)


def _find(rules: list[_Rule], program: Program) -> Iterator[Diagnostic]:
    parsed = {source: syntax.parse(source.text) for source in program.sources()}
    # A source that nobody can read may call functions of the others.
    trees = [tree for tree in parsed.values() if tree is not None]
    for source, tree in parsed.items():
        if tree is None:
            continue
        kinds, is_main = Kinds(tree, trees), source is program.main
        script = _Script(source=source, tree=tree, kinds=kinds, is_main=is_main, node=tree)
        places: dict[tuple[int, int, str], Diagnostic] = {}
        for span, message, hint, _ in (finding for rule in rules for finding in rule(script)):
            if span is not None and message is not None:
                problem = Diagnostic(message=message, hint=hint).at(source, span)
                # A function inside of another one is walked with both.
                places.setdefault((span.line, span.column or 0, message), problem)
        yield from (places[place] for place in sorted(places, key=lambda each: each[:2]))


def explain(
    failure: Failure, span: Span, source: Source, request: Mapping[str, Readable]
) -> Finding | None:
    """Return what is certain of a failure at a place; None if nothing is."""
    tree = syntax.parse(source.text)
    node = syntax.node_at(tree, span, source) if tree is not None else None
    if tree is None or node is None:
        return None
    script = _Script(
        source=source,
        tree=tree,
        kinds=Kinds(tree, facts=_read_facts(failure, node, tree)),
        is_main=True,
        node=node,
        failure=failure,
        request=request,
    )
    rules = (rule for codes, rule in _FAILURES if failure.code in codes)
    return next((finding for rule in rules for finding in rule(script)), None)


def is_of_program(failure: Failure, span: Span, source: Source) -> bool:
    """Report whether an operation fails with any data: by the arguments or names in its text."""
    name, kind = failure.arguments.get("name"), failure.arguments.get("type")
    tree = syntax.parse(source.text)
    match failure.code, tree and syntax.node_at(tree, span, source):
        case "attribute", _:
            attributes = signatures.attributes()
            # A value that is None may have been a response.
            kinds = attributes if kind == NONE else _DATA
            is_of_data = kind in _DATA and "struct(" not in source.text
            return is_of_data and not any(name in attributes.get(each, ()) for each in kinds)
        # A list that is spread has as many arguments as the data.
        case (("arguments" | "format"), ast.Call(args=[*_, ast.Starred()])):
            return False
        case "format", ast.BinOp(left=text) | ast.Call(func=ast.Attribute(value=text)):
            return isinstance(text, ast.Constant)
        case code, node:
            return code == "arguments" and isinstance(node, ast.Call)


def find_no_result(node: ast.expr, source: Source) -> str | None:
    """Return the hint for a value that a function without a result has given; else None."""

    def explain(script: _Script) -> Iterator[Finding]:
        called = getattr(_find_origin(node, script), "func", None)
        yield script.say(_no_result_hint(called, script))

    return next((each.hint for each in _find_in(source, explain)), None)


def find_main_hint(source: Source) -> str | None:
    """Return the hint for a main with wrong parameters or without a response; else None."""
    findings = _find_in(source, _parameters, _no_result, _no_result_of_helper)
    return next((each.hint for each in findings if each.hint), None)


def find_body(source: Source, parameter: str | None) -> Finding | None:
    """Return the function of a resource that lacked a parameter; None if several have it."""
    bodies = [
        syntax.span_of(node, source)
        for node in ast.walk(syntax.parse(source.text) or ast.Module([], []))
        if isinstance(node, ast.Lambda) and parameter in {each.arg for each in node.args.args}
    ]
    findings = _find_in(source, _calls) if len(bodies) == 1 else ()
    return next((each for each in findings if each.span == bodies[0]), None)


def _find_in(source: Source, *rules: _Rule) -> Iterator[Finding]:
    if (tree := syntax.parse(source.text)) is not None:
        script = _Script(source=source, tree=tree, kinds=Kinds(tree), is_main=True, node=tree)
        yield from chain.from_iterable(rule(script) for rule in rules)


def _read_facts(failure: Failure, node: ast.AST, tree: ast.Module) -> dict[ast.expr, str]:
    """Return the types that a failure tells of the operands of an operation."""
    left, right = failure.arguments.get("left"), failure.arguments.get("right")
    kind = failure.arguments.get("type") or ""
    match failure.code, node:
        case "attribute", _:
            return _read_owner(failure.arguments["name"], kind, node, tree)
        case (("compare" | "operator"), ast.If(test=ast.Compare(left=one, comparators=[two]))) if (
            left and right
        ):
            # The interpreter points at the whole statement, of which a comparison is a part.
            return {one: left, two: right}
        case "union", ast.BinOp(left=one, right=two):
            return {one: NONE, two: "dict"}
        case (
            ("compare" | "operator"),
            (
                ast.BinOp(left=one, right=two)
                | ast.Compare(left=one, comparators=[two])
                | ast.AugAssign(target=one, value=two)
                | ast.Subscript(value=one, slice=two)
            ),
        ) if left and right:
            return {one: left, two: right}
        case "items", ast.For(iter=value) | ast.AugAssign(value=value):
            return {value: kind}
        case "items", ast.expr() if any(
            each.iter is node for each in ast.walk(tree) if isinstance(each, ast.comprehension)
        ):
            return {node: kind}
        case "items", ast.Call(args=[value, *_]):
            return {value: kind}
        case "position", ast.Call(args=[*values]) if values:
            position = int(failure.arguments["position"] or 1) - 1
            return {values[min(position, len(values) - 1)]: kind}
        case (("type" | "raised"), ast.Call() as call) if kind:
            signature = _find_signature(call, tree)
            argument = signature and calls.find_argument(call, signature, failure.arguments["name"])
            return {argument: kind} if argument is not None else {}
        case _:
            return {}


def _read_owner(name: str, kind: str, node: ast.AST, tree: ast.Module) -> dict[ast.expr, str]:
    """Return the type of the value that has no attribute of a name."""
    owners = [n.value for n in ast.walk(node) if isinstance(n, ast.Attribute) and n.attr == name]
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr == name:
            # The calls inside of it have succeeded.
            owners = [value]
    # Of several values with this attribute, any may be the one without it.
    if len(owners) != 1:
        return {}
    own = Kinds(tree).of(owners[0])
    # A struct that the script has made itself, or loaded, is no response.
    has_structs = any(getattr(n, "id", "") in {"struct", "load"} for n in ast.walk(tree))
    is_response = own == signatures.RESPONSE or (own is None and not has_structs)
    return {owners[0]: signatures.RESPONSE if kind == "struct" and is_response else kind}


# -- Failures


@_explains("unpack")
def _pairs(script: _Script) -> Iterator[Finding]:
    """Find a loop over the keys of an object that wants its values, too."""
    for loop in ast.walk(script.tree) if script.failure is not None else ():
        match loop:
            case (
                ast.For(target=ast.Tuple(elts=[_, _]) as target, iter=items)
                | ast.comprehension(target=ast.Tuple(elts=[_, _]) as target, iter=items)
            ) if target is script.node and isinstance(_find_value(items, script), Mapping):
                names = calls.to_source(target).strip("()")
                yield script.say(f"write `for {names} in {calls.to_source(items)}.items()`")


def _find_value(node: ast.expr, script: _Script) -> Readable:
    """Return the part of the request that an expression gives; None where that is unclear."""
    for function, lookups, _ in trace([script.tree]):
        path = lookups.path(node) if any(each is node for each in ast.walk(function)) else None
        if path is not None:
            return objects.find_path(script.request, path)
    return None


@_explains("attribute")
def _attributes(script: _Script) -> Iterator[Finding]:
    """Find attributes that values of a certain type do not have."""
    callees = {id(node.func) for node in ast.walk(script.tree) if isinstance(node, ast.Call)}
    for node in script.walk():
        if not isinstance(node, ast.Attribute):
            continue
        kind = script.kinds.of(node.value)
        # A struct has the fields of its own call, which only the interpreter's error knows.
        is_struct = kind == "struct" and node.value not in script.kinds.facts
        if kind is None or is_struct or node.attr in signatures.attributes().get(kind, ()):
            continue
        message, hint = calls.explain_attribute(node, kind, is_called=id(node) in callees)
        if kind == NONE:
            hint = _none_hint(node.value, script)
        elif kind == "dict" and id(node) not in callees:
            fields = _find_value(node.value, script)
            has_field = isinstance(fields, Mapping) and node.attr in fields
            if fields is script.request and not has_field:
                hint = field_names.advise_root(node.attr, None)
            elif node.attr == "length" and not has_field:
                # Of another dict, a field may be meant.
                hint = None if fields is None else habits.find("starlark", "length", "object")
        elif kind == "function" and isinstance(node.value, ast.Name):
            # `rsp = response`
            value = Bindings.of([script.tree]).single_values().get(node.value.id)
            if value is not None and isinstance(value.expression, ast.Name):
                hint = f"call it, with parentheses: {value.expression.id}()"
        yield Finding(syntax.span_of_attribute(node, script.source), message, hint)


def _find_origin(node: ast.expr, script: _Script) -> ast.expr:
    """Return what gave a value: the expression, or the one that its name was set to."""
    value = Bindings.of([script.tree]).single_values().get(getattr(node, "id", ""))
    return node if value is None or value.is_item else value.expression


def _none_hint(node: ast.expr, script: _Script) -> str | None:
    """Return the hint for a value that is None: that of the function that has given it."""
    called = getattr(_find_origin(node, script), "func", None)
    is_getter = getattr(called, "attr", getattr(called, "id", "")) in {"get", *OBJECT_GETTERS}
    return _no_result_hint(called, script) or (calls.IS_NONE if is_getter else None)


def _no_result_hint(called: ast.expr | None, script: _Script) -> str | None:
    """Return the hint for the result of a function that gives None each time."""
    method, name = getattr(called, "attr", ""), getattr(called, "id", "")
    if method in syntax.NO_RESULT:
        return f"{method} changes its list or dict and gives None: write it on a line of its own"
    bindings = Bindings.of([script.tree])
    match bindings.functions.get(name, []) if bindings.is_certain(name) else []:
        case [function] if not any(map(_is_end, ast.walk(function))):
            return f"{name} returns nothing: write `return value`"
        case _:
            return None


def _is_end(node: ast.AST) -> bool:
    """Report whether a node returns a value, or fails."""
    match node:
        case ast.Return(value=ast.expr()) | ast.Call(func=ast.Name(id="fail")):
            return True
        case _:
            return False


@_explains("items")
def _loops(script: _Script) -> Iterator[Finding]:
    """Find loops over values without items, and additions of such to a list."""
    for node in ast.walk(script.tree):
        match node:
            case ast.For(iter=items, target=turn) | ast.comprehension(iter=items, target=turn):
                kind = script.kinds.of(items)
            case ast.AugAssign(target=target, value=value) if value in script.kinds.facts:
                added = with_article(signatures.type_of_kind(script.kinds.facts[value]))
                message = f"cannot add {added} to a list"
                text = f"{calls.to_source(target)} += [{calls.to_source(value)}]"
                yield script.say(f"write {text}", message)
                continue
            case ast.Call(args=[first, *_]) if first in script.kinds.facts:
                name = calls.to_source(node.func).rpartition(".")[2]
                if name not in signatures.functions():
                    type_ = with_article(signatures.type_of_kind(script.kinds.facts[first]))
                    message = f"cannot call {name}: must be a list, not {type_}"
                    yield Finding(None, message, None, is_whole=True)
                continue
            case _:
                continue
        is_certain = script.failure is None and kind in _LOOPS_FAIL
        # After a failure, only the loop that failed is of interest.
        if kind is None or not (is_certain or items in script.kinds.facts):
            continue
        hint = _none_hint(items, script) if kind == NONE else _LOOPS.get(kind)
        if kind == "function":
            hint = f"call it, with parentheses: {calls.to_source(items)}()"
        elif kind == "string" and isinstance(turn, ast.Tuple):
            hint = "write enumerate(text.elems()) for its characters with their numbers"
        yield script.at(items, f"a value of type {kind} has no items", hint)


@_explains("frozen", "struct")
def _changes(script: _Script) -> Iterator[Finding]:
    """Find functions that change values of the top level, which are frozen, or a response."""
    constants = _constants(script.tree)
    for function, node in _nodes_of_functions(script):
        root = changed = _changed(node)
        member = node if isinstance(node, ast.Subscript) else changed
        while isinstance(root, (ast.Subscript, ast.Attribute)):
            root, member = root.value, root
        if changed is None or not isinstance(root, ast.Name):
            continue
        constant = constants.get(root.id)
        is_data = isinstance(constant, (ast.List, ast.ListComp, ast.Dict, ast.DictComp))
        if script.kinds.of(root) == signatures.RESPONSE:
            hint = _setter_hint(member, is_whole=member is node)
            if hint or script.failure is not None or isinstance(member, ast.Subscript):
                message = "a response has no fields that a script can set"
                yield script.at(changed, message, hint or _FILLED)
        elif script.failure is not None:
            origin = _find_origin(root, script)
            # A call may have given a text, or None.
            is_data = script.kinds.of(root) in {"dict", "list"}
            is_data = is_data or isinstance(origin, (ast.Name, ast.Subscript))
            hint = _COPY if is_data else _no_result_hint(getattr(origin, "func", None), script)
            is_text = isinstance(_find_value(changed, script), str)
            kind = "string" if is_text else script.kinds.of(changed)
            message = None
            if kind in {"bool", "float", "int", "string", "tuple"}:
                message = f"a value of type {kind} cannot be changed"
                hint = "make a new text" if kind == "string" else None
            yield script.say(hint if script.failure.code == "frozen" else None, message)
        elif is_data and root is changed and not Bindings.of([function]).counts[root.id]:
            message = f'a function cannot change "{root.id}", which is set outside of it'
            yield script.at(changed, message, _COPY)


def _nodes_of_functions(script: _Script) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield the nodes to look at, each with the function around it; after a failure, its own."""
    if script.failure is not None:
        yield script.node, script.node
        return
    for function in script.tree.body:
        if isinstance(function, ast.FunctionDef):
            yield from ((function, node) for node in ast.walk(function))


def _setter_hint(node: ast.expr | None, *, is_whole: bool) -> str | None:
    """Return how a response sets what a script sets as a field."""
    name = getattr(node, "attr", None) or syntax.text_of(getattr(node, "slice", None)) or ""
    near = habits.find("starlark", name, "response") or name
    is_part = name == "status" and not is_whole
    setter = signatures.methods().get("set_status" if is_part else near)
    return f"write {setter.usage}" if setter is not None else None


def _constants(tree: ast.Module) -> Mapping[str, ast.expr]:
    """Return the values that assignments of the top level give to names."""
    return {
        target.id: statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }


def _changed(node: ast.AST) -> ast.expr | None:
    """Return the value that a statement or a call changes."""
    match node:
        case ast.AugAssign(target=ast.Name() as name):
            return name
        case ast.Attribute(ctx=ast.Store()):
            return node
        case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
            return syntax.changed_value(target)
        case _:
            return syntax.changed_value(node)


@_explains("local")
def _locals(script: _Script) -> Iterator[Finding]:
    """Find functions that set a name of the top level anew, by its own value."""
    constants = _constants(script.tree)
    message = 'a function cannot change "{}", which is set outside of it'
    hint = "{} outside of functions is a constant: begin with a local name, and return its value"
    if script.failure is not None:
        name = script.failure.arguments["name"]
        if name in constants:
            yield script.say(hint.format(name), message.format(name))
        return
    for function, node in _nodes_of_functions(script):
        match node:
            case ast.AugAssign(target=ast.Name(id=name) as target) if (
                name in constants and Bindings.of([function]).counts[name] == 1
            ):
                yield script.at(target, message.format(name), hint.format(name))


@_explains("arguments", "type", "position", "items", "raised", "fail")
def _calls(script: _Script) -> Iterator[Finding]:
    """Find arguments that a function does not take."""
    for call in (node for node in script.walk() if isinstance(node, ast.Call)):
        signature = calls.find_predeclared(call, script.kinds)
        if script.failure is not None:
            signature = signature or _find_signature(call, script.tree)
        problem = signature and calls.find_problem(call, signature, script.kinds)
        if problem:
            span = syntax.span_of(problem.node, script.source)
            # The interpreter points at the call; only a word is worth another place.
            is_word = script.failure is None or problem.is_word
            is_word = is_word or call.lineno != call.end_lineno
            message = None if script.failure is not None and problem.is_word else problem.message
            is_none = script.kinds.of(problem.node) in {NONE, NULL}
            hint = _none_hint(problem.node, script) if is_none else None
            yield Finding(span if is_word else None, message, hint or problem.hint, is_whole=True)
        if script.failure is not None:
            # Calls inside of it have succeeded.
            return


def _find_signature(call: ast.Call, tree: ast.Module) -> Signature | None:
    """Return the signature of the function that a failed call names; None if it is unclear."""
    match call.func:
        case ast.Attribute(attr=name):
            return signatures.methods().get(name)
        case ast.Name(id=name):
            own = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name]
            if own:
                return signatures.read(own[0]) if len(own) == 1 else None
            return signatures.functions().get(name)
        case _:
            return None


@_explains("arguments")
def _method_arguments(script: _Script) -> Iterator[Finding]:
    """Find an argument with a name for a method of data, after a failure."""
    match script.failure, script.node:
        case Failure(arguments={"name": str(name)}), ast.Call(func=ast.Attribute(attr=method)) if (
            any(method in signatures.attributes()[kind] for kind in ("dict", "list", "string"))
        ):
            yield script.say(f"arguments of {method} have no names: leave `{name} =` out")


@_explains("number")
def _numbers(script: _Script) -> Iterator[Finding]:
    """Find texts that are no number."""
    for node in script.walk():
        match node:
            case ast.Call(func=ast.Name(id="int" | "float" as function), args=[number, *_]):
                text = number.value if isinstance(number, ast.Constant) else None
            case _:
                continue
        if script.failure is not None:
            text = script.failure.arguments["text"]
        if not isinstance(text, str):
            continue
        hint = None
        if quantities.has_unit(text):
            hint = f'read a quantity of Kubernetes with quantity("{text}")'
        elif _DECIMAL.fullmatch(text) and function == "int":
            hint = f'write int(float("{text}"))'
        if hint is not None:
            span = syntax.span_of(number, script.source) if script.failure is None else None
            yield Finding(span, f'cannot read "{text}" as a number', hint)


@_explains("key")
def _formats(script: _Script) -> Iterator[Finding]:
    """Find fields in braces that ``format`` does not fill: with a specification, or of a name."""
    key = script.failure.arguments["key"].strip("`") if script.failure is not None else ""
    for node in script.walk():
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Constant(value=str(text)) as value, attr="format")
            ):
                match = _SPECIFICATION.search(f"{{{key}}}" if key else text)
            case _:
                continue
        if match is not None:
            padding = _PADDING.fullmatch(match[1])
            width = f"({padding['width']} - len(str(n)))" if padding else ""
            hint = f'pad in front: "0" * {width} + str(n)' if padding else None
            message = f'format has no specifications such as ":{match[1]}"'
            yield script.at(value, message, hint)
        elif key.isidentifier() and f"{{{key}}}" in text:
            yield script.say(f"give it this name: .format({key} = value)")


@_explains("compare", "operator", "union")
def _operands(script: _Script) -> Iterator[Finding]:
    """Find operators between values of two types that they do not take."""
    for node in script.walk():
        match node:
            case ast.BinOp(left=left, right=right) | ast.AugAssign(target=left, value=right):
                operator = _SIGNS.get(type(node.op), "another")
            case ast.Compare(left=left, ops=[order], comparators=[right]):
                operator = "compare" if isinstance(order, _ORDERING) else "in"
            case ast.Subscript(value=left, slice=right):
                operator = "[]"
            case _:
                continue
        one, two = script.kinds.of(left), script.kinds.of(right)
        if one is None or two is None:
            continue
        is_certain = operator in {"+", "compare"} and not can_be_equal(one, two)
        if left not in script.kinds.facts and not (script.failure is None and is_certain):
            continue
        absent = left if one == NONE else right if two == NONE else None
        hint = _none_hint(absent, script) if absent else _operand_hint(operator, (one, two), node)
        message = None
        if operator == "compare":
            message = f"cannot compare a value of type {one} with one of type {two}"
        elif operator == "+":
            message = f"cannot add a value of type {one} and one of type {two}"
        place = node if isinstance(node, ast.expr) else None
        yield script.at(place, message, hint) if place else script.say(hint, message)


def _operand_hint(operator: str, types: tuple[str, str], node: ast.AST) -> str | None:
    """Return the hint for an operator that does not take two types."""
    one, two = types
    kinds = {one, two}
    match operator, node:
        case "compare", _ if kinds == {"int", "string"}:
            return "convert the text with int(text) or quantity(text), or leave its quotes out"
        case (
            ("+" | "-"),
            (
                ast.BinOp(left=ast.Constant(value=str(text)))
                | ast.BinOp(right=ast.Constant(value=str(text)))
            ),
        ) if quantities.has_unit(text):
            return f'read a quantity of Kubernetes with quantity("{text}")'
        case "+", _ if kinds == {"int", "string"}:
            return "use str(value), or a format such as %s; int(text) reads a number"
        case "+", _ if kinds == {"dict"}:
            return "merge dicts with `a | b`"
        case "+", _ if one == "list" and two != "tuple":
            return "put the item into brackets: list + [item]"
        case "*", _ if "float" in kinds:
            return "use int(value)"
        case _:
            return None


@_explains("index", "item", "key", "position")
def _subscripts(script: _Script) -> Iterator[Finding]:
    """Find a text as the index of a list, and a number as the key of a dict, after a failure."""
    match script.failure, script.node:
        case Failure(code="key"), ast.Subscript(value=value, slice=ast.Constant(value=int(number))):
            values = f"list({calls.to_source(value)}.values())[{number}]"
            yield script.say(
                f"{number} is no key of this dict: {values} takes a value by its place"
            )
        case Failure(code="key" | "index" as code), ast.Subscript() as node if _is_target(
            node, script
        ):
            text = calls.to_source(node)
            hint = f"an assignment sets the last key only: {text} must be there before"
            if code == "index":
                text = calls.to_source(node.value)
                hint = f"an assignment replaces an item that is there: {text}.append(item) adds one"
            yield script.say(hint)
        # A slice is never beyond the end: its step is 0.
        case Failure(code="index"), ast.Subscript(slice=index) if not isinstance(index, ast.Slice):
            yield script.say("test the length first")
        case Failure(code="key", arguments={"key": key}), ast.Subscript(value=value):
            origin = _find_origin(value, script)
            keys = syntax.fields_of(origin) if isinstance(origin, ast.Dict) else ()
            near = spelling.find_slip(key.strip('`"'), keys)
            yield script.say(f'did you mean "{near}"?' if near else None)
        # `resource["status"]["conditions"]["Ready"]`
        case Failure(code="item" | "position"), ast.Subscript(
            value=ast.Subscript(
                value=ast.Subscript(value=owner, slice=ast.Constant(value="status")),
                slice=ast.Constant(value="conditions"),
            ),
            slice=ast.Constant(value=str(name)),
        ):
            text = calls.to_source(owner)
            yield script.say(f'conditions are a list: get_condition({text}, "{name}")')


def _is_target(node: ast.Subscript, script: _Script) -> bool:
    """Report whether a value is what an assignment sets, or holds it."""
    return any(
        part is node
        for statement in ast.walk(script.tree)
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        for part in (target, getattr(target, "value", None))
    )


@_explains("undefined")
def _undefined(script: _Script) -> Iterator[Finding]:
    """Find what an author meant by a name that nothing defines, after a failure."""
    if script.failure is None:
        return
    name = script.failure.arguments["name"]
    for node in ast.walk(script.tree):
        if isinstance(node, ast.Dict) and any(key is script.node for key in node.keys):
            yield script.say(f'keys of a dict are in quotes: "{name}"')
    if isinstance(script.node, ast.Name):
        place = syntax.span_of(script.node, script.source)
        line = script.source.text.split("\n")[place.line - 1]
        for path in _DASHED.finditer(line):
            if path.start() < (place.column or 0) <= path.end():
                # `spec.tags.my-team`
                root, *parts = path[0].split(".")
                members = "".join(f'["{key}"]' for key in parts)
                yield script.say(f"a key with a dash is in brackets and quotes: {root}{members}")
    bindings = Bindings.of([script.tree])
    own = {n.id for n in ast.walk(script.tree) if isinstance(n, ast.Name)}
    names = sorted({*own, *bindings.variables, *bindings.functions} - {name})
    is_called = any(getattr(node, "func", None) is script.node for node in ast.walk(script.tree))
    kinds = habits.of_name(is_called=is_called)
    # A function is meant where it is called.
    functions = (*signatures.functions(), *signatures.BUILTINS) if is_called else ()
    # A type resembles a variable by chance: `rsp: Response = response()`.
    types = [(getattr(n, "annotation", 0), getattr(n, "returns", 0)) for n in ast.walk(script.tree)]
    is_type = any(script.node in each for each in types)
    candidates = () if is_type else (*functions, *names)
    yield script.say(habits.find("starlark", name, *kinds) or suggest(name, candidates))


def _find_mains(script: _Script) -> Iterator[tuple[ast.FunctionDef, Span]]:
    """Yield the function that is called with the request, and the place of its name."""
    for function in script.tree.body if script.is_main else ():
        if isinstance(function, ast.FunctionDef) and function.name == "main":
            yield function, replace(syntax.span_of(function, script.source), width=len("def main"))


@_explains()
def _parameters(script: _Script) -> Iterator[Finding]:
    """Find a main that cannot be called with the request alone."""
    for function, span in _find_mains(script):
        arguments = function.args
        names = syntax.positional_of(function)
        required = len(names) - len(arguments.defaults)
        has_room = names or arguments.vararg is not None
        if required > 1 or not has_room or None in arguments.kw_defaults:
            # Crossplane's SDK for Python hands in the response, too.
            begin = ", and begin with `rsp = response()`" * ("rsp" in names[1:])
            yield Finding(span, PARAMETERS, f"write `def main(req):`{begin}")


@_explains()
def _no_result(script: _Script) -> Iterator[Finding]:
    """Find a main that returns nothing."""
    for function, span in _find_mains(script):
        builder = None
        for node in ast.walk(function):
            match node:
                case ast.Assign(
                    targets=[ast.Name(id=name), *_], value=ast.Call(func=ast.Name(id="response"))
                ):
                    builder = builder or name
        if not any(map(_is_end, ast.walk(function))):
            hint = f"end it with `return {builder}`" if builder else None
            yield Finding(span, "main returns nothing", hint)


def _no_result_of_helper(script: _Script) -> Iterator[Finding]:
    """Find a function without a result, of which main returns the result."""
    for function, _ in _find_mains(script):
        for node in ast.walk(function):
            match node:
                case ast.Return(value=ast.Call(func=called)):
                    yield script.say(_no_result_hint(called, script))


# -- Doubts


@_DOUBTS.add
def _comparisons(script: _Script) -> Iterator[Finding]:
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
        one, two = map(script.kinds.of, (left, right))
        if one is None or two is None or "NoneType" in {one, two} or can_be_equal(one, two):
            continue
        message = (
            f"this is always {result}: a value of type {one} is never equal to one of type {two}"
        )
        hint = "compare values of one type"
        match _find_origin(left, script):
            case ast.Call(func=ast.Name(id="get_condition")):
                hint = f'its status is a text: {calls.to_source(left)}["status"]'
        yield script.at(right, message, hint)


def _doubt_of_type_name(call: ast.expr, other: ast.expr) -> tuple[str, str] | None:
    """Return the name and the hint for ``type(x) == "str"`` or ``type(x) == dict``."""
    match call, other:
        case ast.Call(func=ast.Name(id="type")), ast.Constant(value=str(name)) if (
            name not in _TYPES
        ):
            near = spelling.nearest(name, tuple(_TYPES))
            advice = f'write "{near}"' if near else list_choices(sorted(_TYPES))
            return f'"{name}"', habits.find("starlark", name, "type") or advice
        case ast.Call(func=ast.Name(id="type")), ast.Name(
            id="str" | "dict" | "list" | "int" | "bool" | "float" | "tuple" as name
        ):
            text = "string" if name == "str" else name
            return name, f'write type(value) == "{text}"'
        case _:
            return None


@_DOUBTS.add
def _conditions(script: _Script) -> Iterator[Finding]:
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


@_DOUBTS.add
def _results_of_changes(script: _Script) -> Iterator[Finding]:
    """Find fields and lists that are set to the result of a call that gives None."""
    for node in ast.walk(script.tree):
        match node:
            case ast.Dict(values=values):
                for call in values:
                    called = getattr(call, "func", None)
                    is_own = isinstance(called, ast.Name)
                    if is_own and (hint := _no_result_hint(called, script)):
                        yield script.at(call, "this is always None", hint)
            case (
                ast.Assign(value=ast.Call(func=ast.Attribute(value=value, attr=name)) as call)
                | ast.Return(value=ast.Call(func=ast.Attribute(value=value, attr=name)) as call)
            ) if name in syntax.NO_RESULT and (
                # Something else than data may have a method of this name.
                isinstance(value, ast.Subscript)
                or script.kinds.of(value) in {"dict", "list"}
                or name in _LIST_CHANGES
            ):
                hint = f"write {name} on a line of its own"
                yield script.at(call, f"{name} changes its value and gives None", hint)


@_DOUBTS.add
def _never_read(script: _Script) -> Iterator[Finding]:
    """Find names that a function sets and never reads."""
    for function in ast.walk(script.tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        reads, filled = Counter[str](), set[str]()
        for node in ast.walk(function):
            match node:
                # To fill a response is no read.
                case ast.Expr(ast.Call(ast.Attribute(value=ast.Name(id=name) as holder))) if (
                    script.kinds.of(holder) == signatures.RESPONSE
                ):
                    reads[name] -= 1
                    filled.add(name)
                # `x += 1` reads, too.
                case ast.Name(id=name, ctx=ast.Load()) | ast.AugAssign(target=ast.Name(id=name)):
                    reads[name] += 1
        for statement in ast.walk(function):
            match statement:
                case ast.Assign(targets=[ast.Name(id=name) as target], value=value) if (
                    not reads[name]
                    and not name.startswith("_")
                    # A call may be there for its effect.
                    and (
                        name in filled
                        or not any(isinstance(each, ast.Call) for each in ast.walk(value))
                    )
                ):
                    message, hint = f'"{name}" is set and never read', "use it, or take it out"
                    if name in filled:
                        message = f'"{name}" is filled and never returned'
                        hint = f"write `return {name}`"
                    yield script.at(target, message, hint)


@_DOUBTS.add
def _resources_of_loops(script: _Script) -> Iterator[Finding]:
    """Find objects that each turn of a loop changes and composes, and functions of a turn."""
    for loop in (each for each in ast.walk(script.tree) if isinstance(each, ast.For)):
        nodes, turn = [*ast.walk(loop)], getattr(loop.target, "id", "")
        counts = Bindings.of([loop]).counts
        parts = (part for part in map(_changed, nodes) if part is not None)
        changed = {getattr(each, "id", "") for part in parts for each in ast.walk(part)}
        is_whole = not any(isinstance(each, (ast.Break, ast.Return)) for each in nodes)
        for statement in loop.body if is_whole else ():
            match statement:
                case ast.Expr(
                    ast.Call(ast.Attribute(attr="resource"), [_, ast.Name(id=name) as it])
                ) if name in changed and not counts[name]:
                    message = (
                        "every turn of the loop composes this object, as the last turn leaves it"
                    )
                    yield script.at(it, message, "make the object in the loop")
                case ast.Expr(
                    ast.Call(ast.Attribute(attr="resource"), [_, ast.Lambda() as it])
                ) if counts[turn] == 1 and any(
                    getattr(each, "id", "") == turn for each in ast.walk(it.body)
                ):
                    message = f'this runs after the loop, when "{turn}" has its last value'
                    yield script.at(it, message, f"write `lambda {turn} = {turn}: …`")


@_DOUBTS.add
def _early_returns(script: _Script) -> Iterator[Finding]:
    """Find loops that return behind what their first turn does, whatever that is."""
    for node in ast.walk(script.tree):
        match node:
            case ast.For(body=[_, *_, ast.Return() as last]) if not any(
                isinstance(each, ast.Continue) for each in ast.walk(node)
            ):
                span = syntax.span_of(last, script.source)
                message = "the loop ends here in its first turn"
                yield Finding(span, message, "indent it as the `for`, to return after all turns")


@_DOUBTS.add
def _leftovers(script: _Script) -> Iterator[Finding]:
    """Find texts that are leftovers of another language: expressions that nothing replaces."""
    nodes = [*ast.walk(script.tree)]
    formats = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    names = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    # The name of a resource is no text of another tool.
    resources = [
        call.args[0]
        for call in nodes
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "resource" and call.args
    ]
    for node in (*_data_texts(script.tree), *resources):
        if id(node) in formats or not isinstance(value := getattr(node, "value", None), str):
            continue
        if leftover := leftovers.of_value(value):
            yield script.at(node, leftover.message, leftover.hint)
            continue
        matches = (each for each in _EXPRESSION.finditer(value) if each["name"] in names)
        if "\n" not in value and (match := next(matches, None)) is not None:
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
def _paths(script: _Script) -> Iterator[Finding]:
    """Find paths that begin with the wrapper, which getters of objects have taken off."""
    for node in ast.walk(script.tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[_, *others]) if name in OBJECT_GETTERS:
                _, names = OBJECT_GETTERS[name]
                paths = others[names : names + 1]
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
            text = syntax.text_of(path) or ""
            if label := _LABEL.fullmatch(text):
                hint = f"""write '{label["path"]}["{label["key"]}"]'"""
            elif _FOREIGN_PATH.match(text):
                hint = f'write "{text.lstrip("$/.").replace("/", ".")}"'
            else:
                continue
            message = f"no object has this path: {name} gives its default every time"
            yield script.at(path, message, hint)
