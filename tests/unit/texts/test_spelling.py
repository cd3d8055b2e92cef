"""A misspelt name has one suggestion, or none."""

import pytest
from support.timing import taking_less

from function_script.texts.spelling import nearest

FIELDS = ("region", "size", "replicas", "storageClass", "labels", "env", "id")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("szie", "size", id="swap"),
        pytest.param("siz", "size", id="missing-letter"),
        pytest.param("sizee", "size", id="added-letter"),
        pytest.param("replcias", "replicas", id="swap-in-long-name"),
        pytest.param("rplcas", "replicas", id="two-edits-in-long-name"),
        pytest.param("Region", "region", id="case"),
        pytest.param("storage_class", "storageClass", id="other-separator"),
        pytest.param("evn", "env", id="swap-in-three-letters"),
        pytest.param("sxzy", None, id="two-edits-in-short-name"),
        pytest.param("end", None, id="another-letter-in-three"),
        pytest.param("ix", None, id="two-letters"),
        pytest.param("rolicatesx", None, id="three-edits"),
        pytest.param("ezis", None, id="anagram"),
        pytest.param("x" * 100, None, id="longer-than-any-name"),
        pytest.param("", None, id="empty"),
    ],
)
def test_misspelt_name_has_one_suggestion(name: str, expected: str | None) -> None:
    assert nearest(name, FIELDS) == expected


@pytest.mark.parametrize(
    ("name", "other", "is_meant"),
    [
        ("zone-a", "zone-b", False),
        ("zone-aa", "zone-a", False),
        ("zoneA", "zoneB", False),
        ("subnet1", "subnet2", False),
        ("function-kcl", "function-kro", False),
        ("bukcet-a", "bucket-a", True),
        ("get_xrr", "get_xr", True),
        ("dbname", "dbName", True),
        ("function-scirpt", "function-script", True),
        ("toYAML", "toYaml", True),
    ],
)
def test_name_with_a_misspelt_word_is_no_name_of_another_thing(
    name: str, other: str, is_meant: bool
) -> None:
    assert nearest(name, (other,)) == (other if is_meant else None)


def test_names_at_one_distance_are_not_suggested() -> None:
    assert nearest("portx", ("ports", "porta")) is None
    assert nearest("toYAML", ("toYaml", "to_yaml")) == "toYaml"


def test_suggestion_prefers_the_style_of_the_name() -> None:
    styles = ["to_yaml", "toYaml"]
    assert nearest("to_yml", styles) == "to_yaml"
    assert nearest("toYml", styles) == "toYaml"
    assert nearest("toyaml", styles) == "toYaml"


def test_many_long_names_take_little_time() -> None:
    """A check may need a hint for each of many places."""
    middle = "abcdefghij" * 5
    names = [f"{chr(97 + number % 26)}{middle}{chr(97 + number // 26)}" for number in range(1000)]
    with taking_less(0.05):
        assert nearest(f"é{middle}ö", names) is None


def test_style_of_a_misspelt_name_is_that_of_its_suggestion() -> None:
    names = ["go_call", "goCall", "GO_CALL"]
    assert [nearest(name, names) for name in ("go_all", "goCal", "GO_CAL")] == names
