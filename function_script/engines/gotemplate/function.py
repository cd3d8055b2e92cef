"""The type of the functions that templates may call, and the table that a module makes of its own.

A module of functions has ``FUNCTIONS = FunctionTable()`` and decorates each with
``@FUNCTIONS.add(NAME, ...)``, which reads Go's types from the annotations; registry.py joins the
tables. values.py describes values. Functions are pure but for the first argument that Injects
names; they fail with CallError (errors.py).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from inspect import CO_VARARGS
from types import FunctionType
from typing import Final, Protocol, TypedDict, TypeVar, Unpack, cast

from function_script.engines.gotemplate.errors import CallError


class AnyCall(Protocol):
    """A function that templates may call."""

    def __call__(self, *arguments: object) -> object:
        """Return its value; raises CallError."""


class Injects(Enum):
    """The first argument of a function, before those of the template."""

    NOTHING = "nothing"
    # RandomNumbers: next_random(bound) is a whole number in [0, bound), the same for every run with
    # the same XR and text of the call. Conformance tests set all of them to 0.
    RANDOM = "random"
    # The run, which grants memory and steps; a refusal ends it.
    RUN = "run"


class Accepts(Enum):
    """The arguments that a function takes where using a missing value is an error."""

    # A missing value and a null are errors: Go's nil is an empty text or a zero, and hides them.
    VALUES = "values"
    # A null is a value like others: the function holds it, writes it or returns its type.
    NULL = "null"
    MISSING = "missing"
    # The function returns its arguments: a missing one stays missing.
    MISSING_AND_RETURNS_IT = "missing and returns it"


# The compiler asks for them at each argument of a call.
@cache
def _split_types(parameters: str) -> tuple[str, ...]:
    return tuple(word.removesuffix("...") for word in parameters.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function by the name that templates call.

    ``parameters`` lists Go's parameter types, separated by blanks; a last one that ends in "..."
    takes any number: ``"string int any..."``. Arguments are checked before ``call`` gets them:

    ``any``     interface {}: any value, None for nil
    ``value``   reflect.Value: any value, nil apart (None in a container, MISSING elsewhere)
    ``string``  str; ``bool`` bool; ``float64`` float
    ``int``     Int (literals too)
    ``map``     map[string]interface {}: dict, or NilMap() for a missing value or literal nil
    other       exactly that go_type, for example ``time.Time``

    ``call`` is a Python function: its arguments are the one that ``injects`` names and those of the
    template, by position. It raises CallError with Go's text. The size of its result is charged
    afterwards; a function whose result can be much larger than its arguments asks the run
    before.

    ``allocates`` is false when the result is an argument or a part of one, which costs nothing, or
    as large as what the template writes out; or when the function charges for all of it itself.
    ``mutates``: it changes an argument. ``returns`` may name the result's Go type when it is always
    ``string``, ``bool`` or ``int``: it saves a check. ``option`` is the option of the step without
    which the function is refused: ``stable_values`` for random values, ``crypto`` for keys.
    ``package`` is the package that it needs, an extra of this one. ``cost`` is the number of steps
    that a call takes in addition to its result. ``is_lookup``: nil means that nothing matched, and
    is a missing value where using one is an error. ``takes`` names what the arguments must be,
    where Go's types do not tell: ``request? name``, the first of which may be left out. ``summary``
    is the sentence of the manual.
    """

    name: str
    parameters: str
    call: AnyCall
    injects: Injects = Injects.NOTHING
    allocates: bool = True
    mutates: bool = False
    returns: str = "any"
    option: str = ""
    package: str = ""
    cost: int = 0
    accepts: Accepts = Accepts.VALUES
    is_lookup: bool = False
    takes: str = ""
    summary: str = ""

    @property
    def parameter_types(self) -> tuple[str, ...]:
        """The types in ``parameters`` without the dots."""
        return _split_types(self.parameters)

    @property
    def variadic(self) -> bool:
        """True if the last parameter takes any number of arguments."""
        return self.parameters.endswith("...")

    def parameter_type(self, index: int) -> str:
        """Return the type of a parameter; the last one may take many arguments."""
        types = self.parameter_types
        return types[min(index, len(types) - 1)]


class _Attributes(TypedDict, total=False):
    """Fields of Function that have a default, or that the annotations tell."""

    parameters: str
    injects: Injects
    allocates: bool
    mutates: bool
    returns: str
    option: str
    package: str
    cost: int
    accepts: Accepts
    is_lookup: bool
    takes: str


_Call = TypeVar("_Call")
_RAISE: Final = object()
_INJECTED: Final = {"RandomNumbers": Injects.RANDOM, "Run": Injects.RUN}
# Go's types by Python's. A whole number is an int as an argument, and an int64 as a result.
_PARAMETERS: Final = {
    "Time": "time.Time",
    "bool": "bool",
    "dict": "map",
    "float": "float64",
    "int": "int",
    "object": "any",
    "str": "string",
}
_RESULTS: Final = {
    "Int": "int",
    "bool": "bool",
    "float": "float64",
    "int": "int64",
    "str": "string",
}


class FunctionTable:
    """The functions of a module, in the order of their definitions."""

    def __init__(self, **defaults: Unpack[_Attributes]) -> None:
        self._defaults = defaults
        self._functions: list[Function] = []

    def __iter__(self) -> Iterator[Function]:
        return iter(self._functions)

    def add(
        self,
        name: str,
        *aliases: str,
        summary: str = "",
        on_failure: object = _RAISE,
        **attributes: Unpack[_Attributes],
    ) -> Callable[[_Call], _Call]:
        """Return a decorator that adds a function by its names.

        Its summary is the first line of its docstring, unless another is passed. Its parameters,
        what it returns and what it injects are those of its annotations, unless others are passed.
        ``on_failure`` is its value where it raises CallError, which is passed on without it.
        """

        def register(call: _Call) -> _Call:
            sentence = summary or (call.__doc__ or "").partition("\n")[0].rstrip()
            fields: _Attributes = {**_read_annotations(call), **self._defaults, **attributes}
            strict = cast("AnyCall", call)
            used = strict if on_failure is _RAISE else _forgive(strict, on_failure)
            function = Function(name=name, call=used, summary=sentence, **fields)
            self._functions.append(function)
            alias_summary = f"Another name of {name}."
            self._functions += (
                replace(function, name=alias, summary=alias_summary) for alias in aliases
            )
            return call

        return register


def _forgive(strict: AnyCall, value: object) -> AnyCall:
    """Return a function with ``value`` in place of its CallError."""

    def lenient(*arguments: object) -> object:
        try:
            return strict(*arguments)
        except CallError:
            return value

    return lenient


def _read_annotations(call: object) -> _Attributes:
    """Return what the annotations of a Python function tell.

    For two hundred functions, `inspect.signature` would take ten times as long at each start.
    """
    function = cast("FunctionType", call)
    code = function.__code__
    # An annotation is a text where a module delays them.
    names = {
        name: kind if isinstance(kind, str) else getattr(kind, "__name__", "")
        for name, kind in function.__annotations__.items()
    }
    result = names.pop("return", "")
    # Templates pass arguments by position: those by name are for Python's callers.
    for name in code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]:
        del names[name]
    # In the order of the definition, which annotations keep.
    types = list(names.values())
    injects = _INJECTED.get(types[0], Injects.NOTHING) if types else Injects.NOTHING
    if injects is not Injects.NOTHING:
        del types[0]
    dots = "..." if code.co_flags & CO_VARARGS else ""
    return {
        "parameters": " ".join(_PARAMETERS.get(each, each) for each in types) + dots,
        "returns": _RESULTS.get(result, "any"),
        "injects": injects,
    }
