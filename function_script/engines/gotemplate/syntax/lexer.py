"""Template text to tokens, with Go's rules for delimiters, trim markers and comments.

All tokens are made at once. An error of Go's lexer is an ``error`` token, because the parser may
find an earlier mistake. Blanks inside of actions are no tokens; they are the gap in front of the
next one.
"""

import re
from functools import lru_cache
from typing import Final

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
_MAX_TEXT: Final = 10


class Tokens:
    """The tokens of a text as columns: an object for each token would cost more than its use.

    ``positions`` count characters from the start of the text. ``gaps`` are true where blanks stand
    in front of the token.
    """

    __slots__ = ("gaps", "kinds", "positions", "texts")

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.texts: list[str] = []
        self.positions: list[int] = []
        self.gaps: list[bool] = []

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
    def __init__(self, text: str, left: str, right: str) -> None:
        self.text = text
        self.left = left
        self.right = right
        self.token = _token_pattern(right)
        self.tokens = Tokens()

    def lex_text(self, start: int) -> int:
        """Read text up to the next action, and the action; return the position behind it."""
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
        """Read a comment and the right delimiter; return the position behind it."""
        end = self.text.find("*/", start + 2)
        if end < 0:
            return self.error("unclosed comment", start)
        close = self.token.match(self.text, end + 2)
        if close is None or close.start(_CLOSE) != end + 2:
            return self.error("comment ends before closing delimiter", start)
        return self.skip_trimmed(end + 2, close.end())

    def skip_trimmed(self, start: int, end: int) -> int:
        """Return the position behind a right delimiter and the blanks that it trims."""
        if end - start == len(self.right):
            return end
        blanks = _BLANK_RUN.match(self.text, end)
        return blanks.end() if blanks is not None else end

    def lex_action(self, position: int) -> int:
        """Read the tokens of an action; return the position behind it."""
        tokens = self.tokens
        depth = 0
        for match in self.token.finditer(self.text, position):
            group = match.lastindex
            if group is None:
                # Nothing but blanks.
                position = match.end()
                break
            start = match.start(group)
            token = match[group]
            kind = _KINDS[group]
            if kind == "word":
                kind = _WORDS.get(token, "identifier")
            elif kind == "right":
                if depth:
                    return self.error("unclosed left paren", start)
                tokens.append("right", self.right, start)
                return self.skip_trimmed(start, match.end())
            elif kind == "field":
                if token == ".":
                    kind = "dot"
            elif kind == "lparen":
                depth += 1
            elif kind == "rparen":
                depth -= 1
                if depth < 0:
                    return self.error("unexpected right paren", start)
            elif kind == "number":
                end = self.bad_number_end(token, match.end())
                if end:
                    text = quote(self.text[start:end])
                    return self.error(f"bad number syntax: {text}", start)
            elif kind == "bad":
                return self.error(f"bad character {_unicode(self.text[start])}", start)
            tokens.append(kind, token, start, gap=start != position)
            position = start + len(token)
        return self.error(self.action_error(position), position)

    def bad_number_end(self, number: str, position: int) -> int:
        """Return the end of a bad number that continues at ``position``; 0 for a good one."""
        following = self.text[position : position + 1]
        if following and following in "+-" and _ONE_NUMBER.fullmatch(number):
            second = _ONE_NUMBER.match(self.text, position)
            position = second.end() if second is not None else position
            following = self.text[position : position + 1]
            return position + (following.isalnum() or following == "_")
        return position + 1 if following.isalnum() or following == "_" else 0

    def action_error(self, position: int) -> str:
        """Return the error of an action in which no token begins at a position."""
        character = self.text[position : position + 1]
        if not character:
            return "unclosed action"
        if character in _UNTERMINATED:
            return f"unterminated {_UNTERMINATED[character]}"
        if character == ":":
            return "expected :="
        return f"unrecognized character in action: {_unicode(character)}"

    def error(self, message: str, position: int) -> int:
        """End the tokens with an error."""
        self.tokens.append("error", message, position)
        return _END


_UNTERMINATED: Final = {
    '"': "quoted string",
    "`": "raw quoted string",
    "'": "character constant",
}
_WORDS: Final = {**{keyword: keyword for keyword in KEYWORDS}, "true": "bool", "false": "bool"}


def _unicode(character: str) -> str:
    suffix = f" '{character}'" if character.isprintable() else ""
    return f"U+{ord(character):04X}{suffix}"


_BLANK: Final = r"[ \t\r\n]"
_BLANK_RUN: Final = re.compile(rf"{_BLANK}+")
_DIGITS: Final = r"[0-9_]*"
_NUMBER: Final = (
    r"[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?"
    r"|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?"
    rf"|{_DIGITS}(?:\.{_DIGITS})?(?:[eE][+-]?{_DIGITS})?)i?"
)
_ONE_NUMBER: Final = re.compile(_NUMBER)
# The kind of the token by the number of the group that matches.
_KINDS: Final = (
    "",
    "right",
    "field",
    "variable",
    "word",
    "bad",
    "pipe",
    "string",
    "number",
    "lparen",
    "rparen",
    "declare",
    "assign",
    "raw",
    "character",
    "punctuation",
)
_CLOSE: Final = _KINDS.index("right")


@lru_cache(maxsize=16)
def _token_pattern(right: str) -> re.Pattern[str]:
    """Return the pattern of any token inside of an action, with the blanks in front of it.

    It has a group for each of the kinds, and no group where no token begins.
    """
    end = re.escape(right)
    close = rf"{_BLANK}-{end}|{end}"
    # The last blank before "-}}" belongs to the delimiter.
    blanks = rf"(?={_BLANK})(?!{close})(?:{_BLANK}+(?={_BLANK}-{end})|{_BLANK}+)"
    tokens = (
        rf"({close})",
        # A name must end before a blank, a delimiter or some punctuation: else the last group is
        # empty, before the bad character.
        rf"(?:(\.(?![0-9])\w*)|(\$\w*)|((?![0-9])\w+))(?:(?=[ \t\r\n.,|:)(]|{end}|\Z)|())",
        r"(\|)",
        r'("(?:[^"\\\n]|\\[^\n])*")',
        rf"((?=[+\-.0-9]){_NUMBER}(?:[+-]{_NUMBER}(?<=i))?)",
        r"(\()",
        r"(\))",
        r"(:=)",
        r"(=)",
        r"(`[^`]*`)",
        r"('(?:[^'\\\n]|\\[^\n])*')",
        r"([!#-&*,/;<>?@\[-^{}~])",
    )
    return re.compile(f"(?:{blanks})?(?:{'|'.join(tokens)}|)")
