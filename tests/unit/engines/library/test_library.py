import pytest
from support.library_calls import CALLS, called

from function_script.engines import library
from function_script.engines.library import Function
from function_script.request.values import Value


@pytest.mark.parametrize("function", library.FUNCTIONS, ids=lambda function: function.name)
def test_example_gives_the_result_it_shows(function: Function) -> None:
    assert function.example.startswith(f"{function.name}(")
    assert called(function.example) == function.result


def test_names_are_unique() -> None:
    names = [function.name for function in library.FUNCTIONS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("function", library.FUNCTIONS, ids=lambda function: function.name)
def test_summary_is_one_sentence(function: Function) -> None:
    """Summaries fit a line of the reference and an editor's tooltip."""
    assert function.summary.endswith(".")
    assert 10 < len(function.summary) <= 100


def test_signatures_read_as_scripts_write_them() -> None:
    """Seeds are hidden, defaults shown, parameters by name only are set apart."""
    signatures = {function.name: function.signature.usage for function in library.FUNCTIONS}
    assert signatures["stable_id"] == "stable_id(key, length=8)"
    assert signatures["indent"] == "indent(text, spaces, *, first=False)"
    assert signatures["get"] == "get(value, path, default=None)"


def test_arguments_may_be_named() -> None:
    assert called('dns1123(max_length=20, text="a-b")') == "a-b"
    assert called('indent("a", spaces=1, first=True)') == " a"


BAD_CALLS = [
    pytest.param("b64encode()", "text is missing", id="missing"),
    pytest.param('b64encode("a", "b")', "2 arguments for 1 parameter", id="too-many"),
    pytest.param('b64encode("a", txt="b")', 'no parameter "txt"; there is text', id="unknown"),
    pytest.param('b64encode("a", text="b")', "text is given twice", id="twice"),
    pytest.param("stable_id()", "key is missing", id="seeded"),
    pytest.param('stable_id("a", 8, 9)', "3 arguments for 2 parameters", id="seeded-too-many"),
    pytest.param('stable_id("a", size=8)', "there are key, length", id="seeded-unknown"),
    pytest.param("b64encode(3)", "text: must be a string, not an integer", id="integer-for-text"),
    pytest.param("b64encode(None)", "text: must be a string, not null", id="null-for-text"),
    pytest.param('indent("a", "b")', "spaces: must be an integer, not a string", id="text-number"),
    pytest.param('indent("a", True)', "spaces: must be an integer", id="boolean-for-integer"),
    pytest.param('indent("a", 2, first=1)', "first: must be a boolean", id="integer-for-boolean"),
    pytest.param("merge([], {})", "target: must be an object, not a list", id="list-for-object"),
    pytest.param('pick({}, "ab")', "keys: must be a list of strings", id="text-for-list"),
    pytest.param('cidr_subnets("10.0.0.0/8", ["a"])', "must be an integer", id="list-of-texts"),
    pytest.param("get({}, 3)", "path: must be a path or a list of keys", id="number-for-path"),
    pytest.param('to_json({"a": {1: 2}})', "the key 1 must be a string", id="number-as-key"),
    pytest.param("to_json(2 ** 70)".replace("2 ** 70", str(2**70)), "beyond 64 bits", id="huge"),
    pytest.param('sha256("\\ud800")', "half of a surrogate pair", id="surrogate"),
]


@pytest.mark.parametrize(("expression", "cause"), BAD_CALLS)
def test_bad_arguments_are_named(expression: str, cause: str) -> None:
    name = expression.partition("(")[0]
    with pytest.raises(ValueError, match=f"^cannot call {name}: ") as caught:
        called(expression)
    assert cause in str(caught.value)


def test_values_that_hold_themselves_many_times_are_bounded() -> None:
    """A small value that prints as a huge one is refused before it is built."""
    value: object = ["x"]
    for _ in range(40):
        value = [value, value]
    with pytest.raises(ValueError, match="more than 100,000 items"):
        CALLS["to_json"](value)  # type: ignore[arg-type] # made of lists only


def test_deep_values_are_bounded() -> None:
    value: object = "x"
    for _ in range(10_000):
        value = [value]
    with pytest.raises(ValueError, match="nested more than 100 levels deep"):
        CALLS["compact"](value)  # type: ignore[arg-type] # made of lists only


def test_numbers_without_json_form_are_refused() -> None:
    """NaN and infinities cannot leave through JSON."""
    with pytest.raises(ValueError, match="has no place in JSON"):
        CALLS["to_json"]([float("nan")])


LARGE = [
    pytest.param("indent", ("\n" * 100_000, 200), id="indent"),
    pytest.param("regex_replace", ("a" * 100_000, "a", "x" * 1000), id="regex_replace"),
    pytest.param("b64encode", ("a" * 1_000_000,), id="b64encode"),
    pytest.param("url_quote", ("ä" * 500_000,), id="url_quote"),
    pytest.param("compact", ({"a" * 2_000_000: None},), id="key"),
]


@pytest.mark.parametrize(("name", "arguments"), LARGE)
def test_results_are_bounded(name: str, arguments: tuple[Value, ...]) -> None:
    """No call makes a text of more than a mebicharacter out of one that is smaller."""
    with pytest.raises(ValueError, match="characters are more than 1,048,576"):
        CALLS[name](*arguments)
