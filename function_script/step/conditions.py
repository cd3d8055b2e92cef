"""Types of conditions that a function may set."""

import re

from function_script.request.reader import ObjectReader

# Crossplane drops these silently when a function sets them; Ready has its own field.
RESERVED_CONDITIONS = ("Healthy", "Ready", "Responsive", "Synced", "UpToDate")
PASCAL_CASE = re.compile(r"[A-Z][A-Za-z0-9]*")


def check_type(item: ObjectReader, key: str, kind: str) -> None:
    """Add a problem for a type at ``key`` that Crossplane reserves or that is not PascalCase."""
    if kind in RESERVED_CONDITIONS:
        listed = ", ".join(RESERVED_CONDITIONS)
        item.problems.add(
            item.at(key),
            f"{kind} is set by Crossplane and cannot be set by a function",
            hint=f"choose a type other than {listed}; readiness has a field of its own",
        )
    elif kind and not PASCAL_CASE.fullmatch(kind):
        item.problems.add(item.at(key), f'"{kind}" must be PascalCase, such as "DatabaseReady"')
