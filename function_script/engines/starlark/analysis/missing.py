"""The key that a failed lookup did not find.

For errors only, so it may be slow. Only lookups by written names are followed.
"""

import ast
from collections.abc import Mapping
from typing import Final, NamedTuple

from function_script.engines import missing_values
from function_script.engines.lint import CONDITION
from function_script.engines.starlark import signatures
from function_script.engines.starlark.analysis import composed, syntax
from function_script.engines.starlark.analysis.names import Bindings
from function_script.engines.starlark.analysis.request_reads import trace
from function_script.request.objects import CONDITION_FIELDS, Path
from function_script.request.values import Readable
from function_script.texts import field_names, spelling
from function_script.texts.source import Source, Span

_MAX_KEYS_SHOWN = 6
_REQUEST: Final = "the request"


class MissingKey(NamedTuple):
    """A key that a part of the request lacks; ``is_final``: no other advice fits.

    ``is_null``: the key is there, and its value is null. ``waiting`` is how a resource waits for
    the value; "" where nothing can.
    """

    parent: str
    key: str
    advice: str
    is_final: bool = False
    is_null: bool = False
    waiting: str = ""

    @property
    def absence(self) -> str:
        """Return ``observed has no "composit"``."""
        if self.is_null:
            return f'"{self.key}" of {self.parent} is None'
        return f'{self.parent} has no "{self.key}"'

    @property
    def text(self) -> str:
        """Return the absence with the advice."""
        return self.absence + self.advice


def find_missing_key(
    span: Span | None,
    arguments: Mapping[str, str],
    sources: Mapping[str, Source],
    request: Mapping[str, Readable],
) -> MissingKey | None:
    """Return the key that a failed lookup, with the error's arguments, did not find, if clear."""
    parsed = {name: syntax.parse(source.text) for name, source in sources.items()}
    tree = parsed.get(span.name) if span is not None else None
    node = syntax.node_at(tree, span, sources[span.name]) if span and tree else None
    match node:
        case ast.If(test=test):
            # The interpreter points at a whole statement, of which a condition is a part.
            nodes: list[ast.AST | None] = [*ast.walk(test)]
        case ast.For(iter=items):
            nodes = [items]
        case ast.BinOp(left=left, right=right):
            nodes = [left, right]
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name == arguments.get("name"):
            nodes = [value]
        # A function of the script may fail for any other reason.
        case ast.Call(func=ast.Name(id=name), args=[argument]) if not any(
            name in Bindings.of([each]).functions for each in parsed.values() if each is not None
        ):
            nodes = [node, argument]
        case _:
            nodes = [node]
    paths = (
        (lookups.path(each), function)
        for function, lookups, _ in trace([each for each in parsed.values() if each is not None])
        if any(each is node for each in ast.walk(function))
        for each in nodes
        if isinstance(each, ast.expr)
    )
    key = arguments.get("key", "").strip('`"')
    for path, function in paths:
        absent = _walk(path, key, request) if path else None
        if path is None or absent is None:
            continue
        if absent.is_final or not absent.parent.startswith(missing_values.OBSERVED):
            return absent
        names = composed.find_names(parsed.values())
        name = str(path[missing_values.OBSERVED.count(".") + 1])
        return absent._replace(waiting=_advise_waiting(node, function, name, names))
    return None


def _advise_waiting(
    node: ast.AST | None, function: ast.FunctionDef, name: str, names: frozenset[str] | None
) -> str:
    """Return how a resource waits for the value of a node of a function.

    It is a value of the observed resource of a name. The script composes resources of these names.
    """
    around = [each for each in ast.walk(function) if any(part is node for part in ast.walk(each))]
    calls = [
        (each.func.attr, each)
        for each in around
        if isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and each.func.attr in signatures.methods()
    ]
    if any(method != "resource" for method, _ in calls):
        return ""
    own = [syntax.text_of(call.args[0]) for _, call in calls if call.args]
    if not own and names is not None and len(names) == 1:
        # Nothing else can read it.
        own = [*names]
    others = None if names is None else names.difference(own)
    texts = [each for each in own if each is not None]
    if not missing_values.comes_from_another(name, texts if texts == own else None, others):
        return ""
    if any(isinstance(each, ast.Lambda) for each in around):
        return missing_values.RESOURCE_WAITS
    for statement in around:
        match statement:
            # It decides what else the script does.
            case ast.If(test=part) | ast.For(iter=part) if statement is node or part in around:
                return ""
    return missing_values.FUNCTION_WAITS


def _walk(path: Path, absent: str, request: Mapping[str, Readable]) -> MissingKey | None:
    """Return the first key of a path that is not there, and that has the name of an absent one."""
    condition: Readable = {CONDITION: dict.fromkeys(CONDITION_FIELDS, "")}
    values = [condition if path[0] == CONDITION else request]
    parent, missing, is_computed = "", None, False
    for key in path:
        if not isinstance(key, str):
            if parent.endswith(".items[].resource"):
                # One of the objects, which stand in a list of their own.
                continue
            # Any of the items is the one without the key.
            is_computed = is_computed or any(isinstance(each, Mapping) for each in values)
            values = [
                item
                for each in values
                if isinstance(each, (Mapping, list))
                for item in (each.values() if isinstance(each, Mapping) else each)
            ]
            parent += "[]"
            continue
        holders = [each for each in values if isinstance(each, Mapping)]
        lacking = [each for each in holders if each.get(key) is None]
        # A null is as good as absent: the interpreter fails at the key below it.
        if is_computed:
            # Only a run knows which of different objects it is: no other key of theirs is meant.
            near = spelling.find_slip(key, {name for each in lacking for name in each})
            if near is not None and lacking == holders and absent in {"", key}:
                return _describe(parent, key, [near])
        elif lacking:
            missing = _describe(parent or _REQUEST, key, list(lacking[0]))
        # Below a default, as that of get("network", {}), the cause is the key that has it.
        if missing is not None and absent in {"", key} and (lacking or not values):
            return missing
        values = [each[key] for each in holders if key in each]
        parent = f"{parent}.{key}" if parent else key
    return None


def _describe(parent: str, key: str, keys: list[str]) -> MissingKey:
    if key in keys:
        return MissingKey(parent, key, "", is_null=True)
    if key == "resource" and parent.endswith(".resource"):
        return MissingKey(parent, key, ": it is the resource itself", is_final=True)
    if missing_values.is_below_resource(key, keys):
        advice = f': the object is below it, ["resource"]["{key}"]'
        return MissingKey(parent, key, advice, is_final=True)
    if parent == _REQUEST and (meant := field_names.advise_root(key, None)):
        return MissingKey(parent, key, f": {meant}", is_final=True)
    near = spelling.nearest(key, keys)
    if near:
        return MissingKey(parent, key, f', did you mean "{near}"?', is_final=True)
    others = f", but {field_names.listed(keys, _MAX_KEYS_SHOWN)}" if keys else ": it is empty"
    # These parts have the same keys in every request.
    is_final = parent in {_REQUEST, "observed", "desired"}
    return MissingKey(parent, key, others, is_final=is_final)
