"""sprig's functions on types: ``kindOf``, ``typeIs``, ``deepEqual``."""

from __future__ import annotations

from typing import Final

from function_script.engines.gotemplate.function import Allocator, Function, Injects
from function_script.engines.gotemplate.values import deep_equal, go_kind, go_type


def _type_is(name: str, value: object) -> bool:
    return go_type(value) == name


def _type_is_like(name: str, value: object) -> bool:
    return go_type(value) in {name, f"*{name}"}


def _kind_is(name: str, value: object) -> bool:
    return go_kind(value) == name


def _deep_equal(allocator: Allocator, left: object, right: object) -> bool:
    allocator.check_tree(left)
    return deep_equal(left, right)


FUNCTIONS: Final = (
    Function(name="typeOf", parameters="any", call=go_type, returns="string"),
    Function(name="typeIs", parameters="string any", call=_type_is, returns="bool"),
    Function(name="typeIsLike", parameters="string any", call=_type_is_like, returns="bool"),
    Function(name="kindOf", parameters="any", call=go_kind, returns="string"),
    Function(name="kindIs", parameters="string any", call=_kind_is, returns="bool"),
    Function(
        name="deepEqual",
        parameters="any any",
        call=_deep_equal,
        injects=Injects.ALLOCATOR,
        returns="bool",
    ),
)
