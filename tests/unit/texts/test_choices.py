"""A hint that lists names has the number of its verb."""

from function_script.texts.problems import list_choices


def test_one_name_is_and_several_are() -> None:
    assert list_choices(["a"]) == "there is a"
    assert list_choices(("a", "b")) == "there are a, b"
    assert list_choices({"a": 1, "b": 2}, "a, …") == "there are a, …"
