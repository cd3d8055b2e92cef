"""Names of Kubernetes objects: RFC 1123 labels and subdomains, and values of labels."""

import re
from typing import Final

MAX_LABEL: Final = 63
"""Characters of an RFC 1123 label, and of a label's value."""
MAX_SUBDOMAIN: Final = 253
"""Characters of an RFC 1123 subdomain."""

# Each is for `fullmatch`, and says nothing of the length.
LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
SUBDOMAIN: Final = re.compile(rf"{LABEL.pattern}(\.{LABEL.pattern})*")
LABEL_VALUE: Final = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")


def is_label(text: str) -> bool:
    """Report whether a text is an RFC 1123 label."""
    return len(text) <= MAX_LABEL and LABEL.fullmatch(text) is not None


def is_subdomain(text: str) -> bool:
    """Report whether a text is an RFC 1123 subdomain, which most object names must be."""
    return len(text) <= MAX_SUBDOMAIN and SUBDOMAIN.fullmatch(text) is not None
