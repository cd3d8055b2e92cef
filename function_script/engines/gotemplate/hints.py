"""Hints for failures of templates, keyed by Go's messages."""

import re
from collections.abc import Iterable
from typing import Final

from function_script.engines.gotemplate.syntax.lexer import KEYWORDS
from function_script.problems import suggest

_ARITY: Final = "a piped value is the last argument; parentheses keep arguments together"
_DIVISOR: Final = "test that the divisor is not 0 first"
_PATTERN: Final = r"write \\ before a character that is meant as such, in a text with backquotes"
_FROM_HELM: Final = {
    "required": 'write {{ if not .x }}{{ fail "x is missing" }}{{ end }}, or default',
    "lookup": "objects of the cluster are asked for with ExtraResources or Requirements",
    "tpl": "write a named template with define, and include it",
    "getCompositeResourceConnectionDetails": "read .observed.composite.connectionDetails",
}
# Parser messages and their hints.
_SYNTAX: Final = (
    ("unexpected {{end}}", "no if, range, with or define is open here: take it out"),
    ("unexpected {{else", "no if, range or with is open here"),
    ('unexpected "=" in operand', "compare with a function: {{ if eq .a .b }}"),
    ('unexpected "<" in operand', "compare with a function: {{ if lt .a .b }}"),
    ('unexpected ">" in operand', "compare with a function: {{ if gt .a .b }}"),
    ('unexpected "}" in operand', "an action ends with two braces: }}"),
    ('unexpected "&" in operand', "write {{ if and .a .b }}"),
    ('unexpected "!" in if', "write {{ if not .a }}"),
    ('unexpected "!" in operand', "compare with a function: {{ if ne .a .b }}"),
    ("unexpected bad character U+0026", "write {{ if and .a .b }}"),
    ("unclosed left paren", "close it with )"),
    ("unexpected right paren", "there is no ( that it closes"),
    ("unterminated quoted string", 'close it with "'),
    ("unterminated raw quoted string", "close it with `"),
    ("unclosed action", "an action ends with }}"),
    ("missing value for ", "write what it is about between the name and }}"),
)
# Patterns of run messages and their hints.
_RUN: Final = (
    ("it is null", 'say what to write instead: {{ .x | default "none" }}'),
    (r"range can't iterate over null", "say what to go over instead: {{ range default list .x }}"),
    (r"invalid value; expected .*", "it is absent: check the path, or use default"),
    (r".*; got interface \{\}", "it is null: use default"),
    (r".*expected string; got (u?int|float|bool).*", "pipe it through toString"),
    (r".*expected int; got (u?int|float|string).*", "pipe it through int"),
    (r".*improper constraint.*", 'write a constraint such as ">= 1.2, < 2"'),
    (r"(?i).*invalid semantic version.*", "a version is three numbers with dots: 1.2.3"),
    (r".*(divide|division) by zero.*", _DIVISOR),
    (r".*index of untyped nil.*", "it is absent: check the path, or use dig with a default"),
    (r".*index out of range.*", "test the length first: {{ if gt (len .list) 2 }}"),
    (r"range can't iterate over.*", "range goes over lists, maps and whole numbers: see the path"),
    (r"incompatible types for comparison.*", "convert one of the two: int, float64 or toString"),
    (r".*missing closing \).*", "close it with ), or write \\\\( for the character itself"),
    (r".*missing closing \].*", "close it with ], or write \\\\[ for the character itself"),
    (r".*error parsing regexp.*", _PATTERN),
    (r".*wrong number of args.*", _ARITY),
)
_NOT_A_TEMPLATE: Final = re.compile(r'no template "(.*)" associated|template "(.*)" not defined')
_VARIABLE: Final = re.compile(r'undefined variable "(\$\w*)"')
_DECLARED: Final = re.compile(r"(\$\w+)\s*(?:,\s*(\$\w+)\s*)?:=")


def syntax_hint(text: str, source: str) -> str | None:
    """Return the hint for a parser's message about ``source``."""
    if unknown := _VARIABLE.search(text):
        declared = {name for names in _DECLARED.findall(source) for name in names if name}
        if unknown[1] in declared:
            return "its block has ended: declare it before the block, and set it inside with ="
        return suggest(
            unknown[1], tuple(declared), f"declare it first: {{{{ {unknown[1]} := ... }}}}"
        )
    return next((hint for words, hint in _SYNTAX if text.startswith(words)), None)


def function_hint(name: str, functions: Iterable[str]) -> str | None:
    """Return the hint for an unknown function; it may be a misspelt keyword such as ``end``."""
    return _FROM_HELM.get(name) or suggest(name, (*functions, *sorted(KEYWORDS)))


def run_hint(text: str, templates: Iterable[str]) -> str | None:
    """Return the hint for an error of a run; ``templates`` are the names that are defined."""
    if unknown := _NOT_A_TEMPLATE.search(text):
        name = next(group for group in unknown.groups() if group is not None)
        return suggest(name, tuple(templates), f'write {{{{ define "{name}" }}}} ... {{{{ end }}}}')
    return next((hint for pattern, hint in _RUN if re.fullmatch(pattern, text, re.DOTALL)), None)
