"""The section of `docs/reference/check.md` with the table of rules."""

from function_script.tools.check.rules import RULES


def section() -> str:
    """Return the table."""
    rows = "".join(f"| `{rule.name}` | {rule.severity} | {rule.means} |\n" for rule in RULES)
    return f"| rule | severity | finds |\n|---|---|---|\n{rows}"
