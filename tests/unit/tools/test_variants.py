"""XRs that an XRD allows, made from its schema."""

import pytest
from support import render_helpers
from support.timing import taking_less

from function_script.request.values import Object
from function_script.tools import variants

_LONG_LIST: Object = {"type": "array", "minItems": 1_000, "items": {"type": "string"}}
TOO_LARGE: dict[str, Object] = {
    "list": {"type": "array", "minItems": 3_000_000, "items": {"type": "boolean"}},
    "lists-of-lists": {"type": "array", "minItems": 1_000, "items": _LONG_LIST},
    "text": {"type": "string", "minLength": 3_000_000},
    "fields": {"type": "object", "properties": {f"f{number}": _LONG_LIST for number in range(500)}},
}


def make(part: Object, *, is_required: bool) -> list[variants.Variant]:
    """The variants of an XR with the fields ``a``, which has a schema, and ``b``."""
    spec: Object = {"type": "object", "properties": {"a": part, "b": {"type": "boolean"}}}
    if is_required:
        spec["required"] = ["a"]
    definition = render_helpers.xrd(schema={"type": "object", "properties": {"spec": spec}})
    return variants.make(definition, ("example.org/v1", "XBucket"), (), {}, 8)


@pytest.mark.parametrize("part", TOO_LARGE.values(), ids=TOO_LARGE)
def test_field_that_no_object_can_hold_is_left_out(part: Object) -> None:
    with taking_less(1):
        specs = [variant.xr["spec"] for variant in make(part, is_required=False)]
    assert {"b": True} in specs
    assert not [spec for spec in specs if isinstance(spec, dict) and "a" in spec]


def test_long_list_that_an_object_can_hold_is_made() -> None:
    first = make(_LONG_LIST, is_required=True)[0]
    assert isinstance(first.xr["spec"], dict)
    items = first.xr["spec"]["a"]
    assert isinstance(items, list)
    assert len(items) == 1_000


def test_required_field_that_no_object_can_hold_makes_no_xr() -> None:
    assert make(TOO_LARGE["text"], is_required=True) == []
