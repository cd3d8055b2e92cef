"""Go's expressions, put together from those of other languages."""

from collections.abc import Sequence
from typing import NamedTuple

from function_script.engines.gotemplate.corrections import vocabulary
from function_script.engines.gotemplate.corrections.tokens import Unreadable


class Term(NamedTuple):
    """A Go expression. ``is_call``: it needs parentheses as an argument."""

    text: str
    is_call: bool = False
    is_text: bool = False
    is_number: bool = False
    is_boolean: bool = False

    @property
    def argument(self) -> str:
        """The expression as an argument."""
        return f"({self.text})" if self.is_call else self.text

    @property
    def is_literal(self) -> bool:
        """Report whether it is a constant."""
        return not self.is_call and (self.is_text or self.is_number)


class Choice(NamedTuple):
    """``condition ? yes : no``, which has another form as a whole action."""

    condition: Term
    yes: Term
    no: Term


def call(function: str, *arguments: Term, is_boolean: bool = False, is_text: bool = False) -> Term:
    """Return the call of a function."""
    text = " ".join([function, *(argument.argument for argument in arguments)])
    return Term(text, is_call=bool(arguments), is_boolean=is_boolean, is_text=is_text)


def in_order(name: str, arguments: list[Term]) -> list[Term]:
    """Return arguments in Go's order: the one that is no constant comes last."""
    is_reversed = (
        name in vocabulary.SUBJECT_LAST
        and len(arguments) > 1
        and not arguments[0].is_literal
        and all(argument.is_literal for argument in arguments[1:])
    )
    return [*arguments[1:], arguments[0]] if is_reversed else arguments


def are_boolean(terms: Sequence[Term]) -> bool:
    """Report whether all are booleans."""
    return bool(terms) and all(term.is_boolean for term in terms)


def join_texts(left: Term, right: Term) -> Term:
    """Return the text of two values behind each other; a third one joins the same call."""
    if left.is_call and left.text.startswith("print "):
        return Term(f"{left.text} {right.argument}", is_call=True, is_text=True)
    return call("print", left, right, is_text=True)


def compare(operator: str, left: Term, right: Term) -> Term:
    """Return a comparison; raises Unreadable for one of two meanings."""
    if operator in {"is", "is not"} and right.text != "nil":
        raise Unreadable
    if right.text == "nil":
        # A null or missing value is false.
        if operator in {"=", "==", "===", "is"}:
            return call("not", left, is_boolean=True)
        if operator in {"!=", "!==", "<>", "is not"}:
            return left
        raise Unreadable
    if operator in {"in", "not in"}:
        if not right.text.startswith("list "):
            # A list, a map and a text have a function each.
            raise Unreadable
        value = call("has", left, right, is_boolean=True)
        return value if operator == "in" else call("not", value, is_boolean=True)
    if operator == "=~":
        return call("regexMatch", right, left, is_boolean=True)
    return call(vocabulary.COMPARISONS.get(operator, operator), left, right, is_boolean=True)
