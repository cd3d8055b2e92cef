"""Kinds of input, and the way from an input's object or bytes to a Step."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, cast

from function_script import wire
from function_script.engines import registry
from function_script.engines.gotemplate.language import LANGUAGE as GOTEMPLATE
from function_script.engines.language import Language
from function_script.inputs import gotemplating, input_objects, kinds
from function_script.inputs.external_sources import FILE_SYSTEM
from function_script.inputs.files import files_below
from function_script.inputs.program_source import INLINE, NO_PROGRAM
from function_script.inputs.step import (
    FindContent,
    FindInput,
    InputReference,
    ProgramSources,
    Step,
)
from function_script.request import objects
from function_script.request.cache import ByteLruCache
from function_script.request.limits import Limits
from function_script.request.reader import ObjectReader
from function_script.request.values import Object
from function_script.texts.errors import InputError
from function_script.texts.problems import ProblemList, suggest

Kind = tuple[str, str]

PEERS: Final[Kind] = (gotemplating.API_VERSION, gotemplating.KIND)
"""Kind of every input that has the shape of function-go-templating's, under any name."""
LANGUAGES: Final[Mapping[Kind, Language]] = {
    **{(kinds.API_VERSION, language.kind): language for language in registry.LANGUAGES.values()},
    PEERS: GOTEMPLATE,
}
"""The kinds of inputs, and the language of each."""
_KINDS: Final = frozenset(kind for _, kind in LANGUAGES)
_ONLY_OURS: Final = _KINDS - {gotemplating.KIND}
_OUR_GROUP: Final = kinds.API_VERSION.partition("/")[0]
_GROUPS: Final = frozenset(api_version.partition("/")[0] for api_version, _ in LANGUAGES)
EMPTY = ProgramSources(context=lambda _: None, required=lambda *_: None, remote=lambda _: None)

# A step takes about twice the bytes of its input: the bytes, and the texts of its programs.
_CACHE_BYTES = 4 << 20
_SIZE_FACTOR = 2
_STEP_BYTES = 2_000
_cache: ByteLruCache[bytes, tuple[Limits, Step]] = ByteLruCache(_CACHE_BYTES, is_of_requests=True)


def parse(value: Object, ceilings: Limits, sources: ProgramSources = EMPTY) -> Step:
    """Parse a step's input; an empty ``value`` stands for a step without one.

    ``ceilings`` are the operator's limits: the input can only narrow them. ``sources`` are the
    request's; by default it has none. Raises one InputError with every problem, each with the path
    of its field, as in ``input.limits.timeout: cannot …``.
    """
    files = files_below(ceilings.program_root)
    return _parse(value, ceilings, replace(sources, files=files, remote_contents={}, selectors={}))


def parse_cached(payload: bytes, ceilings: Limits, sources: ProgramSources) -> Step:
    """Parse the Struct of an input, as `parse`; the bytes of an input are the cache's key.

    Crossplane sends the input with each request. Go writes the fields of an object in any order,
    so one input has a few byte strings. A program outside of the input is read each time.
    """
    cached = _cache.get(payload)
    # A process has the same ceilings all its life; to hash them takes longer than all else here.
    if cached is not None and (cached[0] is ceilings or cached[0] == ceilings):
        step = cached[1]
    else:
        value = wire.decode_struct(payload, sort_keys=True)
        step = parse(value, ceilings, sources)
        # Without a source, an input of function-go-templating uses the operator's templates.
        if value.get("source") is None:
            is_own_program = value.get("apiVersion") == kinds.API_VERSION
        else:
            is_own_program = value["source"] == INLINE
        parts_elsewhere = (value.get("modulesFrom"), value.get(input_objects.FIELD))
        if is_own_program and parts_elsewhere == (None, None):
            size = len(payload) * _SIZE_FACTOR + _STEP_BYTES
            _cache.put(payload, (ceilings, step), size)
    if not step.params:
        return step
    # A program may change its params; the next run must not see that.
    return replace(step, params=cast("Object", objects.deep_copy(step.params)))


def _reads_files(value: Object) -> bool:
    """Report whether the program or a module is in a file; without a source, the operator's is."""
    source = value.get("source")
    is_default = not source and value.get("apiVersion") != kinds.API_VERSION
    modules = value.get("modulesFrom")
    entries = modules if isinstance(modules, list) else []
    return (
        is_default
        or source == FILE_SYSTEM
        or any(isinstance(each, dict) and each.get("fileSystem") for each in entries)
    )


def parse_without_sources(
    value: Object,
    ceilings: Limits | None = None,
    find_input: FindInput | None = None,
    remote: FindContent | None = None,
) -> Step:
    """Parse an input without a request: a program that is not in the input stays empty.

    A program in files is read if ``ceilings.program_root`` is set, and a remote one if ``remote``
    returns its content. ``find_input`` returns the object that an input refers to, so that both are
    parsed together.
    """
    ceilings = ceilings or Limits()
    files = files_below(ceilings.program_root) if ceilings.program_root else None

    def find_object(name: str, selector: wire.Selector) -> Sequence[Object] | None:
        is_input = name == input_objects.REQUIREMENT
        return find_input(selector) if is_input and find_input is not None else None

    return _parse(value, ceilings, ProgramSources(files=files, required=find_object, remote=remote))


def find_kind(value: Object, *, has_default_source: bool = False) -> Kind | None:
    """Return the key of LANGUAGES for an input; None for one that cannot run.

    An input of our group is identified by its kind; any other by its shape, as
    function-go-templating ignores apiVersion and kind. ``has_default_source``: the operator's
    templates are used where an input has none.
    """
    api_version, kind = value.get("apiVersion") or "", value.get("kind") or ""
    if not isinstance(api_version, str) or not isinstance(kind, str):
        return None
    if (api_version, kind) in LANGUAGES:
        return api_version, kind
    # Only our kinds have a text as `inline`, so the apiVersion is misspelt.
    is_ours = _group(api_version) == _OUR_GROUP or isinstance(value.get("inline"), str)
    if is_ours or kind in _ONLY_OURS:
        return None
    is_named = kind == PEERS[1] or _group(api_version) == _group(PEERS[0])
    has_shape = gotemplating.has_shape(value, has_default_source=has_default_source)
    return PEERS if is_named or has_shape else None


@lru_cache(maxsize=64)
def find_named_kind(api_version: str, kind: str) -> Kind | None:
    """Return the key of LANGUAGES by apiVersion and kind alone."""
    return find_kind({"apiVersion": api_version, "kind": kind})


def is_meant_for_us(value: Object) -> bool:
    """Report whether an input can run here, or has the kind or group of one that can."""
    return has_our_type(value) or find_kind(value) is not None


def has_our_type(value: Object) -> bool:
    """Report whether an input has the kind or group of one that can run here."""
    api_version, kind = objects.api_version_and_kind(value)
    return kind in _KINDS or _group(api_version) in _GROUPS


def _group(api_version: str) -> str:
    return api_version.partition("/")[0]


def _parse(value: Object, ceilings: Limits, sources: ProgramSources) -> Step:
    problems = ProblemList()
    has_default_source = bool(ceilings.default_source)
    if not value and has_default_source:
        value = {"apiVersion": gotemplating.API_VERSION, "kind": gotemplating.KIND}
    fields = ObjectReader(value, "input", problems)
    kind = find_kind(value, has_default_source=has_default_source)
    if kind is None:
        _add_kind_problem(fields)
    elif not (kind == PEERS and gotemplating.refuse_remote(fields)):
        is_ours = kind[0] == kinds.API_VERSION
        reference = input_objects.find(fields) if is_ours else None
        if reference is not None and not problems:
            return _parse_referenced(kind, reference, ceilings, sources)
        step = None if problems else _parse_kind(kind, fields, ceilings, sources)
        if step is not None and not problems:
            return step
    raise InputError(*(problem.to_diagnostic() for problem in problems))


def _parse_kind(
    kind: Kind, fields: ObjectReader, ceilings: Limits, sources: ProgramSources
) -> Step:
    if kind == PEERS:
        step = gotemplating.parse_go_template(fields, ceilings, sources)
    else:
        step = kinds.parse(LANGUAGES[kind], fields, ceilings, sources)
    # All of them: the step is run again with these, and not with what it was run with before.
    missing = () if all(sources.remote_contents.values()) else tuple(sources.remote_contents)
    return replace(step, reads_files=_reads_files(fields.value), missing=missing)


def _parse_referenced(
    kind: Kind, reference: InputReference, ceilings: Limits, sources: ProgramSources
) -> Step:
    """Parse the input that an object of the cluster has, with the step's own fields.

    The program is empty, and only the own fields are checked, until Crossplane has looked for the
    object.
    """
    find = sources.required
    items = None if find is None else find(input_objects.REQUIREMENT, reference.selector)
    language = LANGUAGES[kind]
    if items is None:
        value = input_objects.complete_own_fields(reference, language)
    else:
        value = input_objects.merge(reference, items)
    problems = ProblemList()
    step = _parse_kind(kind, ObjectReader(value, "input", problems), ceilings, sources)
    if items is None:
        own = (each for each in problems if not reference.may_bring(each.path))
        diagnostics = [each.to_diagnostic() for each in own]
    else:
        diagnostics = [reference.to_diagnostic(each) for each in problems]
    if diagnostics:
        raise InputError(*diagnostics)
    programs = {**step.requirements.programs, input_objects.REQUIREMENT: reference.selector}
    requirements = replace(step.requirements, programs=programs)
    step = replace(step, requirements=requirements, reference=reference)
    if items is None:
        return replace(step, program=NO_PROGRAM)
    if sources.context is None:
        # An author's tool finds the file of each text.
        return step
    return replace(step, program=reference.name_sources(step.program, language))


def find_reference(value: Object) -> InputReference | None:
    """Return the object of the cluster that an input of ours names, if it does."""
    if find_kind(value) in {None, PEERS}:
        return None
    return input_objects.find(ObjectReader(value, "input", ProblemList()))


def _add_kind_problem(fields: ObjectReader) -> None:
    """Add the problem of an input that is of no kind."""
    if not fields.value:
        fields.problems.add(fields.path, "is required", hint=f"accepted: {_accepted()}")
        return
    api_version = fields.text("apiVersion", required=True)
    kind = fields.text("kind", required=True)
    if not api_version or not kind:
        return
    if _group(api_version) == _OUR_GROUP:
        is_our_version = api_version in {api_version for api_version, _ in LANGUAGES}
        if not is_our_version:
            hint = f"write `apiVersion: {kinds.API_VERSION}`"
            path = fields.at("apiVersion")
            fields.problems.add(path, f'cannot run apiVersion "{api_version}"', hint=hint)
            return
        suggestion = suggest(kind, tuple(name for _, name in LANGUAGES))
        hint = " ".join(filter(None, (suggestion, f"accepted: {_accepted()}")))
        fields.problems.add(fields.at("kind"), f'cannot run kind "{kind}"', hint=hint)
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
    kinds_by_version: dict[str, list[str]] = {}
    for api_version, kind in LANGUAGES:
        kinds_by_version.setdefault(api_version, []).append(kind)
    return "; ".join(
        f"{', '.join(names)} of {api_version}" for api_version, names in kinds_by_version.items()
    )
