"""sprig's functions with arguments nobody expects: they fail as Go's do, never as Python does."""

import copy
import itertools
import math
import random

import pytest

from function_script.engines.gotemplate import registry
from function_script.engines.gotemplate.builtins.function_go_templating import Condition
from function_script.engines.gotemplate.errors import CallError, LimitExceededError
from function_script.engines.gotemplate.function import Function, Injects
from function_script.engines.gotemplate.go_time import Duration, Location, Month, Time
from function_script.engines.gotemplate.run import RandomNumbers, Run
from function_script.engines.gotemplate.sprig.semver import Version
from function_script.engines.gotemplate.values import (
    Int,
    Ints,
    NilList,
    NilMap,
    NilStrings,
    StringMap,
    Strings,
    Uint8,
    Uint64,
)
from function_script.request.limits import Limits

# Half a character, and the other half.
HALF, OTHER = "\udcc3", "\udca9"
TEXTS = [
    *("", " ", "a é 漢😀\u2028\x00", HALF, f"{HALF}{OTHER}", f"x{OTHER}\udcff", "%", "-_-", "İß"),
    *("[", "(?P<n>a)", "%zz", "http://[::1", "2006-01-02", "1.2.3-a", "1h", "{", "/", "9" * 400),
]
INTEGERS = [Int(0), Int(1), Int(-1), Int(3), Int(2**63 - 1), Int(-(2**63))]
FLOATS = [0.5, -0.0, 1e308, 5e-324, math.nan, math.inf, -math.inf]
TIMES = [Time.zero(), Time(1_700_000_000, 5, Location("", -3600))]
MAPS = [
    {},
    {"": None, "é": [1], "n": math.nan, "m": {"x": {}}},
    {HALF: HALF, "host": "h", "path": None, "userinfo": "%", "query": 5},
    NilMap(),
]
OTHERS = [
    *(None, True, 7, -(2**63), Uint8(255), Uint64(2**64 - 1), b"\xff\x00"),
    *([], [None, [], {}, math.nan, HALF, "a"], NilList(), NilStrings(), Strings(["b", HALF])),
    *(Ints([Int(1)]), StringMap({"_0": "a"}), Version((1, 2, 3)), Month(5)),
    *(Duration(5 << 40), Condition.empty("Ready", "Unknown")),
]
ODD: dict[str, list[object]] = {
    "any": [*TEXTS, *INTEGERS, *FLOATS, *TIMES, *MAPS, *OTHERS],
    "string": [*TEXTS],
    "int": [*INTEGERS],
    "float64": [*FLOATS],
    "bool": [True, False],
    "map": [*MAPS],
    "time.Time": [*TIMES],
}
MAX_CALLS = 800
FAST = [function for function in registry.SPRIG if function.name != "derivePassword"]


def _argument_lists(function: Function) -> list[tuple[object, ...]]:
    """Return arguments of every allowed length, and one more for variadic functions."""
    types = list(function.parameter_types)
    lengths = {len(types)}
    if function.variadic:
        lengths |= {len(types) - 1, len(types) + 1}
        types.append(types[-1])
    lists: list[tuple[object, ...]] = []
    for length in lengths:
        lists += itertools.islice(
            itertools.product(*(_shuffled(kind) for kind in types[:length])), MAX_CALLS
        )
    return lists


def _shuffled(kind: str) -> list[object]:
    return random.Random(7).sample(ODD[kind], len(ODD[kind]))  # noqa: S311 # an order of cases


def _injected(function: Function) -> tuple[object, ...]:
    """Return the injected argument, in front of the template's arguments."""
    run = Run({}, Limits(), "", mutates=True)
    if function.injects is Injects.RANDOM:
        return (RandomNumbers(run, "here"),)
    return (run,) if function.injects is Injects.RUN else ()


@pytest.mark.parametrize("function", FAST, ids=lambda function: function.name)
def test_odd_arguments_give_a_result_or_an_error(function: Function) -> None:
    assert callable(function.call)
    for arguments in _argument_lists(function):
        values = copy.deepcopy(arguments) if function.mutates else arguments
        try:
            result = function.call(*_injected(function), *values)
        except (CallError, LimitExceededError) as error:
            result = str(error)
        if isinstance(result, str):
            result.encode("utf-8", "surrogateescape")
