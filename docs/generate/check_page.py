"""The section of `docs/reference/check.md` with the table of rules."""

from typing import Final

from function_script.tools.check.rules import RULES

BEGIN: Final = "<!-- Written by `make goldens`. -->\n"
END: Final = "<!-- End of what is written. -->\n"


def section() -> str:
    """Return the section, from BEGIN to END."""
    rows = "".join(f"| `{rule.name}` | {rule.severity} | {rule.means} |\n" for rule in RULES)
    return f"{BEGIN}\n| rule | severity | finds |\n|---|---|---|\n{rows}\n{END}"
