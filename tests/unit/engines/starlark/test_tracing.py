"""The place of each value of a script's result, whichever way it got there."""

import pytest
from support import programs

from function_script.engines.starlark import engine
from function_script.request import objects
from function_script.request.limits import Limits
from function_script.request.values import Value
from function_script.texts.source import Span

SPEC = "desired.resources.a.resource.spec"
STATUS = "desired.composite.resource.status"


def places(
    text: str, modules: dict[str, str] | None = None, root: str = SPEC, **options: Value
) -> dict[str, str | None]:
    """The lines of what is below ``root``, by path; None where nothing is known."""
    xr = {"spec": {"size": 3, "zone": "b"}}
    scope = programs.scope(observed={"composite": {"resource": xr}})
    program = programs.program(text, modules, name="script", **options)
    trace = engine.evaluate(program, scope, Limits()).trace()
    prefix = objects.parse_path(root)
    return {
        ".".join(map(str, path[len(prefix) :])): span and f"{span.name}:{span.line}"
        for path, span in trace.items()
        if path[: len(prefix)] == prefix
    }


HEAD = "def main(req):\n"
TAIL = """
    body = {"apiVersion": "v1", "kind": "A", "spec": spec}
    return {"desired": {"resources": {"a": {"resource": body}}}}
"""
WHOLE = "    xr = req['observed']['composite']['resource']\n"

CASES = [
    pytest.param('    spec = {"a": 1,\n      "b": [1,\n 2]}', "a:2 b:3 b.0:3 b.1:4", id="literal"),
    pytest.param('    spec = {}\n    spec["a"] = 1', "a:3", id="assignment"),
    pytest.param('    spec = {"a": 1}\n    spec["a"] = 2', "a:3", id="last-assignment"),
    pytest.param('    spec = {"a": 1}\n    spec["a"] += 2', "a:3", id="augmented"),
    pytest.param('    spec = {"a": {}}\n    spec["a"]["b"] = 2', "a:2 a.b:3", id="nested"),
    pytest.param('    spec = {"a": 1} | {\n      "b": 1}', "a:2 b:3", id="union"),
    pytest.param('    spec = merge({"a": 1}, {\n "b": 1})', "a:2 b:3", id="merge"),
    pytest.param('    spec = compact({"a": 1, "b": None})', "a:2", id="compact"),
    pytest.param('    spec = {k: 1 for k in "a b".split()}', "a:2 b:2", id="comprehension"),
    pytest.param(
        '    spec = {}\n    for k in ["a", "b"]:\n        spec[k] = {"c": k}',
        "a:4 a.c:4 b:4 b.c:4",
        id="loop",
    ),
    pytest.param(
        '    one = {"a": 1}\n    spec = {}\n    for k, v in one.items(): spec[k] = v',
        "a:4",
        id="copy-in-a-loop",
    ),
    pytest.param(
        '    sizes = {"a": {"b": 1}}\n    spec = {k:\n v["b"] for k, v in sizes.items()}',
        "a:3",
        id="loop-over-items-that-are-used",
    ),
    pytest.param(
        '    connection_secret({"a": "b"})\n    spec = {"a": 1}', "a:3", id="beside-a-secret"
    ),
    pytest.param(f"{WHOLE}    spec = xr['spec']", "", id="of-the-request"),
    pytest.param(f"{WHOLE}    spec = {{'a': xr['spec']}}", "a:3", id="with-what-is-of-the-request"),
    pytest.param('    spec = {"a": 1}\n    spec.setdefault("b", 1)', "a:2 b:?", id="setdefault"),
    pytest.param('    spec = {"a": [1]}\n    spec["a"].append(2)', "a:2 a.0:2 a.1:?", id="append"),
    pytest.param('    spec = {"a":\n      "é", "b": "é", "c": 1}', "a:3 b:3 c:3", id="not-ascii"),
    pytest.param('    spec = {"a": json.encode({"b": 1})}', "a:2", id="encoded"),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_place_of_each_value(text: str, expected: str) -> None:
    (_, *below) = places(HEAD + text + TAIL).items()
    lines = " ".join(f"{path}:{(place or '?').removeprefix('script:')}" for path, place in below)
    assert lines == expected


def test_place_of_a_status_field_is_the_path_that_sets_it() -> None:
    text = """\
    size = get_xr(req, "spec.size")
    rsp = response()
    rsp.set_status("a.b", size)
    rsp.set_status(["c"], {
        "d": size})
    if size: rsp.set_status(
        "a.e", 1)
    rsp.status({"f": 1})
    rsp.set_status("f", 2)
    return rsp
"""
    assert places(HEAD + text, root=STATUS) == {
        "a.b": "script:4",
        "a.e": "script:8",
        "c": "script:5",
        "c.d": "script:6",
        "f": "script:10",
    }


def test_places_are_known_beside_a_resource_that_waits() -> None:
    text = """\
    rsp = response()
    network = get_xr(req)
    rsp.resource("b", lambda: {"apiVersion": "v1", "kind": "B", "spec": network["status"]})
    rsp.resource("a", {"apiVersion": "v1", "kind": "A", "spec": {"c": 1}})
    return rsp
"""
    assert places(HEAD + text, missing="Defer")["c"] == "script:5"


def test_place_in_a_module() -> None:
    text = 'load("lib.star", "spec_of")\n' + HEAD + "    spec = spec_of(3)" + TAIL
    lib = 'LABELS = {"c": 1}\n\ndef spec_of(size):\n    return {"a": size, "b": LABELS}\n'
    assert places(text, {"lib.star": lib, "lib.j2": "{% set a = 1 %}"}) == {
        "": "script:4",
        "a": "modules[lib.star]:4",
        "b": "modules[lib.star]:4",
        "b.c": "modules[lib.star]:1",
    }


def test_script_that_counts_its_keys_has_no_false_place() -> None:
    text = '    spec = {"a": 1}\n    spec["n"] = len(spec)'
    assert places(HEAD + text + TAIL)["n"] == "script:3"


def test_script_that_fails_with_marks_has_no_places() -> None:
    text = '    spec = {"a": 1}\n    len(spec) == 1 or fail("more")'
    assert places(HEAD + text + TAIL) == {}


# A statement of a script with a response, the path of a value, and the text at its place.
CALLS = (
    ('rsp.resource("a" + "b", {}, depends_on = ["c"])', "desired.resources.ab", '"a" + "b"'),
    (
        'rsp.resource("ready", {}, depends_on = ["c"])',
        "desired.resources.ready.depends_on[0]",
        '"c"',
    ),
    ('rsp.resource(body = {}, name = "a")', "desired.resources.a.ready", '"a"'),
    ('rsp.resource("a", {"spec": {}})', "desired.resources.a.resource.kind", '"a"'),
    ('rsp.condition("Works", True, "B")', "conditions[0].reason", '"B"'),
    ('rsp.event("a"); rsp.event("b", reason = "C")', "results[1].reason", '"C"'),
    ('rsp.event("a"); rsp.event("b", reason = "C")', "results[1].severity", '"b"'),
    ('rsp.ttl("1 day")', "meta.ttl", '"1 day"'),
    ('rsp.context("a", {"b": 1})', "context.a", '"a"'),
    ('rsp.connection_details({"b": 1})', "desired.composite.connection_details.b", '"b"'),
    ('rsp.set_status("a.b", 1)', "desired.composite.resource.status.a.b", '"a.b"'),
    ("rsp.ready(True)", "desired.composite.ready", "True"),
    ('other = struct(build = lambda: 1, ttl = lambda _: 1); other.ttl("a")', "meta.ttl", "def"),
    ('rsp.resource(**{"name": "a", "body": {"kind": "A"}})', "desired.resources.a.ready", "def"),
    ('n = ["b", "a"]; rsp.resource(n.pop(), {})', "desired.resources.a.ready", "def"),
    ('n = ["b", "a"]; rsp.resource(n.pop(), {"x": {}})', "desired.resources.a.resource.x", '"x"'),
)


@pytest.mark.parametrize(("statement", "path", "place"), CALLS)
def test_place_of_what_a_response_is_told(statement: str, path: str, place: str) -> None:
    """It is the argument, else the first one; without a place, it is main."""
    text = f"{HEAD}    rsp = response()\n    {statement}\n    return rsp\n"
    result = engine.evaluate(programs.program(text, name="script"), programs.scope(), Limits())
    span = result.locate(objects.parse_path(path))
    assert span is not None
    assert text.split("\n")[span.line - 1][(span.column or 1) - 1 :].startswith(place)


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ('{"a": [1, {"b": 2.0 / 3 * 1e308 * 10}]}', '"b"'),
        ('{"a": [1, len]}', "len]"),
        ('{"a": {1: 2}}', '"a"'),
        ('{"a": [1] + [len]}', '"a"'),
        ('{"a": [1]}\n    spec["a"].append(len)', '"a"'),
    ],
)
def test_place_of_a_value_that_is_refused(value: str, place: str) -> None:
    """No JSON can be made of it, so that its trace has no JSON of all."""
    text = f"{HEAD}    spec = {value}{TAIL}"
    problem = programs.problem(engine, programs.program(text, name="script"))
    assert problem.span is not None
    line = text.split("\n")[problem.span.line - 1]
    assert line[(problem.span.column or 1) - 1 :].startswith(place)


def test_long_run_is_not_traced() -> None:
    """The place is worth less than the response."""
    text = f"{HEAD}    [i for i in range(1000) for _ in range(1000)]\n    spec = {{}}{TAIL}"
    program = programs.program(text, name="script")
    result = engine.evaluate(program, programs.scope(), Limits(timeout_seconds=60))
    assert result.locate(("desired", "resources")) == Span(name="script", line=1, column=1, width=8)
