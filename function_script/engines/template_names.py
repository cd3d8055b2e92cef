"""The names of composed resources that a template writes out; its text is not YAML yet."""

import re
from typing import Final

NAMING_CALL: Final = (
    r"(?:setResourceNameAnnotation +|set_resource_name_annotation\()[\"'](?P<call>[\w.-]+)[\"']\)?"
)
"""A call that names a resource by a constant."""
SEPARATOR: Final = re.compile(r"^---.*$", re.MULTILINE)
NAMING: Final = re.compile(
    r"composition-resource-name|setResourceNameAnnotation|set_resource_name_annotation"
)
"""The annotation and the functions that name a composed resource."""
_RESOURCE_NAME: Final = re.compile(
    r"composition-resource-name[\"']?: *[\"']?(?P<key>[\w.-]+)[\"']?(?=[ ,}]|$)"
    rf"|{NAMING_CALL} *-?\}}",
    re.MULTILINE,
)


def find_names(text: str) -> frozenset[str] | None:
    """Return the names of resources; None if one is computed."""
    matches = [*_RESOURCE_NAME.finditer(text)]
    # A mention that the stricter pattern does not match has a name that is computed.
    if len(matches) != len(NAMING.findall(text)):
        return None
    return frozenset(match["key"] or match["call"] for match in matches)


def split_document(text: str, offset: int) -> tuple[str, str]:
    """Return the document around an offset of a template, and the text of all others."""
    begin = max((match.end() for match in SEPARATOR.finditer(text, 0, offset)), default=0)
    end = match.start() if (match := SEPARATOR.search(text, offset)) else len(text)
    return text[begin:end], f"{text[:begin]}\n{text[end:]}"
