from collections.abc import Mapping

import pytest

from function_script.request.lazy import Lazy


def test_lazy_is_a_mapping_and_no_other_mapping_is_lazy() -> None:
    """Compiled, a class below an abstract one shares the answers of isinstance with it."""
    mapping: object = {}
    assert isinstance(mapping, Mapping)
    assert isinstance(Lazy({}), Mapping)
    assert not isinstance(mapping, Lazy)


def test_lazy_has_what_mappings_have() -> None:
    lazy = Lazy({"a": lambda: 1, "b": lambda: "x"})
    assert dict(lazy) == dict(lazy.items()) == {"a": 1, "b": "x"}
    assert (list(lazy.keys()), list(lazy.values())) == (["a", "b"], [1, "x"])
    assert lazy == {"a": 1, "b": "x"}
    assert lazy != {"a": 1}
    with pytest.raises(TypeError):
        hash(lazy)


def test_lazy_builds_a_value_once() -> None:
    calls: list[str] = []

    def build(key: str) -> str:
        calls.append(key)
        return key

    lazy = Lazy.of(("a",), build)
    assert (lazy["a"], lazy.get("a"), lazy.get("b")) == ("a", "a", None)
    assert calls == ["a"]
