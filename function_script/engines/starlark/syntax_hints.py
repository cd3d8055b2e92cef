"""Hints for scripts that do not parse: the construct that an author meant, by the tokens around it.

The interpreter names the token that it does not expect. Each rule here recognises one construct of
another language or one classic slip; a mistake that no rule is sure of has no hint from here.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from function_script.engines import habits, unexpected
from function_script.engines.starlark.interpreter import Failure, Finding
from function_script.engines.tables import Rules
from function_script.engines.unexpected import CLOSING, OPENING, VALUES, Token
from function_script.texts.source import Source, span_at

# A text that is not closed is one token to its end, or each quote in it would be read to there.
_TOKEN: Final = re.compile(
    r'(?P<string>"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\''
    r'|(?!"""|\'\'\')(?:"(?:\\.|[^"\\\n])*+"|\'(?:\\.|[^\'\\\n])*+\'))'
    r'|(?P<unclosed>(?:"""|\'\'\').*|["\'](?:\\.|[^\\\n])*+)'
    r"|(?P<name>[A-Za-z_]\w*)|(?P<number>\d[\w.]*)|(?P<comment>\#[^\n]*)|(?P<newline>\n)"
    r"|(?P<operator>\*\*|//|[=!<>]=|[^\w\s])|(?P<blank>[^\S\n]+)",
    re.DOTALL,
)
# Two slashes and words, up to the end of a line. The words of a text have a quote behind them.
_SLASHES: Final = re.compile(r"// *(?!\w+\()[A-Za-z][\w,.'()-]*(?: +[\w,.'()-]+)+ *$")
_BLOCKS: Final = frozenset({"if", "elif", "else", "for", "while", "def", "function", "func"})
_MARKS: Final = habits.marks("starlark")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Site(unexpected.Site):
    """The tokens of a source, and the index of the unexpected one."""

    source: Source
    code: str
    words = frozenset(
        (
            *("and", "break", "continue", "def", "elif", "else", "for", "if", "in", "lambda"),
            *("load", "not", "or", "pass", "return"),
        )
    )

    def first(self) -> Token:
        """Return the first token of the line."""
        index = min(self.index, len(self.tokens) - 1)
        while index > 0 and self.tokens[index - 1].kind != "newline":
            index -= 1
        return self.tokens[index]

    def is_second_equals(self) -> bool:
        """Report whether the line has another assignment before the token, as in ``a = b = 1``."""
        first = self.tokens.index(self.first())
        return any(token.text == "=" for token in self.tokens[first : self.index])

    def hint(self, text: str, token: Token | None = None, width: int = 0) -> Finding:
        """Return a hint at a token, or at the interpreter's place."""
        if token is None or not token.text:
            return Finding(None, None, text)
        width = width or len(token.text.partition("\n")[0])
        return Finding(span_at(self.source, token.offset, width), None, text)


_RULES: Final = Rules[Callable[[_Site], Finding | None]]()


def find(failure: Failure, source: Source) -> Finding | None:
    """Return the hint for a source that does not parse, None if there is none that is certain."""
    span = failure.spot
    if span is None or span.name != source.name:
        return None
    tokens = _read(source.text)
    lines = source.text.split("\n")
    offset = sum(len(line) + 1 for line in lines[: span.line - 1]) + (span.column or 1) - 1
    index = bisect_right([token.offset for token in tokens], offset) - 1
    if index < 0:
        return None
    # The place may be in a comment or in blanks, which are no tokens.
    if tokens[index].end <= offset and index + 1 < len(tokens):
        index += 1
    site = _Site(source=source, text=source.text, tokens=tokens, index=index, code=failure.code)
    return next((hint for rule in _RULES if (hint := rule(site))), None)


def _read(text: str) -> list[Token]:
    """Return the tokens of a source, without line breaks inside of brackets."""
    tokens: list[Token] = []
    depth = 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind in {"blank", "comment"} or (kind == "newline" and depth):
            continue
        if kind == "operator":
            depth = max(0, depth + (match[0] in CLOSING) - (match[0] in OPENING))
        tokens.append(Token(kind, match[0], match.start()))
    return tokens


@_RULES.add
def _marks(site: _Site) -> Finding | None:
    if mark := site.find_mark(_MARKS):
        return site.hint(_MARKS[mark.text], mark if len(mark.text) > 1 else None)
    if site.text_at(0) != "?":
        return None
    line = site.text[site.at(0).offset :].partition("\n")[0]
    if hint := _MARKS.get(line[:2]):
        return site.hint(hint, site.at(0), 2)
    return site.hint("write `a if condition else b`") if ":" in line else None


@_RULES.add
def _unclosed_text(site: _Site) -> Finding | None:
    """Recognise a text in three quotes that has no end: the interpreter points at that of all."""
    texts = (
        each for each in site.tokens if each.kind == "unclosed" and each.text[1:3] in {'""', "''"}
    )
    token = next(texts, None) if site.code == "quote" else None
    return token and site.hint(f"close the text with {token.text[:3]}", token, 3)


@_RULES.add
def _braces(site: _Site) -> Finding | None:
    """Recognise a value in two braces, as in templates."""
    if site.text_at(0) not in {"}", "."} or (bracket := site.bracket()) is None:
        return None
    for one, two in pairwise(site.tokens[: site.index]):
        if two == bracket and one.text == two.text == "{" and one.end == two.offset:
            return site.hint("values stand without braces", one, 2)
    return None


@_RULES.add
def _equals(site: _Site) -> Finding | None:
    if (arrow := site.find_mark(["=>"])) or (site.text_at(0) == "=" and site.text_at(1) == ">"):
        return _arrow(site, arrow or site.at(0)._replace(text="=>"))
    if site.text_at(0) != "=" and (site.text_at(0), site.text_at(1)) != (":", "="):
        return None
    colon = 0 if site.text_at(0) == ":" else -1
    if site.text_at(colon) == ":":
        return _colon_equals(site, colon)
    bracket = site.bracket()
    begin = site.tokens.index(bracket or site.first())
    words = [token.text for token in site.tokens[begin : site.index]]
    if site.first().text in {"if", "elif", "while"} or (site.code == "else" and "if" in words):
        return site.hint("compare with `==`")
    if bracket is None and site.first().kind == "name" and site.is_second_equals():
        text = "write each assignment on a line of its own"
        in_lambda = "lambda" in words and site.text_at(-2) == ":"
        return site.hint("a lambda has one expression: write `def`" if in_lambda else text)
    if site.text_at(-2) == "-" and site.is_adjacent(-3) and site.is_adjacent(-2):
        # `depends-on = ["network"]`
        return site.hint("names have no dash: write _", site.at(-2))
    if bracket is not None and bracket.text == "{" and site.text_at(-2) in {"{", ","}:
        is_loop = " for " in site.text[site.at(0).offset :].partition("\n")[0]
        text = 'keys of a dict are texts followed by a colon: {"name": value}'
        return site.hint("write `:`" if is_loop else text)
    return None


def _colon_equals(site: _Site, colon: int) -> Finding | None:
    """Recognise ``:=``, whose colon is so many tokens away."""
    if site.first().text == "for":
        return site.hint("write `for key, value in dict.items():`, or `for item in list:`")
    is_statement = site.bracket() is None and site.at(colon - 1) == site.first()
    text = "assign on a line of its own: `name = value`"
    text = "write `name = value`" if is_statement else text
    return site.hint(text, site.at(colon), 2) if site.is_adjacent(colon) else None


def _arrow(site: _Site, token: Token) -> Finding | None:
    """Recognise ``x => y``: in a condition the operator, else a function."""
    if site.first().text in {"if", "elif", "while"}:
        return site.hint("write >=", token)
    if site.bracket() is not None:
        return site.hint("write `lambda x: value`", token)
    begin = site.tokens.index(site.first())
    if [each.text for each in site.tokens[begin + 1 : begin + 3]] == ["=", "("]:
        return site.hint(f"write `def {site.first().text}(arguments):`", token)
    return None


@_RULES.add
def _stars(site: _Site) -> Finding | None:
    """Recognise ``a ** b``, ``{**a}``, ``[*a]`` and ``[...a]``."""
    if [site.text_at(step) for step in (-3, -2, -1)] == ["."] * 3:
        hint = "merge dicts with `a | b`, and join lists with `a + b`"
        return site.hint(hint, site.at(-3), width=3)
    match site.text_at(0), site.is_value_before():
        case "**", True:
            return site.hint("there is no power: multiply")
        case "**", False:
            return site.hint("merge dicts with `a | b`")
        case "*", False if site.text_at(-1) == "/" and site.is_adjacent(-1):
            return site.hint("a comment begins with #")
        case "*", False:
            return site.hint("join lists with `a + b`")
        case _:
            return None


@_RULES.add
def _increment(site: _Site) -> Finding | None:
    """Recognise ``i++`` and ``i--``, as statements."""
    one, two = site.at(-2), site.at(-1)
    is_end = site.at(0).kind == "newline" or site.text_at(0) in {";", ")"}
    if is_end and one.text == two.text and one.text in {"+", "-"} and one.end == two.offset:
        target = site.text[site.first().offset : one.offset].rstrip()
        if re.fullmatch(r"[A-Za-z_][\w.]*(?:\[[^=\n]*\])?", target):
            return site.hint(f"write `{target} {one.text}= 1`", one, 2)
    return None


@_RULES.add
def _comment(site: _Site) -> Finding | None:
    texts = site.text_at(0), site.text_at(1)
    # A division has a value on its left, and no words on its right.
    if texts in {("/", "*"), ("<", "!")} or (texts[0] == "//" and not site.is_value_before()):
        return site.hint("comments begin with #")
    offset = site.at(0).offset
    begin = site.text.rfind("\n", 0, offset) + 1
    comment = _SLASHES.search(site.text[begin:].partition("\n")[0])
    if comment is not None and begin + comment.start() < offset:
        return site.hint("comments begin with #", Token("", "//", begin + comment.start()))
    return None


@_RULES.add
def _statement(site: _Site) -> Finding | None:
    first, text = site.first(), site.text_at(0)
    if site.code == "keyword" and (hint := habits.find("starlark", text, "keyword")):
        return site.hint(hint)
    if text in {"elif", "else"} and site.at(0) == first:
        return site.hint(f"{text} follows the block of an if, in the same column")
    if site.text_at(-1) == "else" and text == "if":
        return site.hint("write elif")
    if text == "then" or (text == "{" and first.text in _BLOCKS):
        return site.hint("a block begins with a colon, and its lines are indented")
    if first.text == "load" and site.at(-1).kind == "name" and text in {")", ","}:
        return site.hint(f'names are in quotes: "{site.text_at(-1)}"', site.at(-1))
    is_second = site.index > 0 and site.at(-1) == first
    hint = habits.find("starlark", first.text, "statement")
    if hint is not None and is_second and site.at(0).kind in VALUES:
        return site.hint(hint, first)
    return None


@_RULES.add
def _brackets(site: _Site) -> Finding | None:
    bracket = site.bracket()
    text = site.text_at(0)
    if bracket is None:
        opening = OPENING.get(text)
        return site.hint(f'there is no "{opening}" that it closes') if opening else None
    if text == "for" and site.code == "else":
        return site.hint("a filter comes last: [item for item in list if condition]")
    if text == "for" and bracket.text == "(":
        before = site.tokens[site.tokens.index(bracket) - 1]
        hint = "there are no generators: put it into brackets, [x for x in list]"
        return site.hint("add up in a loop" if before.text == "sum" else hint)
    inside = site.tokens[site.tokens.index(bracket) : site.index]
    if text == "else" and any(token.text == "for" for token in inside):
        return site.hint("the choice comes first: [a if condition else b for item in list]")
    if bracket.text == "{" and text in {",", "}"} and site.code == "pair":
        return _entry(site, bracket)
    if OPENING.get(text, bracket.text) != bracket.text:
        return site.hint(f'"{bracket.text}" is still open: it ends with {CLOSING[bracket.text]}')
    return None


def _entry(site: _Site, bracket: Token) -> Finding | None:
    """Return the hint for a value in a dict that has no colon behind it."""
    inside = site.tokens[site.tokens.index(bracket) + 1 : site.index]
    pairs = pairwise(inside)
    if any(one.kind == "string" and two.text == "%" for one, two in pairs):
        return site.hint('values of a format are in parentheses: "%s-%s" % (a, b)')
    if any(token.text == ":" for token in inside):
        return None
    return site.hint("a dict has a value for each key; a list is in [ ]")


def _quote(site: _Site) -> Finding | None:
    """Recognise a quote too many or too few: the rest of the line has an odd number of them."""
    quote, rest = site.text_at(-1)[0], site.text[site.at(0).end :].partition("\n")[0]
    hint = f"a quote is missing, or one inside of a text is not written \\{quote}"
    return site.hint(hint) if rest.count(quote) % 2 == 1 else None


@_RULES.add
def _side_by_side(site: _Site) -> Finding | None:
    """Recognise two values with nothing between them."""
    token, before = site.at(0), site.at(-1)
    is_word = token.text in site.words or site.code == "keyword"
    if token.kind not in VALUES or is_word or not site.is_value_before():
        return None
    line = site.tokens[site.tokens.index(site.first()) : site.index]
    if [each.text for each in line if each.text in {"for", "in"}][-1:] == ["for"]:
        return site.hint("write `in`" if token.text == "of" else "`in` is missing before it")
    if before.kind == "string" and token.kind == "name" and site.is_adjacent(-1):
        return _quote(site)
    if before.kind == "name" and token.kind == "string" and site.is_adjacent(-1):
        hint = f"leave the {before.text} out: texts have no prefix {before.text}"
        return None if before.text in {"f", "r"} else site.hint(hint, before)
    bracket = site.bracket()
    if token.text == "where" and bracket is not None:
        return site.hint("write `if`")
    both = before.kind == token.kind == "string"
    is_one_line = "\n" not in site.text[before.end : token.offset]
    if bracket is None:
        return site.hint("join texts with `+`") if both else None
    if both and site.text_at(1) != ":":
        hint = "put a comma between the two texts, or join them with `+`"
        return site.hint(hint) if is_one_line and bracket.text != "{" else None
    return site.hint("a comma is missing before it")
