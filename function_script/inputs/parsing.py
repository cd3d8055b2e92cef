"""Which kinds of input there are, and the way from an object to a Step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script import objects
from function_script.errors import InputError
from function_script.inputs import gotemplating, kinds, remote
from function_script.inputs.files import files_below
from function_script.inputs.step import ExternalState, Language, ProgramSources, Step
from function_script.limits import Limits
from function_script.problems import ProblemList, nearest
from function_script.reader import ObjectReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.values import Object

Kind = tuple[str, str]

KINDS: dict[Kind, Callable[[ObjectReader, Limits, ProgramSources], Step]] = {
    (kinds.API_VERSION, "StarlarkScript"): kinds.parse_starlark_script,
    (kinds.API_VERSION, "JinjaTemplate"): kinds.parse_jinja_template,
    (kinds.API_VERSION, "GoTemplate"): kinds.parse_go_template,
    (gotemplating.API_VERSION, "GoTemplate"): gotemplating.parse_go_template,
}
# For whoever counts steps without parsing them.
LANGUAGES: dict[Kind, Language] = {
    (kinds.API_VERSION, "StarlarkScript"): "starlark",
    (kinds.API_VERSION, "JinjaTemplate"): "jinja",
    (kinds.API_VERSION, "GoTemplate"): "gotemplate",
    (gotemplating.API_VERSION, "GoTemplate"): "gotemplate",
}
PEERS: Final[Kind] = (gotemplating.API_VERSION, "GoTemplate")
"""What every other input that has the shape of one is read as."""
_ONLY_OURS: Final = frozenset({"StarlarkScript", "JinjaTemplate"})
_KINDS: Final = frozenset(kind for _, kind in KINDS)
_OUR_GROUP: Final = kinds.API_VERSION.partition("/")[0]
_GROUPS: Final = frozenset(api_version.partition("/")[0] for api_version, _ in KINDS)
EMPTY = ExternalState(context=lambda _: None, required=lambda *_: None)


def parse(value: Object, ceilings: Limits, outside: ExternalState = EMPTY) -> Step:
    """Parse a step's input; an empty ``value`` stands for a step without one.

    ``ceilings`` are the operator's limits: the input can only narrow them. ``outside`` is what
    the request has for programs that are not in the input; by default nothing.
    Raises one InputError with every problem, each beginning with the path of its field, as in
    ``input.limits.timeout: cannot …``.
    """
    files = files_below(ceilings.program_root)
    return _parse(value, ceilings, ProgramSources(files=files, outside=outside))


def parse_without_sources(value: Object, ceilings: Limits | None = None) -> Step:
    """Parse an input far from where it runs: a program that is not in it stays empty.

    One in files is read all the same if ``ceilings`` say below which directory they are.
    """
    ceilings = ceilings or Limits()
    files = files_below(ceilings.program_root) if ceilings.program_root else None
    return _parse(value, ceilings, ProgramSources(files=files, outside=None))


def find_kind(value: Object, *, has_default_source: bool = False) -> Kind | None:
    """The key of KINDS that an input is read as; None for what cannot run.

    An input of our group goes by its kind. Any other goes by its shape, for that is all that
    function-go-templating looks at. ``has_default_source``: the operator's templates are used
    where an input names none.
    """
    api_version, kind = value.get("apiVersion") or "", value.get("kind") or ""
    if not isinstance(api_version, str) or not isinstance(kind, str):
        return None
    if (api_version, kind) in KINDS:
        return api_version, kind
    # Text as `inline` is ours, so the apiVersion is misspelt.
    is_ours = _group(api_version) == _OUR_GROUP or isinstance(value.get("inline"), str)
    if is_ours or kind in _ONLY_OURS:
        return None
    is_named = kind == PEERS[1] or _group(api_version) == _group(PEERS[0])
    has_shape = gotemplating.has_shape(value, has_default_source=has_default_source)
    return PEERS if is_named or has_shape else None


def find_named_kind(api_version: str, kind: str) -> Kind | None:
    """The key of KINDS, as far as apiVersion and kind tell it."""
    return find_kind({"apiVersion": api_version, "kind": kind})


def is_meant_for_us(value: Object) -> bool:
    """Whether an input can run here, or was to run here and has a mistake."""
    api_version, kind = objects.api_version_and_kind(value)
    is_named = kind in _KINDS or _group(api_version) in _GROUPS
    return is_named or find_kind(value) is not None


def _group(api_version: str) -> str:
    return api_version.partition("/")[0]


def _parse(value: Object, ceilings: Limits, sources: ProgramSources) -> Step:
    problems = ProblemList()
    has_default_source = bool(ceilings.default_source)
    if not value and has_default_source:
        value = {"apiVersion": gotemplating.API_VERSION, "kind": "GoTemplate"}
    fields = ObjectReader(value, "input", problems)
    kind = find_kind(value, has_default_source=has_default_source)
    if kind is None:
        _refuse(fields)
    elif not remote.refuse(fields):
        step = KINDS[kind](fields, ceilings, sources)
        if not problems:
            return step
    raise InputError(*(problem.to_diagnostic() for problem in problems))


def _refuse(fields: ObjectReader) -> None:
    """Note why an input is of no kind that runs."""
    if not fields.value:
        fields.problems.add(fields.path, "is required", hint=f"accepted: {_accepted()}")
        return
    api_version = fields.text("apiVersion", required=True)
    kind = fields.text("kind", required=True)
    if not api_version or not kind:
        return
    if _group(api_version) == _OUR_GROUP:
        known = api_version in {api_version for api_version, _ in KINDS}
        key, found = ("kind", kind) if known else ("apiVersion", api_version)
        near = nearest(found, tuple(each[known] for each in KINDS))
        problem = f'cannot run {key} "{found}"'
        hint = f'did you mean "{near}"? ' if near else ""
        fields.problems.add(fields.at(key), problem, hint=f"{hint}accepted: {_accepted()}")
        return
    path = fields.at("apiVersion")
    if kind not in _KINDS:
        hint = f"accepted: {_accepted()}, or whatever has the fields of the last one"
        fields.problems.add(path, f'cannot run {kind} of "{api_version}"', hint=hint)
        return
    what = kind if kind in _ONLY_OURS else f"a {kind} with text as inline"
    problem = f'is "{api_version}", but {what} is one of {kinds.API_VERSION}'
    fields.problems.add(path, problem, hint=f"write `apiVersion: {kinds.API_VERSION}`")


def _accepted() -> str:
    kinds: dict[str, list[str]] = {}
    for api_version, kind in KINDS:
        kinds.setdefault(api_version, []).append(kind)
    return "; ".join(f"{', '.join(names)} of {known}" for known, names in kinds.items())
