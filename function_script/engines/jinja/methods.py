"""Calls of the methods of texts, objects and loops that `lookups` allows."""

from collections.abc import Mapping

from jinja2 import Undefined

from function_script.engines.jinja import exceptions
from function_script.engines.jinja.budget import CHARACTERS_PER_STEP, Budget
from function_script.engines.jinja.lookups import Method
from function_script.engines.jinja.output import to_plain, to_text
from function_script.engines.jinja.runtime import check_key


def invoke(budget: Budget, method: Method, arguments: tuple[object, ...]) -> object:
    """Call the method; arguments are positional."""
    owner, name = method.owner, method.name
    if isinstance(owner, Mapping):
        if name == "get":
            key_argument = check_key(arguments[0]) if arguments else None
            value: object = owner.get(key_argument, *arguments[1:2])
            return value
        budget.charge_items(len(owner))
        return list(getattr(owner, name)(*arguments))
    for argument in arguments:
        if isinstance(argument, Undefined):
            raise exceptions.MissingError(argument)
    if isinstance(owner, str):
        return call_string_method(budget, owner, name, arguments)
    if name == "changed":
        arguments = (to_plain(budget, arguments),)
    result: object = getattr(owner, name)(*arguments)
    return result


def call_string_method(
    budget: Budget, owner: str, name: str, arguments: tuple[object, ...]
) -> object:
    """Call a method of a text, charged for the slowest of them."""
    if name == "join":
        return join(budget, arguments[0] if arguments else (), owner)
    if name == "replace":
        return replace(budget, owner, *arguments)
    # rfind and strip may take the product of both lengths.
    longest = max((len(each) for each in arguments if isinstance(each, str)), default=1)
    budget.charge_characters(len(owner))
    budget.spend(len(owner) * longest // CHARACTERS_PER_STEP)
    result: object = getattr(owner, name)(*arguments)
    if isinstance(result, list):
        budget.charge_items(len(result))
    return result


def join(budget: Budget, items: object, separator: str) -> str:
    """Return the items of a list as text, with the separator between them."""
    if not isinstance(items, (list, tuple, range, str, Mapping)):
        raise exceptions.RenderError(f"cannot join {exceptions.type_of(items)}", name="join")
    parts = [to_text(budget, item) for item in items]
    budget.charge_characters(sum(map(len, parts)) + len(separator) * max(len(parts) - 1, 0))
    return separator.join(parts)


def replace(budget: Budget, whole: str, old: object, new: object, count: object = -1) -> str:
    """Return the text with ``new`` for every ``old``, or for the first ``count`` of them."""
    if not isinstance(old, str) or not isinstance(new, str):
        raise exceptions.RenderError(
            f"cannot replace {exceptions.type_of(old)} by {exceptions.type_of(new)}: "
            "both must be strings"
        )
    if not isinstance(count, int):
        raise exceptions.RenderError(
            f"cannot replace so many times: {exceptions.type_of(count)} is not an integer"
        )
    times = whole.count(old) if count < 0 else min(count, whole.count(old))
    budget.charge_characters(len(whole) + times * max(len(new) - len(old), 0))
    return whole.replace(old, new, count)
