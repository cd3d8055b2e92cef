"""Actions of other languages as those of Go: loops, conditions, assignments, comments."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from function_script.engines.gotemplate.corrections.expressions import ExpressionParser, Names
from function_script.engines.gotemplate.corrections.terms import Choice
from function_script.engines.gotemplate.corrections.tokens import RawAction, Unreadable, read_tokens
from function_script.engines.gotemplate.function import Function
from function_script.engines.gotemplate.syntax.parser import Grammar


class Proposal(NamedTuple):
    """The text of an action without its delimiters, and what else must be changed.

    ``is_whole``: the text is several actions, with their delimiters.
    """

    text: str
    aside: str = ""
    is_whole: bool = False


class Scope:
    """The names that an action can refer to: functions, and the variables and blocks before it."""

    def __init__(self, before: str, grammar: Grammar) -> None:
        left = re.escape(grammar.delims[0])
        self.functions: Mapping[str, Function] = grammar.functions
        self.delims = grammar.delims
        self.variables = frozenset(
            name for pair in _DECLARED.findall(before) for name in pair if name
        )
        opened = re.findall(rf"{left}-?\s*(range|with|define|block|if|end)\b", before)
        blocks: list[str] = []
        for keyword in opened:
            if keyword != "end":
                blocks.append(keyword)
            elif blocks:
                blocks.pop()
        if {"define", "block"} & set(blocks):
            root = ""
        else:
            root = "$" if {"range", "with"} & set(blocks) else "."
        self.names = Names(self.functions, self.variables, root)


def rewrite(action: RawAction, scope: Scope) -> Proposal:
    """Return an action in Go's syntax; raises Unreadable if its meaning is not certain."""
    body = action.body.strip()
    if proposal := _slip(body, scope):
        return proposal
    if comment := _COMMENT.fullmatch(body):
        text = next(group for group in comment.groups() if group is not None)
        return Proposal(f"/* {text.strip()} */")
    if _END.fullmatch(body):
        return Proposal("end")
    if re.fullmatch(r"else\s*[:{]", body):
        return Proposal("else")
    if match := _CONDITIONAL.match(body):
        return _conditional(match, body[match.end() :], scope)
    if match := _LOOP.match(body):
        return _loop(body[match.end() :], scope)
    if match := _NAMED.match(body):
        return _named_template(match, body[match.end() :], scope)
    if match := _ASSIGNMENT.match(body):
        return _assignment(match, body[match.end() :], scope)
    return _output(body, scope)


def _slip(body: str, scope: Scope) -> Proposal | None:
    """Return an action of Go's own with one slip in it; None for other actions."""
    if match := _TRAILING_COMMENT.fullmatch(body):
        return Proposal(match["code"], ", and a comment as {{/* TEXT */}}")
    if match := _RANGE_WITHOUT_COMMA.match(body):
        items = _expression(body[match.end() :], scope)
        return Proposal(f"range {match['key']}, {match['value']} := {items}")
    if _ASSIGNMENTS.fullmatch(body):
        left, right = scope.delims
        parts = (part.strip() for part in body.split(";"))
        return Proposal("".join(f"{left} {part} {right}" for part in parts), is_whole=True)
    return None


def _conditional(match: re.Match[str], rest: str, scope: Scope) -> Proposal:
    """Return an if or an else-if."""
    keyword = match[1].removeprefix("#")
    return Proposal(f"{'if' if keyword == 'if' else 'else if'} {_condition(rest, scope)}")


def _condition(text: str, scope: Scope) -> str:
    """Return the condition of an if, which may end as in Python."""
    prefix = ""
    if match := _DECLARATION.match(text):
        prefix, text = match[0].strip() + " ", text[match.end() :]
    return prefix + _expression(text.strip().removesuffix(":"), scope)


def _expression(text: str, scope: Scope) -> str:
    parser = ExpressionParser(read_tokens(text), scope.names)
    value = parser.pipeline()
    parser.finish()
    return value.text


def _output(text: str, scope: Scope) -> Proposal:
    """Return an action that writes a value; a choice by what may be no boolean becomes an if."""
    parser = ExpressionParser(read_tokens(text), scope.names)
    value = parser.choice()
    if isinstance(value, Choice) and parser.token.kind == "end" and not value.condition.is_boolean:
        left, right = scope.delims
        # A plain text is written as it is.
        yes, no = (
            part.text[1:-1]
            if part.is_literal and part.is_text and _PLAIN_TEXT.fullmatch(part.text)
            else f"{left} {part.text} {right}"
            for part in (value.yes, value.no)
        )
        condition = f"{left} if {value.condition.text} {right}"
        return Proposal(f"{condition}{yes}{left} else {right}{no}{left} end {right}", is_whole=True)
    text = _expression(text, scope)
    if text == "nil":
        raise Unreadable
    return Proposal(text)


def _loop(text: str, scope: Scope) -> Proposal:
    """Return a range over what a loop of another language goes over."""
    text = text.strip().removesuffix(":")
    match = _LOOP_NAMES.match(text)
    if match is None:
        return Proposal(f"range {_expression(text, scope)}")
    names = [name for name in match.groups() if name]
    items = text[match.end() :].removeprefix("range ").removesuffix(".items()")
    variables = ", ".join(f"${name}" for name in names)
    bare = [name for name in names if not re.search(rf"\${name}\b", text)]
    aside = f", and {' and '.join(f'${name}' for name in bare)} inside" if bare else ""
    return Proposal(f"range {variables} := {_expression(items, scope)}", aside)


def _named_template(match: re.Match[str], rest: str, scope: Scope) -> Proposal:
    """Return a define, block, template or include whose name is in double quotes."""
    keyword, name = match[1], match[2] or match[3] or match[4]
    text = f'{keyword} "{name}"'
    rest = rest.strip().removeprefix(",").strip()
    if "(" in match[0]:
        rest = rest.removesuffix(")")
    if keyword == "define":
        if rest:
            raise Unreadable
        return Proposal(text)
    if keyword == "template" and "|" in rest:
        # A pipe would be about the data; `include` returns the text.
        text = f'include "{name}"'
    return Proposal(f"{text} {_expression(rest or '.', scope)}")


def _assignment(match: re.Match[str], rest: str, scope: Scope) -> Proposal:
    """Return the declaration or the assignment of a variable."""
    name = f"${match[2].removeprefix('$')}"
    operator = match[3]
    is_new = name not in scope.variables
    aside = "" if match[2].startswith("$") else f", and {name} where it is read"
    if operator in {"++", "--"}:
        if rest.strip() or is_new:
            raise Unreadable
        return Proposal(f"{name} = {'add' if operator == '++' else 'sub'} {name} 1", aside)
    if operator in {"+=", "-=", "*=", "/="}:
        if is_new:
            raise Unreadable
        rest = f"{name} {operator[0]} ({rest})"
    value = _expression(rest, scope)
    is_declaration = is_new or (operator == ":=" and match[1] is None)
    return Proposal(f"{name} {':=' if is_declaration else '='} {value}", aside)


_PLAIN_TEXT: Final = re.compile(r'"[\w ./:-]*"')
_DECLARED: Final = re.compile(r"(\$\w+)\s*(?:,\s*(\$\w+)\s*)?:=")
# An action with a comment of Python or Go behind it, and no text in which such a mark may be. A
# number or a variable behind ``//`` is divided by.
_TRAILING_COMMENT: Final = re.compile(
    r"""(?P<code>[^"'`#/]*[^"'`#/\s])\s+(?:#|//\s*(?=[A-Za-z]))[^"'`]*"""
)
_RANGE_WITHOUT_COMMA: Final = re.compile(r"range\s+(?P<key>\$\w+)\s+(?P<value>\$\w+)\s*:=\s*(?=\S)")
_ASSIGNMENTS: Final = re.compile(r"""\$\w+\s*:?=[^;"'`=]+(?:;\s*\$\w+\s*:?=[^;"'`=]+)+""")
_COMMENT: Final = re.compile(
    r"/\*(.*)\*/|//(.*)|\#(?!if|each|with|unless)(.*)|!?--(.*?)(?:--)?|!(?!=)\s(.*)", re.DOTALL
)
_END: Final = re.compile(
    r"end[ \t]*(?:if|for|range|with|block|define|macro)|/(?:if|each|with|unless)"
)
_CONDITIONAL: Final = re.compile(r"(else[ \t]+if|elseif|elif|\#?if)\b\s*")
_LOOP: Final = re.compile(r"(?:range|for|\#each)\s+")
_LOOP_NAMES: Final = re.compile(
    r"\$?([A-Za-z_]\w*)(?:\s*,\s*\$?([A-Za-z_]\w*))?\s*(?::=|=|\bin\b)\s*"
)
_DECLARATION: Final = re.compile(r"\s*\$\w+\s*:?=(?!=)\s*")
_NAMED: Final = re.compile(
    r"(define|block|template|include)(?:\s+|\s*\(\s*)"
    r"(?:\"([^\"]+)\"|'([^']+)'|([A-Za-z][\w.\-/]*))\s*,?\s*\)?"
)
_ASSIGNMENT: Final = re.compile(
    r"(?:(set|let|var|const)\s+)?(\$?[A-Za-z_]\w*)\s*"
    r"(:=|\+=|-=|\*=|/=|\+\+|--|=(?![=~>]))"
)
