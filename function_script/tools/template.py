"""The command `template`: the text that a template renders to, before it is read as YAML.

The request is handled as in production, sandbox included, up to the text. Only plain data of a
GoTemplate, which is not a request, is rendered in this process.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from google.protobuf import json_format

from function_script import inputs, objects
from function_script.errors import FatalError, InputError, ProgramError
from function_script.problems import suggest
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.sandbox import Answered, Pool, PoolOptions
from function_script.source import Span, excerpt
from function_script.tools import author_positions, bounded, sources, step_inputs
from function_script.tools.render import messages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from function_script.limits import Limits
    from function_script.source import Source
    from function_script.tools.step_inputs import StepInput
    from function_script.values import Object, Value

_WORKER: Final = "function_script.tools.template_worker"
_TEMPLATES: Final = ("JinjaTemplate", "GoTemplate")
_NAMES: Final = {field.json_name: field.name for field in fnv1.RunFunctionRequest.DESCRIPTOR.fields}
_FIELDS: Final = frozenset((*_NAMES, *_NAMES.values()))
_GO_POSITION: Final = re.compile(r"template: manifests:(?P<line>\d+)(?::(?P<column>\d+))?: ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """``limits`` are those of production; programs in files are below ``programs``.

    ``plain``: the data is a GoTemplate's root value, not a request. ``print`` receives the output
    of the template other than its text.
    """

    limits: Limits
    print: Callable[[str], None]
    programs: Path | None = None
    plain: bool = False


def load_input(source: Source, step: str = "") -> StepInput:
    """Load the template of a file: an input, or the input of a Composition's step of that name.

    Raises InputError unless exactly one template matches.
    """
    ours = [each for document in sources.read(source) for each in step_inputs.find_ours(document)]
    templates = [each for each in ours if _kind(each) in _TEMPLATES]
    matches = [each for each in templates if step in {"", each.step}]
    if len(matches) == 1:
        return matches[0]
    names = ", ".join(f'"{each.step}"' for each in templates)
    if matches:
        cause, hint = f"there are {len(matches)}", f"choose one with --step: {names}"
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


def _kind(template: StepInput) -> Value:
    """Return the kind that an input is parsed as, else the kind that it states."""
    kind = inputs.find_kind(template.value)
    return template.value.get("kind") if kind is None else kind[1]


def load_data(source: Source) -> Object:
    """Load the single object of a JSON or YAML text; raises InputError, DocumentError."""
    try:
        # JSON is read as such: in YAML of Kubernetes, whole floats are integers.
        value: Value = bounded.read_json(source.text)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    documents = sources.read(source)
    if len(documents) != 1:
        raise InputError.of(
            f"cannot read {source.name}: it holds {len(documents)} objects instead of one"
        )
    return documents[0].value


def render(template: StepInput, data: Object, options: Options) -> str:
    """Render a template; raises FatalError with positions in the file of ``template``.

    ``data`` is a request with fields named as in the protocol or in camelCase, or an observed XR.
    For a GoTemplate it may be anything else: the root value.
    """
    if all(objects.api_version_and_kind(data)) and not options.plain:
        data = {"observed": {"composite": {"resource": data}}}
    is_other = bool(data) and _FIELDS.isdisjoint(data)
    if options.plain or (is_other and _kind(template) == "GoTemplate"):
        with _positions(template, options.programs):
            return _render_plain(template, data)
    message = _request(template, data)
    with _positions(template, options.programs):
        return _render(message, options)


@contextmanager
def _positions(template: StepInput, programs: Path | None) -> Iterator[None]:
    """Map the positions of problems to the author's file."""
    try:
        yield
    except FatalError as error:
        moved = [
            author_positions.map_to_source(problem, template, programs)
            for problem in error.diagnostics
        ]
        raise error.with_diagnostics(*moved) from error


def _render(message: fnv1.RunFunctionRequest, options: Options) -> str:
    pool = PoolOptions(limits=options.limits, module=_WORKER, workers=1, spare=0)
    with Pool(pool) as sandbox:
        reply = sandbox.run(message.SerializeToString())
    if reply.log:
        options.print(reply.log)
    if not isinstance(reply, Answered):
        raise reply.error
    if reply.diagnostics:
        raise ProgramError(*reply.diagnostics)
    return reply.response.decode()


def _request(template: StepInput, data: Object) -> fnv1.RunFunctionRequest:
    for key in data:
        if key not in _FIELDS:
            hint = suggest(key, tuple(_FIELDS), f"it has {', '.join(_NAMES.values())}")
            raise InputError.of(f'cannot read the data: a request has no field "{key}"', hint=hint)
    parts = {key: value for key, value in data.items() if key != "input"}
    try:
        message = json_format.ParseDict(parts, fnv1.RunFunctionRequest())
    except json_format.ParseError as error:
        raise InputError.of(f"cannot read the data as a request: {error}") from error
    messages.write_struct(message.input, template.value)
    return message


def _render_plain(template: StepInput, data: Object) -> str:
    """Render as Go's engine does, with its messages and fixed random values, for comparison."""
    from function_script.engines import gotemplate  # noqa: PLC0415 - slow to import

    step = step_inputs.parse(template)
    if step.language != "gotemplate" or step.program.modules:
        raise InputError.of(
            "cannot render with plain data: only a GoTemplate without modules takes it",
            hint="give it a request: observed, desired, context and so on",
        )
    main, settings = step.program.main, step.program.options
    left, right = (str(objects.find_path(settings, ("delims", index))) for index in range(2))
    # Go's engine has no option for `checked`.
    missing_key = "default" if settings["missingkey"] == "checked" else settings["missingkey"]
    missing = f"missingkey={missing_key}"
    try:
        return gotemplate.render_text(main.text, data, delims=(left, right), options=(missing,))
    except gotemplate.GoFailure as failure:
        raise _from_go(failure.text, main) from failure


def _from_go(text: str, main: Source) -> ProgramError:
    position = _GO_POSITION.match(text)
    if position is None:
        return ProgramError.of(f"cannot render {main.name}: {text}")
    # Go counts columns in bytes, from 0; lines alone are known while a template is parsed.
    column = None if position["column"] is None else int(position["column"]) + 1
    span = Span(name=main.name, line=int(position["line"]), column=column)
    message = f"cannot render {main.name}: {text[position.end() :]}"
    return ProgramError.of(message, span=span, excerpt=excerpt(main, span))
