r"""Strings as YAML scalars the way yaml.v3 writes them: plain, quoted, or as a block of lines.

Differs on purpose for U+2028 and U+2029, which yaml.v3 writes so that they read back as more.
"""

from __future__ import annotations

import base64
import re
from typing import Final

from function_script.engines.gotemplate.values import is_broken, to_bytes
from function_script.engines.gotemplate.yaml.resolver import is_text

# Plain whatever the context, apart from the words below.
_SIMPLE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_WORDS: Final = frozenset(
    word
    for base in ("y", "yes", "on", "n", "no", "off", "true", "false", "null")
    for word in (base, base.capitalize(), base.upper())
)
# What cannot stand unescaped: control characters, breaks other than newlines, beyond the BMP.
_SPECIAL: Final = re.compile("[^\t\n -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_BASE60: Final = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_INDICATORS: Final = re.compile(
    r"""---|\.\.\.|[#,\[\]{}&*!|>'"%@`]|[?:-](?:[ \t]|$)|.*?(?::(?:[ \t]|$)|[ \t]\#)""", re.DOTALL
)
_ESCAPES: Final = {
    "\0": "0",
    "\a": "a",
    "\b": "b",
    "\t": "t",
    "\n": "n",
    "\v": "v",
    "\f": "f",
    "\r": "r",
    "\x1b": "e",
    '"': '"',
    "\\": "\\",
    "\x85": "N",
    "\xa0": "_",
    "\u2028": "L",
    "\u2029": "P",
}
_BASE64_LINE: Final = 70
_BOM: Final = "\ufeff"


def write_string(text: str, indent: int) -> str:
    """A string as a value; its lines, if it is written as a block, stand at ``indent``."""
    if _SIMPLE.fullmatch(text) and text not in _WORDS:
        return text
    if is_broken(text):
        return f"!!binary {_binary(to_bytes(text), indent)}"
    if "\n" not in text:
        return _on_one_line(text)
    if text.endswith(" ") or " \n" in text or _SPECIAL.search(text):
        return double_quoted(text)
    return _block(text, indent)


def write_key(text: str) -> str:
    """A string as a key: always on one line."""
    if _SIMPLE.fullmatch(text) and text not in _WORDS:
        return text
    return double_quoted(text) if "\n" in text or is_broken(text) else _on_one_line(text)


def _on_one_line(text: str) -> str:
    if not is_text(text) or text in _WORDS or _BASE60.fullmatch(text):
        return double_quoted(text)
    if "\t" in text or _SPECIAL.search(text):
        return double_quoted(text)
    if text[0] == " " or text[-1] == " " or _INDICATORS.match(text):
        doubled = text.replace("'", "''")
        return f"'{doubled}'"
    return text


def double_quoted(text: str) -> str:
    """In double quotes, with escapes."""
    # yaml.v3 escapes every character of a text that begins with a byte order mark.
    escaped = (
        "".join(map(_escape, text)) if text.startswith(_BOM) else _ESCAPED.sub(_substitute, text)
    )
    return f'"{escaped}"'


_ESCAPED: Final = re.compile(rf'["\\\t\n]|{_SPECIAL.pattern}')


def _substitute(match: re.Match[str]) -> str:
    return _escape(match[0])


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return f"\\{_ESCAPES[character]}"
    code = ord(character)
    if code <= 0xFF:  # noqa: PLR2004 # two hexadecimal digits
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"  # noqa: PLR2004 # the BMP


def _block(text: str, indent: int) -> str:
    """A literal block: a hint for leading blanks, another for the final newlines.

    As yaml.v3 has it, a newline at the very beginning is lost when the text is read back.
    """
    hint = "4" if text[0] in " \n" else ""
    if not text.endswith("\n"):
        hint += "-"
    elif text == "\n" or text.endswith("\n\n"):
        hint += "+"
    body = text.removeprefix("\n")
    if not body:
        return f"|{hint}"
    pad = " " * indent
    lines = (f"{pad}{line}" if line else "" for line in body.removesuffix("\n").split("\n"))
    return "\n".join((f"|{hint}", *lines))


def _binary(data: bytes, indent: int) -> str:
    encoded = base64.b64encode(data).decode()
    if len(encoded) <= _BASE64_LINE:
        return encoded
    lines = [
        encoded[start : start + _BASE64_LINE] for start in range(0, len(encoded), _BASE64_LINE)
    ]
    return _block("\n".join(lines) + "\n", indent)
