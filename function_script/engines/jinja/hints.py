"""Hints for syntax mistakes: the construct that an author meant, by the tokens around the mistake.

Each rule recognises one construct of another language or one classic slip. A mistake that no rule
is sure of has no hint.
"""

import itertools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from function_script.engines import habits, unexpected
from function_script.engines.jinja.filters import FILTERS, TESTS
from function_script.engines.jinja.functions import FUNCTIONS, NAMES
from function_script.engines.jinja.policy import Violation
from function_script.engines.jinja.tokens import TokenList
from function_script.engines.tables import Rules
from function_script.engines.unexpected import CLOSING, OPENING, VALUES, Token
from function_script.request.objects import ENVIRONMENT
from function_script.texts.problems import suggest

# The index behind a tag's word and one more.
_THIRD: Final = 2
STATEMENTS: Final = (
    *("block", "call", "extends", "filter", "for", "from", "if", "import", "include", "macro"),
    *("raw", "set", "with"),
)
"""The tags that begin a statement."""
TAGS_ELSEWHERE: Final = frozenset({"elif", "else", *(f"end{each}" for each in STATEMENTS)})
"""Tags that exist; where the parser does not know them they are misplaced."""
_TAGS: Final = TAGS_ELSEWHERE.union(STATEMENTS) - {"raw", "endraw"}
# Paths by dots to a label or an annotation with a slash, and with a dash in the last key.
_QUOTED_KEYS: Final = (
    ("slash", re.compile(r"(?P<path>[\w.]+\.(?:labels|annotations))\.(?P<key>[\w.-]+/[\w.-]+)")),
    ("slash", re.compile(rf"(?P<path>\bcontext)\.(?P<key>{re.escape(ENVIRONMENT)})\b")),
    ("dash", re.compile(r"(?P<path>[A-Za-z_]\w*(?:\.\w+)*)\.(?P<key>[A-Za-z_]\w*(?:-\w+)+)")),
)
_MARKS: Final = habits.marks("jinja")
# By `Site.is_statement`.
_END: Final = {True: "%}", False: "}}"}
QUOTES: Final = 'a name in brackets is a variable, a key is in quotes: ["{}"]'
"""The hint for a name in brackets that is a key of the object before them."""
_COMPARISONS: Final = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_LOOP: Final = "only the body of a {% for %} has it: give its values to a macro"
# The hint for an assignment of another language.
_SET: Final = "write {% set name = value %}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Site(unexpected.Site):
    """The tokens of a tag without its first mark, and the index of the one that is unexpected."""

    begin: Token
    words = frozenset(
        (
            *("and", "else", "for", "if", "import", "in", "is", "not", "or", "recursive", "with"),
            "without",
        )
    )

    @property
    def is_statement(self) -> bool:
        """True if the tag is ``{% … %}``."""
        return self.begin.kind == "block_begin"

    @property
    def first(self) -> str:
        """The first word of the tag."""
        return self.tokens[0].text if self.tokens else ""

    def is_operand(self, step: int) -> bool:
        """Report whether the token so many steps away begins an operand."""
        index = self.index + step
        if index <= 0:
            return index == 0
        before = self.tokens[index - 1]
        if before.kind == "operator":
            return before.text not in {")", "]", "}", ".", "|"}
        return before.text in {*self.words, "elif", "set"}

    def violation(
        self, hint: str | None, *, token: Token | None = None, text: str = "", width: int = 0
    ) -> Violation:
        """Return the violation ``unexpected "text"`` at a token."""
        token = token or self.at(0)
        text = text or token.text.strip()
        return Violation(
            message=f"unexpected {text}" if text[:1] in "\"'" else f'unexpected "{text}"',
            hint=hint,
            offset=token.offset,
            width=width or max(1, len(text)),
        )


_RULES: Final = Rules[Callable[[Site], Violation | None]]()


def of_lexer(tokens: TokenList) -> Violation:
    """Return the violation where the lexer fails."""
    comment = tokens.unclosed("comment_begin")
    is_shell = comment is not None and tokens.text[:comment].endswith("$")
    advice = 'write {{ "{#" }} for these characters' if is_shell else "close it with #}"
    for offset, message, hint in (
        (comment, "the comment that begins here does not end", advice),
        (tokens.unclosed("raw_begin"), '"raw" is not closed', "it ends with {% endraw %}"),
    ):
        if offset is not None:
            return Violation(message=message, hint=hint, offset=offset, width=2)
    rest = tokens.text[tokens.end :]
    begin, end = tokens.tag(len(tokens.tokens) - 1)
    before = tokens.tokens[begin + 1 : end]
    failing = Token("operator", rest[0], tokens.end)
    site = Site(
        text=tokens.text,
        tokens=[*before, failing],
        index=len(before),
        begin=tokens.tokens[begin] if tokens.tokens else failing,
    )
    if violation := _swallowed_end(site) or _braces(site) or _tag_in_expression(site):
        return violation
    if rest[0] in "\"'":
        return _open_text(site)
    if rest[0] in OPENING:
        return _bracket(site)
    mark = next((each for each in _MARKS if rest.startswith(each)), rest[0])
    return site.violation(_mark_hint(site, mark, rest), text=mark)


def _mark_hint(site: Site, mark: str, rest: str) -> str | None:
    """Return the hint for a mark that is no part of the language; ``rest`` begins with it."""
    inside = rest.partition("}")[0]
    if mark == "?" and ":" in inside:
        return "write `a if condition else b`"
    if mark == "$" and ":=" in inside and not site.index:
        return _SET
    if (word := re.match(r"#([a-z]+)", rest)) and not site.index:
        return tag_hint(word[1])
    name = re.match(r"\$\.([A-Z]\w+)", rest)
    return (habits.find("jinja", name[1], "name") if name else None) or _MARKS.get(mark)


def _open_text(site: Site) -> Violation:
    """Return the violation for a quote that begins a text which does not end."""
    offset = site.at(0).offset
    line = site.text[offset:].partition("\n")[0]
    if site.is_value_before() and not ("}}" in line or "%}" in line):
        # The quote behind `"{{ spec.name"` is of the YAML.
        return _open_tag(site)
    # A text such as 'it's' ends at its apostrophe.
    is_text_before = site.is_value_before() and site.is_adjacent(-1)
    hint = None if is_text_before else f"close it with {site.text_at(0)[0]}"
    return Violation(message="a text is not closed", hint=hint, offset=offset, width=1)


def _bracket(site: Site) -> Violation:
    """Return the violation for a closing bracket that closes nothing, or another bracket."""
    close = site.text_at(0)
    opening = site.bracket()
    if opening is None and site.text_at(-1) == close == "}" and site.is_adjacent(-1):
        # The lexer takes a brace of the tag's end for the one that is missing.
        opening = replace(site, index=site.index - 1).bracket()
    if opening is not None:
        hint = f"close it with {CLOSING[opening.text]}"
        message = f'bracket "{opening.text}" is not closed'
        return Violation(message=message, hint=hint, offset=opening.offset, width=1)
    if close != "}":
        return site.violation(f'there is no "{OPENING[close]}" that it closes')
    if site.is_statement:
        return site.violation("a tag ends with %}")
    return site.violation("an expression ends with two braces: }}")


def of_parser(tokens: TokenList, index: int) -> Violation | None:
    """Return the violation for the token at which the parser fails, if it is in a tag."""
    begin, end = tokens.tag(min(index, len(tokens.tokens) - 1))
    tag = tokens.tokens[begin + 1 : end + 1]
    at = index - begin - 1
    site = Site(text=tokens.text, tokens=tag, index=at, begin=tokens.tokens[begin])
    rules = _RULES if 0 <= at < len(tag) else ()
    if violation := next((violation for rule in rules if (violation := rule(site))), None):
        return violation
    return _open_tag(site) if end == len(tokens.tokens) and tokens.error is None else None


@_RULES.add
def _swallowed_end(site: Site) -> Violation | None:
    """Recognise a quote or a brace that is not closed: what follows takes the end of the tag."""
    end = _END[site.is_statement]
    for at, token in enumerate(site.tokens[: site.index + 1]):
        before, _, behind = token.text.partition(end)
        # The braces at the end of an object in a text are none of the tag.
        is_end = before.count("{") <= before.count("}") and not {"\n", "{"}.isdisjoint(behind)
        if token.kind == "string" and is_end:
            return _open_text(replace(site, index=at))
    is_end = site.is_statement and site.text_at(-1) + site.text_at(0) == end
    return _bracket(site) if is_end and site.is_adjacent(-1) and site.bracket() else None


@_RULES.add
def _unclosed_tag(site: Site) -> Violation | None:
    """Recognise a tag that goes on into the lines of the text below it."""
    is_below = "\n" in site.text[site.begin.offset : site.at(0).offset]
    between = site.text[site.begin.end : site.tokens[-1].offset]
    return _open_tag(site) if is_below and ("{{" in between or "{%" in between) else None


def _open_tag(site: Site) -> Violation:
    return Violation(
        message="the tag that begins here does not end",
        hint=f"close it with {_END[site.is_statement]}",
        offset=site.begin.offset,
        width=2,
    )


@_RULES.add
def _braces(site: Site) -> Violation | None:
    """Recognise a value in braces inside of a tag."""
    for one, two in itertools.pairwise(site.tokens[: site.index + 1]):
        if one.text == two.text == "{" and one.end == two.offset:
            hint = "inside of a tag names stand without braces"
            return site.violation(hint, token=one, text="{{")
    first = site.tokens[0]
    if first.text == "%" and first.offset == site.begin.end and not site.index:
        return site.violation("a tag has one brace: write {% if … %}, {% for … %} or {% set … %}")
    if first.text == "{" and first.offset == site.begin.end and not site.is_statement:
        return site.violation("a value is written with two braces: {{ value }}", token=first)
    return None


@_RULES.add
def _tag_in_expression(site: Site) -> Violation | None:
    """Recognise ``{{ if x }}``, as in Go templates."""
    if site.is_statement or site.index > 1 or not (hint := tag_hint(site.first)):
        return None
    if site.first == "if" and any(each.text in {"else", "then"} for each in site.tokens):
        hint = "write `a if condition else b`"
    return site.violation(hint, token=site.tokens[0])


@_RULES.add
def _statement_words(site: Site) -> Violation | None:
    before, text = site.text_at(-1), site.text_at(0)
    if before == "else" and text == "if":
        return site.violation("write elif")
    if site.first == "for" and site.index == _THIRD and text != "in":
        is_pair = text.isidentifier() and site.text_at(1) == "in"
        names = f"{before}, {text} in ..." if is_pair else "item in list"
        return site.violation(f"write `for {names}`")
    if site.first == "for" and site.text_at(1 - site.index) == "(":
        hint = "write `for item in list`, without parentheses"
        return site.violation(hint, token=site.tokens[1])
    if text == "then" and site.is_statement:
        return site.violation("leave it out: the tag ends behind the condition")
    if text == "not" and (
        site.text_at(1) == "is" or (site.is_value_before() and site.text_at(1) in TESTS)
    ):
        return site.violation("write !=" if site.text_at(1) == "==" else "write `is not`")
    is_sign = site.at(0).kind in VALUES or text in {":", "=="}
    if site.first == "set" and site.index == _THIRD and is_sign:
        return site.violation(_SET)
    if site.first == "import" and text != "as" and site.index == _THIRD:
        return site.violation('write {% import "module" as name %}')
    return None


@_RULES.add
def _operators(site: Site) -> Violation | None:
    if mark := site.find_mark(_MARKS):
        return site.violation(_MARKS[mark.text], token=mark)
    text = site.text_at(0)
    is_comment = text == "//" or (text == "/" and site.text_at(1) in {"*", "**"})
    return site.violation("write {# comment #}") if is_comment and not site.index else None


@_RULES.add
def _equals(site: Site) -> Violation | None:
    if site.text_at(0) != "=":
        return None
    before = site.text_at(-1)
    if before == ":" and site.is_adjacent(-1):
        return site.violation(_SET, token=site.at(-1), text=":=")
    if site.text_at(1) == "~" and site.is_adjacent(0):
        return site.violation("write `text | regex_match(pattern)`", text="=~")
    if site.text_at(1) == ">" and site.is_adjacent(0):
        return site.violation("write >=" if site.first in {"if", "elif"} else None, text="=>")
    bracket = site.bracket()
    if bracket is not None and bracket.text == "{":
        return site.violation("write `key: value` in an object")
    if bracket is None and site.index == 1 and not site.is_statement:
        return site.violation(_SET)
    conditions = [site.first, *(token.text for token in site.tokens[: site.index])]
    if bracket is None and not {"if", "elif"}.isdisjoint(conditions):
        return site.violation("compare with ==")
    return site.violation(None)


@_RULES.add
def _colon(site: Site) -> Violation | None:
    if site.text_at(0) != ":":
        return None
    if site.text_at(1) == "=" and site.is_adjacent(0):
        return site.violation(_SET, text=":=")
    before = site.text_at(-1)
    bracket = site.bracket()
    if site.text_at(-2) == "|" and before in FILTERS:
        return site.violation(f"a filter takes its arguments in parentheses: {before}(...)")
    is_call = bracket is not None and bracket.text == "(" and before.isidentifier()
    if is_call and site.first != "macro":
        return site.violation(f"write {before}=value")
    return site.violation(None)


@_RULES.add
def _and_or(site: Site) -> Violation | None:
    """Recognise ``and a b``: Jinja takes the word for a name."""
    before = site.at(-1)
    if before.text not in {"and", "or"} or site.at(0).kind not in VALUES:
        return None
    return _go_call(site, before) if site.text_at(-2) in {"", "if", "elif", "(", "="} else None


@_RULES.add
def _dots(site: Site) -> Violation | None:
    """Recognise a name with a dot in front, as in Go templates, other dots, and ``1..3``."""
    token = site.at(0)
    is_behind_call = token.text in {".", "["} and site.text_at(-1) == ")"
    if is_behind_call and "|" in [each.text for each in site.tokens[: site.index]]:
        return site.violation("put what is before it into parentheses: (value | filter)")
    if token.text == "." and site.is_operand(0):
        name = site.text_at(1)
        if not name.isidentifier():
            return site.violation("there is no dot: write the name of a value")
        if name[0].isupper():
            # Any other such name may be one of a Go template that is a text here.
            return site.violation(habits.find("jinja", name, "word", "name"))
        return site.violation(f"names have no dot in front: {name}")
    if site.text_at(-1) == "." and (token.text == "[" or token.kind == "string"):
        advice = "write [0] without a dot in front" if token.text == "[" else "join values with ~"
        if token.kind == "string" and site.is_adjacent(-2) and site.is_adjacent(-1):
            advice = f"write [{token.text}] without a dot in front"
        # `getComposedResource . "bucket"`
        habit = habits.find("jinja", site.text_at(-2), "word", "name")
        return site.violation(habit or advice, token=site.at(-1))
    for at, (one, two) in enumerate(itertools.pairwise(site.tokens[: site.index + 1])):
        if one.text == two.text == "." and one.end == two.offset:
            is_range = site.first == "for" or (at > 0 and site.tokens[at - 1].kind == "integer")
            hint = "write range(1, 4) for 1, 2, 3" if is_range else None
            return site.violation(hint, token=one, width=2)
    return None


@_RULES.add
def _side_by_side(site: Site) -> Violation | None:
    """Recognise ``a eq b``, ``a is "text"``, and two values with nothing between them."""
    token = site.at(0)
    if site.text_at(-1) == "is" and token.kind in {"string", "integer", "float"}:
        is_before = site.at(-1)
        return site.violation("compare with ==: a == b", token=is_before)
    kind: habits.Kind = "name" if token.text in _COMPARISONS else "operator"
    operator_hint = habits.find("jinja", token.text, kind)
    if operator_hint is not None and site.is_value_before():
        return site.violation(operator_hint)
    is_value = token.kind in VALUES and (token.text not in site.words or token.text == "for")
    if not site.is_value_before() or not (is_value or token.text in {"(", "[", "{", "."}):
        return None
    before = site.at(-1)
    bracket = site.bracket()
    if token.text == "for" and bracket is not None:
        hint = "there are no comprehensions: write a loop, or use map, select and selectattr"
        return site.violation(hint)
    if before.text == "lambda":
        hint = "there is no lambda: write a loop, or selectattr, map and sort with an attribute"
        return site.violation(hint, token=before)
    if token.kind == "string" and before.text in {"f", "F"} and site.is_adjacent(-1):
        return site.violation('there are no f-strings: join with ~: "a-" ~ value', token=before)
    if violation := _go_call(site, before):
        return violation
    if bracket is not None and token.text not in {"(", "[", "."}:
        return site.violation("a comma is missing before it")
    return None


def unset_hint(
    name: str, statement: str, template: str, own: Iterable[str], otherwise: str | None = None
) -> str | None:
    """Return the hint for a name without a value, by its statement, by what sets it or its origin.

    Else it is the nearest name: one of ``own``, which the program sets, or one that has a value in
    all programs; or else ``otherwise``.
    """
    if hint := key_hint(statement, name):
        return hint
    word = re.escape(name)
    if match := re.search(rf"\{{%[-+]? *set +{word}\.(\w+)", template):
        return f"make it first: {{% set {name} = namespace({match[1]}=...) %}}"
    if re.search(rf"\{{%[-+]? *for +(?:\w+, *)*{word}\b", template):
        return "only the body of its {% for %} has it"
    is_called = re.search(rf"\b{word}\(", statement) is not None
    if hint := name_hint(name, is_called=is_called):
        return hint
    # A function is meant where it is called, and what a loop goes over has no name that it sets.
    targets = re.findall(r"\{%[-+]? *for +((?:\w+, *)*\w+)", statement)
    others = {name, *(each for names in targets for each in re.split(", *", names))}
    others.update(() if is_called else FUNCTIONS)
    return suggest(name, tuple({*NAMES, *own} - others), otherwise)


def _go_call(site: Site, function: Token) -> Violation | None:
    """Recognise a function with its arguments behind it, as in Go templates."""
    name = function.text
    if function.kind != "name":
        return None
    if site.text_at(-2) == "|" and name in FILTERS:
        is_one = site.at(0).kind in VALUES and site.at(1).kind not in VALUES
        value = site.text_at(0) if is_one and site.text_at(1) not in {".", "="} else "..."
        return site.violation(f"a filter takes its arguments in parentheses: {name}({value})")
    if site.text_at(-2) == "|" and (hint := habits.find("jinja", name, "filter", "name", "call")):
        return site.violation(hint, token=function)
    if not site.is_operand(-1) and site.text_at(-2) not in {"if", "elif", "(", ""}:
        return None
    if name in _COMPARISONS and (hint := habits.find("jinja", name, "name")):
        return site.violation(hint, token=function)
    if name in {"and", "or"}:
        return site.violation(f"write `a {name} b`", token=function)
    if name in FUNCTIONS:
        return site.violation(f"write {name}(...): arguments are in parentheses", token=function)
    hint = habits.find("jinja", name, "word", "name", "call")
    hint = hint or (f"write `value | {name}`" if name in FILTERS else None)
    return site.violation(hint, token=function) if hint else None


def foreign_beginning(tag: str, above: str, open_tag: tuple[str, int] | None) -> Violation | None:
    """Return the violation for what begins a block in another language, above the block's end."""
    words = re.escape(tag.removeprefix("end") or "if") if tag.startswith("end") else "if"
    words += "|range" * (words == "for")
    pattern = rf"(?:\{{\{{-?|\{{ +%|<%|^[ \t]*%) *({words})\b"
    matches = re.compile(pattern, re.MULTILINE).finditer(above, open_tag[1] if open_tag else 0)
    for match in reversed([*matches]):
        at, word = match.start(1), match[1]
        message, hint = f'unexpected "{word}"', tag_hint(word)
        return Violation(offset=at, message=message, hint=hint, width=len(word))
    return None


def tag_hint(word: str, *, is_called: bool = False) -> str | None:
    """Return the hint for a word of a tag that stands in ``{{ }}``; None for other words."""
    own = f"a tag has percent signs: {{% {word} %}}" if word in _TAGS and not is_called else None
    return habits.find("jinja", word, "word") or own


def key_hint(text: str, name: str) -> str | None:
    """Return the hint for a name that is meant as a key in a text; None for other names."""
    for sign, pattern in _QUOTED_KEYS:
        for match in pattern.finditer(text):
            if name in re.split(r"[-./]", match["key"]):
                advice = f'a key with a {sign} is in brackets: {match["path"]}["{match["key"]}"]'
                return advice + "; texts are joined with ~" * (sign == "dash")
    if name in FILTERS and re.search(rf"\bmap\(\s*{name}\s*[,)]", text):
        return f'the name of a filter is in quotes: map("{name}")'
    if re.search(rf"[{{,]\s*{re.escape(name)}\s*:", text):
        return f'keys of an object are in quotes: "{name}"'
    # An object with keys of its own may be meant to have the one that a field has as its value.
    if re.search(rf"(?<![\w.])spec\[\s*{re.escape(name)}\s*\]", text):
        return QUOTES.format(name)
    return None


def name_hint(name: str, *, is_called: bool = False) -> str | None:
    """Return the correction of a name of another language; None for other names."""
    habit = habits.find("jinja", name, *habits.of_name(is_called=is_called))
    return _LOOP if name == "loop" else tag_hint(name, is_called=is_called) or habit
