import json
from collections.abc import Callable

from function_script.engines.gotemplate.data import ABSENT, LazyDict, copy_tree, template_data
from function_script.request.lazy import Lazy
from function_script.request.program import Scope
from function_script.request.values import Readable

EMPTY: dict[str, Readable] = {
    "meta": {},
    "observed": {"composite": {"resource": {}}, "resources": {}},
    "desired": {"composite": {"resource": {}}, "resources": {}},
    "input": {"kind": "GoTemplate"},
    "context": {},
    "required_resources": {},
    "extra_resources": {},
    "credentials": {},
    "required_schemas": {},
}


def scope(*, sent: frozenset[str] = frozenset(), **parts: Readable) -> Scope:
    """Return a scope with these parts of a request."""
    request = EMPTY | parts
    builders: dict[str, Callable[[], Readable]] = {
        name: lambda value=value: value for name, value in request.items()
    }
    return Scope(request=Lazy(builders), sent=sent)


def test_lazy_dict_builds_a_resource_on_first_read() -> None:
    built: list[str] = []

    def resource(name: str) -> Readable:
        built.append(name)
        return {"resource": {"kind": name}}

    resources = Lazy({name: lambda name=name: resource(name) for name in ("a", "b")})
    request_scope = scope(
        observed={"composite": {"resource": {"kind": "XR"}}, "resources": resources}
    )
    dot = template_data(request_scope, mutates=False, is_own=False)
    observed = dot["observed"]
    assert isinstance(observed, dict)
    entry = observed["resources"]["b"]
    assert (entry, built) == ({"resource": {"kind": "b"}}, ["b"])


def test_lazy_dict_behaves_as_a_dict() -> None:
    """Reading the whole dict builds all values and skips absent ones."""

    def dot() -> LazyDict:
        return LazyDict({"a": lambda: 1, "b": lambda: ABSENT, "c": lambda: [2]})

    plain = {"a": 1, "c": [2]}
    assert dict(dot()) == {**dot()} == plain
    assert dot() == plain
    assert list(dot()) == list(dot().keys()) == ["a", "c"]
    assert list(dot().values()) == [1, [2]]
    assert list(dot().items()) == [("a", 1), ("c", [2])]
    assert json.dumps(dot()) == json.dumps(plain)
    assert (len(dot()), bool(dot()), bool(LazyDict({"b": lambda: ABSENT}))) == (2, True, False)
    assert ("b" in dot(), "c" in dot(), dot().get("b", 0), dot().get("a")) == (
        False,
        True,
        0,
        1,
    )
    assert copy_tree(dot()) == plain
