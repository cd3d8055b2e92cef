"""The names that scripts find agree with the library's table, whoever computes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import programs
from support.example_counts import examples

from function_script.engines.library import FUNCTIONS, Function
from function_script.engines.starlark import engine as starlark
from function_script.engines.starlark import predeclared
from function_script.request.limits import Limits
from function_script.request.values import Value
from function_script.step.conditions import RESERVED_CONDITIONS
from function_script.texts.errors import ProgramError

# The seed of the table's examples.
SEED = "seed"
BY_NAME = {function.name: function for function in FUNCTIONS}
IN_STARLARK = "".join(predeclared.text(file) for file in predeclared.FILES)
WRITTEN_AGAIN = [name for name in BY_NAME if f"\ndef {name}(" in IN_STARLARK]


def _call(expression: str, value: Value = None) -> Value:
    """What an expression of ``x`` gives in a script."""
    text = f'def main(req):\n    x = req["input"]["x"]\n    return {{"output": {expression}}}\n'
    scope = programs.scope(seed=SEED, input={"x": value})
    return starlark.evaluate(programs.script(text), scope, Limits()).value["output"]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_example_of_the_library_holds(function: Function) -> None:
    assert _call(function.example) == function.result


OBJECTS = st.recursive(
    st.sampled_from([None, True, "Ready", "True", "x", 1, 0]),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("resource", "apiVersion", "metadata", "status", "conditions", "type"),
                    *("annotations", "labels", "crossplane.io/external-name", "a", "b"),
                ]
            ),
            below,
            max_size=4,
        )
    ),
    max_leaves=12,
)
CONDITIONS = st.fixed_dictionaries(
    {
        "status": st.fixed_dictionaries(
            {
                "conditions": st.lists(
                    st.fixed_dictionaries(
                        {"type": st.sampled_from(["Ready", "Synced"])},
                        optional={"status": OBJECTS, "reason": OBJECTS},
                    ),
                    max_size=3,
                )
            }
        )
    }
)
MAPS = st.dictionaries(st.sampled_from(["metadata", "status", "a", "b"]), OBJECTS, max_size=3)
PATHS = st.lists(
    st.sampled_from(["a", ".a", ".b", "[0]", "[-1]", '["a"]', ".conditions", "status"]), max_size=4
).map("".join)
ARGUMENTS = {
    "get": st.tuples(OBJECTS, PATHS | st.lists(st.sampled_from(["a", "b", 0, -1]))),
    "merge": st.tuples(MAPS, MAPS),
    "pick": st.tuples(MAPS, st.lists(st.sampled_from(["a", "b"]))),
    "omit": st.tuples(MAPS, st.lists(st.sampled_from(["a", "b"]))),
    "compact": st.tuples(OBJECTS),
    "get_condition": st.tuples(CONDITIONS | OBJECTS, st.just("Ready")),
    "is_ready": st.tuples(CONDITIONS | OBJECTS),
    "is_deleting": st.tuples(OBJECTS),
    "get_external_name": st.tuples(OBJECTS),
    "with_external_name": st.tuples(MAPS, st.text(max_size=3)),
    "get_annotation": st.tuples(OBJECTS, st.just("a")),
    "get_label": st.tuples(OBJECTS, st.just("b")),
}


@pytest.mark.parametrize("name", WRITTEN_AGAIN)
@examples(15)
@given(data=st.data())
def test_starlark_agrees_with_python(name: str, data: st.DataObject) -> None:
    """What is written in Starlark for speed gives what the library gives, errors included."""
    arguments = data.draw(ARGUMENTS[name])
    expression = f"{name}({', '.join(f'x[{i}]' for i in range(len(arguments)))})"
    try:
        expected = BY_NAME[name].call(*arguments)
    except ValueError:
        with pytest.raises(ProgramError, match=r"cannot (call|run)"):
            _call(expression, list(arguments))
        return
    assert _call(expression, list(arguments)) == expected


def test_digit_of_another_alphabet_is_no_index() -> None:
    with pytest.raises(ProgramError, match="cannot read the path"):
        _call("get(x[0], x[1])", [[1], "[²]"])


@pytest.mark.parametrize("kind", RESERVED_CONDITIONS)
def test_condition_of_crossplane_is_refused_at_its_call(kind: str) -> None:
    text = f'def main(req):\n    response().condition("{kind}", True, "Available")\n'
    with pytest.raises(ProgramError, match=f"2:16: {kind} is set by Crossplane"):
        starlark.evaluate(programs.script(text), programs.scope(), Limits())


def test_functions_never_change_their_arguments() -> None:
    value = {"a": {"b": 1}, "c": [1]}
    for expression in ('merge(x, {"a": {"b": 2}})', "compact(x)", 'with_external_name(x, "n")'):
        assert _call(f"[{expression}, x][1]", value) == value


def test_merged_objects_share_nothing() -> None:
    changed = 'merge(x[0], x[1])["a"].append(2)'
    assert _call(f"[{changed}, x][1]", [{}, {"a": [1]}]) == [{}, {"a": [1]}]
