"""What our checks of schemas refuse is what jsonschema refuses, where both mean the same."""

import jsonschema
from hypothesis import given
from hypothesis import strategies as st
from support.example_counts import examples

from function_script.request.values import Object
from function_script.tools.validate import openapi

NAMES = st.sampled_from(["a", "b", "c"])
SCALARS = st.one_of(st.booleans(), st.integers(-5, 5), st.text("xyz", max_size=4))
VALUES = st.recursive(
    SCALARS,
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(NAMES, below, max_size=3)),
    max_leaves=6,
)
BOUND = st.integers(0, 3)
# Keywords that mean the same to the API server and to JSON Schema, for each type.
LEAVES = st.one_of(
    st.just({"type": "boolean"}),
    st.fixed_dictionaries(
        {"type": st.just("integer")}, optional={"minimum": BOUND, "maximum": BOUND}
    ),
    st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={
            "minLength": BOUND,
            "maxLength": BOUND,
            "pattern": st.just("^x"),
            "enum": st.just(["x", "y"]),
        },
    ),
)


def _composed(below: st.SearchStrategy[Object]) -> st.SearchStrategy[Object]:
    lists = st.fixed_dictionaries(
        {"type": st.just("array"), "items": below}, optional={"minItems": BOUND, "maxItems": BOUND}
    )
    objects = st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(NAMES, below, max_size=3)},
        optional={"required": st.lists(NAMES, unique=True, min_size=1, max_size=2)},
    )
    return st.one_of(lists, objects)


SCHEMAS = st.recursive(LEAVES, _composed, max_leaves=5).filter(lambda s: s["type"] == "object")


@examples(75)
@given(SCHEMAS, st.dictionaries(NAMES, VALUES, max_size=3))
def test_verdict_is_that_of_jsonschema(schema: Object, value: Object) -> None:
    """Whether an object is valid does not depend on who looks."""
    oracle = jsonschema.Draft202012Validator(schema)
    assert (openapi.check(value, schema)[0] == []) == oracle.is_valid(value)
