"""The table that a module makes of its functions, and what all tables must have."""

from collections import Counter
from collections.abc import Iterable

import pytest

from function_script.engines.gotemplate import registry
from function_script.engines.gotemplate.builtins import core, function_go_templating, own
from function_script.engines.gotemplate.function import Function

TABLES = {
    "Go": core.FUNCTIONS,
    "function-go-templating": function_go_templating.FUNCTIONS,
    "sprig": registry.SPRIG,
    "own": (*own.GETTERS, *own.FUNCTIONS),
}


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
