"""The functions of Go's text/template itself: comparison, logic, items, text."""

from typing import Final, NoReturn
from urllib.parse import quote_plus

from function_script.engines.gotemplate import printing, values
from function_script.engines.gotemplate.errors import CallError, Code
from function_script.engines.gotemplate.function import Accepts, FunctionTable
from function_script.engines.gotemplate.printf import sprintf
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.sprig.conversions import print_value

FUNCTIONS: Final = FunctionTable()


# Comparison, by Go's rules: none across kinds, nil equals nil

_INVALID: Final = "invalid type for comparison"


def _kind(value: object) -> str:
    """Return the basic kind of a value; empty for a value without an order."""
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool):
        return "bool"
    # Unsigned integers compare with signed ones.
    if isinstance(value, int):
        return "integer"
    return "float" if isinstance(value, float) else ""


@FUNCTIONS.add("eq", parameters="value value...", accepts=Accepts.MISSING)
def equal(first: object, *others: object) -> bool:
    """The first value equals one of the others.

    Stop at the first one that does.
    """
    if not others:
        raise CallError("missing argument for comparison")
    return any(_equals(first, other) for other in others)


@FUNCTIONS.add("ne", parameters="value value", accepts=Accepts.MISSING)
def differ(left: object, right: object) -> bool:
    """The values differ."""
    return not _equals(left, right)


def _equals(left: object, right: object) -> bool:
    kind = _kind(left)
    if kind != _kind(right):
        # Nil differs from any value of a basic kind, and is no error.
        if left in _NOTHING or right in _NOTHING:
            return False
        raise _incompatible(left, right)
    if kind:
        return bool(left == right)
    kinds = {values.go_kind(left), values.go_kind(right)}
    if len(kinds) > 1 and "invalid" not in kinds:
        types = f"{values.go_type(left)}, {values.go_type(right)}"
        raise CallError(f"non-comparable types {types}")
    if values.is_nil(left) or values.is_nil(right):
        return values.is_nil(left) == values.is_nil(right)
    raise CallError(f"non-comparable type {values.go_type(right)}")


_NOTHING: Final = (None, values.MISSING)


def _incompatible(left: object, right: object) -> CallError:
    types = f"{values.go_type(left)} and {values.go_type(right)}"
    texts = [each for each in (left, right) if isinstance(each, str)]
    # A text that is no number cannot be converted, and "true" is not "True".
    is_certain = all(each.isdigit() for each in texts) and not isinstance(left, bool | type(None))
    is_certain = is_certain and not isinstance(right, bool)
    code = Code.INCOMPATIBLE_TYPES if is_certain else None
    if isinstance(left, values.Struct) and right in ("True", "False", "Unknown"):
        code = Code.CONDITION_COMPARED
    return CallError(f"incompatible types for comparison: {types}", code)


@FUNCTIONS.add("lt", parameters="value value")
def less(left: object, right: object) -> bool:
    """The first value is less than the second."""
    kind, other = _kind(left), _kind(right)
    if not kind or not other:
        raise CallError(_INVALID)
    if kind != other:
        raise _incompatible(left, right)
    if kind == "bool":
        raise CallError(_INVALID)
    return bool(left < right)  # type: ignore[operator] # both are of the same ordered kind


@FUNCTIONS.add("le", parameters="value value")
def less_or_equal(left: object, right: object) -> bool:
    """The first value is less than the second, or equal."""
    return less(left, right) or _equals(left, right)


@FUNCTIONS.add("gt", parameters="value value")
def greater(left: object, right: object) -> bool:
    """The first value is greater than the second."""
    return not less_or_equal(left, right)


@FUNCTIONS.add("ge", parameters="value value")
def greater_or_equal(left: object, right: object) -> bool:
    """The first value is greater than the second, or equal."""
    return not less(left, right)


# Logic, calls and items


@FUNCTIONS.add(
    "or",
    parameters="value value...",
    summary="The first value that is not empty, or else the last one.",
    accepts=Accepts.MISSING_AND_RETURNS_IT,
)
@FUNCTIONS.add("and", parameters="value value...", accepts=Accepts.MISSING_AND_RETURNS_IT)
def choose(*_: object) -> None:
    """The first empty value, or else the last one.

    This is a placeholder: ``and`` and ``or`` are operations of their own, because they are lazy.
    """


@FUNCTIONS.add("not", parameters="value", accepts=Accepts.MISSING)
def not_(item: object) -> bool:
    """True if the value is empty."""
    return not item


@FUNCTIONS.add("call", parameters="value value...")
def call(function: object, *_: object) -> None:
    """Call a function value with arguments.

    Raises CallError: no value of a template is a function.
    """
    raise CallError(f"a value of type {values.go_type(function)} is no function")


@FUNCTIONS.add("len", parameters="value")
def length(item: object) -> values.Int:
    """The number of items, entries or bytes."""
    if isinstance(item, str):
        return values.Int(values.byte_length(item))
    if isinstance(item, (dict, list, bytes)):
        return values.Int(len(item))
    raise CallError(f"len of type {values.go_type(item)}")


@FUNCTIONS.add("index", parameters="value value...", allocates=False, accepts=Accepts.MISSING)
def index(item: object, *keys: object) -> object:
    """The item of a list or map: index .labels "my-team".

    The result is nil for an absent key of a map. Raises CallError.
    """
    if item is None or item is values.MISSING:
        raise CallError("index of untyped nil", Code.INDEX_OF_NOTHING)
    for key in keys:
        if isinstance(item, dict):
            value = look_up(item, key)
            zero = item.zero if isinstance(item, values.TypedMap) else None
            item = zero if value is values.MISSING else value
        elif isinstance(item, (list, bytes, str)):
            item = _element(item, key)
        elif item is None:
            raise CallError("index of nil pointer")
        else:
            raise CallError(f"can't index item of type {values.go_type(item)}")
    return item


def look_up(item: dict[object, object], key: object) -> object:
    """Return the value of a key of a map, MISSING where it has none; raises CallError."""
    if isinstance(item, values.AnyMap):
        if isinstance(key, (dict, list)):
            raise CallError(f"a value of type {values.go_type(key)} is no key")
    elif type(key) is not str:
        if key is None or key is values.MISSING:
            raise CallError("value is nil; should be of type string")
        code = Code.NUMBER_OF_MAP if values.go_type(key) == "int" else None
        raise CallError(f"value has type {values.go_type(key)}; should be string", code)
    return item.get(key, values.MISSING)


def _element(item: list[object] | bytes | str, key: object) -> object:
    if key is None or key is values.MISSING:
        raise CallError("cannot index slice/array with nil")
    if isinstance(key, bool) or not isinstance(key, int):
        code = Code.KEY_OF_LIST if isinstance(key, str) and isinstance(item, list) else None
        raise CallError(f"cannot index slice/array with type {values.go_type(key)}", code)
    data = values.to_bytes(item) if isinstance(item, str) else item
    if not 0 <= key < len(data):
        raise CallError(f"index out of range: {int(key)}", Code.INDEX_OUT_OF_RANGE)
    value = data[key]
    return value if isinstance(data, list) else values.Uint8(int.from_bytes(data[key : key + 1]))


# Text


@FUNCTIONS.add("print", allocates=False)
def print_(run: Run, *arguments: object) -> str:
    """The values as text, with blanks between values that are no texts."""
    if len(arguments) == 1 and type(arguments[0]) is str:
        return arguments[0]
    parts: list[str] = []
    after_string = True
    for argument in arguments:
        is_string = isinstance(argument, str)
        if not after_string and not is_string:
            parts.append(" ")
        parts.append(print_value(run, argument))
        after_string = is_string
    run.check_string(sum(map(len, parts)))
    return "".join(parts)


@FUNCTIONS.add("println")
def println(run: Run, *arguments: object) -> str:
    """The values as text, with blanks between them and a line break."""
    parts = [print_value(run, argument) for argument in arguments]
    run.check_string(sum(map(len, parts)) + len(parts))
    return f"{' '.join(parts)}\n"


_PRINTF: Final = 'Values in a format: printf "%s-%02d" $name $i.'
FUNCTIONS.add("printf", summary=_PRINTF, allocates=False)(sprintf)


def _printed(run: Run, arguments: tuple[object, ...]) -> str:
    """Return the text that the escaping functions escape; nil is printed as in the output."""
    return print_(run, *(printing.NO_VALUE if each is None else each for each in arguments))


@FUNCTIONS.add("html")
def html(run: Run, *arguments: object) -> str:
    """The text, escaped for HTML."""
    return _printed(run, arguments).translate(_HTML)


_HTML: Final = str.maketrans(
    {"\0": "\ufffd", '"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;"}
)


@FUNCTIONS.add("js")
def js(run: Run, *arguments: object) -> str:
    """The text, escaped for JavaScript."""
    text = _printed(run, arguments).translate(_JS)
    # To Go, a byte of no character is the printable U+FFFD.
    escapes = {
        ord(each): f"\\u{ord(each):04X}"
        for each in set(text)
        if not (each.isascii() or each.isprintable() or values.is_broken(each))
    }
    return text.translate(escapes)


_JS: Final = str.maketrans(
    {
        **{chr(code): f"\\u{code:04X}" for code in (*range(ord(" ")), *map(ord, "<>&="))},
        "\\": r"\\",
        "'": r"\'",
        '"': r"\"",
    }
)


@FUNCTIONS.add("urlquery")
def urlquery(run: Run, *arguments: object) -> str:
    """The text, escaped for a query in a URL."""
    return quote_plus(values.to_bytes(_printed(run, arguments)), safe="-_.~")


@FUNCTIONS.add("include", returns="string", accepts=Accepts.MISSING_AND_RETURNS_IT)
def include(name: str, data: object) -> NoReturn:
    """The text of a defined template, for a pipeline."""
    # The compiler makes an operation of its own of each call.
    raise NotImplementedError(name, data)
