"""The errors of texts that are not JSON, in the words of Go's encoding/json.

The scan goes byte by byte, as Go's does.
"""

from typing import Final, NoReturn

from function_script.engines.gotemplate.printing import quote
from function_script.engines.gotemplate.values import to_narrow

_SPACES: Final = " \t\r\n"
_DIGITS: Final = frozenset("0123456789")
_HEX_DIGITS: Final = frozenset("0123456789abcdefABCDEF")
_ESCAPES: Final = frozenset('bfnrt\\/"')
_LITERALS: Final = {"t": "true", "f": "false", "n": "null"}
_VALUE: Final = "looking for beginning of value"


class _JsonError(Exception):  # ends the scan; its text is the result
    """The first error."""


def find_error(text: str) -> str:
    """Return the first error of Go's scanner; empty without one."""
    try:
        _Scanner(to_narrow(text)).scan()
    except _JsonError as fault:
        return str(fault)
    return ""


class _Scanner:
    """Scans a text without making values of it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.index = 0
        # The open brackets.
        self.open: list[str] = []

    def scan(self) -> None:
        """Scan one value and the end of the text."""
        while True:
            self.scan_value()
            while self.open and self.close_or_separate():
                pass
            if not self.open:
                break
        if self.text[self.index :].strip(_SPACES):
            self.fail(self.peek(), "after top-level value")

    def close_or_separate(self) -> bool:
        """Report whether a bracket closes behind a value; if not, the next value follows."""
        bracket = self.open[-1]
        character = self.peek()
        if character == {"{": "}", "[": "]"}[bracket]:
            self.index += 1
            self.open.pop()
            return True
        if character != ",":
            context = "object key:value pair" if bracket == "{" else "array element"
            self.fail(character, f"after {context}")
        self.index += 1
        if bracket == "{":
            self.scan_key()
        return False

    def scan_value(self) -> None:
        """Scan a scalar, or opening brackets and the text right behind them."""
        while (character := self.peek()) in "{[":
            self.index += 1
            self.open.append(character)
            if self.peek() in "}]" and self.close_or_separate():
                return
            if character == "{":
                self.scan_key()
        if character == '"':
            self.scan_string()
        elif character in _LITERALS:
            self.scan_literal(_LITERALS[character])
        elif character == "-" or character in _DIGITS:
            self.scan_number()
        else:
            self.fail(character, _VALUE)

    def scan_key(self) -> None:
        """Scan a key and its colon."""
        character = self.peek()
        if character != '"':
            self.fail(character, "looking for beginning of object key string")
        self.scan_string()
        character = self.peek()
        if character != ":":
            self.fail(character, "after object key")
        self.index += 1

    def scan_string(self) -> None:
        """Scan a text from its first quotes to its last."""
        self.index += 1
        while (character := self.next()) != '"':
            if self.index > len(self.text):
                self.end()
            if character < " ":
                self.fail(character, "in string literal")
            if character == "\\":
                self.scan_escape()

    def scan_escape(self) -> None:
        """Scan an escape behind its backslash."""
        character = self.next()
        if character == "u":
            for _ in range(4):
                digit = self.next()
                if digit not in _HEX_DIGITS:
                    self.fail(digit, "in \\u hexadecimal character escape")
        elif character not in _ESCAPES:
            self.fail(character, "in string escape code")

    def scan_literal(self, word: str) -> None:
        """Scan ``true``, ``false`` or ``null``."""
        self.index += 1
        for expected in word[1:]:
            character = self.next()
            if character != expected:
                self.fail(character, f"in literal {word} (expecting '{expected}')")

    def scan_number(self) -> None:
        """Scan a number; one that begins with 0 has no further digits."""
        if self.text[self.index] == "-":
            self.index += 1
        if self.scan_digit("in numeric literal") != "0":
            self.skip_digits()
        if self.here() == ".":
            self.index += 1
            self.scan_digit("after decimal point in numeric literal")
            self.skip_digits()
        if self.here() in {"e", "E"}:
            self.index += 1
            if self.here() in {"+", "-"}:
                self.index += 1
            self.scan_digit("in exponent of numeric literal")
            self.skip_digits()

    def scan_digit(self, context: str) -> str:
        character = self.next()
        if character not in _DIGITS:
            self.fail(character, context)
        return character

    def skip_digits(self) -> None:
        while self.here() in _DIGITS:
            self.index += 1

    def here(self) -> str:
        return self.text[self.index : self.index + 1]

    def peek(self) -> str:
        """Return the next character other than a space without consuming it."""
        while self.here() and self.here() in _SPACES:
            self.index += 1
        if not self.here():
            self.end()
        return self.here()

    def next(self) -> str:
        """Consume the next character; behind the last one Go reads a space."""
        character = self.here() or " "
        self.index += 1
        return character

    def end(self) -> NoReturn:
        raise _JsonError("unexpected end of JSON input")

    def fail(self, character: str, context: str) -> NoReturn:
        quoted = {"'": r"\'", '"': '"'}.get(character) or quote(character)[1:-1]
        raise _JsonError(f"invalid character '{quoted}' {context}")
