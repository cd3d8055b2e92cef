"""The parts of a request that a script can reach: the engine builds only those.

The analysis follows the request through names, once for each script. Where it cannot follow it,
the script needs the whole request.
"""

import ast
from collections.abc import Iterable, Sequence
from typing import Final

from function_script.engines.starlark.analysis import names, syntax
from function_script.engines.starlark.analysis.names import Bindings
from function_script.engines.starlark.analysis.paths import (
    GROUPS,
    Path,
    Paths,
    is_branch,
    project,
)
from function_script.request import objects
from function_script.request.lazy import ANY, PartTree

EVERYTHING: Final = None
"""The tree of a whole request."""
# An annotation of any other type may look into what it annotates.
_SHALLOW_TYPES = frozenset({"dict", "list", "str"})
_NOTHING: Paths = frozenset()
# Called with resources by name, they iterate over the names.
_SEE_NAMES = frozenset({"enumerate", "len", "list", "sorted"})
# There are few branches to follow, so more rounds would be a defect.
_MAX_ROUNDS = 20


def project_request(texts: Iterable[str]) -> PartTree | None:
    """Return the parts that a script with these sources can reach; everything when in doubt."""
    trees = []
    for text in texts:
        tree = syntax.parse(text)
        # Any source may pass the request on, so all of them must be read.
        if tree is None:
            return EVERYTHING
        trees.append(tree)
    bindings = Bindings.of(trees)
    mains = bindings.defined("main")
    if not bindings.is_certain("main") or not all(map(syntax.positional_of, mains)):
        return EVERYTHING
    analysis = _Analysis(bindings)
    for main in mains:
        analysis.flow(syntax.positional_of(main)[0], frozenset({()}))
        analysis.leak_result(main.name)
    return analysis.run(trees)


class _Analysis:
    """A data flow analysis of branches of the request, over all sources.

    To visit an expression gives the branches it may evaluate to. Branches that cannot be followed
    further leak: then the script needs all that is below them.
    """

    def __init__(self, bindings: Bindings) -> None:
        self._bindings = bindings
        self._names: dict[str, Paths] = {}
        self._results: dict[str, Paths] = {}
        self._leaky: set[str] = set()
        self._needed: set[Path] = set()
        self._parts: set[Path] = set()
        self._function = ""
        self._changed = True

    def run(self, trees: Sequence[ast.Module]) -> PartTree | None:
        """Visit the sources until a round finds nothing new."""
        try:
            for _ in range(_MAX_ROUNDS):
                self._changed = False
                for tree in trees:
                    self._block(tree.body)
                if not self._changed:
                    return project(self._needed, self._parts)
        except RecursionError:
            pass
        return EVERYTHING

    def flow(self, name: str, paths: Paths) -> None:
        """Note that a name may stand for these branches."""
        before = self._names.get(name, _NOTHING)
        if not paths <= before:
            self._names[name] = before | paths
            self._changed = True

    def leak_result(self, function: str) -> None:
        """Note that the function's result goes to a caller that cannot be followed."""
        if function not in self._leaky:
            self._leaky.add(function)
            self._changed = True

    def _need(self, paths: Iterable[Path]) -> None:
        self._needed.update(paths)

    def _leak(self, node: ast.AST | None) -> None:
        if node is not None:
            self._need(self._visit(node))

    def _enter(self, paths: Paths, keys: Sequence[str]) -> Paths:
        """Follow keys from branches: note the leaves on the way, return the branches at the end."""
        for key in keys:
            below = {(*path, key) for path in paths}
            paths = frozenset(filter(is_branch, below))
            self._need(below - paths)
            self._parts |= paths
        return paths

    def _members(self, paths: Paths) -> Paths:
        """Return any resource of the groups; of other branches the script needs the whole."""
        groups = {path for path in paths if path in GROUPS}
        self._need(paths - groups)
        members = frozenset((*path, ANY) for path in groups)
        self._parts |= members
        return members

    def _iterate(self, target: ast.expr, iterated: ast.expr) -> None:
        """Bind a loop's target to names of a group, to its resources, or to both."""
        match iterated, target:
            case ast.Call(func=ast.Name(id="sorted"), args=[each], keywords=[]), _ if (
                not self._bindings.is_bound("sorted")
            ):
                self._iterate(target, each)
            case (
                ast.Call(func=ast.Attribute(value=group, attr="values"), args=[]),
                ast.Name(id=name),
            ) | (
                ast.Call(func=ast.Attribute(value=group, attr="items"), args=[]),
                ast.Tuple(elts=[ast.Name(), ast.Name(id=name)]),
            ):
                self.flow(name, self._members(self._visit(group)))
            case _:
                self._store(target)
                self._members(self._visit(iterated))

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.FunctionDef():
                self._define(statement)
            case ast.Return(value=value):
                self._return(value)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(target, value)
            case (
                ast.AugAssign(target=target, value=value)
                | ast.AnnAssign(target=target, value=value)
            ):
                # The old value goes on in the new one, where nobody follows it.
                self._leak(target)
                self._leak(value)
            case ast.For(target=target, iter=iterated, body=body):
                self._iterate(target, iterated)
                self._block(body)
            case ast.If(test=test, body=body, orelse=orelse):
                self._leak(test)
                self._block(body)
                self._block(orelse)
            case ast.Expr(value=value):
                self._visit(value)
            case ast.Pass() | ast.Break() | ast.Continue():
                pass
            case _:
                # A statement that is not known here may hand the request to anything.
                self._need([()])

    def _define(self, function: ast.FunctionDef) -> None:
        arguments = function.args
        every = [*arguments.posonlyargs, *arguments.args]
        defaults = arguments.defaults
        for argument, default in zip(every[len(every) - len(defaults) :], defaults, strict=True):
            self.flow(argument.arg, self._visit(default))
        for argument, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            self.flow(argument.arg, self._visit(value) if value else _NOTHING)
        for argument in [*every, *arguments.kwonlyargs]:
            if not self._is_shallow(argument.annotation):
                self._need(self._names.get(argument.arg, _NOTHING))
        if not self._is_shallow(function.returns):
            self.leak_result(function.name)
        outer, self._function = self._function, function.name
        self._block(function.body)
        self._function = outer

    def _is_shallow(self, annotation: ast.expr | None) -> bool:
        if annotation is None:
            return True
        name = annotation.id if isinstance(annotation, ast.Name) else ""
        return name in _SHALLOW_TYPES and not self._bindings.is_bound(name)

    def _return(self, value: ast.expr | None) -> None:
        paths = self._visit(value) if value is not None else _NOTHING
        if self._function in self._leaky:
            self._need(paths)
        before = self._results.get(self._function, _NOTHING)
        if not paths <= before:
            self._results[self._function] = before | paths
            self._changed = True

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case ast.Name(id=name), _:
                self.flow(name, self._visit(value))
            case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
                for each, item in zip(targets, values, strict=True):
                    self._assign(each, item)
            case _:
                self._store(target)
                self._leak(value)

    def _store(self, target: ast.expr) -> None:
        """Visit the expressions in a target whose value is not followed."""
        match target:
            case ast.Name():
                pass
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                for each in targets:
                    self._store(each)
            case _:
                self._visit(target)

    def _visit(self, node: ast.AST) -> Paths:
        match node:
            case ast.Name(id=name):
                return self._name(name)
            case ast.Constant():
                return _NOTHING
            case ast.Subscript(value=value, slice=key):
                return self._look_up(value, key)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self._leak(test)
                return self._visit(body) | self._visit(orelse)
            case ast.Compare(left=first, ops=[operator], comparators=[second]):
                self._compare(first, operator, second)
                return _NOTHING
            case ast.Call():
                return self._call(node)
            case ast.comprehension(target=target, iter=iterated, ifs=tests):
                self._iterate(target, iterated)
                for test in tests:
                    self._leak(test)
                return _NOTHING
            case _:
                for child in ast.iter_child_nodes(node):
                    self._leak(child)
                return _NOTHING

    def _look_up(self, value: ast.expr, key: ast.expr) -> Paths:
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return self._enter(self._visit(value), [key.value])
        self._leak(key)
        return self._members(self._visit(value))

    def _name(self, name: str) -> Paths:
        # A function that is passed on may have callers that are not followed.
        for function in self._bindings.defined(name):
            self.leak_result(function.name)
        return self._names.get(name, _NOTHING)

    def _compare(self, first: ast.expr, operator: ast.cmpop, second: ast.expr) -> None:
        match first, operator, second:
            case ast.Constant(value=str(key)), ast.In() | ast.NotIn(), _:
                self._enter(self._visit(second), [key])
            case _, ast.In() | ast.NotIn(), _:
                self._leak(first)
                self._members(self._visit(second))
            # Such a test sees whether a branch is there, and nothing below it.
            case _, ast.Eq() | ast.NotEq(), ast.Constant(value=None):
                self._visit(first)
            case _:
                self._leak(first)
                self._leak(second)

    def _call(self, call: ast.Call) -> Paths:
        match call.func, call.args:
            case ast.Attribute(value=value, attr="get"), [key, *others]:
                for other in [*others, *call.keywords]:
                    self._leak(other)
                return self._look_up(value, key)
            case ast.Attribute(value=value, attr="keys"), []:
                self._members(self._visit(value))
                return _NOTHING
            case ast.Name(id=name), _ if self._bindings.is_certain(name):
                functions = self._bindings.defined(name)
                for function in functions:
                    self._pass(function, call)
                return _NOTHING.union(
                    *(self._results.get(function.name, _NOTHING) for function in functions)
                )
            case ast.Name(id=name), [request, *others] if not self._bindings.is_bound(name):
                return self._prelude(name, request, [*others, *call.keywords])
            case _:
                for each in [call.func, *call.args, *call.keywords]:
                    self._leak(each)
                return _NOTHING

    def _pass(self, function: ast.FunctionDef, call: ast.Call) -> None:
        """Bind the function's parameters to the arguments; those that match none leak."""
        is_spread = False
        positional = syntax.positional_of(function)
        parameters = {*positional, *(each.arg for each in function.args.kwonlyargs)}
        for index, argument in enumerate(call.args):
            # Behind a list that is spread, the positions of arguments are not known.
            is_spread = is_spread or isinstance(argument, ast.Starred)
            if is_spread or index >= len(positional):
                self._leak(argument)
            else:
                self.flow(positional[index], self._visit(argument))
        for keyword in call.keywords:
            if keyword.arg is not None and keyword.arg in parameters:
                self.flow(keyword.arg, self._visit(keyword.value))
            else:
                self._leak(keyword.value)

    def _prelude(self, name: str, request: ast.expr, others: Sequence[ast.AST]) -> Paths:
        """Visit a call of a name that the sources do not define: of a getter, or of a builtin."""
        paths = self._visit(request)
        for other in others:
            self._leak(other)
        key = others[0].value if others and isinstance(others[0], ast.Constant) else None
        if name == "get" and isinstance(key, str):
            return self._get(paths, key)
        if paths == {()}:
            match names.find_object(name, others):
                case keys, ast.Constant(value=str(path)):
                    return self._get(self._enter(paths, keys), path)
        if name in _SEE_NAMES and not others:
            self._members(paths)
        else:
            self._need(names.branches(name, key) if paths == {()} else paths)
        return _NOTHING

    def _get(self, paths: Paths, text: str) -> Paths:
        try:
            parts = objects.parse_path(text)
        except ValueError:
            self._need(paths)
            return _NOTHING
        return self._enter(paths, [part for part in parts if isinstance(part, str)])
