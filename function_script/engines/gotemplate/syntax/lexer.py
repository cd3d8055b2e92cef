"""Template text to tokens, with Go's rules for delimiters, trim markers, comments and constants.

All tokens are made at once. An error of Go's lexer is an ``error`` token, because the parser may
find an earlier mistake. Blanks inside of actions are no tokens; they are the gap in front of the
next one. The texts of errors are Go's own.
"""

import re
from string import ascii_letters, digits
from typing import Final, TypeAlias

from function_script.engines.gotemplate import values
from function_script.engines.gotemplate.errors import Code, ParseError
from function_script.engines.gotemplate.printing import SHORT_ESCAPES, quote

KEYWORDS: Final = frozenset(
    {
        "block",
        "break",
        "continue",
        "define",
        "else",
        "end",
        "if",
        "nil",
        "range",
        "template",
        "with",
    }
)
_BLANKS: Final = " \t\r\n"
# A minus behind a left delimiter trims if a blank follows.
_LEFT_TRIMS: Final = tuple(f"-{blank}" for blank in _BLANKS)
_END: Final = -1
_MAX_TEXT: Final = 10


class Tokens:
    """The tokens of a text as columns: an object for each token would cost more than its use.

    ``positions`` count characters from the start of the text. ``gaps`` are true where blanks stand
    in front of the token. ``code`` and ``subject`` are those of the error at the end, if there is
    one.
    """

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.texts: list[str] = []
        self.positions: list[int] = []
        self.gaps: list[bool] = []
        self.code: Code | None = None
        self.subject = ""

    def append(self, kind: str, text: str, position: int, *, gap: bool = False) -> None:
        """Add a token."""
        self.kinds.append(kind)
        self.texts.append(text)
        self.positions.append(position)
        self.gaps.append(gap)

    def format(self, index: int) -> str:
        """Format a token for Go's messages: ``"{"``, ``<if>``, ``EOF``."""
        kind, text = self.kinds[index], self.texts[index]
        if kind == "eof":
            return "EOF"
        if kind == "error":
            return text
        if kind in KEYWORDS or kind == "dot":
            return f"<{text}>"
        if len(text) > _MAX_TEXT:
            return f"{quote(text[:_MAX_TEXT])}..."
        return quote(text)


def tokenize(text: str, left: str, right: str) -> Tokens:
    """Return all tokens of ``text``; the last is ``eof`` or ``error``."""
    lexer = _Lexer(text, left, right)
    position = 0
    while position != _END:
        position = lexer.lex_text(position)
    return lexer.tokens


class _Lexer:
    """Reads a text; each method returns the position behind what it reads, ``_END`` at the end.

    It looks at one character after another, as Go's does: compiled, that is faster than a pattern
    for all tokens, and not slower in plain Python.
    """

    def __init__(self, text: str, left: str, right: str) -> None:
        self.text = text
        self.left = left
        self.right = right
        self.right_start = right[0]
        self.has_blank_right = right[0] in _BLANKS
        self.trimming_right = f"-{right}"
        self.tokens = Tokens()
        self.depth = 0

    def lex_text(self, start: int) -> int:
        """Read text up to the next action, and the action."""
        text = self.text
        index = text.find(self.left, start)
        if index < 0:
            if start < len(text):
                self.tokens.append("text", text[start:], start)
            self.tokens.append("eof", "", len(text))
            return _END
        inside = index + len(self.left)
        trimmed = text.startswith(_LEFT_TRIMS, inside)
        before = text[start:index].rstrip(_BLANKS) if trimmed else text[start:index]
        if before:
            self.tokens.append("text", before, start)
        inside += 2 if trimmed else 0
        if text.startswith("/*", inside):
            return self.lex_comment(inside)
        self.tokens.append("left", self.left, index)
        return self.lex_action(inside)

    def lex_comment(self, start: int) -> int:
        """Read a comment and the right delimiter."""
        end = self.text.find("*/", start + 2) + 2
        if end < start + 2:
            return self.error("unclosed comment", start, Code.COMMENT_UNCLOSED)
        if self.skip_blanks(end) == end + 1 and self.text.startswith(self.trimming_right, end + 1):
            return self.skip_blanks(end + 1 + len(self.trimming_right))
        if self.is_right(end):
            return end + len(self.right)
        text = "comment ends before closing delimiter"
        return self.error(text, start, Code.COMMENT_NOT_ALONE)

    def lex_action(self, position: int) -> int:
        """Read the tokens of an action and the right delimiter."""
        text, tokens = self.text, self.tokens
        self.depth = 0
        while True:
            start = position
            # A right delimiter may begin with a blank, which must not be skipped then.
            if not self.has_blank_right or not self.is_untrimmed_right(start):
                start = self.skip_blanks(position)
            if start > position and text.startswith(self.trimming_right, start):
                # The last blank belongs to the delimiter.
                behind = self.skip_blanks(start + len(self.trimming_right))
                return self.close(start - 1, behind)
            if self.is_right(start):
                return self.close(start, start + len(self.right))
            kind = _KINDS.get(text[start : start + 1], "")
            if kind == "field" or not kind:
                kind = self.kind_at(start)
            end = self.lex_name(start) if kind in _NAMES else self.lex_token(kind, start)
            if end == _END:
                return _END
            token = text[start:end]
            if kind == "word":
                kind = _WORDS.get(token, "identifier")
            elif kind == "field" and end == start + 1:
                kind = "dot"
            tokens.append(kind, token, start, gap=start != position)
            position = end

    def skip_blanks(self, position: int) -> int:
        """Return the position behind blanks."""
        text, size = self.text, len(self.text)
        while position < size and text[position] in _BLANKS:
            position += 1
        return position

    def is_right(self, position: int) -> bool:
        """Report whether a right delimiter is at a position."""
        text = self.text
        return (
            position < len(text)
            and text[position] == self.right_start
            and text.startswith(self.right, position)
        )

    def is_untrimmed_right(self, position: int) -> bool:
        """Report whether a right delimiter, which begins with a blank, is at a position."""
        behind = position + 1
        return self.is_right(position) and not self.text.startswith(self.trimming_right, behind)

    def close(self, start: int, end: int) -> int:
        """End an action with the right delimiter."""
        if self.depth:
            return self.error("unclosed left paren", start, Code.PARENTHESIS_UNCLOSED)
        self.tokens.append("right", self.right, start)
        return end

    def kind_at(self, position: int) -> str:
        """Return the kind of the token that begins with a dot or a rare character; "" for none."""
        if self.text[position : position + 1] == ".":
            following = self.text[position + 1 : position + 2]
            return "number" if following and following in digits else "field"
        return "word" if _is_alphanumeric(self.text[position : position + 1]) else ""

    def lex_token(self, kind: str, start: int) -> int:
        """Read a token that is no name."""
        match kind:
            case "pipe" | "assign" | "punctuation":
                return start + 1
            case "lparen":
                self.depth += 1
                return start + 1
            case "rparen":
                self.depth -= 1
                if self.depth < 0:
                    text = "unexpected right paren"
                    return self.error(text, start, Code.PARENTHESIS_UNOPENED)
                return start + 1
            case "number":
                return self.lex_number(start)
            case "declare" if self.text.startswith(":=", start):
                return start + 2
            case "string" | "raw" | "character":
                match = _QUOTED[kind].match(self.text, start)
                if match is not None:
                    return match.end()
            case _:
                pass
        return self.refuse_action(start)

    def lex_name(self, start: int) -> int:
        """Read a name; it must end before a blank, a delimiter or some punctuation."""
        text, size = self.text, len(self.text)
        end = start + 1
        while end < size:
            # Compiled, the code of a character is a plain number.
            code = ord(text[end])
            if not (
                _LOWER_A <= code <= _LOWER_Z
                or _UPPER_A <= code <= _UPPER_Z
                or _ZERO <= code <= _NINE
                or code == _UNDERSCORE
                or (code > _MAX_ASCII and _is_alphanumeric(text[end]))
            ):
                break
            end += 1
        if end == size or text[end] in _TERMINATORS or self.is_right(end):
            return end
        message = f"bad character {_unicode(text[end])}"
        return self.error(message, end, Code.BAD_CHARACTER, text[end])

    def lex_number(self, start: int) -> int:
        """Read a number; no letter, no digit and no other number may follow."""
        text = self.text
        match = _NUMBER.match(text, start)
        if match is None:
            return self.refuse_action(start)
        end = match.end()
        following = text[end : end + 1]
        # Go reads a complex number behind a sign, which templates have no use for.
        if _is_alphanumeric(following) or following in {"_", "+", "-"}:
            return self.error(f"bad number syntax: {quote(text[start : end + 1])}", start)
        return end

    def refuse_action(self, position: int) -> int:
        """End the tokens in an action in which no token begins at a position."""
        character = self.text[position : position + 1]
        if not character:
            return self.error("unclosed action", position, Code.ACTION_UNCLOSED)
        if character in _UNTERMINATED:
            message, code = _UNTERMINATED[character]
            return self.error(message, position, code)
        if character == ":":
            return self.error("expected :=", position)
        return self.error(f"unrecognized character in action: {_unicode(character)}", position)

    def error(
        self, message: str, position: int, code: Code | None = None, subject: str = ""
    ) -> int:
        """End the tokens with an error."""
        self.tokens.code = code
        self.tokens.subject = subject
        self.tokens.append("error", message, position)
        return _END


def _is_alphanumeric(character: str) -> bool:
    """Report whether Go takes a character for a letter or a digit: not the numbers "²" and "½"."""
    return character.isalpha() or character.isdecimal()


def _unicode(character: str) -> str:
    suffix = f" '{character}'" if character.isprintable() else ""
    return f"U+{ord(character):04X}{suffix}"


_UNTERMINATED: Final = {
    '"': ("unterminated quoted string", Code.TEXT_UNCLOSED),
    "`": ("unterminated raw quoted string", Code.RAW_TEXT_UNCLOSED),
    "'": ("unterminated character constant", Code.CHARACTER_UNCLOSED),
}
_WORDS: Final = {**{keyword: keyword for keyword in KEYWORDS}, "true": "bool", "false": "bool"}
_TERMINATORS: Final = frozenset(" \t\r\n.,|:)(")
_NAMES: Final = frozenset({"word", "variable", "field"})
# The kind of a token by its first character. A field may be the dot or a number, a word a keyword.
_KINDS: Final = {
    **dict.fromkeys(f"{ascii_letters}_", "word"),
    **dict.fromkeys(f"{digits}+-", "number"),
    **dict.fromkeys("!#%&*,/;<>?@[\\]^{}~", "punctuation"),
    ".": "field",
    "$": "variable",
    "|": "pipe",
    "(": "lparen",
    ")": "rparen",
    ":": "declare",
    "=": "assign",
    '"': "string",
    "`": "raw",
    "'": "character",
}
_LOWER_A: Final = 97
_LOWER_Z: Final = 122
_UPPER_A: Final = 65
_UPPER_Z: Final = 90
_ZERO: Final = 48
_NINE: Final = 57
_UNDERSCORE: Final = 95
_MAX_ASCII: Final = 127

_QUOTED: Final = {
    "string": re.compile(r'"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"'),
    "raw": re.compile(r"`[^`]*`"),
    "character": re.compile(r"'[^'\\\n]*(?:\\[^\n][^'\\\n]*)*'"),
}
_DIGIT_RUN: Final = r"[0-9_]*"
_NUMBER: Final = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?"
    r"|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?"
    rf"|{_DIGIT_RUN}(?:\.{_DIGIT_RUN})?(?:[eE][+-]?{_DIGIT_RUN})?)"
)


# Constants


# A number as int64 and as float64; None where it is none.
Constant: TypeAlias = tuple[int | None, float | None]


def read_number(text: str) -> Constant:
    """Return a number constant; raises ParseError as Go's parser does."""
    whole = values.read_integer(text)
    if whole is not None and values.MIN_INT64 <= whole <= values.MAX_UINT64:
        if whole <= values.MAX_INT64:
            return whole, float(whole)
        # Go takes it for an unsigned integer.
        if text[0] != "+":
            return None, float(whole)
    real = values.read_float(text)
    if real is None:
        code = Code.PLUS_BETWEEN if text == "+" else None
        raise ParseError(f"illegal number syntax: {quote(text)}", code=code)
    if not set(text) & set(".eEpP"):
        raise ParseError(f"integer overflow: {quote(text)}")
    is_int64 = real.is_integer() and values.MIN_INT64 <= int(real) <= values.MAX_INT64
    return int(real) if is_int64 else None, real


def read_character(text: str) -> int:
    """Return the code point of a constant in single quotes, quotes included in ``text``."""
    match = _CHARACTER.match(text, 1)
    if match is None or match[0] == "'":
        raise ParseError("invalid syntax", code=Code.BAD_ESCAPE)
    if text[match.end() :] != "'":
        raise ParseError(f"malformed character constant: {text}")
    return _escape_code(match[0], "'") if match[0].startswith("\\") else ord(match[0])


def read_string(text: str) -> str:
    """Return the value of a string constant, quotes included in ``text``; raises ParseError."""
    body = text[1:-1]
    if text[0] == "`":
        return body.replace("\r", "")
    if "\\" not in body:
        return body
    plain = _ESCAPE.sub(_unescape, body)
    return values.to_string(values.to_bytes(plain))


_ESCAPE: Final = re.compile(
    r"\\(?:[0-7]{3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL
)
_CHARACTER: Final = re.compile(rf"{_ESCAPE.pattern}|.", re.DOTALL)
_SIMPLE: Final = {text[1]: ord(each) for each, text in SHORT_ESCAPES.items() if each != '"'}
_OCTAL_DIGITS: Final = 3
_BYTE: Final = 0xFF
_ASCII: Final = 0x7F


def _unescape(match: re.Match[str]) -> str:
    code = _escape_code(match[0], '"')
    is_byte = match[0][1] in "x01234567"
    # A byte above ASCII is part of a UTF-8 sequence, which read_string puts together.
    return chr(0xDC00 + code) if is_byte and code > _ASCII else chr(code)


def _escape_code(escape: str, quotes: str) -> int:
    letter = escape[1]
    if letter in _SIMPLE:
        return _SIMPLE[letter]
    if letter == quotes:
        return ord(quotes)
    if len(escape) == 1 + _OCTAL_DIGITS and escape[1:].isdigit():
        code = int(escape[1:], 8)
        if code <= _BYTE:
            return code
    elif letter in "xuU" and len(escape) > len("\\x"):
        number = escape[2:]
        code = int(number, 16)
        if letter == "x" or values.is_code_point(code):
            return code
    raise ParseError("invalid syntax", code=Code.BAD_ESCAPE)
