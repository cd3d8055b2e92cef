"""Tables that functions enter where they are defined."""

from collections.abc import Callable

from function_script.engines.tables import Rules, Table


def test_table_has_a_function_under_each_key_and_leaves_it_as_it_is() -> None:
    table = Table[str, Callable[[int], int]]()

    @table.add("double", "twice")
    def double(number: int) -> int:
        return 2 * number

    assert table == {"double": double, "twice": double}
    assert double(2) == 4


def test_rules_keep_the_order_of_their_definitions() -> None:
    rules = Rules[Callable[[], str]]()

    @rules.add
    def second() -> str:
        return "b"

    @rules.add
    def first() -> str:
        return "a"

    assert rules == [second, first]
    assert first() == "a"
