"""Values as Go prints them with ``%v``, and Go's quoting: shared by output, print and sprig.

Containers must be measured (Run.check_tree) before they are printed: nothing here bounds the size
of the text.
"""

import math
from collections.abc import Mapping
from operator import itemgetter
from typing import Final

from function_script.documents.kubernetes_yaml import number_text
from function_script.engines.gotemplate import values

NIL: Final = "<nil>"
NO_VALUE: Final = "<no value>"


def to_text(value: object) -> str:
    """Return ``fmt.Sprint`` of one value: ``map[a:1 b:<nil>]``, ``[1 a]``, ``1e+06``."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return value.text() if isinstance(value, values.NamedNumber) else int.__repr__(value)
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, dict):
        pairs = [f"{to_text(key)}:{to_text(item)}" for key, item in sorted_items(value)]
        return f"map[{' '.join(pairs)}]"
    if isinstance(value, (list, bytes)):
        return f"[{' '.join(map(to_text, value))}]"
    if not isinstance(value, values.Struct):
        return NIL
    text = value.text()
    # Without a String method, the fields: ``{Ready True}``.
    fields = f"{'&' * value.pointer}{{{' '.join(map(to_text, value.fields.values()))}}}"
    return fields if text is None else text


def float_text(number: float) -> str:
    """Return the shortest digits that read back as the same float: ``1.5``, ``1e+06``, ``+Inf``."""
    if math.isfinite(number):
        return number_text(number)
    return "NaN" if math.isnan(number) else f"{number:+}".replace("inf", "Inf")


def sorted_items(value: Mapping[object, object]) -> list[tuple[object, object]]:
    """Return a map's entries in Go's order of printing and iterating: by the bytes of the keys."""
    if not isinstance(value, values.AnyMap):
        return sorted(value.items(), key=itemgetter(0))
    return sorted(value.items(), key=_key_order)


# The kinds of keys that are no texts alone, in the order that Go's linker gives their types.
_KEY_KINDS: Final = ("invalid", "string", "int64", "uint64", "int", "float64", "bool", "struct")


def _key_order(entry: tuple[object, object]) -> tuple[int, float, str]:
    """Return the sort key of an entry: keys of one kind are together."""
    key = entry[0]
    number = key if isinstance(key, (int, float)) else 0
    return _KEY_KINDS.index(values.go_kind(key)), number, to_text(key)


def quote(text: str) -> str:
    r"""Return ``strconv.Quote``: ``"a\tb\x01é"``."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    whole = values.to_string(values.to_bytes(text)) if values.is_broken(text) else text
    return f'"{"".join(map(_escape, whole))}"'


_MAX_BMP: Final = 0xFFFF
_DELETE: Final = 0x7F
SHORT_ESCAPES: Final = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    "\\": r"\\",
    '"': r"\"",
}


def _escape(character: str) -> str:
    if character in SHORT_ESCAPES:
        return SHORT_ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if "\ud800" <= character <= "\udfff":
        return f"\\x{code & 0xFF:02x}"
    if code < ord(" ") or code == _DELETE:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= _MAX_BMP else f"\\U{code:08x}"
