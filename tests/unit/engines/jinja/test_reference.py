import pytest
from support.paths import ROOT

from function_script.engines.jinja import policy, programs, run
from function_script.engines.jinja.calls import Call, LibraryFunction, format_usage
from function_script.engines.jinja.filters import FILTERS, TESTS
from function_script.engines.jinja.functions import FUNCTIONS, NAMES
from function_script.engines.jinja.lookups import MAPPING_METHODS, STRING_METHODS

PAGE = (ROOT / "docs" / "reference" / "jinja.md").read_text()
CALLS: list[tuple[str, Call, int]] = [
    *[(name, call, 2) for name, call in FILTERS.items()],
    *[(name, builtin.call, 1) for name, builtin in FUNCTIONS.items()],
]
OWN = [each for each in CALLS if not isinstance(each[1], LibraryFunction)]


@pytest.mark.parametrize(("name", "call", "hidden"), OWN, ids=[name for name, _, _ in OWN])
def test_filter_or_function_is_in_the_reference(name: str, call: Call, hidden: int) -> None:
    summary = (call.__doc__ or "").replace("``", "`")
    assert f"- `{format_usage(name, call, hidden)}`: {summary}\n" in PAGE


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
