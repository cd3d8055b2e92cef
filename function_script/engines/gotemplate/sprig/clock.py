"""sprig's clock, stopped: ``now`` is the time at which the composite resource was made.

In Go every reconcile renders another time, and so changes what it made. An XR that is rendered
before it exists has no such time: it is 1970 then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Function, Injects
from function_script.engines.gotemplate.sprig.date_reader import parse_date
from function_script.engines.gotemplate.sprig.dates import find_moment
from function_script.engines.gotemplate.sprig.durations import duration_text
from function_script.engines.gotemplate.sprig.moments import NANOSECONDS, Moment

if TYPE_CHECKING:
    from function_script.engines.gotemplate.run import Run

_OPTION: Final = "stable_values"
_MADE: Final = ("observed", "composite", "resource", "metadata", "creationTimestamp")
_LAYOUT: Final = "2006-01-02T15:04:05Z07:00"


def _now(run: Run) -> Moment:
    found = run.root
    for key in _MADE:
        found = found.get(key) if isinstance(found, dict) else None
    try:
        return parse_date(_LAYOUT, found) if isinstance(found, str) else Moment(0)
    except CallError:
        return Moment(0)


def _ago(run: Run, value: object) -> str:
    """How long before ``now`` it was, in whole seconds; what is no date is now."""
    now = _now(run)
    passed = now.total() - (find_moment(value) or now).total()
    seconds, rest = divmod(abs(passed), NANOSECONDS)
    seconds += rest * 2 >= NANOSECONDS
    return duration_text((seconds if passed > 0 else -seconds) * NANOSECONDS)


FUNCTIONS: Final = (
    Function(name="now", takes="", call=_now, needs=Injects.RUN, option=_OPTION),
    Function(name="ago", takes="any", call=_ago, needs=Injects.RUN, gives="string", option=_OPTION),
)
