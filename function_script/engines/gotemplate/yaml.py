"""YAML as yaml.v3 reads and writes it, for toYaml and fromYaml.

A plain scalar that is read is a text, a number, a boolean, a time or null. A string is written
plain, quoted, or as a block of lines.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cmp_to_key, partial
from typing import Final

from yaml import events

from function_script.documents.errors import YamlError
from function_script.documents.kubernetes_yaml import read_events, start_of
from function_script.documents.writer import compare_keys, double_quoted
from function_script.engines.gotemplate import values
from function_script.engines.gotemplate.data import copy_tree
from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.go_time import Duration, Time, parse_date
from function_script.engines.gotemplate.printing import float_text
from function_script.engines.gotemplate.run import Run

# Scalars

_VALUES: Final[dict[str, object]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_YEAR: Final = re.compile("[0-9]{4}-")
# The layouts of times: with a T the zone must be there, and behind a blank is none.
_LAYOUTS: Final = (
    *("2006-1-2T15:4:5Z07:00", "2006-1-2t15:4:5Z07:00"),
    *("2006-1-2 15:4:5", "2006-1-2"),
)


def resolve(text: str) -> object:
    """Return the value of a plain scalar; the string itself when it is nothing else."""
    first = text[:1]
    # All other values begin with one of these, which most texts do not.
    if first and first not in "+-.0123456789~nNtTfF":
        return text
    if text in _VALUES:
        return _VALUES[text]
    if not first or first not in "+-.0123456789":
        return text
    if _YEAR.match(text) and (time := _time(text)) is not None:
        return time
    number = _number(text, dotted=first == ".")
    return text if number is None else number


def _number(text: str, *, dotted: bool) -> object | None:
    if dotted:
        return values.read_float(text)
    plain = text.replace("_", "")
    number = values.read_integer(plain)
    if number is not None and values.MIN_INT64 <= number <= values.MAX_INT64:
        return values.Int(number)
    if number is not None and plain[0] != "+" and 0 < number <= values.MAX_UINT64:
        return values.Uint64(number)
    return values.read_float(plain) if _FLOAT.fullmatch(plain) else None


def _time(text: str) -> Time | None:
    """Return a date, or a date and a time; None for other texts."""
    for layout in _LAYOUTS:
        with suppress(CallError):
            return parse_date(layout, text)
    return None


# Writing

# Plain in any context, apart from the words below.
_SIMPLE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_WORDS: Final = frozenset(
    word
    for base in ("y", "yes", "on", "n", "no", "off", "true", "false", "null")
    for word in (base, base.capitalize(), base.upper())
)
# Characters that need an escape: controls, those beyond the BMP, and two line breaks. (A negated
# class takes Python ten times longer to compile.)
_SPECIAL: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe-\U0010ffff]"
)
_ESCAPED: Final = re.compile(rf'["\\\t\n]|{_SPECIAL.pattern}')
_BASE60: Final = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_INDICATORS: Final = re.compile(
    r"""---|\.\.\.|[#,\[\]{}&*!|>'"%@`]|[?:-](?:[ \t]|$)|.*?(?::(?:[ \t]|$)|[ \t]\#)""", re.DOTALL
)


def is_simple(text: str) -> bool:
    """Report whether a string is written plain, also as a key, in any context."""
    return _SIMPLE.fullmatch(text) is not None and text not in _WORDS


def write_string(text: str, indent: int) -> str:
    """Return a string as a value; the lines of a block are indented by ``indent``."""
    if is_simple(text):
        return text
    if values.is_broken(text):
        raise CallError("yaml: the text is not UTF-8: write it through b64enc")
    if "\n" not in text:
        return _on_one_line(text)
    if text.endswith(" ") or " \n" in text or _SPECIAL.search(text):
        return double_quoted(text, _ESCAPED)
    return _block(text, indent)


def write_key(text: str) -> str:
    """Return a string as a key: on one line, quoted if it would read back as something else."""
    if is_simple(text):
        return text
    return (
        double_quoted(text, _ESCAPED)
        if "\n" in text or values.is_broken(text)
        else _on_one_line(text)
    )


def _on_one_line(text: str) -> str:
    if resolve(text) is not text or text in _WORDS or _BASE60.fullmatch(text):
        return double_quoted(text, _ESCAPED)
    if "\t" in text or _SPECIAL.search(text):
        return double_quoted(text, _ESCAPED)
    if text[0] == " " or text[-1] == " " or _INDICATORS.match(text):
        quoted = text.replace("'", "''")
        return f"'{quoted}'"
    return text


def _block(text: str, indent: int) -> str:
    """Return a literal block: a hint for leading blanks, another for the final newlines.

    As with yaml.v3, a newline at the very beginning is lost when the text is read back.
    """
    hint = "4" if text[0] in " \n" else ""
    if text[-1] != "\n":
        hint += "-"
    elif text[-2:-1] in {"", "\n"}:
        hint += "+"
    body = text.removeprefix("\n")
    if not body:
        return f"|{hint}"
    pad = " " * indent
    lines = (f"{pad}{line}" if line else "" for line in body.removesuffix("\n").split("\n"))
    return f"|{hint}\n" + "\n".join(lines)


# fromYaml

_TAG: Final = "tag:yaml.org,2002:"
_MAX_DEPTH: Final = 100
_MERGE: Final = "<<"


def from_yaml(run: Run, text: str) -> object:
    """Return the value of the first document, None when there is none; raises CallError."""
    if values.is_broken(text):
        raise CallError("yaml: the text is not UTF-8")
    try:
        return _Decoder(run, read_events(text)).read_document()
    except YamlError as error:
        raise CallError(f"yaml: line {error.line + 1}: {error.message}") from error


class _Unfinished:
    """Stands for an anchored container while it is read."""


class _Decoder:
    def __init__(self, run: Run, stream: Iterator[events.Event]) -> None:
        self.run = run
        self.stream = stream
        self.anchors: dict[str, object] = {}

    def read_document(self) -> object:
        """Return the first node of the stream."""
        for event in self.stream:
            if isinstance(event, events.NodeEvent):
                return self.read_value(event, _MAX_DEPTH)
        return None

    def read_value(self, event: events.NodeEvent, depth: int) -> object:
        """Return the value that begins with ``event``."""
        if depth == 0:
            raise CallError("yaml: exceeded max depth")
        if isinstance(event, events.AliasEvent):
            return self.resolve_alias(event)
        if event.anchor:
            self.anchors[event.anchor] = _Unfinished()
        if isinstance(event, events.ScalarEvent):
            value: object = scalar(event)
        elif isinstance(event, events.SequenceStartEvent):
            value = [self.read_value(item, depth - 1) for item in self.read_until_end()]
        else:
            value = self.read_map(depth)
        if event.anchor:
            self.anchors[event.anchor] = value
        return value

    def read_until_end(self) -> Iterator[events.NodeEvent]:
        """Yield the events that begin the parts of a container."""
        while isinstance(event := next(self.stream), events.NodeEvent):
            yield event

    def resolve_alias(self, event: events.AliasEvent) -> object:
        """Return a copy of an anchored value."""
        if event.anchor not in self.anchors:
            raise CallError(f"yaml: unknown anchor '{event.anchor}' referenced")
        value = self.anchors[event.anchor]
        if isinstance(value, _Unfinished):
            raise CallError(f"yaml: anchor '{event.anchor}' value contains itself")
        # Aliases of aliases grow without a bound: each copy is paid for.
        self.run.check_tree(value)
        return copy_tree(value)

    def read_map(self, depth: int) -> object:
        """Return a map; what it merges gives way to its own keys."""
        entries: dict[object, object] = {}
        lines: dict[object, int] = {}
        merged: dict[object, object] = {}
        nodes = self.read_until_end()
        for event in nodes:
            text = event.value if isinstance(event, events.ScalarEvent) else ""
            if text == _MERGE and _is_plain(event):
                merged.update(self.read_merge(next(nodes), depth - 1))
                continue
            key = self.read_value(event, depth - 1)
            if isinstance(key, (dict, list)):
                raise CallError(f"yaml: invalid map key: {key}")
            if key in entries:
                problem = f'mapping key "{text}" already defined at line {lines[key]}'
                raise CallError(f"yaml: unmarshal errors:\n  line {_line_of(event)}: {problem}")
            lines[key] = _line_of(event)
            entries[key] = self.read_value(next(nodes), depth - 1)
        everything = {
            **{key: item for key, item in merged.items() if key not in entries},
            **entries,
        }
        return (
            everything if all(type(key) is str for key in everything) else values.AnyMap(everything)
        )

    def read_merge(self, event: events.NodeEvent, depth: int) -> dict[object, object]:
        """Return the map that ``<<`` merges; of several maps the first wins."""
        value = self.read_value(event, depth)
        merged: dict[object, object] = {}
        for source in value if isinstance(value, list) else [value]:
            if not isinstance(source, dict):
                raise CallError("yaml: map merge requires map or sequence of maps as the value")
            merged = {**source, **merged}
        return merged


def scalar(event: events.ScalarEvent) -> object:
    """Return the value of a scalar; raises CallError for a tag that would convert it."""
    tag = (event.tag or "").removeprefix(_TAG)
    if tag in _CONVERSIONS:
        line = _line_of(event)
        raise CallError(f"yaml: line {line}: fromYaml knows no tag !!{tag}: leave it out")
    # With any other tag it is a text.
    return resolve(event.value) if _is_plain(event) else event.value


def _is_plain(event: events.NodeEvent) -> bool:
    """Report whether a scalar has neither quotes nor a tag, nor is a block of lines."""
    return isinstance(event, events.ScalarEvent) and not event.style and not event.tag


def _line_of(event: events.Event) -> int:
    return start_of(event)[0] + 1


_CONVERSIONS: Final = frozenset({"binary", "bool", "float", "int", "null", "timestamp"})


# toYaml

_STEP: Final = 4
_DASH: Final = 2


def to_yaml(value: object) -> str:
    """Return a value as a document, with a final newline."""
    block = _block_of(value)
    if block is None:
        return f"{_scalar(value, _STEP)}\n"
    parts: list[str] = []
    _write_block(block, 0, "", parts)
    return "".join(parts)


def _write_block(value: object, indent: int, lead: str, parts: list[str]) -> None:
    """Write a map or list that is not empty; its first line already has ``lead``."""
    if isinstance(value, _Fields):
        _write_map(value.items(), indent, lead, parts)
    elif isinstance(value, dict):
        _write_map(((key, value[key]) for key in _sorted_keys(value)), indent, lead, parts)
    elif isinstance(value, (list, bytes)):
        for item in value:
            start = f"{lead or ' ' * indent}- "
            lead = ""
            block = _block_of(item)
            if block is None:
                parts.append(f"{start}{_scalar(item, indent + _DASH)}\n")
            else:
                _write_block(block, indent + _DASH, start, parts)


def _sorted_keys(value: dict[object, object]) -> list[object]:
    """Return the keys in yaml.v3's order: numbers and booleans, null, texts, times."""
    texts = [key for key in value if isinstance(key, str)]
    is_plain = _PLAIN_ORDER.fullmatch("\n".join(texts)) is not None
    texts.sort(key=None if is_plain else _by_key)
    if len(texts) == len(value):
        return [*texts]
    numbers = sorted(key for key in value if isinstance(key, (int, float)))
    nulls = [key for key in value if key is None]
    times = sorted((key for key in value if isinstance(key, Time)), key=Time.unix_nanoseconds)
    return [*numbers, *nulls, *texts, *times]


def _write_map(
    pairs: Iterable[tuple[object, object]], indent: int, lead: str, parts: list[str]
) -> None:
    pad = " " * indent
    deeper = (indent // _STEP + 1) * _STEP
    for key, item in pairs:
        if type(key) is str and type(item) is str and is_simple(key) and is_simple(item):
            # Most of the output is like labels.
            parts.append(f"{lead or pad}{key}: {item}\n")
            lead = ""
            continue
        parts.append(lead or pad)
        lead = ""
        block = _block_of(item)
        parts.append(f"{write_key(key) if isinstance(key, str) else _scalar(key, 0)}:")
        if block is None:
            parts.append(f" {_scalar(item, deeper)}\n")
        else:
            parts.append("\n")
            _write_block(block, deeper, "", parts)


class _Fields(dict[object, object]):
    """A struct's fields, which keep their order."""


def _block_of(value: object) -> object | None:
    """Return the value that takes several lines; None for scalars and empty containers."""
    if isinstance(value, values.Struct):
        data = value.yaml()
        return _Fields(data) if isinstance(data, dict) and data else None
    return value if isinstance(value, (dict, list, bytes)) and value else None


def _scalar(value: object, indent: int) -> str:
    if isinstance(value, str):
        return write_string(value, indent)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return value.text() if type(value) is Duration else int.__repr__(value)
    if isinstance(value, float):
        return _SPECIAL_FLOATS.get(float_text(value)) or float_text(value)
    if isinstance(value, values.Struct):
        data = value.yaml()
        return data.rfc3339() if isinstance(data, Time) else _scalar(data, indent)
    if isinstance(value, dict):
        return "{}"
    return "[]" if isinstance(value, (list, bytes)) else "null"


_SPECIAL_FLOATS: Final = {"+Inf": ".inf", "-Inf": "-.inf", "NaN": ".nan"}

# Entries are in the natural order of yaml.v3: a9 before a10. Keys of only these characters sort as
# strings.
_PLAIN_ORDER: Final = re.compile(r"[A-Za-z./ \n-]*")


_by_key = cmp_to_key(partial(compare_keys, is_v3=True))
