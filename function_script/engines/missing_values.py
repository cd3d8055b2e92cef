"""Values of the request that are not there: those that may be missing, and those in another place.

A document or a resource that needs a value of an observed resource may wait for it. The advice is
certain for a template whose line has text in front of the value: with ``missing: Defer`` the value
leaves a gap in a document that can be identified without it. A document that waits for its own
resource, or for a misspelt one, waits for ever.
"""

import re
from collections.abc import Collection
from typing import Final

from function_script.engines.template_names import find_names, split_document
from function_script.texts import spelling
from function_script.texts.field_names import ROOTS

OBSERVED: Final = "observed.resources"
"""The path of what has such values."""
_KEEPS: Final = "; with `onExisting: Keep` beside it, a resource that exists stays"
DOCUMENT_WAITS: Final = f"`missing: Defer` in the input makes this document wait for it{_KEEPS}"
RESOURCE_WAITS: Final = f"`missing: Defer` in the input makes this resource wait for it{_KEEPS}"
FUNCTION_WAITS_NOW: Final = "an object that is a function waits: rsp.resource(name, lambda: {...})"
"""The advice for a script whose input has ``missing: Defer``."""
FUNCTION_WAITS: Final = f"with `missing: Defer` in the input, {FUNCTION_WAITS_NOW}{_KEEPS}"
# A key or other text, and values in it. The name and the kind of a document cannot wait.
_BEFORE: Final = re.compile(
    r"(?!---|[\"']?(?:apiVersion|kind)\b)(?!.*\.fn\.crossplane\.io/)"
    r"[ \t]*[^\s{}#](?:[^{}#]|\{\{[^{}]*\}\})*"
)


def can_wait_behind(text: str) -> bool:
    """Report whether a document can wait for a value that its line has behind ``text``."""
    return _BEFORE.fullmatch(text) is not None


def comes_from_another_document(name: str, text: str, offset: int) -> bool:
    """Report whether a resource that the document at an offset reads is not composed there.

    Nor is it a misspelt name of another document. A name that no document has may be one of another
    step.
    """
    own, others = (find_names(part) for part in split_document(text, offset))
    return comes_from_another(name, own, others)


def comes_from_another(
    name: str, own: Collection[str] | None, others: Collection[str] | None
) -> bool:
    """Report whether a resource may have a name, and is neither the reader's own nor misspelt.

    ``own`` are the names that its reader composes, and ``others`` those of the rest of the program;
    None if one of them is computed.
    """
    if own is None:
        return others is not None and name in others
    if others is None or name in own:
        return name not in own
    return name in others or spelling.nearest(name, (*own, *others)) is None


def is_below_resource(name: str, names: Collection[str]) -> bool:
    """Report whether a field is one of an object, and the names are of what is around the object.

    A resource of a request has its object in the field ``resource``.
    """
    return name in ROOTS and "resource" in names and "apiVersion" not in names
