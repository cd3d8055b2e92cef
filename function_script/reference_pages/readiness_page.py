"""The table of kinds as a section of the documentation.

Called by the tests, which compare and on demand write what is committed of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script.readiness.kinds import GENERIC_MEANING, OF_ANY_GROUP, TABLE

if TYPE_CHECKING:
    from function_script.readiness.kinds import Row

_WRITTEN: Final = "Written by `pytest tests/unit/readiness/test_reference.py --update-goldens`."
BEGIN: Final = f"<!-- {_WRITTEN} -->\n"
END: Final = "<!-- End of what is written. -->\n"


def section() -> str:
    """The section of `docs/reference/readiness.md`, between its marks."""
    rows = "".join(map(_row, (*TABLE, *OF_ANY_GROUP)))
    head = "| group | kind | ready when |\n|---|---|---|\n"
    rest = f"| any other | | {GENERIC_MEANING} |\n"
    return f"{BEGIN}\n{head}{rows}{rest}\n{END}"


def _row(row: Row) -> str:
    kinds = ", ".join(f"`{kind}`" for kind in row.kinds.split())
    group = "core" if not row.group else row.group
    return f"| {group} | {kinds} | {row.meaning} |\n"
