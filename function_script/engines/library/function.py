"""Library functions: Python functions with documentation, checked arguments and hints."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, ParamSpec, Protocol, TypedDict, TypeVar, Unpack, cast

from function_script.engines import signatures
from function_script.engines.library.bounds import TYPES, Type, check_length
from function_script.request.program import Scope
from function_script.request.values import Object, Readable, Value, type_name, with_article
from function_script.texts.errors import HintedError

P = ParamSpec("P")
R = TypeVar("R", bound=Readable)


class Call(Protocol):
    """A function of values; raises only ValueError, with a message for the program's author."""

    def __call__(self, *arguments: Readable, **named: Readable) -> Readable:
        """Check the arguments, then do the work."""


class ArgumentError(HintedError):
    """A function does not take a value for a parameter."""

    def __init__(self, message: str, parameter: signatures.Parameter, value: Readable) -> None:
        super().__init__(message)
        self.facts = (parameter, value)

    @property
    def wrong(self) -> signatures.WrongArgument | None:
        """The argument, if it has another type; None for other reasons."""
        parameter, value = self.facts
        type_ = type_name(value)
        return None if parameter.takes(type_) else signatures.WrongArgument(0, parameter, type_)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter: what a call is judged by, the type that reads an argument, and the default."""

    rule: signatures.Parameter
    type: Type
    default: Value = None

    def __str__(self) -> str:
        name, is_required = self.rule.name, self.rule.is_required
        return name if is_required else f"{name}={self.default!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function of the library, the same in each language that has it.

    ``example`` is an expression that is valid in all languages, ``result`` its value.
    ``is_filter``: the first argument is naturally piped. ``is_seeded``: ``call`` takes a root
    before the parameters, which the language must bind: the scope's seed if ``is_secret``, else its
    uid. ``gives_random_text``: the language records the result in the scope, see ``call_seeded``.
    ``go_name``: the name in Go templates, which then have the function, too. ``name_call`` returns
    the call whose messages name the function as a signature does.
    """

    name: str
    group: "Group"
    summary: str
    parameters: tuple[Parameter, ...]
    signature: signatures.Signature
    example: str
    result: Value
    call: Call
    name_call: Callable[[signatures.Signature], Call]
    is_filter: bool = False
    is_seeded: bool = False
    is_secret: bool = False
    gives_random_text: bool = False
    go_name: str = ""

    def rename(self, name: str) -> "Function":
        """Return the function with another name, also in its messages."""
        usage = f"{name}{self.signature.usage.removeprefix(self.name)}"
        signature = self.signature._replace(name=name, usage=usage)
        return replace(self, name=name, signature=signature, call=self.name_call(signature))

    def call_seeded(self, scope: Scope, *arguments: Readable, **named: Readable) -> Readable:
        """Call a function that takes a root; record a text that others can compute."""
        result = self.call(scope.seed if self.is_secret else scope.uid, *arguments, **named)
        is_public = not (self.is_secret and scope.is_salted)
        if self.gives_random_text and is_public and isinstance(result, str):
            scope.random_texts.append(result)
        return result


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

    def filter(
        self, *, example: str, result: Value, go_name: str = ""
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Add a function whose first argument is naturally piped into it."""
        return self.function(example=example, result=result, is_filter=True, go_name=go_name)

    def function(
        self, *, example: str, result: Value, **traits: Unpack[_Traits]
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Add a function; the first parameter of one that is seeded is the root of its values."""

        def register(call: Callable[P, R]) -> Callable[P, R]:
            python_signature = inspect.signature(call)
            every = tuple(map(_parameter, python_signature.parameters.values()))
            parameters = every[1:] if "is_seeded" in traits else every
            signature = signatures.Signature(
                name=call.__name__,
                usage=_usage(call.__name__, parameters),
                parameters=tuple(parameter.rule for parameter in parameters),
                result=_RETURNS[python_signature.return_annotation],
            )
            name_call = partial(_checked, cast("Call", call), every)
            function = Function(
                name=signature.name,
                group=self,
                summary=(call.__doc__ or "").partition("\n")[0],
                parameters=parameters,
                signature=signature,
                example=example,
                result=result,
                call=name_call(signature),
                name_call=name_call,
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
    type_ = TYPES[parameter.annotation]
    is_required = parameter.default is inspect.Parameter.empty
    is_named_only = parameter.kind is inspect.Parameter.KEYWORD_ONLY
    types = type_.json_types
    phrase = with_article(type_.name) if len(types) == 1 else ""
    rule = signatures.Parameter(parameter.name, types, is_required, is_named_only, phrase)
    return Parameter(rule=rule, type=type_, default=None if is_required else parameter.default)


def _usage(name: str, parameters: Iterable[Parameter]) -> str:
    positional = [str(each) for each in parameters if not each.rule.is_named_only]
    named_only = [str(each) for each in parameters if each.rule.is_named_only]
    star = ["*"] if named_only else []
    return f"{name}({', '.join([*positional, *star, *named_only])})"


def _checked(call: Call, parameters: Sequence[Parameter], signature: signatures.Signature) -> Call:
    """Return ``call`` with checks of its arguments and result, and its name in every error."""
    name = signature.name
    # The root of a function that is seeded is no argument of an author's.
    hidden = len(parameters) - len(signature.parameters)
    by_name = {parameter.rule.name: parameter for parameter in parameters}
    positional = [parameter for parameter in parameters if not parameter.rule.is_named_only]
    required = sum(parameter.rule.is_required for parameter in parameters)

    def checked(*arguments: Readable, **named: Readable) -> Readable:
        if named or not required <= len(arguments) <= len(positional):
            problem = signatures.explain_names(signature, len(arguments) - hidden, named)
            if problem is not None:
                raise HintedError(*problem)
        try:
            read = [_read(p, value) for p, value in zip(positional, arguments, strict=False)]
            if not named:
                return _bounded(call(*read))
            return _bounded(call(*read, **{key: _read(by_name[key], named[key]) for key in named}))
        except UnicodeError:
            raise ValueError(f"cannot call {name}: half of a surrogate pair in a text") from None
        except ArgumentError as error:
            raise ArgumentError(f"cannot call {name}: {error}", *error.facts) from error
        except ValueError as error:
            hint = error.hint if isinstance(error, HintedError) else None
            raise HintedError(f"cannot call {name}: {error}", hint) from error

    return checked


def _read(parameter: Parameter, value: Readable) -> Readable:
    try:
        return parameter.type.read(value)
    except ValueError as error:
        raise ArgumentError(f"{parameter.rule.name}: {error}", parameter.rule, value) from error


def _bounded(result: Readable) -> Readable:
    if isinstance(result, str):
        check_length(len(result))
    return result
