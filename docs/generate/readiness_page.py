"""The section of `docs/reference/readiness.md` with the table of kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.step.readiness.kinds import GENERIC_MEANING, OF_ANY_GROUP, TABLE

if TYPE_CHECKING:
    from function_script.step.readiness.kinds import Row


def section() -> str:
    """Return the table."""
    rows = "".join(_row(row) for row in (*TABLE, *OF_ANY_GROUP))
    head = "| group | kind | ready when |\n|---|---|---|\n"
    rest = f"| any other | | {GENERIC_MEANING} |\n"
    return f"{head}{rows}{rest}"


def _row(row: Row) -> str:
    kinds = ", ".join(f"`{kind}`" for kind in row.kinds.split())
    return f"| {row.group or 'core'} | {kinds} | {row.meaning} |\n"
