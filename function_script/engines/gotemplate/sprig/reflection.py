"""sprig's functions on types: ``kindOf``, ``typeIs``, ``deepEqual``."""

from typing import Final

from function_script.engines.gotemplate.function import Accepts, Allocator, FunctionTable, Injects
from function_script.engines.gotemplate.values import deep_equal, go_kind, go_type

FUNCTIONS: Final = FunctionTable()


FUNCTIONS.add(
    "typeOf",
    parameters="any",
    returns="string",
    summary="The Go type of the value.",
    accepts=Accepts.NULL,
)(go_type)


@FUNCTIONS.add("typeIs", parameters="string any", returns="bool", accepts=Accepts.NULL)
def type_is(name: str, value: object) -> bool:
    """True if the value has this Go type."""
    return go_type(value) == name


@FUNCTIONS.add("typeIsLike", parameters="string any", returns="bool", accepts=Accepts.NULL)
def type_is_like(name: str, value: object) -> bool:
    """True if the value has this Go type or is a pointer to it."""
    return go_type(value) in {name, f"*{name}"}


FUNCTIONS.add(
    "kindOf",
    parameters="any",
    returns="string",
    summary="The Go kind of the value, such as map or slice.",
    accepts=Accepts.NULL,
)(go_kind)


@FUNCTIONS.add("kindIs", parameters="string any", returns="bool", accepts=Accepts.MISSING)
def kind_is(name: str, value: object) -> bool:
    """True if the value has this Go kind."""
    return go_kind(value) == name


@FUNCTIONS.add(
    "deepEqual",
    parameters="any any",
    injects=Injects.ALLOCATOR,
    returns="bool",
    accepts=Accepts.NULL,
)
def equal_in_depth(allocator: Allocator, left: object, right: object) -> bool:
    """True if the values are equal in every part."""
    allocator.check_tree(left)
    return deep_equal(left, right)
