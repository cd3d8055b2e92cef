"""Which kinds of input there are, and the way from an object to a Step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.diagnostics import Diagnostic
from function_script.errors import InputError
from function_script.fields import Fields, Problems, nearest
from function_script.inputs import kinds, peer
from function_script.inputs.files import files_below
from function_script.inputs.step import Language, Outside, Sources, Step
from function_script.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.values import Object

Kind = tuple[str, str]

KINDS: dict[Kind, Callable[[Fields, Limits, Sources], Step]] = {
    (kinds.API_VERSION, "StarlarkScript"): kinds.parse_starlark_script,
    (kinds.API_VERSION, "JinjaTemplate"): kinds.parse_jinja_template,
    (kinds.API_VERSION, "GoTemplate"): kinds.parse_go_template,
    (peer.API_VERSION, "GoTemplate"): peer.parse_go_template,
}
# For whoever counts steps without parsing them.
LANGUAGES: dict[Kind, Language] = {
    (kinds.API_VERSION, "StarlarkScript"): "starlark",
    (kinds.API_VERSION, "JinjaTemplate"): "jinja",
    (kinds.API_VERSION, "GoTemplate"): "gotemplate",
    (peer.API_VERSION, "GoTemplate"): "gotemplate",
}
EMPTY = Outside(context=lambda _: None, required=lambda *_: None)


def parse(value: Object, ceilings: Limits, outside: Outside = EMPTY) -> Step:
    """Parse a step's input; an empty ``value`` stands for a step without one.

    ``ceilings`` are the operator's limits: the input can only narrow them. ``outside`` is what
    the request has for programs that are not in the input; by default nothing.
    Raises one InputError with every problem, each beginning with the path of its field, as in
    ``input.limits.timeout: cannot …``.
    """
    files = files_below(ceilings.program_root)
    return _parse(value, ceilings, Sources(files=files, outside=outside))


def parse_without_sources(value: Object, ceilings: Limits | None = None) -> Step:
    """Parse an input far from where it runs: a program that is not in it stays empty.

    One in files is read all the same if ``ceilings`` say below which directory they are.
    """
    ceilings = ceilings or Limits()
    files = files_below(ceilings.program_root) if ceilings.program_root else None
    return _parse(value, ceilings, Sources(files=files, outside=None))


def _parse(value: Object, ceilings: Limits, sources: Sources) -> Step:
    problems = Problems()
    if not value and ceilings.default_source:
        value = {"apiVersion": peer.API_VERSION, "kind": "GoTemplate"}
    fields = Fields(value, "input", problems)
    kind = _kind(fields)
    if kind in KINDS:
        step = KINDS[kind](fields, ceilings, sources)
        if not problems.texts:
            return step
    raise InputError(*(Diagnostic(message=text, hint=hint) for text, hint in problems.texts))


def find_kind(api_version: str, kind: str) -> Kind | None:
    """The key of KINDS that an input is read as; None for what is not ours.

    function-go-templating looks at neither, and public Compositions have other groups for it.
    """
    if (api_version, kind) in KINDS:
        return api_version, kind
    is_peers = kind == "GoTemplate" and api_version.startswith("gotemplating.")
    return (peer.API_VERSION, kind) if is_peers else None


def _kind(fields: Fields) -> Kind:
    """The input's apiVersion and kind; notes a problem unless they are one of KINDS."""
    if not fields.value:
        fields.problems.add(fields.path, "is required", hint=f"accepted: {_accepted()}")
        return "", ""
    api_version = fields.text("apiVersion", required=True) or ""
    kind = fields.text("kind", required=True) or ""
    if (found_kind := find_kind(api_version, kind)) is not None:
        return found_kind
    if api_version and kind:
        known = api_version in {api_version for api_version, _ in KINDS}
        key, found = ("kind", kind) if known else ("apiVersion", api_version)
        near = nearest(found, tuple(each[known] for each in KINDS))
        meant = f'did you mean "{near}"? ' if near else ""
        hint = f"{meant}accepted: {_accepted()}"
        fields.problems.add(fields.at(key), f'cannot run {key} "{found}"', hint=hint)
    return api_version, kind


def _accepted() -> str:
    kinds: dict[str, list[str]] = {}
    for api_version, kind in KINDS:
        kinds.setdefault(api_version, []).append(kind)
    return "; ".join(f"{', '.join(names)} of {known}" for known, names in kinds.items())
