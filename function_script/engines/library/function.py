"""Library functions: Python functions with documentation, checked arguments and hints."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, ParamSpec, Protocol, TypedDict, TypeVar, Unpack, cast

from function_script.engines.library.bounds import READERS, Read, check_length
from function_script.program import Scope
from function_script.values import Object, Readable, Value

P = ParamSpec("P")
R = TypeVar("R", bound=Readable)


class Call(Protocol):
    """A function of values; raises only ValueError, with a message for the program's author."""

    def __call__(self, *arguments: Readable, **named: Readable) -> Readable:
        """Check the arguments, then do the work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter. ``type`` is a JSON type's name, "list of strings", "path" or "any"."""

    name: str
    type: str
    read: Read
    is_required: bool
    is_named_only: bool = False
    default: Value = None

    def __str__(self) -> str:
        return self.name if self.is_required else f"{self.name}={self.default!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function of the library, the same in each language that has it.

    ``example`` is an expression that is valid in all languages, ``result`` its value.
    ``is_filter``: the first argument is naturally piped. ``is_seeded``: ``call`` takes a root
    before the parameters, which the language must bind: the scope's seed if ``is_secret``, else its
    uid. ``gives_random_text``: the language records the result in the scope, see ``call_seeded``.
    ``go_name``: the name in Go templates, which then have the function, too.
    """

    name: str
    group: "Group"
    summary: str
    parameters: tuple[Parameter, ...]
    returns: str
    example: str
    result: Value
    call: Call
    is_filter: bool = False
    is_seeded: bool = False
    is_secret: bool = False
    gives_random_text: bool = False
    go_name: str = ""

    def call_seeded(self, scope: Scope, *arguments: Readable, **named: Readable) -> Readable:
        """Call a function that takes a root; record a text that others can compute."""
        result = self.call(scope.seed if self.is_secret else scope.uid, *arguments, **named)
        is_public = not (self.is_secret and scope.is_salted)
        if self.gives_random_text and is_public and isinstance(result, str):
            scope.random_texts.append(result)
        return result

    @property
    def signature(self) -> str:
        """The signature in Python's notation: ``indent(text, spaces, *, first=False)``."""
        positional = [str(each) for each in self.parameters if not each.is_named_only]
        named_only = [str(each) for each in self.parameters if each.is_named_only]
        star = ["*"] if named_only else []
        return f"{self.name}({', '.join([*positional, *star, *named_only])})"


class _Traits(TypedDict, total=False):
    """Fields of Function that have a default."""

    is_filter: bool
    is_seeded: bool
    is_secret: bool
    gives_random_text: bool
    go_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The functions of one module of the library, which the methods add: they are decorators."""

    name: str
    summary: str
    functions: list[Function] = field(default_factory=list, compare=False, repr=False)

    def function(
        self, *, example: str, result: Value
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Add a function that is not piped, and is the same for every composite resource."""
        return self._add(example, result)

    def filter(
        self, *, example: str, result: Value, go_name: str = ""
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Add a function whose first argument is naturally piped into it."""
        return self._add(example, result, is_filter=True, go_name=go_name)

    def seeded(
        self,
        *,
        example: str,
        result: Value,
        gives_random_text: bool = False,
        is_secret: bool = False,
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Add a function whose first parameter is the root of its values."""
        return self._add(
            example,
            result,
            is_seeded=True,
            is_secret=is_secret,
            gives_random_text=gives_random_text,
        )

    def _add(
        self, example: str, result: Value, **traits: Unpack[_Traits]
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        def register(call: Callable[P, R]) -> Callable[P, R]:
            signature = inspect.signature(call)
            parameters = tuple(map(_parameter, signature.parameters.values()))
            function = Function(
                name=call.__name__,
                group=self,
                summary=(call.__doc__ or "").partition("\n")[0],
                parameters=parameters[1:] if "is_seeded" in traits else parameters,
                returns=_RETURNS[signature.return_annotation],
                example=example,
                result=result,
                call=_checked(call.__name__, cast("Call", call), parameters),
                **traits,
            )
            self.functions.append(function)
            return call

        return register


# Names of result types in the reference, by the annotation of the implementation.
_RETURNS: Final[Mapping[object, str]] = {
    str: "string",
    str | None: "string or null",
    bool: "boolean",
    int: "integer",
    int | float: "number",
    list[str]: "list of strings",
    list[Value] | None: "list or null",
    list[Value]: "list",
    Object: "object",
    Value: "any",
    Readable: "any",
}


def _parameter(parameter: inspect.Parameter) -> Parameter:
    type_, read = READERS[parameter.annotation]
    is_required = parameter.default is inspect.Parameter.empty
    return Parameter(
        name=parameter.name,
        type=type_,
        read=read,
        is_required=is_required,
        is_named_only=parameter.kind is inspect.Parameter.KEYWORD_ONLY,
        default=None if is_required else parameter.default,
    )


def _checked(name: str, call: Call, parameters: Sequence[Parameter]) -> Call:
    """Return ``call`` with checks of its arguments and result, and its name in every error."""
    by_name = {parameter.name: parameter for parameter in parameters}
    positional = [parameter for parameter in parameters if not parameter.is_named_only]

    def checked(*arguments: Readable, **named: Readable) -> Readable:
        if len(arguments) > len(positional):
            count = f"{len(arguments)} arguments for {len(positional)} parameters"
            raise ValueError(f"cannot call {name}: {count}")
        try:
            read = [_read(p, value) for p, value in zip(positional, arguments, strict=False)]
            if not named and len(read) == len(positional):
                return _bounded(call(*read))
            _check_names(by_name, positional[: len(read)], named)
            return _bounded(call(*read, **{key: _read(by_name[key], named[key]) for key in named}))
        except UnicodeError:
            raise ValueError(f"cannot call {name}: half of a surrogate pair in a text") from None
        except ValueError as error:
            raise ValueError(f"cannot call {name}: {error}") from error

    return checked


def _read(parameter: Parameter, value: Readable) -> Readable:
    if value is None and not parameter.is_required and parameter.default is None:
        return None
    try:
        return parameter.read(value)
    except ValueError as error:
        raise ValueError(f"{parameter.name}: {error}") from error


def _check_names(
    by_name: dict[str, Parameter], positional: Sequence[Parameter], named: dict[str, Readable]
) -> None:
    for key in named:
        if key not in by_name:
            raise ValueError(f"no parameter {key!r}; there are {', '.join(by_name)}")
        if by_name[key] in positional:
            raise ValueError(f"{key} is given twice")
    for parameter in by_name.values():
        if parameter.is_required and parameter not in positional and parameter.name not in named:
            raise ValueError(f"{parameter.name} is missing")


def _bounded(result: Readable) -> Readable:
    if isinstance(result, str):
        check_length(len(result))
    return result


# Hints for failed calls, by the messages above

_CALL: Final = re.compile(r"cannot call (?P<name>\w+): (?P<cause>.*)", re.DOTALL)
_ARITY: Final = re.compile(r"\w+ is (?:missing|given twice)$|\d+ arguments for|no parameter ")
_HINTS: Final = (
    ("pattern: missing )", r"close it with ), or write \( where the character itself is meant"),
    ("pattern: missing ]", r"close it with ], or write \[ where the character itself is meant"),
    ("pattern: ", r"write \ before a character that is meant as such, or use regex_escape"),
    ("the text is no ", "only what was encoded can be decoded; test it first if it may be plain"),
    ("is no quantity", "the units are k, M, G, T, P, E and Ki, Mi, Gi, Ti, Pi, Ei"),
    ("invalid duration", "the units are h, m, s, ms, us, ns, each after a number"),
)


def find_hint(message: str, functions: Iterable[Function]) -> str | None:
    """Return a hint for the call that ``message`` is about; None when there is none."""
    call = _CALL.match(message)
    if call is None:
        return None
    if _ARITY.match(call["cause"]):
        signatures = (each.signature for each in functions if each.name == call["name"])
        return next((f"write {signature}" for signature in signatures), None)
    return next((hint for words, hint in _HINTS if words in call["cause"]), None)
