"""The author's position of every value that a step writes, for the tools."""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from function_script import documents
from function_script.contribution import DIALECTS, deferral
from function_script.request import objects
from function_script.request.limits import Limits
from function_script.request.objects import Path
from function_script.request.program import Scope, ScriptResult, TemplateResult
from function_script.texts.source import Span

# By resource name, and None for the XR: the path of each field, from the object's root on. A field
# that is not there came with the nearest one above it; of one with None nothing is known.
Positions: TypeAlias = dict[str | None, dict[Path, Span | None]]

_STATUS: Final[Path] = ("status",)
_RESOURCES: Final[Path] = ("desired", "resources")
_COMPOSITE: Final[Path] = ("desired", "composite", "resource")


def find(
    result: TemplateResult | ScriptResult,
    composed: Iterable[str],
    scope: Scope,
    limits: Limits,
    dialect: str,
) -> Positions:
    """Find the positions of all values in a result that can be read; see `contribution.read`.

    They are in the program's own texts. ``composed`` are the names of its composed resources.
    """
    if isinstance(result, ScriptResult):
        return _of_script(result, composed)
    return _of_documents(result, scope, limits, dialect)


def _of_documents(result: TemplateResult, scope: Scope, limits: Limits, dialect: str) -> Positions:
    rules = DIALECTS[dialect]
    text = result.text
    if result.gaps:
        text, _ = deferral.split_deferred(result, scope.xr, rules, limits)
    stream = documents.read_stream(
        text, locate=result.locate, limits=limits, lenient=rules.is_lenient
    )
    positions: Positions = {}
    for document in stream:
        kinds = objects.api_version_and_kind(document.value)
        annotations = objects.find_path(document.value, ("metadata", "annotations"))
        if kinds[0] == rules.meta_api_version:
            continue
        if isinstance(annotations, Mapping) and rules.annotations.name in annotations:
            # Of two documents with one name the last counts.
            positions[str(annotations[rules.annotations.name])] = {**document.spans()}
        elif kinds == objects.api_version_and_kind(scope.xr):
            # The statuses of several documents are merged.
            status = positions.setdefault(None, {})
            status |= {path: span for path, span in document.spans().items() if path[:1] == _STATUS}
    return positions


def _of_script(result: ScriptResult, names: Iterable[str]) -> Positions:
    spans = result.trace()
    roots: dict[str | None, Path] = {name: (*_RESOURCES, name, "resource") for name in names}
    roots[None] = _COMPOSITE
    positions: Positions = {}
    for name, root in roots.items():
        # The script may have the whole object, or all objects, from elsewhere.
        above = (root[:end] for end in range(len(root), 0, -1))
        whole = next((spans[path] for path in above if path in spans), None)
        positions[name] = {} if whole is None else {(): whole}
    for path, span in spans.items():
        match path:
            case ("desired", "resources", str(name), "resource", *below):
                positions[name][tuple(below)] = span
            case ("desired", "composite", "resource", *below):
                positions[None][tuple(below)] = span
            case _:
                pass
    return positions
