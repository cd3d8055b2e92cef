"""sprig's JSON functions: ``toJson``, ``fromJson`` and their kin.

Those without "must" in their names give an empty text or nil where the others fail.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Allocator, Function, Injects
from function_script.engines.gotemplate.sprig.json_reader import BadJsonError, from_json
from function_script.engines.gotemplate.sprig.json_writer import (
    NotJsonError,
    to_json,
    to_plain_json,
)


def _to_json(budget: Allocator, value: object, *, pretty: bool = False) -> str:
    if budget.check_tree(value) and not pretty:
        return to_plain_json(value)
    try:
        return to_json(value, pretty=pretty)
    except NotJsonError:
        return ""


def _must_to_json(
    budget: Allocator, value: object, *, pretty: bool = False, raw: bool = False
) -> str:
    if budget.check_tree(value) and not pretty:
        return to_plain_json(value, raw=raw)
    try:
        return to_json(value, pretty=pretty, raw=raw)
    except NotJsonError as error:
        raise CallError(str(error)) from error


def _from_json(budget: Allocator, text: str) -> object:
    try:
        return from_json(budget, text)
    except BadJsonError as error:
        return error.read


def _must_from_json(budget: Allocator, text: str) -> object:
    try:
        return from_json(budget, text)
    except BadJsonError as error:
        raise CallError(str(error)) from error


def _writes(name: str, call: object) -> Function:
    return Function(name=name, takes="any", call=call, needs=Injects.BUDGET, gives="string")


FUNCTIONS: Final = (
    _writes("toJson", _to_json),
    _writes("toPrettyJson", partial(_to_json, pretty=True)),
    _writes("toRawJson", partial(_must_to_json, raw=True)),
    _writes("mustToJson", _must_to_json),
    _writes("mustToPrettyJson", partial(_must_to_json, pretty=True)),
    _writes("mustToRawJson", partial(_must_to_json, raw=True)),
    Function(name="fromJson", takes="string", call=_from_json, needs=Injects.BUDGET),
    Function(name="mustFromJson", takes="string", call=_must_from_json, needs=Injects.BUDGET),
)
