"""The documents to print, in the official command's order and shape, and their differences."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Final, TypeAlias

from function_script.documents import to_yaml_stream
from function_script.request.values import Object, Value
from function_script.tools import manifests
from function_script.tools.render import conditions
from function_script.tools.render.compose import RenderResult
from function_script.tools.render.operation import OperationResult
from function_script.tools.render.pipeline import ReconcileResult

_API_VERSION: Final = "render.crossplane.io/v1beta1"

# The key of an object, and how many documents of the same came before.
_Key: TypeAlias = tuple[manifests.Key, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """What to print in addition to composed resources; ``full_xr``: the XR with its spec."""

    full_xr: bool = False
    results: bool = False
    context: bool = False


def documents(result: RenderResult, options: OutputOptions) -> list[Object]:
    """Return the XR, the composed resources by name, then results and context if chosen."""
    xr = result.xr
    if options.full_xr:
        xr = manifests.copy(result.file, xr)
    resources = result.resources
    items = [xr, *(resources[name] for name in sorted(resources))]
    return [*map(conditions.with_times_replaced, items), *_extras(result, options)]


def operation_documents(
    result: OperationResult, options: OutputOptions, *, has_context: bool
) -> list[Object]:
    """Return the Operation, what it applies by name, then results and context if chosen.

    The Operation has the steps by which the official command passes context, and which it prints.
    """
    operation = manifests.copy(result.operation)
    pipeline: list[Value] = [*manifests.objects_at(operation, "spec", "pipeline")]
    if has_context:
        pipeline.insert(0, _context_step("inject", "Seed"))
    if options.context:
        pipeline.append(_context_step("extract", "Capture"))
    manifests.make_object(operation, "spec")["pipeline"] = pipeline
    items = [operation, *result.applied]
    return [*map(conditions.with_times_replaced, items), *_extras(result, options)]


def _context_step(verb: str, mode: str) -> Object:
    return {
        "step": f"crossplane-render-{verb}-context",
        "functionRef": {"name": "crossplane-render-context"},
        "input": {"mode": mode},
    }


def _extras(result: ReconcileResult, options: OutputOptions) -> list[Object]:
    extras: list[Object] = []
    if options.results:
        extras += [
            {"apiVersion": _API_VERSION, "kind": "Result", **asdict(event)}
            for event in result.events
        ]
    if options.context and result.context is not None:
        extras.append({"apiVersion": _API_VERSION, "kind": "Context", "fields": result.context})
    return extras


def diff(before: Sequence[Object], after: Sequence[Object]) -> str:
    """Return unified diffs of the documents that differ; "" if all are the same.

    Documents are paired by type and name, so that a new one does not make those after it differ.
    """
    old, new = _by_key(before), _by_key(after)
    keys = [*new, *(key for key in old if key not in new)]
    return "".join(
        line
        for key in keys
        if old.get(key) != new.get(key)
        for line in _lines(key, old.get(key), new.get(key))
    )


def _by_key(manifests_: Sequence[Object]) -> dict[_Key, Object]:
    by_key: dict[_Key, Object] = {}
    for manifest in manifests_:
        key, number = manifests.key_of(manifest), 0
        while (key, number) in by_key:
            number += 1
        by_key[key, number] = manifest
    return by_key


def _lines(key: _Key, old: Object | None, new: Object | None) -> Iterator[str]:
    import difflib  # noqa: PLC0415 - only for `--watch`

    (_, kind, namespace, name), number = key
    title = " ".join(part for part in (kind, f"{namespace}/{name}".strip("/")) if part)
    title += f" {number + 1}" if number else ""
    for line in difflib.unified_diff(
        _yaml_lines(old),
        _yaml_lines(new),
        fromfile=title if old is not None else "nothing",
        tofile=title if new is not None else "nothing",
        lineterm="",
    ):
        yield f"{line}\n"


def _yaml_lines(manifest: Object | None) -> list[str]:
    return [] if manifest is None else to_yaml_stream([manifest]).splitlines()[1:]
