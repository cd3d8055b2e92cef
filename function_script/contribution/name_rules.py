"""Names and labels that no Kubernetes object may have: told where they are made.

Called for every composed resource. Crossplane and the API server would refuse them later, at a
place that nobody finds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from function_script.names import LABEL_VALUE, MAX_LABEL, MAX_SUBDOMAIN, SUBDOMAIN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.reader import ObjectReader

_MAX_SHOWN = 40
# Roles and their bindings may be called anything that can be a part of a path.
_FREE = "rbac.authorization.k8s.io/"
_FREE_NAME = re.compile(r"(?!\.{1,2}$)[^/%]+")


def check(body: ObjectReader, metadata: ObjectReader, labels: Mapping[str, str]) -> None:
    """Note a name or a label's value that breaks the rules of all objects."""
    name = metadata.value.get("name")
    if isinstance(name, str) and name:
        _check_name(name, body, metadata)
    for key, value in labels.items():
        # Most are one word, which is seen sooner than matched.
        is_word = value.isalnum() and value.isascii()
        if len(value) > MAX_LABEL or not (is_word or LABEL_VALUE.fullmatch(value)):
            problem = (
                f"invalid label value {_shown(value)}: at most {MAX_LABEL} letters, digits, "
                "-, _ and ., beginning and ending with a letter or digit"
            )
            metadata.problems.add(
                f'{metadata.at("labels")}["{key}"]', problem, hint="label_value(text) makes one"
            )


def _check_name(name: str, body: ObjectReader, metadata: ObjectReader) -> None:
    api_version = body.value.get("apiVersion")
    is_free = isinstance(api_version, str) and api_version.startswith(_FREE)
    if len(name) <= MAX_SUBDOMAIN and (_FREE_NAME if is_free else SUBDOMAIN).fullmatch(name):
        return
    problem = (
        f"invalid name {_shown(name)}: at most {MAX_SUBDOMAIN} lower-case letters, digits, "
        "- and ., beginning and ending with a letter or digit"
    )
    hint = "child_name(parent, name) and dns1123(text) make one"
    metadata.problems.add(metadata.at("name"), problem, hint=hint)


def _shown(text: str) -> str:
    return f'"{text}"' if len(text) <= _MAX_SHOWN else f'"{text[:_MAX_SHOWN]}…"'
