"""The sides of a comparison: two functions in one pipeline, or two versions of a pipeline."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Final, NamedTuple, TypeAlias

from function_script import inputs
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request.values import Object, Value
from function_script.sandbox import Pool
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import DocumentError, FatalError, InputError
from function_script.tools import manifests
from function_script.tools.compare import differences
from function_script.tools.compare.differences import Difference, Named
from function_script.tools.render import RenderInputs, messages, renderer, steps
from function_script.tools.render.functions import FunctionIndex, find_other_runtime
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.render.positions import Call, Files, Positions
from function_script.tools.render.renderer import Origin, Renderer, Rendering
from function_script.tools.render.requirements import RequirementSource, StepResponse
from function_script.tools.render.runtimes.local import Local
from function_script.tools.render.runtimes.model import FunctionCaller, Runtime
from function_script.tools.render.steps import Step
from function_script.tools.results import fatal_messages

# A random choice between two values is the same as often once in 256 times.
_REPEATS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The first answers of both sides, and their differences that last.

    ``other`` is the other side, such as "with function-a". ``positions`` locate values, those of
    this side first. ``step`` is None for a whole pipeline.
    """

    step: Step | None
    other: str
    ours: StepResponse
    theirs: StepResponse
    differences: Sequence[Difference]
    named: set[Named]
    positions: Sequence[Positions] = ()

    @property
    def problem(self) -> Diagnostic | None:
        """The reason for which this side alone refuses."""
        if _refusal(self.ours) is None or _refusal(self.theirs) is not None:
            return None
        return next(iter(self.ours.diagnostics), None)


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
        pipeline = steps.parse(source.composition)
        self._steps = [step for step in pipeline if _is_compared(step)]
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
        functions = _Pairs(source=self._source, comparisons=comparisons)
        render = Renderer(self._source.pool, functions, self._options)
        try:
            with self._source.origin.map_errors():
                rendering = render.reconcile(inputs_, self._source.origin)
                failure = rendering.result.failure
                # The other side's refusal ends a pipeline. It was compared.
                if failure is not None and failure.step.index not in functions.answered:
                    raise failure
        except (InputError, DocumentError):
            # An error after both have answered all steps is no difference of the functions.
            if xr.cluster is not None or functions.answered != {each.index for each in self._steps}:
                raise
            return []
        return [rendering.result.requirements]

    def find_step(self, step_input: Object) -> str:
        """Return the name of the step with an input; empty if none has it."""
        return next((step.name for step in self._steps if step.input == step_input), "")

    def ask(
        self, step: str, request: fnv1.RunFunctionRequest, comparisons: list[Comparison]
    ) -> None:
        """Compare a request of a step. Raises FatalError."""
        functions = _Pairs(source=self._source, comparisons=comparisons)
        render = Renderer(self._source.pool, functions, self._options)
        render.call(next(each for each in self._steps if each.name == step), request)


class Versions:
    """Two versions of a Composition, whose whole pipelines run; ``name`` is that of the other."""

    def __init__(self, ours: Source, theirs: Source, name: str, options: renderer.Options) -> None:
        self._ours = ours
        self._theirs = theirs
        self._other = f"in {name}"
        self._options = options
        self.has_steps = True

    def run(
        self, xr: RenderInputs, comparisons: list[Comparison]
    ) -> Sequence[RequirementSource | None]:
        """Render the XR on both sides; return what they required. Raises FatalError."""
        renderings: dict[str, Rendering] = {}

        def ask(side: str, source: Source) -> StepResponse:
            render = Renderer(source.pool, source.functions, self._options)
            with source.origin.map_errors():
                inputs_ = replace(xr, composition=source.composition)
                rendering = renderings[side] = render.reconcile(inputs_, source.origin)
            if rendering.skipped:
                raise InputError.of(f'step "{rendering.skipped[0]}" is left out')
            failure = rendering.result.failure
            problems = failure.diagnostics if failure is not None else ()
            return StepResponse(response=_join(rendering), diagnostics=problems)

        asks = (partial(ask, "theirs", self._theirs), partial(ask, "ours", self._ours))
        comparison = _compare_answers(*asks, None, self._other)
        both = [renderings["ours"], renderings["theirs"]]
        if all(each.responses for each in both):
            positions = [each.positions for each in both]
            comparisons.append(replace(comparison, positions=positions))
        return [each.result.requirements for each in both]

    def find_step(self, step_input: Object) -> str:
        """Return the name of the step that has an input on one side, and is on both; or empty."""
        pipelines = self._pipelines
        same = (name for each in pipelines for name in each if each[name].input == step_input)
        return next((name for name in same if all(name in each for each in pipelines)), "")

    @cached_property
    def _pipelines(self) -> Sequence[dict[str, Step]]:
        """Return the steps of both sides by name, ours first."""
        sources = (self._ours, self._theirs)
        return [{step.name: step for step in steps.parse(source.composition)} for source in sources]

    def ask(
        self, step: str, request: fnv1.RunFunctionRequest, comparisons: list[Comparison]
    ) -> None:
        """Compare a request of a step, which each side gets with its own input."""
        ours, theirs = (pipeline[step] for pipeline in self._pipelines)

        def ask_version(source: Source, its_step: Step) -> StepResponse:
            own = fnv1.RunFunctionRequest()
            own.CopyFrom(request)
            messages.write_struct(own.input, its_step.input or {})
            try:
                return Renderer(source.pool, source.functions, self._options).call(its_step, own)
            except PipelineError as error:
                return _refuse(error)

        asks = (partial(ask_version, self._theirs, theirs), partial(ask_version, self._ours, ours))
        comparisons.append(_compare_answers(*asks, ours, self._other))


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pairs:
    """The functions of a pipeline, of which those for Go templates run on both sides.

    ``answered`` are the steps whose last call both sides answered.
    """

    source: Source
    comparisons: list[Comparison]
    answered: set[int] = field(default_factory=set)

    def find_runtimes(self, pipeline: Sequence[Step], caller: FunctionCaller) -> Sequence[Runtime]:
        """Return the runtime of every step. Raises InputError with all that have none."""
        index = self.source.functions
        others = [step for step in pipeline if not _is_compared(step)]
        pairs = zip(others, index.find_runtimes(others, caller), strict=True)
        runtimes: dict[int, Runtime] = {step.index: runtime for step, runtime in pairs}
        for step in pipeline:
            if step.index not in runtimes:
                runtimes[step.index] = _Pair(find_other_runtime(step, index), self)
        return [runtimes[step.index] for step in pipeline]


def _is_compared(step: Step) -> bool:
    return step.input is not None and is_go_template(step.input)


def is_go_template(value: Object) -> bool:
    """Report whether a value is an input of function-go-templating, of any version."""
    return inputs.find_kind(value) == inputs.PEERS


class _Pair(Runtime):
    """The other function, whose response goes on, and this one beside it."""

    def __init__(self, theirs: Runtime, pairs: _Pairs) -> None:
        self._theirs = theirs
        self._pairs = pairs

    def describe(self) -> str:
        """Return the words after "runs"."""
        return f"{self._theirs.describe()}, and here"

    def start(self, caller: FunctionCaller) -> None:
        """Begin to start the other function."""
        self._theirs.start(caller)

    def wait(self, caller: FunctionCaller) -> None:
        """Wait for the other function."""
        self._theirs.wait(caller)

    def call(
        self,
        step: Step,
        request: fnv1.RunFunctionRequest,
        caller: FunctionCaller,
        timeout_seconds: float,
    ) -> StepResponse:
        """Call both, compare, and return the other one's response. Raises FatalError without it."""
        # The requirements of the next call are added to the request.
        first_request = fnv1.RunFunctionRequest()
        first_request.CopyFrom(request)
        self._pairs.answered.discard(step.index)

        def ask(runtime: Runtime) -> StepResponse:
            return runtime.call(step, first_request, caller, timeout_seconds)

        def ask_here() -> StepResponse:
            try:
                return ask(Local())
            except FatalError as error:
                return _refuse(error)

        other = f"with {step.function}"
        comparison = _compare_answers(partial(ask, self._theirs), ask_here, step, other)
        locate = partial(Local().locate, first_request, caller)
        call = Call(step, first_request, comparison.ours.response, locate)
        origin = self._pairs.source.origin
        files = Files(origin.document, origin.programs, origin.find_input)
        positions = Positions([call], files)
        self._pairs.comparisons.append(replace(comparison, positions=[positions]))
        self._pairs.answered.add(step.index)
        return comparison.theirs


def _compare_answers(
    ask_there: Callable[[], StepResponse],
    ask_here: Callable[[], StepResponse],
    step: Step | None,
    other: str,
) -> Comparison:
    """Ask both sides, and again if they differ: a clock or a random text differs from itself.

    Raises FatalError if a side does not answer.
    """
    theirs, ours = ask_there(), ask_here()
    lasting, named = _compare(ours, theirs)
    for _ in range(_REPEATS):
        for ask, first in ((ask_there, theirs), (ask_here, ours)) if lasting else ():
            changed = {each.place for each in _compare(ask(), first)[0]}
            if {each.place for each in lasting} & changed:
                named.add("changes in every run")
                lasting = [each for each in lasting if each.place not in changed]
    return Comparison(
        step=step, other=other, ours=ours, theirs=theirs, differences=lasting, named=named
    )


def _refuse(error: FatalError) -> StepResponse:
    """Return the response of a side that fails."""
    return StepResponse(response=fnv1.RunFunctionResponse(), diagnostics=error.diagnostics)


def _compare(ours: StepResponse, theirs: StepResponse) -> tuple[list[Difference], set[Named]]:
    """Compare two responses; after a refusal, Crossplane reads nothing else."""
    refusals = (_refusal(theirs), _refusal(ours))
    if refusals == (None, None):
        return differences.find(ours.response, theirs.response)
    if None not in refusals:
        return [], {"errors on both sides"}
    texts = ["no error" if text is None else f"error: {text}" for text in refusals]
    return [Difference(resource=None, path=(), theirs=texts[0], ours=texts[1])], set()


def _refusal(response: StepResponse) -> str | None:
    """Return the first line of the reason for a refusal; None if there is none."""
    texts = [problem.message for problem in response.diagnostics]
    texts += fatal_messages(response.response)
    return texts[0].partition("\n")[0] if texts else None
