"""Where the getters of the prelude look in a request.

Called by the analysis of a script's reach. Holds what prelude/ does; a test of the reach tries it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script.objects import ENVIRONMENT, WATCHED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from function_script.engines.starlark.analysis.paths import Path

# For a name that the script spells out.
_NAMED: Final[Mapping[str, Sequence[Path]]] = {
    "get_observed": [("observed", "resources")],
    "is_observed": [("observed", "resources")],
    "get_desired": [("desired", "resources")],
    "get_connection_details": [("observed", "resources")],
    "get_required": [("required_resources",), ("extra_resources",)],
    "get_credentials": [("credentials",)],
}
# In any case.
_WHOLE: Final[Mapping[str, Sequence[Path]]] = {
    **_NAMED,
    # Without a name, the composite resource's own.
    "get_connection_details": [("observed", "resources"), ("observed", "composite")],
    "get_environment": [("context", ENVIRONMENT)],
    "get_watched": [("required_resources", WATCHED), ("extra_resources", WATCHED)],
    "has_capability": [("meta",)],
    "get_xr": [("observed", "composite")],
}


def looked_at(getter: str, name: object) -> Sequence[Path]:
    """The branches a getter looks at, given the request; all of it when it is no getter of ours.

    ``name`` is its second argument where the script spells that out.
    """
    if getter in _NAMED and isinstance(name, str):
        return [(*path, name) for path in _NAMED[getter]]
    return _WHOLE.get(getter, [()])
