"""sprig's questions about types: ``kindOf``, ``typeIs``, ``deepEqual``."""

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


def _deep_equal(budget: Allocator, left: object, right: object) -> bool:
    budget.check_tree(left)
    return deep_equal(left, right)


FUNCTIONS: Final = (
    Function(name="typeOf", takes="any", call=go_type, gives="string"),
    Function(name="typeIs", takes="string any", call=_type_is, gives="bool"),
    Function(name="typeIsLike", takes="string any", call=_type_is_like, gives="bool"),
    Function(name="kindOf", takes="any", call=go_kind, gives="string"),
    Function(name="kindIs", takes="string any", call=_kind_is, gives="bool"),
    Function(
        name="deepEqual", takes="any any", call=_deep_equal, needs=Injects.BUDGET, gives="bool"
    ),
)
