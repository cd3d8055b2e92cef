"""The sides of a comparison: two functions in one pipeline, or two versions of a pipeline."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple

from function_script import inputs
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request.values import Object, Value
from function_script.texts.errors import DocumentError, InputError
from function_script.tools import manifests, render
from function_script.tools.compare import differences
from function_script.tools.compare.differences import Difference, Named
from function_script.tools.local_pool import Sandbox
from function_script.tools.render import RenderInputs, messages, renderer, steps
from function_script.tools.render.functions import FunctionIndex, find_other_runtime
from function_script.tools.render.messages import fatal_messages
from function_script.tools.render.pipeline import PipelineError, UnfetchedError
from function_script.tools.render.positions import Origin, Positions
from function_script.tools.render.renderer import Renderer, Rendering
from function_script.tools.render.requirements import RequirementSource, StepResponse
from function_script.tools.render.runtimes.local import Local
from function_script.tools.render.runtimes.model import FunctionCaller, Runtime
from function_script.tools.render.steps import Step

# A random choice between two values is the same as often once in 256 times.
_REPEATS: Final = 8


class Answer(NamedTuple):
    """What one side answers; ``positions`` locate its values.

    ``requirements`` are those of a whole pipeline; None if no function was called.
    """

    response: StepResponse
    positions: Positions
    requirements: RequirementSource | None = None

    @property
    def refusal(self) -> str | None:
        """The first line of the reason for a refusal; None if there is none."""
        texts = [problem.message for problem in self.response.diagnostics]
        texts += fatal_messages(self.response.response)
        return texts[0].partition("\n")[0] if texts else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The differences between the first answers of both sides that last.

    ``other`` is the other side, such as "with function-a"; ``step`` is None for a whole pipeline.
    """

    step: Step | None
    other: str
    theirs: Answer
    ours: Answer
    differences: Sequence[Difference]
    named: set[Named]


class Source(NamedTuple):
    """A Composition in a file, its functions, and the sandbox with its programs."""

    origin: Origin
    functions: FunctionIndex
    pool: Sandbox

    @property
    def composition(self) -> Object:
        """The Composition."""
        return self.origin.document.value


class Versions:
    """Two versions of a Composition, whose whole pipelines run; ``other`` is as in `Comparison`."""

    has_steps = True

    def __init__(self, ours: Source, theirs: Source, other: str, options: renderer.Options) -> None:
        self._ours = ours
        self._theirs = theirs
        self._other = other
        self._options = options

    def run(
        self, xr: RenderInputs, comparisons: list[Comparison]
    ) -> Sequence[RequirementSource | None]:
        """Render the XR on both sides; return what they required. Raises FatalError."""

        def ask(source: Source) -> Answer:
            with source.origin.map_errors():
                inputs_ = replace(xr, composition=source.composition)
                rendering = self._open(source).reconcile(inputs_, source.origin)
            if rendering.skipped:
                raise InputError.of(f'step "{rendering.skipped[0]}" is left out')
            result = rendering.result
            if isinstance(result.failure, UnfetchedError):
                raise result.failure
            failure = result.failure
            problems = source.origin.locate(failure.step, failure.diagnostics) if failure else ()
            response = StepResponse(response=_join(rendering), diagnostics=problems)
            return Answer(response, rendering.positions, result.requirements)

        comparison = self._compare(ask, None, self._other)
        both = [comparison.ours.requirements, comparison.theirs.requirements]
        if None not in both:
            comparisons.append(comparison)
        return both

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
    ) -> Answer:
        """Compare a request of a step, which each side gets with its own input; return theirs."""
        other = self._other or f"with {step.function}"
        comparison = self._compare(partial(self._ask, step, request), step, other)
        comparisons.append(comparison)
        return comparison.theirs

    def _open(self, source: Source) -> Renderer:
        return Renderer(source.pool, source.functions, self._options)

    def _compare(
        self, ask: Callable[[Source], Answer], step: Step | None, other: str
    ) -> Comparison:
        """Ask both sides, and again if they differ: a clock or a random text differs from itself.

        Raises FatalError if a side does not answer.
        """
        theirs, ours = ask(self._theirs), ask(self._ours)
        lasting, named = _compare(ours, theirs)
        for _ in range(_REPEATS):
            for source, first in ((self._theirs, theirs), (self._ours, ours)) if lasting else ():
                changed = {each.place for each in _compare(ask(source), first)[0]}
                if {each.place for each in lasting} & changed:
                    named.add("changes in every run")
                    lasting = [each for each in lasting if each.place not in changed]
        return Comparison(
            step=step, other=other, theirs=theirs, ours=ours, differences=lasting, named=named
        )

    def _ask(self, step: Step, request: fnv1.RunFunctionRequest, source: Source) -> Answer:
        pipeline = steps.parse(source.composition)
        own_step = next(each for each in pipeline if each.name == step.name)
        # The pipeline adds requirements to its request, and positions are found later.
        own = fnv1.RunFunctionRequest()
        own.CopyFrom(request)
        messages.write_struct(own.input, own_step.input or {})
        runner = self._open(source).start([own_step])
        try:
            response = runner(own_step, own)
            problems = response.diagnostics
        except UnfetchedError:
            # Nobody knows what a program answers that is not at hand.
            raise
        except PipelineError as error:
            response, problems = (
                StepResponse(response=fnv1.RunFunctionResponse()),
                error.diagnostics,
            )
        response = replace(response, diagnostics=source.origin.locate(own_step, problems))
        return Answer(response, Positions([*runner.calls.values()], source.origin))


class Functions(Versions):
    """The function that runs a pipeline's Go templates, and this one in its place.

    Steps run up to the last Go template: what comes after cannot change what is compared. Raises
    FatalError if the pipeline cannot be parsed.
    """

    def __init__(self, source: Source, options: renderer.Options) -> None:
        self._steps = [step for step in steps.parse(source.composition) if _is_compared(step)]
        self.has_steps = bool(self._steps)
        local = {step.function: Local.word for step in self._steps}
        # This side runs here, whatever --function says of the other one.
        functions = replace(source.functions, options=replace(options, runtimes=local))
        here = source._replace(functions=functions)
        super().__init__(here, source, "", options)

    def run(
        self, xr: RenderInputs, comparisons: list[Comparison]
    ) -> Sequence[RequirementSource | None]:
        """Run the pipeline, which goes on with the other function's responses.

        Return what it required. Raises FatalError.
        """
        value = self._theirs.composition
        spec = manifests.object_at(value, "spec")
        pipeline = manifests.objects_at(value, "spec", "pipeline")
        first: list[Value] = [*pipeline[: self._steps[-1].index + 1]]
        inputs_ = replace(xr, composition={**value, "spec": {**spec, "pipeline": first}})
        # The steps whose last call both sides answered.
        answered: set[int] = set()

        def call(step: Step, request: fnv1.RunFunctionRequest) -> StepResponse:
            if not _is_compared(step):
                return runner(step, request)
            answered.discard(step.index)
            theirs = self.ask(step, request, comparisons)
            answered.add(step.index)
            return theirs.response

        try:
            with self._theirs.origin.map_errors():
                # A function that nothing runs is an error before any step is called.
                parsed = steps.parse(inputs_.composition)
                runner = self._open(self._theirs).start(parsed)
                result = render.reconcile(inputs_, parsed, call)
                # The other side's refusal ends a pipeline. It was compared.
                if result.failure is not None and result.failure.step.index not in answered:
                    raise result.failure
        except (InputError, DocumentError):
            # An error after both have answered all steps is no difference of the functions.
            if xr.cluster is not None or answered != {each.index for each in self._steps}:
                raise
            return []
        return [result.requirements]

    def find_runtimes(self, pipeline: Sequence[Step], _: FunctionCaller) -> Sequence[Runtime]:
        """Return the runtime of every step. Raises InputError with all that have none."""
        index = self._theirs.functions
        others = [each for each in pipeline if not _is_compared(each)]
        names = (each.name for each in others)
        runtimes = dict(zip(names, index.find_runtimes(others), strict=True))
        return [runtimes.get(each.name) or find_other_runtime(each, index) for each in pipeline]

    def _open(self, source: Source) -> Renderer:
        functions = self if source is self._theirs else source.functions
        return Renderer(source.pool, functions, self._options)


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


def _compare(ours: Answer, theirs: Answer) -> tuple[list[Difference], set[Named]]:
    """Compare two answers; after a refusal, Crossplane reads nothing else."""
    refusals = (theirs.refusal, ours.refusal)
    if refusals == (None, None):
        return differences.find(ours.response.response, theirs.response.response)
    if None not in refusals:
        return [], set()
    texts = ["no error" if text is None else f"error: {text}" for text in refusals]
    return [Difference(resource=None, path=(), theirs=texts[0], ours=texts[1])], set()
