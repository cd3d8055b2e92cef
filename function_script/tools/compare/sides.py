"""The sides of a comparison: two functions in one pipeline, or two versions of a pipeline."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from function_script import inputs
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request.values import Object, Value
from function_script.sandbox import Pool
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import DocumentError, FatalError, InputError
from function_script.tools import manifests, render
from function_script.tools.compare import differences
from function_script.tools.compare.differences import Difference, Named
from function_script.tools.render import RenderInputs, messages, renderer, steps
from function_script.tools.render.functions import FunctionIndex, find_other_runtime
from function_script.tools.render.messages import fatal_messages
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.render.positions import Origin, Positions
from function_script.tools.render.renderer import Renderer, Rendering
from function_script.tools.render.requirements import RequirementSource, Runner, StepResponse
from function_script.tools.render.runtimes.local import Local
from function_script.tools.render.runtimes.model import FunctionCaller, ListedFunctions, Runtime
from function_script.tools.render.steps import Step

# A random choice between two values is the same as often once in 256 times.
_REPEATS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The differences between the first answers of both sides that last.

    ``other`` is the other side, such as "with function-a". ``problem`` is the reason for which this
    side alone refuses, and ``refusal`` that of this side if both do. ``positions`` locate values,
    those of this side first. ``step`` is None for a whole pipeline.
    """

    step: Step | None
    other: str
    differences: Sequence[Difference]
    named: set[Named]
    problem: Diagnostic | None
    refusal: str | None
    positions: Sequence[Positions] = ()


class Source(NamedTuple):
    """A Composition in a file, its functions, and the sandbox with its programs."""

    origin: Origin
    functions: FunctionIndex
    pool: Pool

    @property
    def composition(self) -> Object:
        """The Composition."""
        return self.origin.document.value


class Functions:
    """The function that runs a pipeline's Go templates, and this one in its place.

    Steps run up to the last Go template: what comes after cannot change what is compared. Raises
    FatalError if the pipeline cannot be parsed.
    """

    def __init__(self, source: Source, options: renderer.Options) -> None:
        self._steps = [step for step in steps.parse(source.composition) if _is_compared(step)]
        self._source = source
        self._options = options
        self.has_steps = bool(self._steps)

    def run(
        self, xr: RenderInputs, comparisons: list[Comparison]
    ) -> Sequence[RequirementSource | None]:
        """Run the pipeline, which goes on with the other function's responses.

        Return what it required. Raises FatalError.
        """
        value = self._source.composition
        spec = manifests.object_at(value, "spec")
        pipeline = manifests.objects_at(value, "spec", "pipeline")
        first: list[Value] = [*pipeline[: self._steps[-1].index + 1]]
        inputs_ = replace(xr, composition={**value, "spec": {**spec, "pipeline": first}})
        # The steps whose last call both sides answered.
        answered: set[int] = set()

        def call(step: Step, request: fnv1.RunFunctionRequest) -> StepResponse:
            if not _is_compared(step):
                return theirs(step, request)
            answered.discard(step.index)
            response = self._compare(step, request, theirs, comparisons)
            answered.add(step.index)
            return response

        try:
            with self._source.origin.map_errors():
                theirs = self._start(steps.parse(inputs_.composition))
                result = render.reconcile(inputs_, call)
                # The other side's refusal ends a pipeline. It was compared.
                if result.failure is not None and result.failure.step.index not in answered:
                    raise result.failure
        except (InputError, DocumentError):
            # An error after both have answered all steps is no difference of the functions.
            if xr.cluster is not None or answered != {each.index for each in self._steps}:
                raise
            return []
        return [result.requirements]

    def _start(self, pipeline: Sequence[Step]) -> Runner:
        return Renderer(self._source.pool, self, self._options).start(pipeline)

    def find_runtimes(self, pipeline: Sequence[Step], caller: FunctionCaller) -> Sequence[Runtime]:
        """Return the runtime of every step. Raises InputError with all that have none."""
        index = self._source.functions
        others = [step for step in pipeline if not _is_compared(step)]
        pairs = zip(others, index.find_runtimes(others, caller), strict=True)
        runtimes = {step.index: runtime for step, runtime in pairs}
        return [runtimes.get(each.index) or find_other_runtime(each, index) for each in pipeline]

    def find_step(self, step_input: Object) -> Step | None:
        """Return the step with an input."""
        return next((step for step in self._steps if step.input == step_input), None)

    def ask(
        self, step: Step, request: fnv1.RunFunctionRequest, comparisons: list[Comparison]
    ) -> None:
        """Compare a request of a step. Raises FatalError."""
        self._compare(step, request, self._start([step]), comparisons)

    def _compare(
        self,
        step: Step,
        request: fnv1.RunFunctionRequest,
        theirs: Runner,
        comparisons: list[Comparison],
    ) -> StepResponse:
        """Call both functions; return the other one's response. Raises FatalError without it."""
        # The requirements of the next call are added to the request.
        first_request = fnv1.RunFunctionRequest()
        first_request.CopyFrom(request)
        local = ListedFunctions(runtimes={step.function: Local()})
        ours = Renderer(self._source.pool, local, self._options).start([step])
        comparison, response = _compare_answers(
            partial(theirs, step, first_request),
            partial(_answer, ours, step, first_request),
            step,
            f"with {step.function}",
        )
        positions = Positions([*ours.calls.values()], self._source.origin)
        comparisons.append(replace(comparison, positions=[positions]))
        return response


class Versions:
    """Two versions of a Composition, whose whole pipelines run; ``name`` is that of the other."""

    has_steps = True

    def __init__(self, ours: Source, theirs: Source, name: str, options: renderer.Options) -> None:
        self._ours = ours
        self._theirs = theirs
        self._other = f"in {name}"
        self._options = options

    def run(
        self, xr: RenderInputs, comparisons: list[Comparison]
    ) -> Sequence[RequirementSource | None]:
        """Render the XR on both sides; return what they required. Raises FatalError."""
        renderings: dict[str, Rendering] = {}

        def ask(side: str, source: Source) -> StepResponse:
            render_ = Renderer(source.pool, source.functions, self._options)
            with source.origin.map_errors():
                inputs_ = replace(xr, composition=source.composition)
                rendering = renderings[side] = render_.reconcile(inputs_, source.origin)
            if rendering.skipped:
                raise InputError.of(f'step "{rendering.skipped[0]}" is left out')
            failure = rendering.result.failure
            problems = failure.diagnostics if failure is not None else ()
            return StepResponse(response=_join(rendering), diagnostics=problems)

        asks = (partial(ask, "theirs", self._theirs), partial(ask, "ours", self._ours))
        comparison, _ = _compare_answers(*asks, None, self._other)
        both = [renderings["ours"], renderings["theirs"]]
        if all(each.responses for each in both):
            positions = [each.positions for each in both]
            comparisons.append(replace(comparison, positions=positions))
        return [each.result.requirements for each in both]

    def find_step(self, step_input: Object) -> Step | None:
        """Return the step that has an input on one side, and is on both."""
        others = {step.name: step for step in steps.parse(self._theirs.composition)}
        for step in steps.parse(self._ours.composition):
            other = others.get(step.name)
            if other is not None and step_input in (step.input, other.input):
                return step
        return None

    def ask(
        self, step: Step, request: fnv1.RunFunctionRequest, comparisons: list[Comparison]
    ) -> None:
        """Compare a request of a step, which each side gets with its own input."""

        def ask_version(source: Source) -> StepResponse:
            pipeline = steps.parse(source.composition)
            own_step = next(each for each in pipeline if each.name == step.name)
            own = fnv1.RunFunctionRequest()
            own.CopyFrom(request)
            messages.write_struct(own.input, own_step.input or {})
            render_ = Renderer(source.pool, source.functions, self._options)
            try:
                return render_.call(own_step, own)
            except PipelineError as error:
                return _refuse(error)

        asks = (partial(ask_version, self._theirs), partial(ask_version, self._ours))
        comparisons.append(_compare_answers(*asks, step, self._other)[0])


Sides: TypeAlias = Functions | Versions


def _join(rendering: Rendering) -> fnv1.RunFunctionResponse:
    """Return what the steps of a pipeline answer together."""
    joined = fnv1.RunFunctionResponse()
    for name, response in rendering.responses.items():
        joined.results.extend(response.results)
        joined.conditions.extend(response.conditions)
        # Two steps may require something by the same name.
        for kind in ("resources", "extra_resources", "schemas"):
            for key, selector in getattr(response.requirements, kind).items():
                getattr(joined.requirements, kind)[f"{name}.{key}"].CopyFrom(selector)
        joined.desired.CopyFrom(response.desired)
        joined.context.CopyFrom(response.context)
        joined.meta.ttl.CopyFrom(response.meta.ttl)
    return joined


def _is_compared(step: Step) -> bool:
    return step.input is not None and is_go_template(step.input)


def is_go_template(value: Object) -> bool:
    """Report whether a value is an input of function-go-templating, of any version."""
    return inputs.find_kind(value) == inputs.PEERS


def _compare_answers(
    ask_there: Callable[[], StepResponse],
    ask_here: Callable[[], StepResponse],
    step: Step | None,
    other: str,
) -> tuple[Comparison, StepResponse]:
    """Ask both sides, and again if they differ: a clock or a random text differs from itself.

    Return the other side's response, too. Raises FatalError if a side does not answer.
    """
    theirs, ours = ask_there(), ask_here()
    lasting, named = _compare(ours, theirs)
    for _ in range(_REPEATS):
        for ask, first in ((ask_there, theirs), (ask_here, ours)) if lasting else ():
            changed = {each.place for each in _compare(ask(), first)[0]}
            if {each.place for each in lasting} & changed:
                named.add("changes in every run")
                lasting = [each for each in lasting if each.place not in changed]
    is_refused = _find_refusal(theirs) is not None
    comparison = Comparison(
        step=step,
        other=other,
        differences=lasting,
        named=named,
        problem=None if is_refused else next(iter(ours.diagnostics), None),
        refusal=_find_refusal(ours) if is_refused else None,
    )
    return comparison, theirs


def _answer(runner: Runner, step: Step, request: fnv1.RunFunctionRequest) -> StepResponse:
    try:
        return runner(step, request)
    except FatalError as error:
        return _refuse(error)


def _refuse(error: FatalError) -> StepResponse:
    """Return the response of a side that fails."""
    return StepResponse(response=fnv1.RunFunctionResponse(), diagnostics=error.diagnostics)


def _compare(ours: StepResponse, theirs: StepResponse) -> tuple[list[Difference], set[Named]]:
    """Compare two responses; after a refusal, Crossplane reads nothing else."""
    refusals = (_find_refusal(theirs), _find_refusal(ours))
    if refusals == (None, None):
        return differences.find(ours.response, theirs.response)
    if None not in refusals:
        return [], set()
    texts = ["no error" if text is None else f"error: {text}" for text in refusals]
    return [Difference(resource=None, path=(), theirs=texts[0], ours=texts[1])], set()


def _find_refusal(response: StepResponse) -> str | None:
    """Return the first line of the reason for a refusal; None if there is none."""
    texts = [problem.message for problem in response.diagnostics]
    texts += fatal_messages(response.response)
    return texts[0].partition("\n")[0] if texts else None
