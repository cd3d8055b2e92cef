"""The main path: one request from its bytes to the response's bytes.

Pure: the same request gives the same response. Nothing here knows gRPC, processes or signals.
"""

import time
import zlib
from collections.abc import Callable
from functools import partial
from typing import Final, Self

from function_script import contribution, inputs, wire
from function_script.request import request
from function_script.request.limits import BUILT_IN, EffectiveLimits, Limits
from function_script.request.program import Scope
from function_script.request.remote import content
from function_script.request.remote.reference import RemoteReference
from function_script.step import (
    desired,
    moves,
    requirements,
    response,
    telemetry,
    warning_condition,
)
from function_script.step.sequencing import withholding
from function_script.step.telemetry import Answered, RequestInfo
from function_script.texts import redaction
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError, InputError, LimitError, SandboxError
from function_script.texts.problems import Problem
from function_script.wire import enums

_ALLOW: Final = "the function fetches from hosts that its operator allows: --remote-allow HOST"
WAITING_SECONDS: Final = 10.0
"""TTL of a step that waits for something in the cluster."""
_IMPURE_SECONDS: Final = 60.0
"""TTL of a step that reads more than its request: Crossplane does not see that change."""
_SPREAD: Final = 0.1


class MissingContentError(InputError):
    """Remote programs or modules of the step are not in the request.

    A server that fetches answers with the state of the fetch instead.
    """

    def __init__(
        self, *problems: Diagnostic, missing: tuple[inputs.MissingContent, ...] = ()
    ) -> None:
        super().__init__(*problems)
        self.missing = missing

    @classmethod
    def of_step(cls, step: inputs.Step) -> Self:
        """Return the error for what a step lacks."""
        problems = (
            Problem(path, f"cannot fetch {reference}: no host is allowed", _ALLOW)
            for path, reference in step.missing
        )
        return cls(*(problem.to_diagnostic() for problem in problems), missing=step.missing)

    def with_diagnostics(self, *problems: Diagnostic) -> Self:
        """Return an error of the same references with other diagnostics."""
        return type(self)(*problems, missing=self.missing)


def handle(
    data: bytes, limits: Limits, on_limits: Callable[[Limits], None], seed: bytes = b""
) -> Answered:
    """Answer a RunFunctionRequest; never raises an Exception but MemoryError.

    ``limits`` are the operator's ceilings. ``on_limits`` is called with those in force, once
    the input is parsed, which may narrow them. ``seed`` is the XR's secret, from which random
    values derive; b"" without a salt.
    """
    record = telemetry.Recorder(data)
    effective = EffectiveLimits(limits, on_limits)
    try:
        encoded = run(wire.index_request(data), limits, effective.narrow, record, seed)
        return Answered(response=encoded, info=record.info, blocked=record.blocked)
    except LimitError as error:
        record.limit(error.limit or BUILT_IN)
        problem = effective.attribute(error)
    except FatalError as error:
        problem = error
    except wire.WireError as error:
        # Parts decode lazily, so later parts of the state may be broken, too.
        unreadable = InputError.of(f"cannot read the request: {error}")
        encoded = response.fatal(wire.index_tag(data), unreadable)
        return Answered(response=encoded, diagnostics=unreadable.diagnostics, info=record.info)
    except MemoryError:
        # The worker knows the limit, and that it must not go on.
        raise
    except RecursionError:
        problem = InputError.of("cannot run: something is nested too deeply")
    except Exception as error:  # noqa: BLE001 - the caller must get an answer for any error
        record.bug(error)
        problem = SandboxError.of(
            f"cannot run: internal error ({type(error).__name__})",
            hint="this is a bug of function-script, please report it; its log has the details",
        )
    problem = redaction.redact_error(problem, data)
    return Answered(
        response=pass_through(data, problem),
        diagnostics=problem.diagnostics,
        info=record.info,
        missing=problem.missing if isinstance(problem, MissingContentError) else (),
    )


def run(
    data: wire.Request,
    ceilings: Limits,
    on_limits: Callable[[Limits], None],
    record: telemetry.Recorder,
    seed: bytes,
) -> bytes:
    """Run one step: read the input, run its program, merge its result into desired state."""
    step = inputs.parse_cached(data.input or b"", ceilings, external_sources(data))
    if step.missing:
        raise MissingContentError.of_step(step)
    on_limits(step.limits)
    view = moves.build_view(data)
    scope = scope_of(view.request, step, seed)
    resolved = requirements.resolve(step, scope, data)
    if requirements.unresolved(resolved, data):
        # Its program has not run, so that the TTL is not the program's.
        seconds = WAITING_SECONDS if step.ttl_seconds is None else step.ttl_seconds
        state = desired.merge(data, resolved)
        return response.encode(data, state, resolved, seconds, step.limits)

    output = evaluate(step, scope, record)
    if new_moves := moves.find_moves(view, output):
        # The program does not know the new names yet: only its result states them.
        view = moves.with_moves(view, new_moves)
        # A program may have changed its params, so the second run gets new ones.
        step = inputs.parse_cached(data.input or b"", ceilings, external_sources(data))
        output = evaluate(step, scope_of(view.request, step, seed), record)
        moves.check_moves(view, new_moves, output)
    record.counts(len(output.composed))
    output = requirements.merge(redaction.redact_warnings(output, data), resolved, data)
    output = withholding.apply(view.request, output, step)
    record.blocked = output.blocked
    output = warning_condition.apply(data, moves.to_old_names(view, output))

    # Each result is an event, so that a response with one counts as a change.
    on_change = None if output.results else partial(record.fingerprint, step)
    state = desired.merge(data, output, on_change)
    is_unanswered = request.has_unanswered(data, output.resources, output.schemas)
    seconds = choose_ttl(step, output, record.identity, has_unmet_requirement=is_unanswered)
    return response.encode(data, state, output, seconds, step.limits)


def evaluate(
    step: inputs.Step, scope: Scope, record: telemetry.Recorder
) -> contribution.Contribution:
    """Run the step's program, and read what it contributes."""
    start = time.perf_counter_ns()
    try:
        result = step.language.engine.evaluate(step.program, scope, step.limits)
    finally:
        record.program(step, time.perf_counter_ns() - start)
    return contribution.read(result, scope, step.limits, step.dialect, step.doubts)


def choose_ttl(
    step: inputs.Step,
    output: contribution.Contribution,
    info: RequestInfo,
    *,
    has_unmet_requirement: bool,
) -> float:
    """Return the TTL of a response in seconds: the program's, else the input's, else by the cause.

    It is the time until Crossplane calls again although nothing has changed, and for which its
    cache, if enabled, holds the response.
    """
    if output.ttl_seconds is not None:
        return output.ttl_seconds
    if step.ttl_seconds is not None:
        return step.ttl_seconds
    states = [entry.ready for entry in output.composed.values()]
    states.append(output.composite.ready)
    if has_unmet_requirement or enums.READY_FALSE in states:
        return WAITING_SECONDS
    if step.reads_files:
        return min(_IMPURE_SECONDS, step.limits.default_ttl_seconds)
    return _spread_ttl(step.limits.default_ttl_seconds, info)


def _spread_ttl(seconds: float, info: RequestInfo) -> float:
    """Return ``seconds`` plus or minus a tenth, always the same for one XR.

    XRs that were created together are not called together for ever.
    """
    names = (info.api_version, info.kind, info.namespace, info.name, info.uid)
    number = zlib.crc32("\0".join(names).encode("utf-8", "surrogatepass"))
    share = 1 - _SPREAD + 2 * _SPREAD * number / 2**32
    # Whole seconds, unless these would be none, which means no cache and no requeue.
    return round(seconds * share) or seconds * share


def scope_of(data: wire.Request, step: inputs.Step, seed: bytes = b"") -> Scope:
    """Return the scope of the step's program. Raises InputError for missing credentials."""
    return request.scope(
        data,
        step.params,
        to_diagnostic=step.to_diagnostic,
        credentials=step.credentials,
        keep_managed_fields=step.keep_managed_fields,
        sort_keys=not step.language.sorts_keys,
        seed=seed,
    )


def external_sources(data: wire.Request) -> inputs.ProgramSources:
    """Return the request's sources of programs that are not in the input."""
    return inputs.ProgramSources(
        context=partial(request.find_context, data),
        required=partial(request.read_required, data),
        remote=partial(_find_remote, data),
    )


def _find_remote(data: wire.Request, reference: RemoteReference) -> content.Content | None:
    payload = data.remote_texts.get(reference.key)
    return None if payload is None else content.decode(payload)


def pass_through(
    data: bytes, error: FatalError, index: Callable[[bytes], wire.Request] = wire.index_request
) -> bytes:
    """Return the request's desired state, or only its tag if it is broken, with one FATAL."""
    try:
        return response.fatal(index(data), error)
    except wire.WireError:
        return response.fatal(wire.index_tag(data), error)


def pass_through_unread(data: bytes, error: FatalError) -> bytes:
    """Return the pass-through of a request whose worker was lost, without decoding it.

    Decoding in the server would delay all its other calls.
    """
    return pass_through(data, error, wire.index_passed)
