"""Whatever a script does with a request, the parts that are left out make no difference to it."""

import random
import re
from collections.abc import Sequence
from unittest.mock import patch

import pytest
from support import programs
from support.example_counts import SEARCH_FACTOR
from support.results import whole

from function_script.engines.starlark import engine as starlark
from function_script.engines.starlark.analysis import pruning
from function_script.request.cache import ByteLruCache
from function_script.request.lazy import Lazy
from function_script.request.limits import Limits
from function_script.request.values import Object, Readable
from function_script.texts.errors import FatalError

LIMITS = Limits()

# Nearly every value is an object, so that almost everything a script does with it succeeds.
RESOURCE: Object = {
    "resource": {
        "a": {"b": {"a": {"b": {}}, "resource": {}}, "composite": None},
        "b": {"x": {}, "a": ["b"]},
        "resources": {"a": {"b": {"a": {}}}, "b": "a", "resource": {}},
    },
    "a": {},
}
NAMED: Object = {"a": RESOURCE, "b": RESOURCE, "resource": RESOURCE}
REQUEST: Object = {
    "context": {"a": {"b": {}}, "resources": {"a": {}}},
    "credentials": {"a": {"data": {"b": {}}}},
    "extra_resources": {},
    "input": {"a": {}},
    "meta": {"a": {}},
    "required_resources": {"a": {"items": {}}},
    "required_schemas": {},
}


def _lazy(value: dict[str, Readable]) -> Lazy:
    return Lazy({key: lambda item=item: item for key, item in value.items()})


STATE = _lazy({"composite": RESOURCE, "resources": _lazy({**NAMED})})
SCOPE = programs.scope({"a": {"b": {}}}, **REQUEST, observed=STATE, desired=STATE)

NAMES = ("req", "req", "a", "b", "c")
PARTS = ("observed", "desired", "context", "params", "credentials", "zz")
KEYS = ("resources", "resources", "composite", "a", "b", "resource")

# {E} stands for an expression, {N} for a name, {P} for a part, {K} for a key, {C} for a condition.
FOLLOWED = (
    *('{N}.get("{P}", {})', '{E}.get("{K}", {})', '{E}.get("{P}", {}).get("{K}", {})'),
    *('get({E}, "{P}.{K}.{K}", {})', "({E} if {C} else {E})"),
    *('seen.get("{K}".lower(), {})', '([b.get("{K}", {}) for b in seen.values()] + [{}])[0]'),
    '([c["{K}"] for d, c in sorted(seen.items()) if "{K}" in c] + [{}])[0]',
    '([seen[d].get("resource").get("{K}", {}) for d in sorted(seen)] + [{}])[0]',
    *("f({E})", "g({E}, {E})", "g({E}, q = {E})", "held()"),
    *('get_observed(root, "{K}", None, {})', 'get_connection_details(root, "{K}")'),
    *('get_credentials(root, "{K}")', "get_xr(root)", "get_environment(root, None, {})"),
    *('get_xr(root, "{K}.{K}", {})', 'get_observed(root, "{K}", "{K}.{K}", default = {})'),
    *('get_observed(root, "{K}".lower(), "{K}.{K}", {})', 'get_desired(root, "{K}", *["{K}", {}])'),
    *('get_xr(root, default = {}, path = "{K}")', 'get_observed(root, "{K}", "{K}")'),
)
LOST = (
    *('{E}["{P}"]', '{E}["{K}"]', '{E}.get("{K}", {E})', "dict({E})", "(lambda: {E})()"),
    *(
        '[{E}][0].get("{K}", {})',
        "(lambda h: h({E}))(f)",
        "(lambda h: h())(held)",
        'get_desired({E}, "{K}", None, {})',
    ),
)
LOOPS = (
    *("if {C}:", 'for n in ["{K}"]:', "for n in seen:", "for n in seen.keys():"),
    *("for {N} in seen.values():", "for n, {N} in seen.items():"),
    *("for {N} in sorted(seen.values()):", "for n, {N} in sorted(seen.items()):"),
)
LOOPS_SELDOM = ("for n in {E}:", "for {N} in {E}.values():", "for n, {N} in {E}.items():")
ASKED = (
    "len(seen) > 2",
    '"{K}".lower() in seen',
    '"{K}" in {E}',
    '"{K}" not in {E}',
    "{E} != None",
)
ASKED_MORE = ("{E} == {E}", "{E}")
DONE = (
    *("{N} = {E}", "{N}, {N} = {E}, {E}", '{N}["{K}"] = {}'),
    'out.append({E}.get("{K}", {}).get("{K}"))',
)
DONE_SELDOM = ("out.append({E})", '{N}["{K}"] = {E}')
FUNCTIONS = """
STATE = {"composite": {"resource": {}}, "resources": {}}
EMPTY = {"observed": STATE, "desired": STATE, "context": {}, "credentials": {}}

def first(x, q = {}):
    return x

def f({X}):
    root, req, a, b, c, out = EMPTY, {X}, {X}, {}, {}, []
    seen = root["observed"]["resources"]
{S}
    return {E}

def g(p, q = {}):
    root, req, a, b, c, out = EMPTY, p, q, {}, {}, []
    seen = root["observed"]["resources"]
{S}
    return {E}
"""
MAIN = """
def main(root):
    req, a, b, c, out = root, {}, {}, {}, []
    seen = root["observed"]["resources"]
    def held():
        return {H}
{S}
{S}
    return {"output": {"out": out}}
"""
HOLE = re.compile(r"\{([NPKECSH])\}")


class Scripts:
    """Scripts that hand the request and its parts around in every way we could think of."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - tests want the same scripts each time

    def script(self) -> str:
        """One script; only main calls functions of its own, as others need not end."""
        template = FUNCTIONS.replace("{X}", self._random.choice(["p", "a", "req"]))
        return _calm(self._filled(template, 3)) + self._filled(MAIN, 3)

    def _filled(self, text: str, depth: int) -> str:
        return HOLE.sub(lambda hole: self._chosen(hole[1], depth), text)

    def _chosen(self, hole: str, depth: int) -> str:
        match hole:
            case "N":
                return self._random.choice(NAMES)
            case "P":
                return self._random.choice(PARTS)
            case "K":
                return self._random.choice(KEYS)
            case "S":
                return "\n".join(self._statement("    ") for _ in range(self._random.randint(1, 4)))
            case "H":
                return _calm(self._filled("{E}", depth))
            case "C":
                return self._filled(self._mostly(ASKED, ASKED_MORE), depth - 1)
        return self._filled(self._mostly(FOLLOWED, LOST) if depth > 0 else "{N}", depth - 1)

    def _mostly(self, usual: Sequence[str], unusual: Sequence[str]) -> str:
        return self._random.choice(usual if self._random.random() > 1 / 25 else unusual)

    def _statement(self, indent: str) -> str:
        if len(indent) < 8 and self._random.random() < 1 / 4:
            opening = self._filled(self._mostly(LOOPS, LOOPS_SELDOM), 2)
            return f"{indent}{opening}\n{self._statement(indent + '    ')}"
        return indent + self._filled(self._mostly(DONE, DONE_SELDOM), 3)


def _calm(text: str) -> str:
    """The same text with calls of `first` instead of the script's other functions."""
    return re.sub(r"(?<!def )\b([fg]|held)(?=[()])", "first", text).replace("first()", "first({})")


def _outcome(text: str) -> object:
    # Without room for any script, each is built anew.
    with patch.object(starlark.build, "_SCRIPTS", ByteLruCache(0)):
        try:
            return whole(starlark.evaluate(programs.script(text), SCOPE, LIMITS))
        except FatalError as error:
            return error.diagnostics


@pytest.mark.parametrize("seed", range(2 * max(1, SEARCH_FACTOR)))
def test_pruned_parts_make_no_difference(seed: int) -> None:
    """A script gives the same with the parts it can reach as with the whole request."""
    scripts = Scripts(seed)
    pruned = 0
    for _ in range(20):
        text = scripts.script()
        found = _outcome(text)
        pruned += pruning.project_request([text]) != pruning.EVERYTHING
        with patch.object(pruning, "project_request", lambda _: pruning.EVERYTHING):
            assert _outcome(text) == found, text
    assert pruned > 5


@pytest.mark.parametrize(
    "expression",
    [
        *('"a" in r', '"zz" in r', 'r["a"] != None', 'r["composite"] == None'),
        *('"b" in r["a"]', '"zz" in r["a"]', 'r["a"]["b"] == None', 'r["a"].get("composite")'),
        *('"b" in r["b"]["a"]', '"a" in r["resources"]["b"]', 'r["b"]["a"]["b"]'),
        *('r["zz"]["b"]', 'r["a"]["zz"]["b"]', 'r["a"]["b"]["zz"]', 'r["a"]["composite"]["b"]'),
        *('get(r, "a.b.a")', 'get(r, "a.zz.a", 5)', 'get(r, "b.a[0]")', 'r.get("zz", {}).get("a")'),
        *('[e["resource"]["b"]["x"] for e in all.values()]', '[len(r), len(r["a"]), r["a"]["b"]]'),
        *('[[k for k in r["a"]], "b" in r["a"]]', '[type(r["b"]), r["b"]["x"]]'),
        *('[r["a"].items(), r["a"]["b"]]', '[r["a"] or 1, "b" in r["a"]]', 'r["a"] | r["b"]'),
    ],
)
@pytest.mark.parametrize("of", ['all["a"]', 'root["observed"]["composite"]'])
def test_pruned_object_answers_as_the_whole_one(expression: str, of: str) -> None:
    """Also whether a part exists that nothing is read from."""
    text = (
        f'def main(root):\n    all = root["observed"]["resources"]\n    r = {of}["resource"]\n'
        f'    return {{"output": {{"out": {expression}}}}}\n'
    )
    assert pruning.project_request([text]) != pruning.EVERYTHING
    pruned = _outcome(text)
    with patch.object(pruning, "project_request", lambda _: pruning.EVERYTHING):
        assert pruned == _outcome(text)
