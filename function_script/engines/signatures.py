"""Signatures of functions, and the one rule for the arguments of a call.

The rule serves the library while a program runs, and the analyses of each language before. Types
have the names of JSON; "" is a type that only a run knows.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from function_script.request.values import with_article
from function_script.texts.problems import suggest

NULL: Final = "null"
_NUMBERS: Final = frozenset({"integer", "number"})


class Parameter(NamedTuple):
    """A parameter: the types that it takes, none for any; ``phrase`` describes them better."""

    name: str
    types: tuple[str, ...] = ()
    is_required: bool = True
    is_named_only: bool = False
    phrase: str = ""

    @property
    def expected(self) -> str:
        """Return ``a string or a list``; null is not listed beside others."""
        *others, last = map(with_article, [t for t in self.types if t != NULL] or self.types)
        return self.phrase or (f"{', '.join(others)} or {last}" if others else last)

    def takes(self, type_: str) -> bool:
        """Report whether a value of a type may be an argument; any number may be an integer."""
        is_number = type_ in _NUMBERS and not _NUMBERS.isdisjoint(self.types)
        return not (type_ and self.types) or type_ in self.types or is_number


class Signature(NamedTuple):
    """A function: its name, how a call is written, its parameters, the type of its result."""

    name: str
    usage: str
    parameters: tuple[Parameter, ...]
    result: str = ""
    is_variadic: bool = False
    takes_any_name: bool = False


class WrongArgument(NamedTuple):
    """An argument of a type that its parameter does not take; ``at`` is its position or name."""

    at: int | str
    parameter: Parameter
    type: str

    @property
    def problem(self) -> str:
        """Return ``name: must be a string, not an integer``."""
        expected, actual = self.parameter.expected, with_article(self.type)
        return f"{self.parameter.name}: must be {expected}, not {actual}"


def find_wrong_types(
    signature: Signature, positional: Sequence[str], named: Mapping[str, str]
) -> Iterator[WrongArgument]:
    """Yield the arguments of wrong types; ``positional`` and ``named`` are the types."""
    parameters = [each for each in signature.parameters if not each.is_named_only]
    if signature.is_variadic:
        # The last one that takes a position takes all that follow.
        parameters += [parameters[-1]] * (len(positional) - len(parameters))
    for index, (parameter, type_) in enumerate(zip(parameters, positional, strict=False)):
        if not parameter.takes(type_):
            yield WrongArgument(index, parameter, type_)
    for parameter in signature.parameters:
        if not parameter.takes(named.get(parameter.name, "")):
            yield WrongArgument(parameter.name, parameter, named[parameter.name])


def explain_names(
    signature: Signature, count: int, names: Collection[str]
) -> tuple[str, str] | None:
    """Return the message of a call with wrong numbers or names of arguments, and its hint."""
    names = () if signature.takes_any_name else names
    text = _find_wrong_names(signature, count, names)
    if text is None:
        return None
    # Those that take any number of arguments have no name in a call.
    parameters = tuple(each.name for each in signature.parameters if each.name.isidentifier())
    unknown = next((name for name in names if name not in parameters), "")
    hint = suggest(unknown, parameters) if unknown else None
    return f"cannot call {signature.name}: {text}", hint or f"write {signature.usage}"


def _find_wrong_names(signature: Signature, count: int, names: Collection[str]) -> str | None:
    """Return why ``count`` arguments and named ones do not fit the parameters; None if they do."""
    parameters = signature.parameters
    by_name = {parameter.name: parameter for parameter in parameters}
    positional = [parameter.name for parameter in parameters if not parameter.is_named_only]
    if count > len(positional) and not signature.is_variadic:
        return f"{_count(count, 'argument')} for {_count(len(positional), 'parameter')}"
    for name in names:
        if name not in by_name:
            verb = "is" if len(by_name) == 1 else "are"
            return f'no parameter "{name}"; there {verb} {", ".join(by_name) or "none"}'
        if name in positional[:count]:
            return f"{name} is given twice"
    for parameter in parameters:
        name = parameter.name
        if parameter.is_required and name not in positional[:count] and name not in names:
            return f"{name} is missing"
    return None


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
