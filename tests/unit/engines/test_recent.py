"""Results of the last programs, which stay."""

from function_script.engines.recent import remembered
from function_script.request.limits import Limits
from function_script.request.program import Program
from function_script.texts.source import Source


def test_remembered_function_is_called_once_for_a_program_and_limits() -> None:
    """Equal ones are others: to compare programs takes longer than to find them."""
    calls: list[str] = []

    @remembered(2)
    def measure(program: Program, _: Limits) -> int:
        calls.append(program.main.name)
        return len(program.main.text)

    limits = Limits()
    first, equal, third = (Program(main=Source(name=name, text="abc")) for name in "aab")
    assert [measure(each, limits) for each in (first, first, equal, first, equal)] == [3] * 5
    assert calls == ["a", "a"]
    # Without room, all others are forgotten.
    assert [measure(each, limits) for each in (third, first)] == [3, 3]
    assert calls == ["a", "a", "b", "a"]
    assert measure(first, Limits()) == 3
    assert len(calls) == 5
