"""Hints for failures of templates, and for what does not parse, by their codes."""

import re
from collections.abc import Iterable
from typing import Final

from function_script.engines import habits
from function_script.engines.gotemplate import registry
from function_script.engines.gotemplate.corrections import DECLARED
from function_script.engines.gotemplate.errors import Code, GoError, ParseError
from function_script.engines.gotemplate.syntax.lexer import KEYWORDS
from function_script.texts.problems import suggest

_ARITY: Final = "a piped value is the last argument; parentheses keep arguments together"
_DASH: Final = 'a name has letters, digits and _: write index MAP "NAME" for others'
_DASH_IN_VARIABLE: Final = "the name of a variable has letters, digits and _ only"
_MAX_KEYWORD: Final = 5
_NO_VALUES: Final = frozenset({"exit", "pass", "return", "yield"})
_BRACE: Final = "a value in an action has no braces of its own"
# An unexpected token and, where it matters, what the parser was reading.
_UNEXPECTED: Final = {
    ("range", ""): "range is a block: set the variable inside of it with =",
    # Behind an else of another block: Go's parser goes on as if text followed.
    ("if", "input"): "only an if has else if: write {{ else }}{{ if … }} with one end more",
    ("with", "input"): "only a with has else with: write {{ else }}{{ with … }} with one end more",
    ("if", ""): "if is a block: declare the variable before, and set it inside with =",
    (",", ""): "arguments have blanks between them, no commas",
    ("{", "if"): _BRACE,
    ("{", "range"): _BRACE,
    ("/", "command"): "a comment is {{/* TEXT */}}",
    ("}", "operand"): "an action ends with two braces: }}",
}
_SYNTAX: Final = {
    Code.ACTION_RUNS_ON: "this action has no }} before the next one begins",
    Code.ACTION_UNCLOSED: "an action ends with }}",
    Code.BAD_ESCAPE: "write two backslashes for one, or the text in backquotes",
    Code.CHARACTER_UNCLOSED: "a text is in double quotes",
    Code.COMMENT_NOT_ALONE: "a comment is alone in its action",
    Code.COMMENT_UNCLOSED: "a comment ends with */",
    Code.ELSE_MISPLACED: "no if, range or with is open here",
    Code.ELSE_REPEATED: "a block has one else: other conditions are written as else if",
    Code.END_MISPLACED: "no if, range, with or define is open here: take it out",
    Code.NOT_A_COMMAND: "behind | comes a function, which gets what is before",
    Code.PARENTHESIS_UNCLOSED: "close it with )",
    Code.PARENTHESIS_UNOPENED: "there is no ( that it closes",
    Code.RAW_TEXT_UNCLOSED: "close it with `",
    Code.TEMPLATE_REPEATED: "give one of them another name",
    Code.TEXT_UNCLOSED: 'close it with "',
    Code.VALUE_MISSING: "write what it is about between the name and }}",
}
_OUTSIDE_RANGE: Final = {
    "break": "only a range can be left: take it out",
    "continue": "only a range has turns: take it out",
}
_RUN: Final = {
    Code.NULL_AS_TEXT: 'say what to write instead: {{ .x | default "none" }}',
    Code.NULL_TO_RANGE: "say what to go over instead: {{ range default list .x }}",
    Code.NOTHING_AS_ARGUMENT: "it is absent: check the path, or use default",
    Code.NULL_AS_ARGUMENT: "it is null: use default",
    Code.NOT_A_STRING: "pipe it through toString",
    Code.NOT_AN_INTEGER: "pipe it through int",
    Code.BAD_CONSTRAINT: 'write a constraint such as ">= 1.2, < 2"',
    Code.BAD_VERSION: "a version is three numbers with dots: 1.2.3",
    Code.DIVISION_BY_ZERO: "test that the divisor is not 0 first",
    Code.INDEX_OF_NOTHING: "it is absent: check the path, or use dig with a default",
    Code.KEY_OF_LIST: (
        "items of a list have numbers; a condition is getResourceCondition TYPE RESOURCE"
    ),
    Code.NUMBER_OF_MAP: (
        "keys of a map are texts; splitList gives a list, where split gives a map with _0 and _1"
    ),
    Code.INDEX_OUT_OF_RANGE: "test the length first: {{ if gt (len .list) 2 }}",
    Code.VALUE_TO_RANGE: "range goes over lists, maps and whole numbers: see the path",
    Code.INCOMPATIBLE_TYPES: "convert one of the two: int, float64 or toString",
    Code.PATTERN_WITHOUT_PARENTHESIS: "close it with ), or write \\\\( for the character itself",
    Code.PATTERN_WITHOUT_BRACKET: "close it with ], or write \\\\[ for the character itself",
    Code.BAD_PATTERN: (
        r"write \\ before a character that is meant as such, in a text with backquotes"
    ),
}


def syntax_hint(error: ParseError, source: str, position: int) -> str | None:
    """Return the hint for a parser's error at a position of ``source``."""
    name = error.subject
    # The cases that need the text around; all others are a sentence for each code.
    match error.code:
        case Code.BAD_CHARACTER if name == "-":
            is_variable = re.search(r"\$\w*$", source[:position]) is not None
            return _DASH_IN_VARIABLE if is_variable else _DASH
        case Code.BAD_CHARACTER if name == "?":
            return "a field that may be missing: test it with if or with, or use dig"
        case Code.TOKEN_UNEXPECTED if error.context == "else":
            return "another condition is written as else if"
        case Code.TOKEN_UNEXPECTED if name == "%" and source.endswith("{{", 0, position):
            return "an action begins with {{ alone: write {{ if … }}, {{ range … }} and {{ end }}"
        case Code.TOKEN_UNEXPECTED:
            return _UNEXPECTED.get((name, error.context)) or _UNEXPECTED.get((name, ""))
        case Code.BLOCK_UNCLOSED:
            return f"this {name} has no end"
        case Code.OUTSIDE_RANGE:
            return _OUTSIDE_RANGE[name]
        case Code.VARIABLE_UNDEFINED:
            declared = {each for pair in DECLARED.findall(source) for each in pair if each}
            if name in declared:
                return "its block has ended: declare it before the block, and set it inside with ="
            return suggest(name, tuple(declared), f"declare it first: {{{{ {name} := ... }}}}")
        case _:
            return None if error.code is None else _SYNTAX.get(error.code)


def is_foreign(error: ParseError) -> bool:
    """Report whether an error is about a keyword of other languages."""
    return (
        error.code is Code.FUNCTION_UNKNOWN
        and habits.find("gotemplate", error.subject, "function") is not None
    )


def function_hint(name: str, functions: Iterable[str]) -> str | None:
    """Return the hint for an unknown function; it may be a misspelt keyword such as ``end``."""
    habit = habits.find("gotemplate", name, "name", "function")
    return habit or suggest(name, (*functions, *sorted(KEYWORDS)))


def value_hint(name: str, source: str, position: int) -> str | None:
    """Return the hint for a name that stands alone in an action, or has fields."""
    before, after = source[:position], source[position + len(name) :]
    # A short name may be a keyword that is misspelt.
    is_alone = (
        len(name) > _MAX_KEYWORD
        and re.match(r"\s*-?(?:\}\}|\|)", after) is not None
        and re.search(r"\{\{-?\s*$", before) is not None
    )
    if name in _NO_VALUES or not (is_alone or re.match(r"\.[A-Za-z]", after)):
        return None
    return f"a field begins with a dot, and a variable with $: .{name} or ${name}"


def run_hint(error: Exception, templates: Iterable[str]) -> str | None:
    """Return the hint for an error of a run; ``templates`` are the names that are defined."""
    if not isinstance(error, GoError) or error.code is None:
        return None
    name = error.subject
    if error.code is Code.TEMPLATE_UNKNOWN:
        return suggest(name, tuple(templates), f'write {{{{ define "{name}" }}}} ... {{{{ end }}}}')
    if error.code is Code.CONSTANT_QUOTED:
        return f"write {name}"
    if error.code is Code.WRONG_COUNT and name in registry.FUNCTIONS:
        return f"{name} takes {registry.FUNCTIONS[name].parameters or 'nothing'}; {_ARITY}"
    return _RUN.get(error.code)
