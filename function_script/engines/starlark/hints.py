"""Hints for common mistakes of people who know Python or templates, by interpreter message."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from function_script import spelling
from function_script.engines.library import FUNCTIONS, find_hint

# The interpreter lists every symbol that it accepts; a long list is no help.
_MAX_EXPECTED = 4
_EXPECTED = re.compile(r", expected one of (.+)$", re.DOTALL)
_SUGGESTION = re.compile(r', did you mean "?([^"]*?)"?\?$')
_LAST_NAME = re.compile(r'"([^"]*)"[^"]*$')
_RAISED = re.compile(r"^(?:ValueError|TypeError): ")
_REPR = re.compile(r"(\w+) \(repr: .*\)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hint:
    """A hint: ``message`` is searched in the message, ``line`` in the line before the error."""

    message: re.Pattern[str]
    text: str
    line: re.Pattern[str] | None = None


def _hint(message: str, text: str, line: str | None = None) -> _Hint:
    pattern = None if line is None else re.compile(line)
    return _Hint(message=re.compile(message, re.DOTALL), text=text, line=pattern)


def explain(message: str, line: str, column: int | None) -> tuple[str, str | None]:
    """Return the message reworded and a hint; ``line`` is the source's, ``column`` 1-based."""
    before = line if column is None else line[: column - 1]
    hint = _find(message, before)
    if not message.startswith(("fail: ", "ValueError: ", "TypeError: ")):
        message = message.removeprefix("Parse error: ")
        for pattern, text in _WORDS:
            message = pattern.sub(text, message)
        message = message.replace("`", '"').replace('""', '"').removesuffix(".")
        is_word = message[:1].isupper() and not message[1:2].isupper()
        message = message[:1].lower() + message[1:] if is_word else message
    match = None if message.startswith("fail: ") else _SUGGESTION.search(message)
    if match is None:
        return message, hint
    message = message[: match.start()]
    name = _LAST_NAME.search(message)
    # The interpreter also suggests names that are not near.
    if hint is None and name is not None and spelling.nearest(name[1], (match[1],)) is not None:
        hint = f'did you mean "{match[1]}"?'
    return message, hint


def for_result(problem: str) -> str | None:
    """Return a hint for a problem of the value that main returned."""
    return _find(problem, "")


def _find(message: str, before: str) -> str | None:
    for hint in _HINTS:
        match = hint.message.search(message)
        if match and (hint.line is None or hint.line.search(before)):
            return match.expand(hint.text)
    return find_hint(_RAISED.sub("", message), FUNCTIONS)


_WORDS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (_EXPECTED, lambda match: match[0] if match[1].count('"') <= 2 * _MAX_EXPECTED else ""),
    (_REPR, r"\1"),
    (
        re.compile(r"^Immutable$"),
        "a value that was made outside of main, when the script was loaded, cannot be changed",
    ),
    (re.compile(r"^(.*) was not found$", re.DOTALL), r"\1 is missing"),
    (
        re.compile(r"^StarlarkError: .*serde::serialize.* on type `?(\w+)`?$"),
        r"a value of type \1 cannot be handed to this function",
    ),
    (re.compile(r"^Variable (.*) not found"), r"name \1 is not defined"),
    (
        re.compile(r"^Operation `(?:compare|cmp\(\))` not supported for types `(\w+)` and `(\w+)`"),
        r"cannot compare a value of type \1 with one of type \2",
    ),
    (
        re.compile(r"^Error unpacking value for parameter `\w+` of type `int\b.*", re.DOTALL),
        "the number is larger than this function takes",
    ),
    (re.compile(r"\(iter\)"), "for … in"),
    # Calls are of "script.name", or of a function of ours such as "<prelude>._resource".
    (re.compile(r"for call to `?(?:\S*\.)?_?(\w+)`?$"), r"of \1"),
)

_KEYWORDS = {
    "while": "there is no while: use `for _ in range(n):` with `break`",
    "import": 'there are no imports: modules are loaded with `load("name.star", "function")`',
    "from": 'there are no imports: modules are loaded with `load("name.star", "function")`',
    "try": "errors cannot be caught: test first, for example with `in` or `get(value, path)`",
    "except": "errors cannot be caught: test first, for example with `in` or `get(value, path)`",
    "raise": "stop with `fail(message)`",
    "assert": "write `if not condition: fail(message)`",
    "class": "there are no classes: use dicts, or `struct(a = 1)`",
    "is": "compare with `==` and `!=`, also with None",
    "del": "remove a key with `value.pop(key)`",
    "global": "values made outside of functions are constants: pass and return values instead",
    "nonlocal": "change a dict or a list of the outer function instead",
    "with": "there are no files or other resources to close",
    "yield": "collect the values in a list and return it",
}

_MISSING = 'get(value, "a.b.c") gives None where something on the way is missing'

_HINTS = (
    _hint(r"tabs are not allowed", "indent with spaces"),
    *(_hint(rf"reserved keyword `{word}`", text) for word, text in _KEYWORDS.items()),
    _hint(r"invalid input `[\u201c-\u201e\u2018\u2019]`", "use straight quotes"),
    _hint(r"invalid input `[^\x00-\x7f]`", "names are ASCII; other characters belong into quotes"),
    _hint(r"unexpected symbol '(?:<|>|<=|>=|==|!=)' here", "compare two by two: `a < b and b < c`"),
    _hint(r"unexpected symbol '\*\*' here", "there is no power: multiply", line=r"[\w)\]]\s*$"),
    _hint(r"unexpected symbol '\*\*' here", "merge dicts with `a | b`"),
    _hint(r"unexpected identifier '", "there are no schemas: use dicts", line=r"^\s*schema\s+$"),
    _hint(r"unexpected symbol '\*' here", "join lists with `a + b`"),
    _hint(r"unexpected new line here, expected one of (?:\"->\" or )?\":\"", "a colon is missing"),
    _hint(r"unexpected new indentation", "this line is indented further than the block it is in"),
    _hint(r"expected one of \"\\n\" or \"INDENT\"", "indent the lines of a block"),
    _hint(r"Not a valid identifier", 'f-strings hold names only: write "%s" % value'),
    _hint(r"must only occur at the top of a module", "move it to the top, outside of functions"),
    _hint(r"attribute `(get|items|keys|values)`", _MISSING),
    _hint(r"type `NoneType` has no attribute", _MISSING),
    _hint(r"type `dict` has no attribute `append`", "a dict gets a key: value[key] = ..."),
    _hint(r"type `dict` has no attribute `([^`]*)`", r'fields of a dict: ["\1"], or .get("\1")'),
    _hint(r"type `list` has no attribute", "take one item of the list, or loop over it"),
    _hint(r"`\[\]` not supported for types `NoneType`", _MISSING),
    _hint(r"`in` not supported for types `.*` and `NoneType`", _MISSING),
    _hint(r"`(?:\(iter\)|len\(\))` not supported on type `NoneType`", _MISSING),
    _hint(r"`\.\w+=` not supported on type `dict`", "fields of a dict are set with brackets"),
    _hint(r"^Key .* was not found", _MISSING),
    _hint(r"^Index `.*` is out of bound", "test the length first"),
    _hint(r"[Ee]xpected `int`,.*float", "divide with //, or use int(value)"),
    _hint(r"^Error unpacking value for parameter", "numbers here are at most 2147483647"),
    _hint(r"bracket `\{` is not closed", "close it with }"),
    _hint(r"bracket `\[` is not closed", "close it with ]"),
    _hint(r"bracket `\(` is not closed", "close it with )"),
    _hint(r"division by zero", "test that the divisor is not 0 first"),
    _hint(r"unfinished string literal", "close the text with the quote it begins with"),
    _hint(r"must be a string, not ", "use str(value)"),
    _hint(r"must be an integer, not ", "use int(value)"),
    _hint(r"must be a list(?: of \w+)?, not ", "put the value into brackets: [value]"),
    _hint(r"`\*` not supported for types .*`float`", "use int(value)"),
    _hint(r"`\+` not supported for types .*`string`", "use str(value), or a format such as %s"),
    _hint(r"`(?:compare|cmp\(\))` not supported", "only values of one type can be compared"),
    _hint(r"mutates an iterable", "loop over a copy: `for key in list(value):`"),
    _hint(r"`serde::serialize` not supported", "pass data, not functions"),
    _hint(r"main must return a dict, not NoneType", "does a return statement miss?"),
    _hint(
        r"main must return a dict, not string",
        'return {"desired": {"resources": {...}}}; from_yaml(text) reads an object',
    ),
    _hint(
        r"this step has set or removed it already",
        "each resource has a name of its own: in a loop, make it of the item",
    ),
    _hint(r"type `function` has no attribute `fromkeys`", "write {key: value for key in list}"),
    _hint(r"main must return a dict, not list", 'return {"desired": {"resources": {...}}}'),
    _hint(r"build has type function", "return rsp.build()"),
    _hint(r"has type function", "call it, with parentheses"),
    _hint(r"has type range", "write list(range(n))"),
    _hint(r"which is not a string", "use str(key)"),
)
