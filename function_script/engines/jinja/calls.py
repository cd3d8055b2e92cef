"""Callables of templates: functions, filters and tests.

Their tables are built here, and a call's arguments are matched with its signature here, because
Python's own TypeError names parameters that the template's author cannot see.
"""

import inspect
import itertools
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, Protocol, TypeAlias, cast

from jinja2 import Undefined

from function_script.engines import habits, signatures
from function_script.engines.jinja.exceptions import MissingError, RenderError
from function_script.engines.jinja.output import to_plain
from function_script.engines.jinja.run import CHARACTERS_PER_STEP, Run
from function_script.engines.library import FUNCTIONS, ArgumentError, Function
from function_script.engines.library.bounds import TYPES, Resource
from function_script.engines.signatures import NULL, Parameter, Signature, WrongArgument
from function_script.request.values import Readable, type_name
from function_script.texts.errors import HintedError
from function_script.texts.problems import suggest

# A library function may read every character a few times.
_READINGS = 4
# The name of a resource and the like; a template writes ``1`` for ``"1"``.
Name: TypeAlias = str | int
ANNOTATIONS: Final[Mapping[object, tuple[str, ...]]] = {
    Name: ("string", "integer"),
    str: ("string",),
    Resource: TYPES[Resource].json_types,
}
"""The types of parameters by their annotations."""


class Call(Protocol):
    """A callable: the run, for filters and tests the value, then the template's arguments."""

    def __call__(self, run: Run, /, *arguments: object, **named: object) -> object:
        """Return the value; raise TypeError when the arguments do not fit."""

    def __hash__(self) -> int: ...


class Builtin:
    """A function as a template's value: it can be called and passed on, nothing else."""

    __slots__ = ("call", "name")

    def __init__(self, name: str, call: Call) -> None:
        self.name = name
        self.call = call


def build_table(functions: Mapping[str, object]) -> dict[str, Call]:
    """Return the callables by the names that templates use, in the order of these names."""
    return {name: cast("Call", functions[name]) for name in sorted(functions)}


def explain_missing(name: str, kind: str, table: Mapping[str, object]) -> tuple[str, str | None]:
    """Return the message and the hint for the name of a filter or a test that is not there."""
    # Ansible's names begin with those of a collection.
    before, _, last = name.rpartition(".")
    if before in table:
        hint: str | None = "put what is before it into parentheses: (value | filter)"
    else:
        kinds: tuple[habits.Kind, ...] = ("filter", "name") if kind == "filter" else ("test",)
        hint = habits.find("jinja", last, *kinds) or suggest(last, tuple(table))
    return f'there is no {kind} "{name}"', hint


class LibraryFunction:
    """A function of the library, callable as a template's function or filter."""

    __slots__ = ("function", "lazy", "names")

    def __init__(self, function: Function) -> None:
        self.function = function
        self.names = [parameter.rule.name for parameter in function.parameters]
        # Parameters that are only looked into are not copied: they may be all observed state.
        self.lazy = {each.rule.name for each in function.parameters if each.type.is_view}

    def __call__(self, run: Run, /, *arguments: object, **named: object) -> object:
        """Call it; raises RenderError where the library raises ValueError."""
        # The library itself rejects surplus arguments.
        names = itertools.chain(self.names, itertools.repeat(""))
        try:
            positional = [self._read(run, *pair) for pair in zip(names, arguments, strict=False)]
            keywords = {name: self._read(run, name, value) for name, value in named.items()}
        except MissingError as error:
            # An argument beside a missing one may have a type that is wrong in every run.
            for wrong in self._find_wrong_types(arguments, named):
                message = f"cannot call {self.function.name}: {wrong.problem}"
                usage = f"write {self.function.signature.usage}"
                raise RenderError(message, name=self.function.name, hint=usage) from error
            raise
        try:
            if self.function.is_seeded:
                result = self.function.call_seeded(run.scope, *positional, **keywords)
            else:
                result = self.function.call(*positional, **keywords)
        except ValueError as error:
            hint = error.hint if isinstance(error, HintedError) else None
            if isinstance(error, ArgumentError) and error.wrong is not None:
                # Several may have changed places.
                is_one = len(self._find_wrong_types(arguments, named)) == 1
                alone, value = len(positional) == 1, error.facts[1]
                hint = conversion_hint(error.wrong, value, is_alone=alone)
                hint = hint if is_one else f"write {self.function.signature.usage}"
            raise RenderError(str(error), name=self.function.name, hint=hint) from error
        if isinstance(result, str):
            run.budget.charge_characters(len(result))
        return result

    def _find_wrong_types(
        self, arguments: Sequence[object], named: Mapping[str, object]
    ) -> list[WrongArgument]:
        """Return the arguments of wrong types; those that are missing have none."""
        positional = [_type_of(each) for each in arguments]
        keywords = {key: _type_of(value) for key, value in named.items()}
        return [*signatures.find_wrong_types(self.function.signature, positional, keywords)]

    def _read(self, run: Run, name: str, value: object) -> Readable:
        if isinstance(value, str):
            run.budget.spend(_READINGS * len(value) // CHARACTERS_PER_STEP)
            # Writers and parsers refuse texts that are traced.
            return str(value)
        if isinstance(value, Undefined):
            # Functions that look into an object define their result for a missing one.
            if name == self.names[0] and name in self.lazy:
                return None
            raise MissingError(value)
        return cast("Readable", value) if name in self.lazy else to_plain(run.budget, value)


def _type_of(value: object) -> str:
    """Return the type of data, by the names of JSON; "" of other values."""
    is_data = value is None or isinstance(value, (bool, int, float, str, Mapping, list, tuple))
    return type_name(value) if is_data else ""


def conversion_hint(wrong: WrongArgument, value: object, *, is_alone: bool = True) -> str | None:
    """Return the hint for an argument of a wrong type; ``value`` is it, where it is known.

    ``is_alone``: the call has no other arguments, of which one may be what is meant.
    """
    expected = next((each for each in wrong.parameter.types if each != NULL), "")
    match expected, wrong.type:
        case "string", "boolean" | "integer" | "number":
            return "write `value | string`"
        case "integer", "number" | "string" if wrong.type == "number" or str(value).isdigit():
            return "write `value | int`"
        case "list", "string":
            return "put it into brackets: [value]"
        case "object", "string" if wrong.parameter.name == "resource" and is_alone:
            return "write get_composed_resource(name) for the resource of a name"
        case _:
            return None


LIBRARY = {function.name: LibraryFunction(function) for function in FUNCTIONS}
LIBRARY_FILTERS = {name: call for name, call in LIBRARY.items() if call.function.is_filter}


@lru_cache(maxsize=512)
def signature_of(name: str, call: Call, *, is_filter: bool = False) -> Signature:
    """Return the signature of a function, filter or test, without the run that it gets first.

    Its usage is without the piped value of filters and tests.
    """
    if isinstance(call, LibraryFunction):
        return call.function.signature
    parameters = [*inspect.signature(call).parameters.values()][1:]
    usage_parameters = (each.replace(annotation=each.empty) for each in parameters[is_filter:])
    kinds = {each.kind for each in parameters}
    return Signature(
        name=name,
        usage=f"{name}({', '.join(map(str, usage_parameters))})",
        parameters=tuple(
            Parameter(
                "*" * (each.kind is each.VAR_POSITIONAL) + each.name,
                ANNOTATIONS.get(each.annotation, ()),
                is_required=each.default is each.empty and each.kind is not each.VAR_POSITIONAL,
                is_named_only=each.kind is each.KEYWORD_ONLY,
            )
            for each in parameters
            if each.kind is not each.VAR_KEYWORD
        ),
        is_variadic=inspect.Parameter.VAR_POSITIONAL in kinds,
        takes_any_name=inspect.Parameter.VAR_KEYWORD in kinds,
    )
