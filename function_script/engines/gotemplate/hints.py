"""Hints for failures of templates, and for what does not parse, by their codes."""

import re
from collections.abc import Iterable
from itertools import chain
from typing import Final

from function_script.engines import habits
from function_script.engines.gotemplate import registry
from function_script.engines.gotemplate.corrections import DECLARED
from function_script.engines.gotemplate.errors import Code, GoError, ParseError
from function_script.engines.gotemplate.syntax.lexer import KEYWORDS
from function_script.texts.problems import suggest

_ARITY: Final = "a piped value is the last argument; parentheses keep arguments together"
_CHARACTERS: Final = {
    "-": 'a name has letters, digits and _: write index MAP "NAME" for others',
    "?": "a field that may be missing: test it with if or with, or use dig",
}
_DASH_IN_VARIABLE: Final = "the name of a variable has letters, digits and _ only"
_MAX_KEYWORD: Final = 5
_NO_VALUES: Final = frozenset({"exit", "pass", "return", "yield"})
_BRACE: Final = "a value in an action has no braces of its own"
# An unexpected token, or any, and what the parser was reading, where it matters.
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
    ("", "else"): "another condition is written as else if",
}
_OUTSIDE_RANGE: Final = {
    "break": "only a range can be left: take it out",
    "continue": "only a range has turns: take it out",
}


def syntax_hint(error: ParseError, source: str, position: int) -> str | None:
    """Return the hint for a parser's error at a position of ``source``."""
    name = error.subject
    # The cases that need the text around; all others are a sentence for each code.
    match error.code:
        case Code.FUNCTION_UNKNOWN:
            return _function_hint(name, source, position)
        case Code.BAD_CHARACTER if name == "-" and re.search(r"\$\w*$", source[:position]):
            return _DASH_IN_VARIABLE
        case Code.BAD_CHARACTER:
            return _CHARACTERS.get(name)
        case Code.TOKEN_UNEXPECTED if name == "%" and source.endswith("{{", 0, position):
            return "an action begins with {{ alone: write {{ if … }}, {{ range … }} and {{ end }}"
        case Code.TOKEN_UNEXPECTED:
            keys = ((name, error.context), ("", error.context), (name, ""))
            return next(filter(None, map(_UNEXPECTED.get, keys)), None)
        case Code.BLOCK_UNCLOSED:
            return f"this {name} has no end"
        case Code.OUTSIDE_RANGE:
            return _OUTSIDE_RANGE[name]
        case Code.VARIABLE_UNDEFINED:
            declared = {*chain.from_iterable(DECLARED.findall(source))} - {""}
            if name in declared:
                return "its block has ended: declare it before the block, and set it inside with ="
            return suggest(name, tuple(declared), f"declare it first: {{{{ {name} := ... }}}}")
        case _:
            return None if error.code is None else error.code.hint


def is_foreign(error: ParseError) -> bool:
    """Report whether an error is about a keyword of other languages."""
    return (
        error.code is Code.FUNCTION_UNKNOWN
        and habits.find("gotemplate", error.subject, "function") is not None
    )


def _function_hint(name: str, source: str, position: int) -> str | None:
    """Return the hint for an unknown function; it may be a misspelt keyword such as ``end``."""
    hint = (
        registry.unavailable_reason(name)
        or habits.find("gotemplate", name, "name", "function")
        or suggest(name, (*registry.FUNCTIONS, *sorted(KEYWORDS)))
    )
    if hint is not None:
        return hint
    # A name that stands alone in an action, or has fields.
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
    return error.code.hint
