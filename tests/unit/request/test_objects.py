import pytest

from function_script.request import objects
from function_script.request.lazy import Lazy
from function_script.request.values import Object, Value

DATA: Object = {
    "spec": {"rules": [{"host": "a"}, {"host": "b"}], "empty": None},
    "metadata": {"annotations": {"example.org/a.b": "yes"}},
}

PATHS = [
    pytest.param("spec.rules[0].host", "a", id="index"),
    pytest.param("spec.rules[-1].host", "b", id="index-from-the-end"),
    pytest.param("spec.rules[2].host", None, id="index-beyond-the-end"),
    pytest.param('metadata.annotations["example.org/a.b"]', "yes", id="key-with-dots"),
    pytest.param(["metadata", "annotations", "example.org/a.b"], "yes", id="list-of-parts"),
    pytest.param("spec.empty.more", None, id="below-null"),
    pytest.param("spec.rules.host", None, id="key-of-a-list"),
    pytest.param("spec[0]", None, id="index-of-a-map"),
    pytest.param("spec.rules[0].host.more", None, id="below-a-scalar"),
    pytest.param("", DATA, id="the-whole"),
]


@pytest.mark.parametrize(("path", "expected"), PATHS)
def test_find_path_gives_the_value_or_none(path: str | list[str | int], expected: object) -> None:
    assert objects.find_path(DATA, path) == expected


@pytest.mark.parametrize("path", ["a..b", ".", "a[x]", "a[1", 'a["b]', "a]", "[0]b", r'a["\x"]'])
def test_malformed_paths_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match="cannot read the path"):
        objects.find_path(DATA, path)


def test_merge_is_by_field() -> None:
    target: Object = {"a": {"b": 1, "c": {"d": 1}}, "l": [1, 2], "s": {"x": 1}, "n": 1}
    objects.merge(target, {"a": {"c": {"e": 2}}, "l": [3], "s": "text", "n": None})
    assert target == {"a": {"b": 1, "c": {"d": 1, "e": 2}}, "l": [3], "s": "text", "n": None}


def test_merge_shares_nothing_with_its_source() -> None:
    source: Object = {"a": {"b": {"c": 1}}, "l": [{"x": 1}]}
    target: Object = {}
    objects.merge(target, source)
    objects.merge(target, {"a": {"b": {"c": 2}}})
    assert source == {"a": {"b": {"c": 1}}, "l": [{"x": 1}]}


def test_pruned_drops_null_fields_and_keeps_null_items() -> None:
    """Nulls leave maps at any depth, also within lists; positions of lists do not move."""
    value: Value = {"a": None, "b": {"c": None, "d": 1}, "l": [None, {"x": None}], "e": {}}
    assert objects.without_nulls(value) == {"b": {"d": 1}, "l": [None, {}], "e": {}}


def test_copied_shares_no_container() -> None:
    below: Object = {"b": [1, {"c": None}]}
    copy = objects.deep_copy({"a": Lazy({"x": lambda: below}), "t": (1, 2)})
    assert copy == {"a": {"x": {"b": [1, {"c": None}]}}, "t": [1, 2]}
    below["b"] = "changed"
    assert copy == {"a": {"x": {"b": [1, {"c": None}]}}, "t": [1, 2]}


def test_condition_is_found_in_the_object_and_in_its_wrapper() -> None:
    ready: Object = {"type": "Ready", "status": "True"}
    resource: Object = {
        "apiVersion": "v1",
        "status": {"conditions": ["odd", ready, {"type": "Ready", "status": "False"}]},
    }
    assert objects.find_condition(resource, "Ready") == ready
    assert objects.find_condition({"resource": resource}, "Ready") == ready
    assert objects.find_condition(resource, "Synced") is None
    assert objects.find_condition(None, "Ready") is None


def test_api_version_and_kind_are_texts_always() -> None:
    assert objects.api_version_and_kind({"apiVersion": "v1", "kind": 3}) == ("v1", "")
    assert objects.api_version_and_kind("text") == ("", "")
