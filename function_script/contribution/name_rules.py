"""The rules of Kubernetes for names and label values, checked in every composed resource.

Crossplane and the API server check them, too, but later and without a position in the program.
"""

import re
from collections.abc import Mapping

from function_script.names import LABEL_VALUE, MAX_LABEL, MAX_SUBDOMAIN, SUBDOMAIN
from function_script.reader import ObjectReader

_MAX_QUOTED = 40
# The name of a role or a binding may be any segment of a path.
_RBAC = "rbac.authorization.k8s.io/"
_RBAC_NAME = re.compile(r"(?!\.{1,2}$)[^/%]+")


def check(body: ObjectReader, metadata: ObjectReader, labels: Mapping[str, str]) -> None:
    """Add a problem for each invalid name and label value to those of ``metadata``."""
    name = metadata.value.get("name")
    if isinstance(name, str) and name and not _is_valid_name(name, body):
        problem = (
            f"invalid name {_quote(name)}: at most {MAX_SUBDOMAIN} lower-case letters, digits, "
            "- and ., beginning and ending with a letter or digit"
        )
        hint = "child_name(parent, name) and dns1123(text) make one"
        metadata.problems.add(metadata.at("name"), problem, hint=hint)
    for key, value in labels.items():
        # Most values are one word, which is cheaper to check without the expression.
        is_word = value.isalnum() and value.isascii()
        if len(value) > MAX_LABEL or not (is_word or LABEL_VALUE.fullmatch(value)):
            problem = (
                f"invalid label value {_quote(value)}: at most {MAX_LABEL} letters, digits, "
                "-, _ and ., beginning and ending with a letter or digit"
            )
            metadata.problems.add(
                f'{metadata.at("labels")}["{key}"]', problem, hint="label_value(text) makes one"
            )


def _is_valid_name(name: str, body: ObjectReader) -> bool:
    api_version = body.value.get("apiVersion")
    is_rbac = isinstance(api_version, str) and api_version.startswith(_RBAC)
    pattern = _RBAC_NAME if is_rbac else SUBDOMAIN
    return len(name) <= MAX_SUBDOMAIN and pattern.fullmatch(name) is not None


def _quote(text: str) -> str:
    return f'"{text}"' if len(text) <= _MAX_QUOTED else f'"{text[:_MAX_QUOTED]}…"'
