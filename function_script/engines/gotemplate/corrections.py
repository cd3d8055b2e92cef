"""Corrections of actions that are written as in another language, verified by Go's grammar.

`correct` proposes an action only if the parser accepts it in its template. An expression is read by
precedence, over the operands of Go, Python, JavaScript and Jinja. Where two meanings are possible,
or a form is rare, there is no correction.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from function_script.engines import habits
from function_script.engines.gotemplate import errors
from function_script.engines.gotemplate.syntax import parser
from function_script.request.objects import ENVIRONMENT

# A hint is read at a glance, and an event has room for a few.
_MAX_CHARACTERS: Final = 120
# Nobody writes a longer action in one line.
_MAX_ACTION: Final = 2_000


class Correction(NamedTuple):
    """The text of an action as it must be written, and the bounds of the text that it replaces.

    ``aside`` is what else must be changed, or "". ``failures`` are the errors that the corrected
    source has.
    """

    text: str
    start: int
    end: int
    aside: str = ""
    failures: Sequence[errors.ParseError] = ()

    @property
    def hint(self) -> str:
        """The hint."""
        return f"write {self.text}{self.aside}"

    def apply(self, source: str) -> str:
        """Return the source with the correction."""
        return source[: self.start] + self.text + source[self.end :]


def correct(source: str, position: int, grammar: parser.Grammar) -> Correction | None:
    """Return the correction of the action at a position; None if there is none that is certain."""
    match = _find_action(source, position, grammar.delims)
    if match is None or match.end() - match.start() > _MAX_ACTION:
        return None
    try:
        text, aside = _Action(match, source[: match.start()], grammar).rewrite()
    except (_UnreadableError, RecursionError):
        return None
    # An action that would stay as it is fails for a reason that is not its syntax.
    if text == match[0] or len(text) > _MAX_CHARACTERS or "\n" in text:
        return None
    correction = Correction(text, match.start(), match.end(), aside)
    return _parse(correction, source, grammar)


def _find_action(source: str, position: int, delims: tuple[str, str]) -> re.Match[str] | None:
    """Return the action at a position; None if its end is not certain."""
    left, right = map(re.escape, delims)
    start = source.rfind(delims[0], 0, position + 1)
    # Another left delimiter inside means that the end is that of another action.
    inside = rf"(?:{_QUOTED}|(?!-?{right}|{left})[^\"`'])*?"
    action = re.compile(rf"(?P<left>{left}-?)(?P<body>{inside})(?P<right>-?{right})", re.DOTALL)
    match = action.match(source, start) if start >= 0 else None
    return match if match is not None and position < match.end() else None


def _parse(correction: Correction, source: str, grammar: parser.Grammar) -> Correction | None:
    """Return the correction with the errors that are left; None if one is in the action."""
    end = correction.start + len(correction.text)
    try:
        parser.parse("", correction.apply(source), grammar)
    except errors.LimitExceededError:
        return None
    except parser.ParseFailure as failure:
        # A block without an end is another mistake.
        positions = [error.position or 0 for error in failure.errors if error.cause is None]
        is_mended = not any(correction.start <= position < end for position in positions)
        return correction._replace(failures=failure.errors) if is_mended else None
    return correction


def find_open_blocks(text: str, left: str) -> list[str]:
    """Return the keywords of the blocks that have no end in a text."""
    blocks: list[str] = []
    pattern = rf"{re.escape(left)}-?\s*(range|with|define|block|if|end)\b"
    for keyword in re.findall(pattern, text):
        if keyword != "end":
            blocks.append(keyword)
        elif blocks:
            blocks.pop()
    return blocks


def find_unclosed(source: str, position: int, delims: tuple[str, str]) -> int | None:
    """Return the start of the action at a position if text goes on before its end."""
    left, right = delims
    start = source.rfind(left, 0, position + 1)
    if start < 0:
        return None
    rest = source[start + len(left) :]
    end, own = rest.find(right), rest.partition(left)[0]
    is_open = (
        (end < 0 or len(own) < end)
        and "\n" in (own if left in rest else own.rstrip())
        and '"' not in own
    )
    return start if is_open else None


def find_variables(text: str) -> set[str]:
    """Return the variables that a text declares."""
    return {name for pair in _DECLARED.findall(text) for name in pair if name}


class _UnreadableError(Exception):
    """The action has no meaning that is certain."""


class _Token(NamedTuple):
    """A token; ``has_gap``: a blank is before it."""

    kind: str
    text: str
    has_gap: bool


class _Term(NamedTuple):
    """A Go expression. ``is_call``: it needs parentheses as an argument.

    ``type`` is text, number or boolean, or "" where it is not certain.
    """

    text: str
    type: str = ""
    is_call: bool = False

    @property
    def argument(self) -> str:
        """The expression as an argument."""
        return f"({self.text})" if self.is_call else self.text

    @property
    def is_literal(self) -> bool:
        """Report whether it is a constant."""
        return not self.is_call and self.type in {"text", "number"}


class _Action:
    """An action, and the names that it can refer to: the variables and blocks before it."""

    def __init__(self, match: re.Match[str], before: str, grammar: parser.Grammar) -> None:
        self._left, self._body, self._right = match["left"], match["body"].strip(), match["right"]
        self._grammar = grammar
        self._before = before
        blocks = find_open_blocks(before, grammar.delims[0])
        # The prefix of the root of the data, which is not certain to be at hand in a definition.
        is_inside = not {"range", "with"}.isdisjoint(blocks)
        is_defined = not {"define", "block"}.isdisjoint(blocks)
        self._root = None if is_defined else "$" if is_inside else ""

    def rewrite(self) -> tuple[str, str]:
        """Return it in Go's syntax, and what else must be changed; raises _UnreadableError."""
        body = self._body
        if match := _KEYWORD.fullmatch(body):
            return self._wrap(match["else"] or "end"), ""
        if match := _CONDITIONAL.match(body):
            keyword = "if" if match[1].removeprefix("#") == "if" else "else if"
            condition = self._expression(_THEN.sub("", body[match.end() :]))
            return self._wrap(f"{keyword} {condition}"), ""
        if match := _LOOP.match(body):
            return self._loop(body[match.end() :].strip().removesuffix(":"))
        if match := _NAMED.match(body):
            return self._wrap(self._named_template(match, body[match.end() :].strip())), ""
        if match := _ASSIGNMENT.match(body):
            name = f"${match[2].removeprefix('$')}"
            is_declaration = name not in find_variables(self._before) or (
                match[3] == ":=" and not match[1]
            )
            aside = "" if match[2].startswith("$") else f", and {name} where it is read"
            value = self._expression(body[match.end() :])
            return self._wrap(f"{name} {':=' if is_declaration else '='} {value}"), aside
        return self._wrap(self._expression(body)), ""

    def _wrap(self, body: str) -> str:
        return f"{self._left} {body} {self._right}"

    def _expression(self, text: str, *, is_argument: bool = False) -> str:
        expression = _Expression(text, self._grammar, self._before, self._root)
        value = expression.pipeline(is_argument=is_argument)
        expression.finish()
        return value.text

    def _loop(self, text: str) -> tuple[str, str]:
        """Return a range over what a loop of another language goes over."""
        match = _LOOP_NAMES.match(text) or _LOOP_WITHOUT_SIGN.match(text)
        if match is None:
            return self._wrap(f"range {self._expression(text)}"), ""
        names = [name for name in match.groups() if name]
        items = self._expression(text[match.end() :].removesuffix(".items()"))
        variables = ", ".join(f"${name}" for name in names)
        bare = [f"${name}" for name in names if not re.search(rf"\${name}\b", text)]
        aside = f", and {' and '.join(bare)} inside" if bare else ""
        return self._wrap(f"range {variables} := {items}"), aside

    def _named_template(self, match: re.Match[str], rest: str) -> str:
        """Return a define, block, template or include whose name is in double quotes."""
        keyword, name = match[1], match[2] or match[3] or match[4]
        if keyword == "define":
            if rest:
                raise _UnreadableError
            return f'define "{name}"'
        if keyword == "template" and "|" in rest:
            # A pipe would be about the data; `include` returns the text.
            keyword = "include"
        return f'{keyword} "{name}" {self._expression(rest, is_argument=True)}'


class _Expression:
    """An expression of another language, read from its tokens, and the text before it."""

    def __init__(self, text: str, grammar: parser.Grammar, before: str, root: str | None) -> None:
        self._functions = grammar.functions
        self._before = before
        self._variables = find_variables(before)
        self._root = root
        self._tokens = _read_tokens(text)
        self._position = 0

    @property
    def token(self) -> _Token:
        """The next token; at the end one of kind ``end``."""
        return self._tokens[self._position] if self._position < len(self._tokens) else _END_TOKEN

    def finish(self) -> None:
        """Raise _UnreadableError unless all is read."""
        if self.token is not _END_TOKEN:
            raise _UnreadableError

    def _take(self) -> _Token:
        token = self.token
        self._position += 1
        return token

    def _accept(self, *texts: str) -> str:
        """Consume the next token if it is one of these operators or words, and return it."""
        token = self.token
        if token.kind in {"operator", "word"} and token.text in texts:
            self._position += 1
            return token.text
        return ""

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            raise _UnreadableError

    def pipeline(self, *, is_argument: bool = False) -> _Term:
        """Read stages with ``|`` between them, with arguments as in Go, Jinja or Liquid.

        ``is_argument``: the first one stands behind a function.
        """
        value = self._operation()
        if self._accept("?"):
            value = self._choice(value)
        if is_argument:
            value = _Term(value.argument)
        while self._accept("|"):
            name = self._find_function(self._take())
            arguments: list[_Term] = []
            if not self.token.has_gap and self._accept("("):
                arguments = self._arguments()
            elif self._accept(":", "="):
                arguments = [self._operation()]
            else:
                while self._begins_operand():
                    arguments.append(self._operand())
            stage = self._call(name, *arguments, is_piped=True)
            value = _Term(f"{value.text} | {stage.text}", is_call=True)
        return value

    def _choice(self, condition: _Term) -> _Term:
        """Read the rest of ``condition ? yes : no``."""
        yes = self._operation()
        self._expect(":")
        no = self._operation()
        if condition.type == "boolean":
            return self._call("ternary", yes, no, condition)
        if not (yes.is_literal and no.is_literal):
            # Both are evaluated, and one of them may be missing with the condition.
            raise _UnreadableError
        return self._call("ternary", no, yes, self._call("empty", condition))

    def _operation(self, level: int = 0) -> _Term:
        """Read operands with operators of this precedence and of higher ones."""
        if level == len(_OPERATORS):
            return self._application()
        if level == _NEGATION and self._accept("not"):
            return self._call("not", self._operation(level))
        value = self._operation(level + 1)
        has_gap = self.token.has_gap
        while operator := self._accept(*_OPERATORS[level]):
            right = self._operation(level + 1)
            if operator == "-" and right.type != "number" and not has_gap:
                # A difference, or two texts with a dash between them.
                raise _UnreadableError
            value = self._operate(operator, value, right)
            has_gap = self.token.has_gap
            if level == _NEGATION:
                # Chained comparisons mean something else in each language.
                break
        return value

    def _operate(self, operator: str, left: _Term, right: _Term) -> _Term:
        function = _OPERATIONS.get(operator, operator)
        if right.text == "nil" and function in {"eq", "ne"}:
            # A null or missing value is false.
            return self._call("not", left) if function == "eq" else left
        types = {left.type, right.type}
        if operator == "~" or (operator == "+" and "text" in types):
            return self._call("print", left, right)
        # `eq .a "b" or "c"` means another comparison, and the text is always true.
        is_cut = function == "or" and left.type == "boolean" != right.type and right.is_literal
        if is_cut or ("text" in types and function in _ARITHMETIC):
            raise _UnreadableError
        if operator == "+" and "number" not in types:
            # Two numbers, two texts or two lists.
            raise _UnreadableError
        value = self._call(function, left, right)
        return value._replace(type="number") if function in _ARITHMETIC else value

    def _application(self, most: int | None = None) -> _Term:
        """Read ``function argument …``, or a single operand; ``most`` is a number of arguments."""
        if self._accept("!"):
            return self._call("not", self._application())
        token = self.token
        name = self._find_function(token)
        if not name or self._is_called():
            value = self._operand()
            if self._begins_operand() and self.token.text not in COMPARISONS:
                raise _UnreadableError
            return value
        self._take()
        arguments = self._pairs() if name == "dict" else []
        while self._begins_operand() and len(arguments) != most:
            arguments.append(self._argument())
        if name in _VALUE_LAST and name != token.text:
            arguments = _put_last(arguments)
        # An operator may be meant for the last argument or for the whole call.
        is_ambiguous = name in {"and", "or", "not"} and self.token.text in _OPERATORS[_NEGATION]
        if is_ambiguous or self.token.text in _SIGNS:
            raise _UnreadableError
        return self._call(name, *arguments)

    def _pairs(self, end: str = "") -> list[_Term]:
        """Read keys and values, perhaps with signs between them, up to a bracket or the last."""
        values: list[_Term] = []
        read = self._operation if end else self._argument
        while not self._accept(end) if end else self._begins_operand():
            is_word = self.token.kind == "word" and (end or not self._find_function(self.token))
            values.append(_text(self._take().text) if is_word else read())
            self._accept(":", "=", "=>")
            values.append(read())
            self._accept(",")
        return values

    def _argument(self) -> _Term:
        """Read an argument; a function that takes arguments takes all that follow."""
        name = self._find_function(self.token)
        if not name or self._is_called():
            return self._operand()
        function = self._functions[name]
        most = None if function.variadic else len(function.parameter_types)
        return self._application(most=2 if name in COMPARISONS else most)

    def _call(self, name: str, *arguments: _Term, is_piped: bool = False) -> _Term:
        """Return a call; raises _UnreadableError for no function, and for wrong arguments."""
        function = self._functions.get(name)
        if function is None:
            raise _UnreadableError
        types, count = function.parameter_types, len(arguments) + is_piped
        if count < len(types) - function.variadic or (count > len(types) and not function.variadic):
            raise _UnreadableError
        if name in COMPARISONS and (
            count != len(("left", "right"))
            or any("getResourceCondition" in each.text for each in arguments)
        ):
            # A condition has fields: nobody knows which one is meant.
            raise _UnreadableError
        if function.variadic and any(each.type == "list" for each in arguments):
            # Its items may be meant as arguments.
            raise _UnreadableError
        type_ = {"bool": "boolean", "string": "text"}.get(function.returns, "")
        if name in {"and", "or"} and {argument.type for argument in arguments} == {"boolean"}:
            type_ = "boolean"
        text = " ".join([name, *(argument.argument for argument in arguments)])
        return _Term(text, type_, is_call=bool(arguments))

    def _find_function(self, token: _Token) -> str:
        """Return Go's name of a function, perhaps under another language's name; "" for others."""
        name = find_go_name(token.text)
        return name if token.kind == "word" and name in self._functions else ""

    def _is_called(self) -> bool:
        """Report whether the next token is a name with a parenthesis right behind it."""
        following = (*self._tokens[self._position + 1 :], _END_TOKEN)[0]
        return following.text == "(" and not following.has_gap

    def _begins_operand(self) -> bool:
        """Report whether the next token begins another argument."""
        token = self.token
        if token.kind == "operator":
            return token.text in {"(", ".", "[", "{"} and token.has_gap
        return token.kind != "end" and token.has_gap and token.text not in _INFIX

    def _arguments(self, end: str = ")") -> list[_Term]:
        """Read ``a, b`` up to a bracket."""
        values: list[_Term] = []
        while not self._accept(end):
            values.append(self.pipeline())
            if not self._accept(",") and self.token.text != end:
                raise _UnreadableError
        return values

    def _operand(self) -> _Term:
        """Read an operand with the fields, indices and methods behind it."""
        value, holder, name = self._primary(), None, ""
        while not self.token.has_gap and self.token.kind != "end":
            token = self.token
            if token.kind == "field":
                holder, name = value, self._take().text[1:]
                if name == "length":
                    # A field, or the property of JavaScript.
                    raise _UnreadableError
                value = _Term(f"{'' if value.text == '.' else value.argument}{token.text}")
            elif token.kind in {"key", "dashed"}:
                value, holder = self._index(value, _text(self._take().text[1:])), None
            elif self._accept("["):
                value, holder = self._index(value, self._operation()), None
                self._expect("]")
            elif self._accept("("):
                # The function that is like the method of Python or JavaScript.
                arguments = self._arguments()
                function = _METHOD_NAMES.get(name) or find_go_name(name)
                if holder is None or _METHODS.get(function) != len(arguments):
                    raise _UnreadableError
                if function == "join" and holder.is_literal:
                    arguments, holder = [holder], arguments[0]
                value, holder = self._call(function, *arguments, holder), None
            else:
                break
        return value

    def _index(self, value: _Term, key: _Term) -> _Term:
        """Return ``index value key``."""
        # `split` makes a map, whose keys are _0 and _1. No list has an item before the first.
        if re.search(r"\bsplit\s", self._before + value.text) or key.text.startswith("-"):
            raise _UnreadableError
        return self._call("index", value, key)

    def _primary(self) -> _Term:
        """Read an operand without anything behind it."""
        token = self._take()
        match token:
            case _Token("string", text):
                value = _Term(text, "text")
            case _Token("quoted", text):
                body = text[1:-1].replace("\\'", "'").replace('"', '\\"')
                value = _Term(f'"{body}"', "text")
            case _Token("number", text):
                value = _Term(text, "number")
            case _Token("variable" | "field", text) | _Token("operator", "." as text):
                value = _Term(text)
            case _Token("word"):
                value = self._word(token)
            case _Token("operator", "("):
                value = self.pipeline()
                self._expect(")")
            case _Token("operator", "["):
                value = self._call("list", *self._arguments("]"))._replace(type="list")
            case _Token("operator", "{"):
                value = self._call("dict", *self._pairs("}"))
            case _:
                raise _UnreadableError
        return value

    def _word(self, token: _Token) -> _Term:
        """Read a name: a constant, a function, a variable, or a part of the request."""
        text, following, name = token.text, self.token, self._find_function(token)
        if text == "nil":
            return _Term(text)
        if text.lower() in {"true", "false"}:
            return _Term(text.lower(), "boolean")
        if not following.has_gap and self._accept("("):
            arguments = self._arguments()
            if name in _VALUE_LAST:
                arguments = _put_last(arguments)
            return self._call("splitList" if name == "split" else name, *arguments)
        if f"${text}" in self._variables:
            return _Term(f"${text}")
        if name:
            return self._call(name)
        if following.kind == "field" and not following.has_gap and self._root is not None:
            if text in REQUEST:
                return _Term(f"{self._root}.{text}")
            if text in _OF_XR:
                return _Term(f"{self._root}.observed.composite.resource.{text}")
        raise _UnreadableError


def _read_tokens(text: str) -> list[_Token]:
    """Return the tokens of an action's text; raises _UnreadableError."""
    tokens: list[_Token] = []
    end = 0
    for match in _TOKEN.finditer(text):
        gap = text[end : match.start()]
        if gap.strip():
            raise _UnreadableError
        # A variable is no field of the dot.
        word = match[0].removeprefix(".") if match.lastgroup == "variable" else match[0]
        tokens.append(_Token(match.lastgroup or "", word, bool(gap)))
        end = match.end()
    if text[end:].strip():
        raise _UnreadableError
    return tokens


def _put_last(arguments: list[_Term]) -> list[_Term]:
    """Return arguments with the value last, where other languages have it first."""
    is_reversed = [each.is_literal for each in arguments] == [False] + [True] * (len(arguments) - 1)
    return [*arguments[1:], arguments[0]] if is_reversed else arguments


def _text(text: str) -> _Term:
    return _Term(json.dumps(text), "text")


def find_go_name(name: str) -> str:
    """Return the name of a function here, which has another one in other languages."""
    return habits.find("gotemplate", name, "alias") or name


_END_TOKEN: Final = _Token("end", "", has_gap=True)

REQUEST: Final = frozenset({"observed", "desired", "context", "params"})
"""The parts of the request that an author names."""
_OF_XR: Final = frozenset({"spec", "metadata", "status"})
# Words that stand between operands in other languages.
_INFIX: Final = frozenset({"and", "or", "in", "is", "not", "if", "else", "then"})
COMPARISONS: Final = ("eq", "ge", "gt", "le", "lt", "ne")
# Operators of other languages in the order of their precedence, and their functions.
_OPERATORS: Final[Sequence[Sequence[str]]] = (
    ("||", "or"),
    ("&&", "and"),
    ("==", "===", "!=", "!==", "<", "<=", ">", ">=", *COMPARISONS),
    ("+", "-", "~"),
    ("*", "%"),
)
_NEGATION: Final = 2
_OPERATIONS: Final[Mapping[str, str]] = {
    "||": "or",
    "&&": "and",
    **dict.fromkeys(("==", "==="), "eq"),
    **dict.fromkeys(("!=", "!=="), "ne"),
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
    "+": "add",
    "-": "sub",
    "*": "mul",
    "%": "mod",
}
_ARITHMETIC: Final = frozenset({"add", "sub", "mul", "mod"})
_SIGNS: Final = frozenset("+-*/%")
# Methods by Go's names, and how many arguments the function takes before the value.
_METHODS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("lower", "trim", "upper"), 0),
    **dict.fromkeys(("hasPrefix", "hasSuffix", "join", "splitList"), 1),
    **dict.fromkeys(("dig", "replace"), 2),
}
_METHOD_NAMES: Final = {"get": "dig", "split": "splitList"}
SUBJECT_LAST: Final = frozenset(
    {
        *("contains", "default", "hasPrefix", "hasSuffix", "join", "nindent", "indent", "repeat"),
        *("replace", "split", "splitList", "trimPrefix", "trimSuffix", "trunc", "regexMatch"),
    }
)
"""Functions that take the text they work on last, where other languages have it first."""
_VALUE_LAST: Final = SUBJECT_LAST | {
    *("date", "has", "regexFind", "semverCompare", "substr", "ternary", "trimAll")
}
_QUOTED: Final = r""""(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\\n]|\\.)*'"""
_NAME: Final = r"[A-Za-z_]\w*"
# A key with a slash has dots of its own. It is the last part of a path, but in the context.
_HOLDERS: Final = ("annotations", "labels", "matchLabels", "nodeSelector")
_OWN_KEY: Final = "|".join(rf"(?<=\.{name})" for name in _HOLDERS)
_SLASHED: Final = r"[\w-]+(?:\.[\w-]+)*/"
_CONTEXT_KEY: Final = rf"(?:{re.escape(ENVIRONMENT)}|{_SLASHED}[\w-]+(?![\w.-]))"
_TOKEN: Final = re.compile(
    "|".join(
        (
            r'(?P<string>"(?:[^"\\\n]|\\.)*"|`[^`]*`)',
            r"(?P<quoted>'(?:[^'\\\n]|\\.)*')",
            rf"(?P<key>(?:{_OWN_KEY})\.{_SLASHED}[\w.-]+|(?<=\.context)\.{_CONTEXT_KEY})",
            rf"(?P<dashed>\.{_NAME}(?:-[A-Za-z_]\w*|-\d\w*[A-Za-z_]\w*)+)",
            rf"(?P<field>\.{_NAME})",
            rf"(?P<variable>(?:(?<![\w)\]])\.)?\${_NAME}|\$)",
            r"(?P<number>(?:(?<=[ (\[,])-)?\d[\d_]*(?:\.\d+)?)",
            rf"(?P<word>{_NAME})",
            r"(?P<operator>===|!==|==|!=|<>|<=|>=|&&|\|\||\?\?|=>|[-+*/%<>=!?:|,()\[\]{}~.])",
        )
    )
)
_DECLARED: Final = re.compile(r"(\$\w+)\s*(?:,\s*(\$\w+)\s*)?:=")
_KEYWORD: Final = re.compile(
    r"(?P<else>else)\s*[:{]?|end[ \t]*(?:if|for|range|with|block|define|macro)?"
    r"|/(?:if|each|with|unless)"
)
_CONDITIONAL: Final = re.compile(r"(else[ \t]+if|elseif|elif|\#?if)\b\s*")
_THEN: Final = re.compile(r"(?:\s+then|\s*:)\Z")
_LOOP: Final = re.compile(r"(?:range|for|\#each)\s+")
_LOOP_NAMES: Final = re.compile(
    r"\$?([A-Za-z_]\w*)(?:\s*(?:,|\s(?=\$))\s*\$?([A-Za-z_]\w*))?\s*(?::=|=|\bin\b)\s*"
)
_LOOP_WITHOUT_SIGN: Final = re.compile(r"\$(\w+)\s*,\s*\$(\w+)\s+(?=[$.(])")
_NAMED: Final = re.compile(
    r"(define|block|template|include)\s+(?:\"([^\"]+)\"|'([^']+)'|([A-Za-z][\w.\-/]*))"
)
_ASSIGNMENT: Final = re.compile(r"(?:(set|let|var|const)\s+)?(\$?[A-Za-z_]\w*)\s*(:=|=(?![=~>]))")
