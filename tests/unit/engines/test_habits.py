"""The table of names of other languages."""

from collections import Counter
from typing import get_args

from support.paths import ROOT

from function_script.engines import habits
from function_script.engines.registry import LANGUAGES

ROWS = [
    row.split("\t")
    for row in (ROOT / "function_script" / "engines" / "habits.tsv").read_text().splitlines()[1:]
]


def test_rows_have_a_known_kind_and_a_hint() -> None:
    """A row without a hint would say nothing."""
    kinds = {kind for kind, *_ in ROWS}
    assert kinds == {kind for part in get_args(habits.Kind) for kind in get_args(part)}
    assert all(any(hint not in {"-", "="} for hint in row[2:]) for row in ROWS)


def test_names_have_one_meaning_in_each_kind() -> None:
    """So a hint for a name is certain."""
    counts = Counter((kind, name) for kind, names, *_ in ROWS for name in names.split())
    assert [each for each, count in counts.items() if count > 1] == []


def test_builtins_have_no_hint() -> None:
    """They work, and `docs` would advise against them."""
    entries = LANGUAGES["starlark"].list_entries()
    builtins = [each.name for each in entries if each.section == "builtins"]
    assert "struct" in builtins
    assert [name for name in builtins if habits.find("starlark", name, "name", "call")] == []


def test_hint_of_the_column_before_is_that_of_both_languages() -> None:
    assert habits.find("jinja", "coalesce", "name") == "write `a or b`"
    assert habits.find("starlark", "coalesce", "name") == "write `a or b`"
    assert habits.find("gotemplate", "coalesce", "name") is None


# The names that function-starlark predeclares and that do not exist here. An `observed` may be
# another thing, for another function, and `schema` has no counterpart.
PEERS = (
    "oxr dxr context environment extra_resources Resource skip_resource set_condition emit_event "
    "set_xr_status set_composite_ready set_connection_details set_response_ttl "
    "require_extra_resource require_extra_resources get_extra_resource get_extra_resources "
    "observed_body crypto encoding regex yaml fatal"
)


def test_names_of_function_starlark_are_translated() -> None:
    kinds = habits.of_name(is_called=True)
    names = PEERS.split()
    assert [name for name in names if habits.find("starlark", name, *kinds) is None] == []


def test_words_of_patches_are_explained() -> None:
    """They are no names of programs: `docs` tells what is written for them."""
    for word in ("FromCompositeFieldPath", "ToCompositeFieldPath", "patchSets", "readinessChecks"):
        assert len(habits.describe(word)) == 3
