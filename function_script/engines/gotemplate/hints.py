"""Hints for failures of templates, keyed by Go's messages."""

import re
from collections.abc import Iterable
from typing import Final

from function_script.engines.gotemplate import registry
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
_CALLED: Final = "a part of the template with a name: define it, and write it with include"
_PARTS: Final = (
    "a list has an item: has ITEM LIST; a map a key: hasKey MAP KEY; a text a part: "
    "contains PART TEXT"
)
_FROM_HABIT: Final = {
    "in": _PARTS,
    "is": "test a value with if, not, eq or kindIs",
    "for": "there is no for: range $item := LIST, or range until N",
    "while": "there is no while: range over a list, or over until N",
    **dict.fromkeys(("case", "switch", "match"), "write if, else if and end"),
    **dict.fromkeys(("def", "func", "function", "macro"), _CALLED),
    **dict.fromkeys(("import", "load", "extends", "from"), _CALLED),
    **dict.fromkeys(("raise", "throw", "error", "assert"), 'end with an error: fail "TEXT"'),
    **dict.fromkeys(("isset", "defined", "exists"), "test a value with if, or a key with hasKey"),
    **dict.fromkeys(
        ("lambda", "map", "filter", "select", "selectattr", "reject", "rejectattr", "groupby"),
        "go over a list with range",
    ),
    **dict.fromkeys(("zip", "forEach", "foreach", "each"), "go over a list with range"),
    "enumerate": "range has the index: range $index, $item := LIST",
    **dict.fromkeys(
        ("items", "dictsort", "dict2items", "entries", "iteritems"),
        "range goes over a map in the order of its keys: range $key, $value := MAP",
    ),
    **dict.fromkeys(("items2dict", "zipmap"), "fill a map in a loop: $_ := set MAP KEY VALUE"),
    "batch": "write chunk N LIST",
    "sum": "add in a loop: declare $sum := 0 before, and write $sum = add $sum .",
    "abs": "for a whole number, write max X (sub 0 X)",
    "capitalize": "title begins each word with a capital letter",
    **dict.fromkeys(("safe", "forceescape", "raw"), "nothing is escaped here: leave it out"),
    "urlencode": "urlquery escapes a text for the query of an URL",
    **dict.fromkeys(("bool", "tobool", "parseBool"), 'compare the text: eq VALUE "true"'),
    **dict.fromkeys(
        ("regex_replace", "regexReplace", "regexreplace"),
        "write regexReplaceAll PATTERN TEXT REPLACEMENT",
    ),
    **dict.fromkeys(("regex_search", "regex", "regexp"), "write regexFind PATTERN TEXT"),
    **dict.fromkeys(("regex_findall", "regexall"), "write regexFindAll PATTERN TEXT -1"),
    **dict.fromkeys(("union", "setunion"), "write concat LIST LIST | uniq"),
    "flatten": "concat joins lists: concat LIST LIST",
    **dict.fromkeys(("difference", "setsubtract"), "write without LIST ITEM ITEM"),
    **dict.fromkeys(
        ("combine", "update", "assign", "extend"),
        "write mergeOverwrite MAP MAP: the last one wins; with merge, the first",
    ),
    **dict.fromkeys(("attr", "getattr"), 'write index MAP "NAME"'),
    **dict.fromkeys(("hasattr", "contains_key", "is_defined", "has_key"), "write hasKey MAP KEY"),
    "element": "write index LIST N",
    **dict.fromkeys(("try", "can"), "a value that may be missing takes a default: default OTHER X"),
    **dict.fromkeys(("sort", "sorted"), "sortAlpha sorts texts"),
    "includes": _PARTS,
    **dict.fromkeys(
        ("file", "templatefile", "readFile", "open"),
        "a template reads no files: write a named template with define, and include it",
    ),
    **dict.fromkeys(("isinstance", "instanceof"), 'write kindIs "string" VALUE'),
    "mandatory": 'write {{ if not .x }}{{ fail "x is missing" }}{{ end }}, or default',
    "chomp": 'write trimSuffix "\n" TEXT',
    "md5": "write sha256sum TEXT",
    **dict.fromkeys(
        ("getResource", "get_resource", "getObserved", "get_observed", "getComposed"),
        'write getComposedResource . "NAME"',
    ),
    **dict.fromkeys(("getXR", "getXr", "get_xr", "getComposite"), "write getCompositeResource ."),
    "self": "the data is the dot, or $ from everywhere",
    "this": "the data is the dot, or $ from everywhere",
}
_DASH: Final = 'a name has letters, digits and _: write index MAP "NAME" for others'
_DASH_IN_VARIABLE: Final = "the name of a variable has letters, digits and _ only"
_MAX_KEYWORD: Final = 5
_NO_VALUES: Final = frozenset({"exit", "pass", "return", "yield"})
# Parser messages and their hints.
_SYNTAX: Final = (
    ("unexpected <range> in ", "range is a block: set the variable inside of it with ="),
    ("unexpected <if> in ", "if is a block: declare the variable before, and set it inside with ="),
    ("non executable command in pipeline", "behind | comes a function, which gets what is before"),
    ('unexpected "," in', "arguments have blanks between them, no commas"),
    ("bad character U+003F", "a field that may be missing: test it with if or with, or use dig"),
    ("invalid syntax", "write two backslashes for one, or the text in backquotes"),
    ('unexpected "{" in if', "a value in an action has no braces of its own"),
    ('unexpected "{" in range', "a value in an action has no braces of its own"),
    ('unexpected "/" in command', "a comment is {{/* TEXT */}}"),
    ("unterminated character constant", "a text is in double quotes"),
    ("unclosed comment", "a comment ends with */"),
    ("comment ends before closing delimiter", "a comment is alone in its action"),
    ("template: multiple definition", "give one of them another name"),
    ("unexpected {{end}}", "no if, range, with or define is open here: take it out"),
    ("unexpected {{else", "no if, range or with is open here"),
    ("expected end; found {{else", "a block has one else: other conditions are written as else if"),
    ("{{break}} outside", "only a range can be left: take it out"),
    ("{{continue}} outside", "only a range has turns: take it out"),
    ('unexpected "}" in operand', "an action ends with two braces: }}"),
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
    (
        r".*cannot index slice/array with type string.*",
        "items of a list have numbers; a condition is getResourceCondition TYPE RESOURCE",
    ),
    (
        r"value has type int; should be string.*",
        "keys of a map are texts; splitList gives a list, where split gives a map with _0 and _1",
    ),
    (r".*index out of range.*", "test the length first: {{ if gt (len .list) 2 }}"),
    (r"range can't iterate over.*", "range goes over lists, maps and whole numbers: see the path"),
    (r"incompatible types for comparison.*", "convert one of the two: int, float64 or toString"),
    (r".*missing closing \).*", "close it with ), or write \\\\( for the character itself"),
    (r".*missing closing \].*", "close it with ], or write \\\\[ for the character itself"),
    (r".*error parsing regexp.*", _PATTERN),
)
_ARGUMENTS: Final = re.compile(r"wrong number of args for (\w+): .*")
_NOT_A_TEMPLATE: Final = re.compile(r'no template "(.*)" associated|template "(.*)" not defined')
_UNKNOWN: Final = re.compile(r'function "(.*)" not defined')
_VARIABLE: Final = re.compile(r'undefined variable "(\$\w*)"')
_DECLARED: Final = re.compile(r"(\$\w+)\s*(?:,\s*(\$\w+)\s*)?:=")


def syntax_hint(text: str, source: str, position: int) -> str | None:
    """Return the hint for a parser's message about a position of ``source``."""
    if text.startswith("bad character U+002D"):
        is_variable = re.search(r"\$\w*$", source[:position]) is not None
        return _DASH_IN_VARIABLE if is_variable else _DASH
    if text.startswith("unexpected") and text.endswith(" in else"):
        return "another condition is written as else if"
    if text.startswith('unexpected "%"') and source.endswith("{{", 0, position):
        return "an action begins with {{ alone: write {{ if … }}, {{ range … }} and {{ end }}"
    if unknown := _VARIABLE.search(text):
        declared = {name for names in _DECLARED.findall(source) for name in names if name}
        if unknown[1] in declared:
            return "its block has ended: declare it before the block, and set it inside with ="
        return suggest(
            unknown[1], tuple(declared), f"declare it first: {{{{ {unknown[1]} := ... }}}}"
        )
    return next((hint for words, hint in _SYNTAX if text.startswith(words)), None)


def is_foreign(text: str) -> bool:
    """Report whether an error is about a keyword of other languages."""
    name = _UNKNOWN.fullmatch(text)
    return name is not None and name[1] in _FROM_HABIT


def function_hint(name: str, functions: Iterable[str]) -> str | None:
    """Return the hint for an unknown function; it may be a misspelt keyword such as ``end``."""
    habit = _FROM_HELM.get(name) or _FROM_HABIT.get(name)
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


def run_hint(text: str, templates: Iterable[str]) -> str | None:
    """Return the hint for an error of a run; ``templates`` are the names that are defined."""
    if unknown := _NOT_A_TEMPLATE.search(text):
        name = next(group for group in unknown.groups() if group is not None)
        return suggest(name, tuple(templates), f'write {{{{ define "{name}" }}}} ... {{{{ end }}}}')
    if (call := _ARGUMENTS.search(text)) and call[1] in registry.FUNCTIONS:
        return f"{call[1]} takes {registry.FUNCTIONS[call[1]].parameters or 'nothing'}; {_ARITY}"
    return next((hint for pattern, hint in _RUN if re.fullmatch(pattern, text, re.DOTALL)), None)
