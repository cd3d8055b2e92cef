"""Text for YAML and for people: indentation, quotes, prefixes, lengths; text that is a number."""

import re
from fractions import Fraction
from typing import Final

import orjson

from function_script import documents
from function_script.engines.library.bounds import check_length
from function_script.engines.library.function import Group
from function_script.request import quantities
from function_script.request.values import Value
from function_script.texts.errors import HintedError

TEXT: Final = Group(
    name="text",
    summary="Text for YAML and for people.",
)


_MAX_INDENT = 200


UNITS: Final = Group(
    name="units",
    summary="Durations and quantities, as Go and Kubernetes write them.",
)
_DURATION = re.compile(
    r"[-+]?(?:(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:ns|us|µs|μs|ms|s|m|h)){1,100}\Z",
    re.ASCII,
)
_QUANTITY = re.compile(
    r"([-+]?(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18}))"
    r"(?:([numkMGTPE]|[KMGTPE]i)|[eE]([-+]?\d{1,2}))?\Z",
    re.ASCII,
)
# Exact, where a float has no thousandth.
_SECONDS = {unit: Fraction(str(seconds)) for unit, seconds in quantities.SECONDS.items()}
_FACTORS = {
    "": Fraction(1),
    **{prefix: Fraction(1, 1000**power) for power, prefix in enumerate("mun", 1)},
    **{prefix: Fraction(1000**power) for power, prefix in enumerate("kMGTPE", 1)},
    **{f"{prefix}i": Fraction(1024**power) for power, prefix in enumerate("KMGTPE", 1)},
}


@TEXT.filter(example='indent("a\\nb", 2)', result="a\n  b")
def indent(text: str, spaces: int, *, first: bool = False) -> str:
    """Indent every line but the first (with ``first`` also that); empty lines stay empty."""
    if not 0 <= spaces <= _MAX_INDENT:
        raise ValueError(f"spaces: must be between 0 and {_MAX_INDENT}, not {spaces}")
    check_length(len(text) + spaces * (text.count("\n") + 1))
    margin = " " * spaces
    lines = text.split("\n")
    padded = [margin + line if line else line for line in lines]
    return "\n".join(padded if first else [lines[0], *padded[1:]])


@TEXT.filter(example='nindent("a\\nb", 2)', result="\n  a\n  b")
def nindent(text: str, spaces: int) -> str:
    """Indent every line, after a line break: to begin a block below a key."""
    return "\n" + indent(text, spaces, first=True)


@TEXT.filter(example="quote(8080)", result='"8080"')
def quote(value: Value) -> str:
    """A double-quoted string, for YAML and JSON alike; numbers and booleans become text."""
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return documents.to_flow_yaml(orjson.dumps(text).decode())


@TEXT.filter(example='truncate("eu-west-1", 2)', result="eu")
def truncate(text: str, length: int) -> str:
    """At most the first ``length`` characters; negative: the last ones."""
    return text[:length] if length >= 0 else text[length:]


@TEXT.filter(example='trim_prefix("v1.2", "v")', result="1.2")
def trim_prefix(text: str, prefix: str) -> str:
    """The text without the prefix, if it begins with it."""
    return text.removeprefix(prefix)


@TEXT.filter(example='trim_suffix("a.yaml", ".yaml")', result="a")
def trim_suffix(text: str, suffix: str) -> str:
    """The text without the suffix, if it ends with it."""
    return text.removesuffix(suffix)


@UNITS.filter(example='duration_seconds("1h30m")', result=5400)
def duration_seconds(text: str) -> int | float:
    """The seconds of a duration such as 1h30m or 1.5s; whole ones are integers."""
    if text in {"0", "+0", "-0"}:
        return 0
    if not _DURATION.match(text):
        hint = "the units are h, m, s, ms, us, ns, each after a number"
        raise HintedError(f"invalid duration {text!r} (example: 1h30m)", hint)
    sign = -1 if text.startswith("-") else 1
    parts = quantities.PART.findall(text)
    seconds = sum((_fraction(number) * _SECONDS[unit] for number, unit in parts), Fraction())
    return _number(sign * seconds)


@UNITS.filter(example='quantity("1.5Gi")', result=1610612736)
def quantity(text: str) -> int | float:
    """The number of a Kubernetes quantity such as 500m or 1Gi."""
    match = _QUANTITY.match(text)
    if match is None:
        hint = "the units are k, M, G, T, P, E and Ki, Mi, Gi, Ti, Pi, Ei"
        raise HintedError(f"{text!r} is no quantity such as 500m or 1Gi", hint)
    number, suffix, exponent = match.groups()
    factor = Fraction(10) ** int(exponent) if exponent else _FACTORS[suffix or ""]
    return _number(_fraction(number) * factor)


def _fraction(number: str) -> Fraction:
    return Fraction(number + "0" if number.endswith(".") else number)


def _number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
