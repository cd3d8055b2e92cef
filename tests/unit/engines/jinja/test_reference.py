from collections.abc import Mapping

import pytest
from generate import parts
from jinja2.defaults import DEFAULT_FILTERS
from support import generated
from support.paths import ROOT

from function_script.engines.jinja import policy, programs, run
from function_script.engines.jinja.calls import Call, LibraryFunction, signature_of
from function_script.engines.jinja.filters import FILTERS, TESTS
from function_script.engines.jinja.functions import FUNCTIONS, NAMES
from function_script.engines.jinja.lookups import MAPPING_METHODS, STRING_METHODS

PATH = ROOT / "docs" / "reference" / "jinja.md"
PAGE = PATH.read_text()


def _list_own(calls: Mapping[str, Call], *, is_filter: bool) -> str:
    # A call with several names has one line, which begins with the longest.
    lines: dict[Call, str] = {}
    for name, call in sorted(calls.items(), key=lambda pair: (-len(pair[0]), pair[0])):
        if isinstance(call, LibraryFunction):
            continue
        if call in lines:
            lines[call] = lines[call].replace("`:", f"` or `{name}`:", 1)
        else:
            summary = (call.__doc__ or "").replace("``", "`")
            usage = signature_of(name, call, is_filter=is_filter).usage
            lines[call] = f"- `{usage}`: {summary}\n"
    return "".join(sorted(lines.values()))


def test_lists_of_functions_and_filters_are_fresh(*, update_goldens: bool) -> None:
    functions = {name: builtin.call for name, builtin in FUNCTIONS.items()}
    others = ", ".join(f"`{name}`" for name in sorted(DEFAULT_FILTERS.keys() - FILTERS.keys()))
    filters = (
        f"{_list_own(FILTERS, is_filter=True)}\nFilters of Jinja that are not here: {others}.\n"
    )
    page = parts.fill(PATH, _list_own(functions, is_filter=False), filters)
    generated.check(PATH, page, update=update_goldens)


@pytest.mark.parametrize(
    "name",
    [
        *TESTS,
        *STRING_METHODS,
        *MAPPING_METHODS,
        *sorted(set(NAMES) - set(FUNCTIONS)),
        "dig",
        "tojson",
    ],
)
def test_name_is_in_the_reference(name: str) -> None:
    assert f"`{name}`" in PAGE


def test_limits_are_those_of_the_reference() -> None:
    """The table of limits says what the code does."""
    for number in (
        *(run.MAX_CHARACTERS, run.MAX_ITEMS, run.MAX_BITS, policy.MAX_NODES),
        *(policy.MAX_DEPTH, policy.MAX_LOOPS, programs.MAX_NODES, policy.MAX_MODULE_DEPTH),
    ):
        assert f"{number:,}" in PAGE
