"""The handler of a sandbox worker for the command `template`: production up to the rendered text.

`template` names this module to the pool in place of the production handler; requests are the same.
"""

from collections.abc import Callable

from function_script import inputs, wire
from function_script.request.limits import EffectiveLimits, Limits
from function_script.request.program import TemplateResult
from function_script.step import function, requirements
from function_script.texts.errors import FatalError, InputError, LimitError


def handle(
    data: bytes, limits: Limits, on_limits: Callable[[Limits], None], seed: bytes
) -> function.HandlerResult:
    """Return the text as UTF-8 in place of the response; it is empty if there are diagnostics."""
    effective = EffectiveLimits(limits, on_limits)
    try:
        return function.HandlerResult(
            response=_render(function.index_request(data), limits, effective, seed).encode()
        )
    except LimitError as error:
        problems = effective.attribute(error).diagnostics
        return function.HandlerResult(response=b"", diagnostics=problems)
    except FatalError as error:
        return function.HandlerResult(response=b"", diagnostics=error.diagnostics)


def _render(data: wire.Request, ceilings: Limits, effective: EffectiveLimits, seed: bytes) -> str:
    step = inputs.parse(
        wire.decode_struct(data.input or b""), ceilings, function.external_sources(data)
    )
    effective.narrow(step.limits)
    scope = function.scope_of(data, step, seed)
    missing = requirements.unresolved(requirements.resolve(step, scope, data), data)
    if missing:
        raise InputError.of(
            f'cannot render: "{missing[0]}" is required, and not in the data',
            hint="put what would be fetched under required_resources; no items: nothing was found",
        )
    result = step.language.engine.evaluate(step.program, scope, step.limits)
    if not isinstance(result, TemplateResult):
        raise InputError.of(f"cannot show the text of a {step.kind}: it renders none")
    return result.text
