"""sprig's functions on types: ``kindOf``, ``typeIs``, ``deepEqual``."""

from collections.abc import Callable
from typing import Final

from function_script.engines.gotemplate.function import Allocator, Function, Injects
from function_script.engines.gotemplate.values import deep_equal, go_kind, go_type


def _deep_equal(allocator: Allocator, left: object, right: object) -> bool:
    allocator.check_tree(left)
    return deep_equal(left, right)


def _test(name: str, call: Callable[[str, object], bool]) -> Function:
    return Function(name=name, parameters="string any", call=call, returns="bool")


FUNCTIONS: Final = (
    Function(name="typeOf", parameters="any", call=go_type, returns="string"),
    _test("typeIs", lambda name, value: go_type(value) == name),
    _test("typeIsLike", lambda name, value: go_type(value) in {name, f"*{name}"}),
    Function(name="kindOf", parameters="any", call=go_kind, returns="string"),
    _test("kindIs", lambda name, value: go_kind(value) == name),
    Function(
        name="deepEqual",
        parameters="any any",
        call=_deep_equal,
        injects=Injects.ALLOCATOR,
        returns="bool",
    ),
)
