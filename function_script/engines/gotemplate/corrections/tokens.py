"""The tokens of an action that may be written in any language's syntax."""

import re
from typing import Final, NamedTuple


class Unreadable(Exception):  # noqa: N818 # no failure: there is no correction
    """The action has no meaning that is certain."""


class RawToken(NamedTuple):
    """A token; ``has_gap``: a blank is before it."""

    kind: str
    text: str
    has_gap: bool


class RawAction(NamedTuple):
    """An action's text between its delimiters, and its bounds in the source."""

    start: int
    end: int
    text: str
    left: str
    body: str
    right: str

    def wrap(self, body: str) -> str:
        """Return an action with the same delimiters; a comment touches them."""
        if body.startswith("/*"):
            left = f"{self.left} " if self.left.endswith("-") else self.left
            right = f" {self.right}" if self.right.startswith("-") else self.right
            return f"{left}{body}{right}"
        return f"{self.left} {body} {self.right}"


def find_action(source: str, position: int, delims: tuple[str, str]) -> RawAction | None:
    """Return the action at a position; None if its end is not certain."""
    left, right = delims
    start = source.rfind(left, 0, position + 1)
    if start < 0:
        return None
    inside = start + len(left)
    if source.startswith("-", inside):
        inside += 1
    match = re.compile(rf"{_QUOTED}|(?P<end>-?{re.escape(right)})").search(source, inside)
    while match is not None and match["end"] is None:
        match = match.re.search(source, match.end())
    if match is None or left in source[inside : match.start()] or match.end() <= position:
        return None
    return RawAction(
        start=start,
        end=match.end(),
        text=source[start : match.end()],
        left=source[start:inside],
        body=source[inside : match.start()],
        right=match["end"],
    )


def read_tokens(text: str) -> list[RawToken]:
    """Return the tokens of an action's text; raises Unreadable."""
    tokens: list[RawToken] = []
    position = 0
    has_gap = False
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise Unreadable
        position = match.end()
        kind = match.lastgroup or ""
        if kind == "blank":
            has_gap = True
            continue
        tokens.append(RawToken(kind, match[0], has_gap))
        has_gap = False
    return tokens


_QUOTED: Final = r""""(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\\n]|\\.)*'"""
_WORD: Final = r"[A-Za-z_]\w*"
# A key with a slash has dots of its own, and is the last part of a path.
_OWN_KEY: Final = r"(?:(?<=\.labels)|(?<=\.annotations)|(?<=\.matchLabels)|(?<=\.nodeSelector))"
_OPERATOR: Final = (
    r"===|!==|==|!=|<>|<=|>=|&&|\|\||\?\?|\?\.|:=|\+=|-=|\*=|/=|\+\+|--|=>|=~|\*\*|//"
    r"|[-+*/%<>=!?:|,()\[\]{}~.]"
)
_TOKEN: Final = re.compile(
    "|".join(
        (
            r"(?P<blank>\s+)",
            r'(?P<string>"(?:[^"\\\n]|\\.)*")',
            r"(?P<raw>`[^`]*`)",
            r"(?P<quoted>'(?:[^'\\\n]|\\.)*')",
            rf"(?P<key>{_OWN_KEY}\.[\w-]+(?:\.[\w-]+)*/[\w.-]+)",
            rf"(?P<dashed>\.{_WORD}(?:-[A-Za-z_]\w*|-\d\w*[A-Za-z_]\w*)+)",
            rf"(?P<field>\.{_WORD})",
            rf"(?P<variable>\${_WORD}|\$)",
            r"(?P<quantity>\d+(?:\.\d+)?[A-Za-z]\w*)",
            r"(?P<number>\d[\d_]*(?:\.\d+)?)",
            rf"(?P<word>{_WORD})",
            rf"(?P<operator>{_OPERATOR})",
        )
    )
)
