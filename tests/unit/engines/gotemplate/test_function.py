"""The table that a module makes of its functions, and what all tables must have."""

from collections import Counter
from collections.abc import Iterable

import pytest

from function_script.engines.gotemplate import registry, values
from function_script.engines.gotemplate.builtins import core, function_go_templating, own
from function_script.engines.gotemplate.function import Function, FunctionTable, Injects
from function_script.engines.gotemplate.run import RandomNumbers, Run

TABLES = {
    "Go": core.FUNCTIONS,
    "function-go-templating": function_go_templating.FUNCTIONS,
    "sprig": registry.SPRIG,
    "own": (*own.GETTERS, *own.FUNCTIONS),
}


def test_function_has_its_names_and_the_first_line_of_its_docstring() -> None:
    functions = FunctionTable(option="crypto", cost=3)

    @functions.add("trim", "strip")
    def trim(text: str) -> str:
        """The text without white space.

        Another line.
        """
        return text.strip()

    first, second = functions
    assert first == Function(
        name="trim",
        parameters="string",
        call=trim,
        returns="string",
        option="crypto",
        cost=3,
        summary="The text without white space.",
    )
    assert (second.name, second.call) == ("strip", trim)
    assert second.summary == "Another name of trim."


def test_attribute_of_a_function_wins_over_the_default_of_its_table() -> None:
    functions = FunctionTable(injects=Injects.RANDOM, cost=3)
    functions.add("one", parameters="", cost=5, summary="The number 1.")(lambda _: 1)
    (function,) = functions
    assert (function.injects, function.cost) == (Injects.RANDOM, 5)
    assert function.summary == "The number 1."


def _size(run: Run, mapping: dict[str, object], *keys: str) -> int:
    return len(mapping) + len(keys) + (run is None)


def _draw(next_random: RandomNumbers, count: int, share: float) -> values.Int:
    return values.Int(next_random(count) * share)


def _pair(text: str, value: object, *, more: bool = False) -> list[object]:
    return [text, value, more]


@pytest.mark.parametrize(
    ("call", "injects", "parameters", "returns"),
    [
        pytest.param(_size, Injects.RUN, "map string...", "int64", id="run"),
        pytest.param(_draw, Injects.RANDOM, "int float64", "int", id="random numbers"),
        pytest.param(_pair, Injects.NOTHING, "string any", "any", id="named argument"),
    ],
)
def test_annotations_tell_the_types_of_a_function(
    call: object, injects: Injects, parameters: str, returns: str
) -> None:
    functions = FunctionTable()
    functions.add("it")(call)
    (function,) = functions
    assert (function.injects, function.parameters) == (injects, parameters)
    assert function.returns == returns


@pytest.mark.parametrize("functions", TABLES.values(), ids=TABLES)
def test_names_are_there_once(functions: Iterable[Function]) -> None:
    names = Counter(function.name for function in functions)
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("functions", TABLES.values(), ids=TABLES)
def test_function_has_a_sentence_for_the_manual(functions: Iterable[Function]) -> None:
    """``mustX`` has that of ``X``."""
    summaries = {
        function.name: function.summary
        for function in functions
        if not function.name.startswith("must")
    }
    assert [name for name, text in summaries.items() if not text.endswith((".", "!"))] == []
