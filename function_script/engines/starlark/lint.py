"""The analyses that `check` makes of scripts, on Python's syntax trees."""

import ast
import re
from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from function_script.engines.lint import (
    CONDITION_CALL,
    QUOTED,
    Lint,
    Mention,
    Policy,
    ResourceKind,
    reads_own_namespace,
)
from function_script.engines.starlark import mistakes
from function_script.engines.starlark.analysis import composed, request_reads, syntax
from function_script.request.program import Program
from function_script.texts.source import Span

_EMITTING: Final = frozenset({"event", "warning"})


def _match_call(function: str, end: str = "") -> re.Pattern[str]:
    """Return the pattern of a call that has a name behind the request, outside of comments."""
    return re.compile(rf"^[^#\n]*?\b{function}\(\s*\w+\s*,\s*{QUOTED}{end}", re.MULTILINE)


class StarlarkLint(Lint):
    """The analyses of StarlarkScript."""

    calls: ClassVar = {
        "condition": re.compile(rf"^[^#\n]*?{CONDITION_CALL}", re.MULTILINE),
        "credentials": _match_call("get_credentials"),
        "observed": _match_call("(?:get_(?:observed|connection_details)|is_observed)"),
        "readiness": _match_call(r"is_ready\(\s*get_observed", r"\s*\)\s*\)"),
        "required": _match_call("get_required"),
    }
    random_call = re.compile(r"\b(?:stable_secret|(?P<public>stable_id))(?=\()")

    find_accesses = staticmethod(request_reads.find)
    find_comparisons = staticmethod(request_reads.find_comparisons)
    find_failures = staticmethod(mistakes.find_failures)
    find_doubts = staticmethod(mistakes.find_doubts)

    def find_composed_kinds(self, program: Program) -> Iterator[tuple[str, ResourceKind]]:
        """Find resources in dicts by name, and in calls of ``resource``."""
        for node, _ in syntax.walk(program):
            for name, fields in _find_entries(node):
                body = fields.get("resource")
                kind = _kind_of(syntax.fields_of(body) if isinstance(body, ast.Dict) else fields)
                if kind is not None and all(each.value for each in kind):
                    yield name, ResourceKind(*(str(each.value) for each in kind))

    def find_composed_names(self, program: Program) -> frozenset[str] | None:
        """Find the names in calls of ``resource`` and in dicts below ``desired.resources``."""
        return composed.find_names(syntax.parse(source.text) for source in program.sources())

    def find_statements(self, policy: Policy, program: Program, /) -> Iterator[Mention]:
        """Find the texts of arguments and members of this name, also those in lists."""
        for node, source in syntax.walk(program):
            value = syntax.fields_of(node).get(policy) if isinstance(node, ast.Dict) else None
            if isinstance(node, ast.keyword) and node.arg == policy:
                value = node.value
            for text in value.elts if isinstance(value, ast.List) else [value]:
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    yield Mention(text.value, source, syntax.span_of(text, source))

    def find_rules(self, program: Program, /) -> Iterator[tuple[str, Mention]]:
        """Find ``ready_when`` of calls, and of dicts by name."""
        for node, source in syntax.walk(program):
            for name, fields in _find_entries(node):
                rule = fields.get("ready_when")
                text = syntax.text_of(rule)
                if "resource" in fields and rule is not None and text is not None:
                    yield name, Mention(text, source, syntax.span_of(rule, source))

    def find_kinds(self, program: Program) -> Iterator[tuple[Mention, str]]:
        """Find the apiVersions in dicts that are whole objects, each with its kind."""
        for node, source in syntax.walk(program):
            kind = _kind_of(syntax.fields_of(node)) if isinstance(node, ast.Dict) else None
            if kind is not None:
                version, name = kind
                span = syntax.span_of(version, source)
                yield Mention(str(version.value), source, span), str(name.value)

    def find_object_names(self, program: Program) -> Iterator[Mention]:
        """Find ``metadata.name`` in dicts of whole Kubernetes objects."""
        for source in program.sources():
            tree = syntax.parse(source.text)
            for name in _object_names(tree) if tree is not None else ():
                yield Mention(str(name.value), source, syntax.span_of(name, source))

    def find_constant_events(self, program: Program) -> Iterator[Span]:
        """Find the results that every call of ``main`` emits."""
        tree = syntax.parse(program.main.text)
        for node in tree.body if tree is not None else ():
            if isinstance(node, ast.FunctionDef) and node.name == "main":
                for result in _constant_results(node):
                    yield syntax.span_of(result, program.main)


def _kind_of(fields: Mapping[str, ast.expr]) -> tuple[ast.Constant, ast.Constant] | None:
    """Return apiVersion and kind of a dict where both are written out."""
    match fields.get("apiVersion"), fields.get("kind"):
        case ast.Constant(value=str()) as version, ast.Constant(value=str()) as kind:
            return version, kind
        case _:
            return None


def _find_entries(node: ast.AST) -> Iterator[tuple[str, Mapping[str, ast.expr]]]:
    """Yield the fields of what may be resources, by the names they have in a node.

    A call of ``resource`` has those of its arguments, and the object as ``resource``.
    """
    match node:
        case ast.Dict():
            for name, value in syntax.fields_of(node).items():
                if isinstance(value, ast.Dict):
                    yield name, syntax.fields_of(value)
        case ast.Call(
            func=ast.Attribute(attr="resource"), args=[ast.Constant(value=str(name)), *_]
        ):
            arguments = syntax.bind_arguments(node, ("name", "resource"))
            yield name, {"resource": arguments.get("body", node), **arguments}


def _object_names(node: ast.AST) -> Iterator[ast.Constant]:
    """Yield names of Kubernetes objects, but not of those inside of others, such as manifests."""
    fields = syntax.fields_of(node) if isinstance(node, ast.Dict) else {}
    if {"apiVersion", "kind"} <= fields.keys():
        metadata = fields.get("metadata")
        members = syntax.fields_of(metadata) if isinstance(metadata, ast.Dict) else {}
        name, namespace = members.get("name"), members.get("namespace")
        # A computed namespace may be one for each XR.
        is_shared = (
            namespace is None
            or isinstance(namespace, ast.Constant)
            or reads_own_namespace(ast.unparse(namespace))
        )
        if isinstance(name, ast.Constant) and isinstance(name.value, str) and is_shared:
            yield name
        return
    # A function may put what it gets inside of another object.
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return
    for child in ast.iter_child_nodes(node):
        yield from _object_names(child)


def _constant_results(main: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield results of statements of `main` itself, up to one that may leave it."""
    for statement in main.body:
        match statement:
            case ast.Return(value=ast.Dict() as response):
                results = syntax.fields_of(response).get("results")
                for item in results.elts if isinstance(results, ast.List) else ():
                    if isinstance(item, ast.Dict) and "atal" not in ast.unparse(item):
                        yield item
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(), attr=name)) as call
            ) if name in _EMITTING:
                yield call
        if any(isinstance(node, ast.Return) for node in ast.walk(statement)):
            return


LINT: Final = StarlarkLint()
