"""Filters on text, and filters for values that may be missing.

Every filter receives the run first, then the piped value, then the template's arguments. Its
signature and docstring are printed in the reference.
"""

from jinja2 import Undefined

from function_script.engines.jinja import exceptions, methods
from function_script.engines.jinja.calls import CallContext
from function_script.engines.jinja.output import to_text

_MAX_INDENT = 200


def string(run: CallContext, value: object) -> str:
    """The value as it would be written."""
    return to_text(run.budget, value)


def _charged_text(run: CallContext, value: object) -> str:
    whole = to_text(run.budget, value)
    run.budget.charge_characters(len(whole))
    return whole


def lower(run: CallContext, value: object) -> str:
    """The text in lower case."""
    return _charged_text(run, value).lower()


def upper(run: CallContext, value: object) -> str:
    """The text in upper case."""
    return _charged_text(run, value).upper()


def capitalize(run: CallContext, value: object) -> str:
    """The text with its first letter in upper case and the others in lower case."""
    return _charged_text(run, value).capitalize()


def title(run: CallContext, value: object) -> str:
    """The text with each word's first letter in upper case."""
    return _charged_text(run, value).title()


def trim(run: CallContext, value: object, chars: object = None) -> object:
    """The text without white space, or without these characters, at both ends."""
    return methods.call_string_method(run.budget, to_text(run.budget, value), "strip", (chars,))


def split(
    run: CallContext, value: object, separator: object = None, maxsplit: object = -1
) -> object:
    """The parts of a text between separators; without one, its words."""
    return methods.call_string_method(
        run.budget, to_text(run.budget, value), "split", (separator, maxsplit)
    )


def replace(run: CallContext, value: object, old: object, new: object, count: object = -1) -> str:
    """The text with every ``old`` replaced, or the first ``count`` of them."""
    budget = run.budget
    whole = to_text(budget, value)
    return methods.replace(budget, whole, to_text(budget, old), to_text(budget, new), count)


def indent(
    run: CallContext, value: object, width: object = 4, first: object = False, blank: object = False
) -> str:
    """Indent every line but the first (with ``first`` also that) and empty ones (``blank``)."""
    whole = to_text(run.budget, value)
    if isinstance(width, Undefined):
        raise exceptions.MissingError(width)
    if not isinstance(width, int) or width < 0:
        raise exceptions.RenderError(
            f"cannot indent by {exceptions.type_of(width)}", hint="how many spaces: 0 to 200"
        )
    if width > _MAX_INDENT:
        raise exceptions.BudgetError(
            f"an indentation of {width} spaces, the limit is {_MAX_INDENT}"
        )
    head, *others = whole.split("\n")
    run.budget.charge_characters(len(whole) + width * (1 + len(others)))
    margin = " " * width
    lines = [margin + line if line or blank else line for line in others]
    return "\n".join([margin + head if first else head, *lines])


def default(
    _run: CallContext, value: object, default_value: object = "", boolean: object = False
) -> object:
    """The value, or the default where it does not exist (with ``boolean``: or is false)."""
    if isinstance(value, Undefined) or (boolean and not value):
        return default_value
    return value


def required(
    run: CallContext, value: object, message: object = "a required value is missing"
) -> object:
    """The value; stops with the message where it does not exist, is null or an empty text."""
    if isinstance(value, Undefined) or value is None or value == "":
        raise exceptions.AuthorError(to_text(run.budget, message), name="required")
    return value
