"""Find mistakes in the steps of Compositions and Operations: without a run, and by runs.

The result is a report, which `report` prints.
"""

from function_script.tools.check.checker import check, list_files
from function_script.tools.check.definitions import load
from function_script.tools.check.report import (
    render_diagnostics,
    render_json,
    render_sarif,
    render_text,
)

__all__ = [
    "check",
    "list_files",
    "load",
    "render_diagnostics",
    "render_json",
    "render_sarif",
    "render_text",
]
