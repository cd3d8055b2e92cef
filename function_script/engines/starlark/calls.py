"""Calls and attributes that are wrong whenever they run: of the library, the prelude, a response.

One rule for both: before a run, with the types that are certain from the text, and after a failure,
with the one that the interpreter reports.
"""

import ast
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from function_script.engines import habits
from function_script.engines.signatures import (
    NULL,
    Signature,
    WrongArgument,
    explain_names,
    find_wrong_types,
)
from function_script.engines.starlark import signatures
from function_script.engines.starlark.analysis import syntax
from function_script.engines.starlark.analysis.kinds import Kinds
from function_script.step import conditions
from function_script.texts import spelling

IS_NONE: Final = "it is None: get(value, path, default) takes a default"
"""The hint for an operand or an argument that must have a value."""
_METHODS: Final[dict[str, habits.Kind]] = {
    "string": "text",
    "list": "list",
    "tuple": "list",
    "dict": "object",
    "namespace": "json",
}
_STATUSES: Final = ("True", "False", "Unknown")
_TARGETS: Final = ("Composite", "CompositeAndClaim")
# A reason has fewer words than a message.
_MAX_WORDS: Final = 3
_PASCAL_CASE: Final = conditions.PASCAL_CASE.fullmatch
_EVENTS: Final = frozenset({"event", "fatal", "warning"})


class Problem(NamedTuple):
    """A part of a source that is wrong, with a hint; ``is_word``: a word, and not its type."""

    node: ast.expr
    message: str
    hint: str | None
    is_word: bool = False


def find_predeclared(call: ast.Call, kinds: Kinds) -> Signature | None:
    """Return the signature of a function that is not the script's own; None if it is unclear."""
    match call.func:
        case ast.Attribute(value=value, attr=name) if kinds.of(value) == signatures.RESPONSE:
            return signatures.methods().get(name)
        case ast.Name(id=name) as function if kinds.is_predeclared(function):
            return signatures.functions().get(name)
        case _:
            return None


def find_problem(call: ast.Call, signature: Signature, kinds: Kinds) -> Problem | None:
    """Return what is certainly wrong with the arguments of a call; None if nothing is."""
    positional, keywords = syntax.arguments_of(call)
    types = [signatures.type_of_kind(kinds.of(argument)) for argument in positional]
    type_of_name = {
        name: signatures.type_of_kind(kinds.of(argument)) for name, argument in keywords.items()
    }
    for at, parameter in enumerate(signature.parameters):
        argument = find_argument(call, signature, parameter.name)
        # What the interpreter has refused comes before what the text makes certain.
        if argument is not None and argument in kinds.facts and parameter.types:
            where = parameter.name if argument in keywords.values() else at
            type_ = signatures.type_of_kind(kinds.of(argument))
            # Of a list of a wrong type, only the interpreter knows more.
            if type_ in parameter.types:
                return None
            return _explain_type(call, signature, WrongArgument(where, parameter, type_), kinds)
    for wrong in find_wrong_types(signature, types, type_of_name):
        return _explain_type(call, signature, wrong, kinds)
    match find_argument(call, signature, "body"):
        case ast.Lambda(args=ast.arguments(args=[first, *others], defaults=defaults)) as body if (
            len(others) >= len(defaults)
        ):
            message = f"the function of a resource is called without {first.arg}"
            hint = f"give it a value: `lambda {first.arg} = VALUE: …`"
            return Problem(body, message, hint)
    # A list or a dict that is spread may have the arguments that seem to be missing.
    is_whole = len(positional) + len(keywords) == len(call.args) + len(call.keywords)
    problem = _explain_names(call, signature) if is_whole else None
    return problem or _find_wrong_word(call, signature)


def _explain_type(
    call: ast.Call, signature: Signature, wrong: WrongArgument, kinds: Kinds
) -> Problem:
    """Return the problem of an argument of a wrong type."""
    positional, keywords = syntax.arguments_of(call)
    argument = positional[wrong.at] if isinstance(wrong.at, int) else keywords[wrong.at]
    text, parameter = to_source(argument), wrong.parameter
    types = [each for each in parameter.types if each != NULL]
    # Nothing is wrong with the order of one argument, of some with names, and of any number.
    is_ordered = isinstance(wrong.at, int) and not re.search(r"\*\w|\(\w+\)$", signature.usage)
    # A null is wrong in any order, and where a number is wanted, a text may hold one.
    is_certain = types != ["integer"] or isinstance(argument, ast.Constant)
    is_ordered = is_ordered and is_certain and wrong.type != NULL
    if kinds.is_parameter(argument):
        # The caller may have the wrong order, unless another argument here is the right one.
        is_ordered &= any(
            getattr(each, "id", "") == parameter.name
            or signatures.type_of_kind(kinds.of(each)) in parameter.types
            for each in positional
            if each is not argument
        )
    hint: str | None = f"write {signature.usage}" if is_ordered else None
    if wrong.type == "number" and types == ["integer"]:
        hint = "divide with //, or use int(value)"
    elif wrong.type == "list" and types == ["object", "function"]:
        hint = "each object has a name and a call of its own"
    elif wrong.type == "string":
        hint = _hint_for_text(call, signature, wrong, text, types) or hint
    # The first of several arguments may be the one that belongs behind.
    elif (
        wrong.type in {"integer", "number"}
        and types == ["string"]
        and (parameter.name != "key" and (wrong.at != 0 or len(positional) == 1))
    ):
        hint = f'write "{text}s"' if parameter.name == "duration" else f"write str({text})"
    return Problem(argument, f"cannot call {signature.name}: {wrong.problem}", hint)


def _hint_for_text(
    call: ast.Call, signature: Signature, wrong: WrongArgument, text: str, types: Sequence[str]
) -> str | None:
    """Return the hint for a text where another type is taken; None if it is not certain."""
    positional, _ = syntax.arguments_of(call)
    lead = "" if isinstance(wrong.at, int) else f"{wrong.at} = "
    word = text.strip('"')
    # Of several arguments, another one may be the resource, or each an item of the list.
    if wrong.parameter.name == "resource" and len(positional) == 1:
        return f"write get_observed(req, {text})"
    match types:
        case ["object"] if len(signature.parameters) == 1 < len(positional):
            # `rsp.status("region", value)`
            return f"write {to_source(call.func)}({{{text}: {to_source(positional[1])}}})"
        case ["object", "function"] if "apiVersion:" in word:
            return "from_yaml(text) reads an object"
        case ["list"] if wrong.at not in range(len(positional) - 1):
            items = re.sub(r"[,;] *", '", "', text)
            return f"write {lead}[{items}]"
        case ["integer"] if word.isdigit():
            # A text that is written out and no number was to be another argument.
            return f"write {word}"
        case ["boolean"] if word.capitalize() in {"True", "False"}:
            return f"write {lead}{word.capitalize()}"
        case _:
            return None


def _explain_names(call: ast.Call, signature: Signature) -> Problem | None:
    """Return the problem of arguments that are missing, too many, or of no parameter."""
    positional, keywords = syntax.arguments_of(call)
    problem = explain_names(signature, len(positional), keywords)
    if problem is None:
        return None
    message, hint = problem
    names = {parameter.name for parameter in signature.parameters}
    node = next((keywords[name] for name in keywords if name not in names), call.func)
    return Problem(node, message, hint)


def find_argument(call: ast.Call, signature: Signature, name: str) -> ast.expr | None:
    """Return the argument for a parameter; None where the call does not write it out."""
    names = (parameter.name for parameter in signature.parameters)
    return syntax.bind_arguments(call, names).get(name)


def _find_wrong_word(call: ast.Call, signature: Signature) -> Problem | None:
    """Return the reason, status or target, written out, that a response does not take."""
    name = signature.name
    match call.func:
        case ast.Attribute(value=ast.Name(id=owner)) if name in {*_EVENTS, "condition"}:
            pass
        case _:
            return None
    arguments = syntax.bind_arguments(call, (each.name for each in signature.parameters))
    words = {
        key: node
        for key, node in arguments.items()
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    usage = f"write {signature.usage}"
    hint: str | None
    if (node := words.get("status")) and node.value not in _STATUSES:
        message = 'condition: the status must be True, False or "Unknown"'
        title = str(node.value).capitalize()
        hint = f'write "{title}"' if title in _STATUSES else usage
        return Problem(node, message, hint, is_word=True)
    if (node := words.get("type")) and node.value in conditions.RESERVED_CONDITIONS:
        message = f"condition: {node.value} is set by Crossplane, and cannot be set by a function"
        return Problem(node, message, f"choose another type; readiness is {owner}.ready(True)")
    if (node := words.get("target")) and node.value not in _TARGETS:
        # A text with blanks is a message in a wrong place.
        hint = usage if " " in str(node.value) else None
        message = f"{name}: the target must be {' or '.join(_TARGETS)}"
        return Problem(node, message, hint, is_word=True)
    node = words.get("reason")
    if node and node.value and not _PASCAL_CASE(text := str(node.value)):
        order = "first, the reason second" if name in _EVENTS else "behind the reason"
        message_text = getattr(
            words.get("message"), "value", "" if "message" in arguments else None
        )
        hint = f"the message comes {order}: {signature.usage}"
        # Beside a message, the text is the reason.
        if " " not in text or (message_text is not None and not _PASCAL_CASE(message_text)):
            hint = _advise_reason(text)
        message = f'{name}: the reason must be PascalCase, such as "NotFound"'
        return Problem(node, message, hint, is_word=True)
    return None


def _advise_reason(text: str) -> str | None:
    """Return the hint for a reason of a few words; None for a whole message."""
    words = re.findall(r"[A-Za-z0-9]+", text)
    pascal = "".join(word[0].upper() + word[1:] for word in words)
    return f'write "{pascal}"' if len(words) <= _MAX_WORDS and _PASCAL_CASE(pascal) else None


def explain_attribute(node: ast.Attribute, kind: str, *, is_called: bool) -> tuple[str, str | None]:
    """Return message and hint for an attribute that values of a type do not have."""
    name, owner = node.attr, to_source(node.value)
    message = f'a value of type {kind} has no attribute "{name}"'
    if kind == signatures.RESPONSE:
        other = spelling.nearest(name, signatures.attributes()[kind])
        # A name of another SDK.
        near = habits.find("starlark", name, "response") or other
        message = f'a response has no function "{name}"'
        return message, f"write {signatures.methods()[near].usage}" if near else None
    if kind == "function":
        is_response = owner == "response"
        return message, f"call it, with parentheses: rsp = {owner}()" if is_response else None
    if kind == "tuple" and name in signatures.attributes()["list"]:
        return message, "a tuple does not change: begin with a list, in [ ]"
    hint = habits.find("starlark", name, _METHODS[kind]) if kind in _METHODS else None
    if hint is not None and (is_called or kind != "dict"):
        return message, hint
    # A text or a list that has no get may be another argument than was meant.
    if is_called and kind in _METHODS and name in signatures.functions() and name != "get":
        return message, f"it is a function: {signatures.functions()[name].usage}"
    near = spelling.nearest(name, signatures.attributes().get(kind, ()))
    if near is not None and (is_called or kind != "dict"):
        return message, f'did you mean "{near}"?'
    if kind == "dict" and not is_called:
        getter = f', or .get("{name}")' if isinstance(node.ctx, ast.Load) else ""
        return message, f'fields of a dict: ["{name}"]{getter}'
    if kind == "list" and not is_called:
        return message, "take one item of the list, or loop over it"
    return message, None


def to_source(node: ast.AST) -> str:
    """Return an expression as an author writes it: texts in double quotes."""
    text = ast.unparse(node)
    return text if '"' in text else text.replace("'", '"')
