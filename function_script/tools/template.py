"""The command `template`: the text that a template renders to, before it is read as YAML.

The request is handled as in production, sandbox included, up to the text. Only plain data of a
GoTemplate, which is not a request, is rendered in this process.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from google.protobuf import json_format

from function_script import inputs
from function_script.engines.registry import LANGUAGES
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.values import Object, Value
from function_script.sandbox.pool import PoolOptions
from function_script.step.telemetry import Answered
from function_script.texts.errors import FatalError, InputError, ProgramError
from function_script.texts.problems import suggest
from function_script.texts.source import Source
from function_script.tools import (
    author_positions,
    bounded,
    local_pool,
    sources,
    step_inputs,
    worker_marks,
)
from function_script.tools.render import messages

_TEMPLATES: Final = tuple(each.kind for each in LANGUAGES.values() if each.is_template)
_WITH_PLAIN_DATA: Final = tuple(each.kind for each in LANGUAGES.values() if each.has_plain_data)
_NAMES: Final = {field.json_name: field.name for field in fnv1.RunFunctionRequest.DESCRIPTOR.fields}
_FIELDS: Final = frozenset((*_NAMES, *_NAMES.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of a rendering.

    ``pool`` are those of the sandbox; programs in files are below ``programs``.

    ``plain``: the data is a GoTemplate's root value, not a request. ``print`` receives the output
    of the template other than its text.
    """

    pool: PoolOptions = local_pool.OPTIONS
    print: Callable[[str], None]
    programs: Path | None = None
    plain: bool = False


def load_input(source: Source, step: str = "") -> step_inputs.StepInput:
    """Load the template of a file: an input, or the input of a Composition's step of that name.

    Raises InputError unless exactly one template matches.
    """
    ours = [
        each
        for document in bounded.read_documents(source)
        for each in step_inputs.find_ours(document)
    ]
    templates = [each for each in ours if _kind(each) in _TEMPLATES]
    matches = [each for each in templates if step in {"", each.step}]
    if len(matches) == 1:
        return matches[0]
    names = ", ".join(f'"{each.step}"' for each in templates)
    hint: str | None = f"choose one with --step: {names}"
    if matches:
        cause = f"there are {len(matches)}"
    elif templates:
        cause = f'no step "{step}" has one'
        hint = suggest(
            step, tuple(each.step for each in templates), f"the steps with templates are {names}"
        )
    else:
        cause = f"it holds no {' or '.join(_TEMPLATES)}"
        hint = "a script has no text to show: `function-script run` prints what it returns"
    message = f"cannot find a template in {source.name}: {cause}"
    raise InputError.of(message, hint=hint if ours else None)


def _kind(template: step_inputs.StepInput) -> Value:
    """Return the kind that an input is parsed as, else the kind that it states."""
    kind = inputs.find_kind(template.value)
    return template.value.get("kind") if kind is None else kind[1]


def load_data(source: Source) -> Object:
    """Load the single object of a JSON or YAML text; raises InputError, DocumentError."""
    try:
        # JSON is read as such: in YAML of Kubernetes, whole floats are integers.
        return bounded.read_object(source.text)
    except ValueError:
        return sources.read_one(source).value


def render(template: step_inputs.StepInput, data: Object, options: Options) -> str:
    """Render a template; raises FatalError with positions in the file of ``template``.

    ``data`` is a request with fields named as in the protocol or in camelCase, or an observed XR.
    For a GoTemplate it may be anything else: the root value.
    """
    if all(objects.api_version_and_kind(data)) and not options.plain:
        data = {"observed": {"composite": {"resource": data}}}
    is_other = bool(data) and _FIELDS.isdisjoint(data)
    is_plain = options.plain or (is_other and _kind(template) in _WITH_PLAIN_DATA)
    # A problem of the data has no position in the file.
    message = None if is_plain else _request(template, data)
    try:
        return _render_plain(template, data) if message is None else _render(message, options)
    except FatalError as error:
        moved = [
            author_positions.map_to_source(problem, template, options.programs)
            for problem in error.diagnostics
        ]
        raise error.with_diagnostics(*moved) from error


def _render_plain(template: step_inputs.StepInput, data: Object) -> str:
    """Render in this process, and not in a sandbox."""
    step = step_inputs.parse(template)
    if not step.language.has_plain_data or step.program.modules:
        raise InputError.of(
            f"cannot render with plain data: only a {' or '.join(_WITH_PLAIN_DATA)} "
            "without modules takes it",
            hint="give it a request: observed, desired, context and so on",
        )
    return step.language.render_plain(step.program, data)


def _render(message: fnv1.RunFunctionRequest, options: Options) -> str:
    with local_pool.open_pool(options=options.pool) as sandbox:
        reply = sandbox.run(message.SerializeToString() + worker_marks.TEXT)
    if reply.log:
        options.print(reply.log)
    if not isinstance(reply, Answered):
        raise local_pool.error_of(reply)
    if reply.diagnostics:
        raise ProgramError(*reply.diagnostics)
    return reply.response.decode()


def _request(template: step_inputs.StepInput, data: Object) -> fnv1.RunFunctionRequest:
    for key in data:
        if key not in _FIELDS:
            hint = suggest(key, tuple(_FIELDS), f"it has {', '.join(_NAMES.values())}")
            raise InputError.of(f'cannot read the data: a request has no field "{key}"', hint=hint)
    parts = {key: value for key, value in data.items() if key != "input"}
    try:
        message = json_format.ParseDict(parts, fnv1.RunFunctionRequest())
    except json_format.ParseError as error:
        raise InputError.of(f"cannot read the data as a request: {error}") from error
    if template.value.get("credentials") and not message.credentials:
        raise InputError.of("cannot render the template: the data has no credentials for it")
    messages.write_struct(message.input, template.value)
    return message
