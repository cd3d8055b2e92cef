"""The section of `docs/reference/readiness.md` with the table of kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script.step.readiness.kinds import GENERIC_MEANING, OF_ANY_GROUP, TABLE

if TYPE_CHECKING:
    from function_script.step.readiness.kinds import Row

BEGIN: Final = "<!-- Written by `make goldens`. -->\n"
END: Final = "<!-- End of what is written. -->\n"


def section() -> str:
    """Return the section, from BEGIN to END."""
    rows = "".join(_row(row) for row in (*TABLE, *OF_ANY_GROUP))
    head = "| group | kind | ready when |\n|---|---|---|\n"
    rest = f"| any other | | {GENERIC_MEANING} |\n"
    return f"{BEGIN}\n{head}{rows}{rest}\n{END}"


def _row(row: Row) -> str:
    kinds = ", ".join(f"`{kind}`" for kind in row.kinds.split())
    return f"| {row.group or 'core'} | {kinds} | {row.meaning} |\n"
