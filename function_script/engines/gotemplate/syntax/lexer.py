"""Template text to tokens, with Go's rules for delimiters, trim markers and comments.

All tokens are made at once. An error of Go's lexer is an ``error`` token, because the parser may
find an earlier mistake. Blanks inside of actions are no tokens; they set the ``gap`` of the next
one.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from function_script.engines.gotemplate.printing import quote

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


class Token(NamedTuple):
    """A token; ``position`` counts characters from the start of the text."""

    kind: str
    text: str
    position: int
    gap: bool = False

    def format(self) -> str:
        """Format the token for Go's messages: ``"{"``, ``<if>``, ``EOF``."""
        if self.kind == "eof":
            return "EOF"
        if self.kind == "error":
            return self.text
        if self.kind in KEYWORDS or self.kind == "dot":
            return f"<{self.text}>"
        if len(self.text) > _MAX_TEXT:
            return f"{quote(self.text[:_MAX_TEXT])}..."
        return quote(self.text)


_MAX_TEXT: Final = 10


def tokenize(text: str, left: str, right: str) -> list[Token]:
    """Return all tokens of ``text``; the last is ``eof`` or ``error``."""
    lexer = _Lexer(text, left, right)
    lexer.run()
    return lexer.tokens


class _Lexer:
    def __init__(self, text: str, left: str, right: str) -> None:
        self.text = text
        self.left = left
        self.right = right
        self.tokens: list[Token] = []

    def run(self) -> None:
        position = 0
        while position != _END:
            position = self._lex_text(position)

    def _error(self, message: str, position: int) -> int:
        self.tokens.append(Token("error", message, position))
        return _END

    def _lex_text(self, start: int) -> int:
        """Read text up to the next action, and the action; return the position behind it."""
        index = self.text.find(self.left, start)
        if index < 0:
            if start < len(self.text):
                self.tokens.append(Token("text", self.text[start:], start))
            self.tokens.append(Token("eof", "", len(self.text)))
            return _END
        inside = index + len(self.left)
        trimmed = self.text.startswith(_LEFT_TRIMS, inside)
        text = self.text[start:index].rstrip(_BLANKS) if trimmed else self.text[start:index]
        if text:
            self.tokens.append(Token("text", text, start))
        inside += 2 if trimmed else 0
        if self.text.startswith("/*", inside):
            end = self.text.find("*/", inside + 2)
            if end < 0:
                return self._error("unclosed comment", inside)
            close = _patterns(self.right).close.match(self.text, end + 2)
            if close is None:
                return self._error("comment ends before closing delimiter", inside)
            return self._skip_trimmed(close)
        self.tokens.append(Token("left", self.left, index))
        return self._lex_action(inside)

    def _skip_trimmed(self, close: re.Match[str]) -> int:
        """Return the position behind a right delimiter and the blanks that it trims."""
        if len(close[0]) == len(self.right):
            return close.end()
        blanks = _BLANK_RUN.match(self.text, close.end())
        return blanks.end() if blanks is not None else close.end()

    def _lex_action(self, position: int) -> int:
        match = _patterns(self.right).token.match
        text, tokens = self.text, self.tokens
        gap, depth = False, 0
        while True:
            token = match(text, position)
            if token is None:
                return self._error(self._action_error(position), position)
            kind, start, position = token.lastgroup or "", position, token.end()
            if kind == "space":
                gap = True
                continue
            if kind == "close":
                if depth:
                    return self._error("unclosed left paren", start)
                tokens.append(Token("right", self.right, start, gap))
                return self._skip_trimmed(token)
            if (
                kind in _NAMES
                and (following := text[position : position + 1])
                and following not in _TERMINATORS
                and not text.startswith(self.right, position)
            ):
                return self._error(f"bad character {_unicode(following)}", position)
            if kind == "number" and (end := self._bad_number_end(token[0], position)):
                return self._error(f"bad number syntax: {quote(text[start:end])}", start)
            depth += (kind == "lparen") - (kind == "rparen")
            if depth < 0:
                return self._error("unexpected right paren", start)
            tokens.append(Token(_kind(kind, token[0]), token[0], start, gap))
            gap = False

    def _bad_number_end(self, number: str, position: int) -> int:
        """Return the end of a bad number that continues at ``position``; 0 for a good one."""
        following = self.text[position : position + 1]
        if following and following in "+-" and _ONE_NUMBER.fullmatch(number):
            second = _ONE_NUMBER.match(self.text, position)
            position = second.end() if second is not None else position
            following = self.text[position : position + 1]
            return position + (following.isalnum() or following == "_")
        return position + 1 if following.isalnum() or following == "_" else 0

    def _action_error(self, position: int) -> str:
        character = self.text[position : position + 1]
        if not character:
            return "unclosed action"
        if character in _UNTERMINATED:
            return f"unterminated {_UNTERMINATED[character]}"
        if character == ":":
            return "expected :="
        return f"unrecognized character in action: {_unicode(character)}"


_NAMES: Final = frozenset({"field", "variable", "word"})
_TERMINATORS: Final = frozenset(" \t\r\n.,|:)(")
_UNTERMINATED: Final = {
    '"': "quoted string",
    "`": "raw quoted string",
    "'": "character constant",
}
_BLANK_RUN: Final = re.compile(r"[ \t\r\n]+")


def _kind(kind: str, text: str) -> str:
    if kind == "word":
        if text in KEYWORDS:
            return text
        return "bool" if text in {"true", "false"} else "identifier"
    return "dot" if text == "." else kind


def _unicode(character: str) -> str:
    suffix = f" '{character}'" if character.isprintable() else ""
    return f"U+{ord(character):04X}{suffix}"


class _Patterns(NamedTuple):
    close: re.Pattern[str]
    token: re.Pattern[str]


_DIGITS: Final = r"[0-9_]*"
_NUMBER: Final = (
    r"[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?"
    r"|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?"
    rf"|{_DIGITS}(?:\.{_DIGITS})?(?:[eE][+-]?{_DIGITS})?)i?"
)

_ONE_NUMBER: Final = re.compile(_NUMBER)


@lru_cache(maxsize=16)
def _patterns(right: str) -> _Patterns:
    """Return the patterns of an action's end, and of any token inside of an action."""
    end = re.escape(right)
    close = rf"[ \t\r\n]-{end}|{end}"
    alternatives = (
        rf"(?P<close>{close})",
        # The last blank before "-}}" belongs to the delimiter.
        rf"(?P<space>[ \t\r\n]+(?=[ \t\r\n]-{end})|[ \t\r\n]+)",
        r"(?P<field>\.(?![0-9])\w*)",
        r"(?P<variable>\$\w*)",
        rf"(?P<number>(?=[+\-.0-9]){_NUMBER}(?:[+-]{_NUMBER}(?<=i))?)",
        r"(?P<word>\w+)",
        r'(?P<string>"(?:[^"\\\n]|\\[^\n])*")',
        r"(?P<raw>`[^`]*`)",
        r"(?P<character>'(?:[^'\\\n]|\\[^\n])*')",
        r"(?P<declare>:=)",
        r"(?P<assign>=)",
        r"(?P<pipe>\|)",
        r"(?P<lparen>\()",
        r"(?P<rparen>\))",
        r"(?P<punctuation>[!#-&*,/;<>?@\[-^{}~])",
    )
    return _Patterns(re.compile(close), re.compile("|".join(alternatives)))
