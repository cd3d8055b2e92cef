"""The sides of a comparison: two functions in one pipeline, or two versions of a pipeline."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, Literal, NamedTuple, TypeAlias

from function_script import inputs
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.reader import format_path
from function_script.request.values import Object
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import DocumentError, InputError
from function_script.tools import console, manifests, render
from function_script.tools.compare import differences
from function_script.tools.compare.differences import Difference, Named
from function_script.tools.render import RenderInputs, messages, steps
from function_script.tools.render.messages import fatal_messages
from function_script.tools.render.pipeline import PipelineError, UnfetchedError
from function_script.tools.render.positions import Position, Positions
from function_script.tools.render.renderer import Rendering
from function_script.tools.render.requirements import RequirementSource, StepResponse
from function_script.tools.render.runtimes.local import Local
from function_script.tools.render.sides import FileSide
from function_script.tools.render.steps import Step

# The step, the path of the value, and the line that writes it or fails.
Place: TypeAlias = tuple[str, objects.Path, tuple[str, int] | None]
Change: TypeAlias = tuple[Diagnostic, Difference]
"""A difference as a problem with a position, and as values."""
NothingToCompare: TypeAlias = Literal["no step of function-go-templating", "steps of this function"]
"""Why no step of a Composition runs on two sides."""

# A random choice between two values is the same as often once in 256 times.
_REPEATS: Final = 8
# Crossplane runs nothing for such an XR.
_PAUSED: Final = "the XR is paused or is being deleted: no step runs"
_PIPELINE: Final[objects.Path] = ("spec", "pipeline")
_MAX_VALUE: Final = 80
_MAX_ERROR: Final = 400


class Comparison:
    """The differences of the answers to an XR or a request, which ``label`` names.

    ``changes`` has one of each place. ``named`` are the kinds of differences that are no change.
    ``refusal`` is the error here if both sides refuse the last request that they got.
    """

    def __init__(self, label: str) -> None:
        self.label = label
        self.changes: dict[Place, Change] = {}
        self.named: set[Named] = set()
        self.refusal: str | None = None


class Answer(NamedTuple):
    """What one side answers; ``positions`` locate its values.

    ``requirements`` are those of a whole pipeline.
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


def _render(side: FileSide, xr: RenderInputs) -> Answer:
    """Return what all steps answer together. Raises FatalError if one does not answer."""
    with side.origin.map_errors():
        rendering = side.render(xr)
    result, failure = rendering.result, rendering.result.failure
    if isinstance(failure, UnfetchedError):
        raise failure
    if result.requirements is None:
        raise InputError.of(_PAUSED)
    problems = side.origin.locate(failure.step, failure.diagnostics) if failure else ()
    response = StepResponse(response=_join(rendering), diagnostics=problems)
    return Answer(response, rendering.positions, result.requirements)


def _call(side: FileSide, step: Step, request: fnv1.RunFunctionRequest) -> Answer:
    """Return what a step answers with its input of a side. Raises FatalError if it does not.

    ``request`` is as before: the pipeline adds requirements to it.
    """
    own_step = next(each for each in steps.parse(side.composition) if each.name == step.name)
    own = fnv1.RunFunctionRequest()
    own.CopyFrom(request)
    messages.write_struct(own.input, own_step.input or {})
    runner = side.open().start([own_step])
    try:
        response = runner(own_step, own)
    except PipelineError as error:
        # Nobody knows what a program answers that is not at hand.
        if isinstance(error, UnfetchedError):
            raise
        empty = fnv1.RunFunctionResponse()
        response = StepResponse(response=empty, diagnostics=error.diagnostics)
    problems = side.origin.locate(own_step, response.diagnostics)
    positions = Positions(runner.calls.values(), side.origin)
    return Answer(replace(response, diagnostics=problems), positions)


class Versions:
    """Two versions of a Composition, whose whole pipelines run; ``other`` names theirs."""

    nothing: NothingToCompare | None = None

    def __init__(self, ours: FileSide, theirs: FileSide, other: str = "") -> None:
        self._ours = ours
        self._theirs = theirs
        self._other = other
        # Steps and places whose values were the same in all runs of an XR.
        self._constant: set[tuple[str, tuple[str | None, objects.Path]]] = set()

    def run(self, xr: RenderInputs, comparison: Comparison) -> Sequence[RequirementSource | None]:
        """Compare the renderings of an XR; return what they required. Raises FatalError."""
        answers = self._compare(lambda side: _render(side, xr), None, comparison)
        return [each.requirements for each in answers]

    @property
    def type(self) -> tuple[str, str]:
        """The apiVersion and kind of the XRs."""
        return manifests.composed_type(self._ours.composition)

    def find_step(self, request: fnv1.RunFunctionRequest) -> Step | None:
        """Return the step that has the input of a request on one side, and is on both."""
        xr = messages.read_struct(request.observed.composite.resource)
        if objects.api_version_and_kind(xr) != self.type:
            return None
        step_input = messages.read_struct(request.input)
        others = {step.name: step for step in steps.parse(self._theirs.composition)}
        for step in steps.parse(self._ours.composition):
            other = others.get(step.name)
            if other is not None and step_input in (step.input, other.input):
                return step
        return None

    def is_compared(self, step: Step) -> bool:
        """Report whether a step runs on both sides."""
        del step
        return True

    def ask(
        self, step: Step, request: fnv1.RunFunctionRequest, comparison: Comparison
    ) -> StepResponse:
        """Compare the answers of a step to a request; return theirs. Raises FatalError."""
        _, theirs = self._compare(lambda side: _call(side, step, request), step, comparison)
        return theirs.response

    def _compare(
        self, ask: Callable[[FileSide], Answer], step: Step | None, comparison: Comparison
    ) -> tuple[Answer, Answer]:
        """Ask both sides, and again if they differ: a clock or a random text differs from itself.

        Places that differed in all runs of another XR are asked once.
        Raises FatalError if a side does not answer. ``step`` is None for a whole pipeline.
        """
        theirs, ours = ask(self._theirs), ask(self._ours)
        lasting, named = _find(ours, theirs)
        own_step = "" if step is None else step.name
        is_known = all((own_step, each.place) in self._constant for each in lasting)
        for _ in range(0 if is_known else _REPEATS):
            for side, first in ((self._theirs, theirs), (self._ours, ours)) if lasting else ():
                changed = {each.place for each in _find(ask(side), first)[0]}
                if {each.place for each in lasting} & changed:
                    named.add("changes in every run")
                    lasting = [each for each in lasting if each.place not in changed]
        self._constant.update((own_step, each.place) for each in lasting)
        for each in lasting:
            name, problem = self._locate(each, step, (ours, theirs), comparison.label)
            line = None if problem.span is None else (problem.span.name, problem.span.line)
            # Resources of a loop differ at one line, and count once for their XR.
            comparison.changes.setdefault((name, each.path, line), (problem, each))
        comparison.named |= named
        comparison.refusal = None if theirs.refusal is None else ours.refusal
        return ours, theirs

    def _locate(
        self, difference: Difference, step: Step | None, answers: Sequence[Answer], label: str
    ) -> tuple[str, Diagnostic]:
        """Return the step of a difference, and the line that writes the value or fails."""
        is_xr = difference.path[:1] == ("xr",)
        path = difference.path[1:] if is_xr else difference.path
        # The other side may have written a value that is not here.
        both = answers if is_xr or difference.resource is not None else ()
        places = (each.positions.nearest(difference.resource, path) for each in both)
        name, at, other = "", _PIPELINE, self._other
        if step is not None:
            name, at = step.name, (*at, step.index)
            other = other or f"with {step.function}"
        position = next(filter(None, places), Position(name, None))
        span = position.span or self._ours.origin.document.span(at)
        excerpt = answers[0].positions.excerpt(span)
        # After an error here, there is no other difference.
        errors = answers[0].response.diagnostics[:1]
        for error in errors:
            if error.span is not None:
                span, excerpt = error.span, error.excerpt
        message = _describe(difference, other)
        # Of a long error, the message has the begin alone.
        texts = [each.message for each in errors]
        notes = [text for text in texts if console.to_short(text, _MAX_ERROR)[1:-1] not in message]
        problem = Diagnostic(
            message=message, span=span, excerpt=excerpt, notes=(*notes, f"for {label}")
        )
        return position.step, problem


class Functions(Versions):
    """The function that runs a pipeline's Go templates, and this one in its place.

    Steps run up to the last Go template: what comes after cannot change what is compared. A step
    that calls this function itself runs here alone. Raises FatalError if the pipeline cannot be
    parsed.
    """

    def __init__(self, side: FileSide) -> None:
        pipeline = steps.parse(side.composition)
        templates = [each for each in pipeline if each.input and is_go_template(each.input)]
        compared = [each for each in templates if not side.functions.is_itself(each)]
        while pipeline and pipeline[-1] not in compared:
            pipeline.pop()
        if not compared:
            own: NothingToCompare = "steps of this function"
            self.nothing = own if templates else "no step of function-go-templating"
        self._pipeline = pipeline
        self._compared = compared
        local = {each.function: Local.word for each in compared}
        # This side runs here, whatever --function says of the other one.
        options = replace(side.functions.options, runtimes=local)
        here = replace(side.functions, options=options)
        there = replace(side.functions, runs_elsewhere=self.is_compared)
        super().__init__(replace(side, functions=here), replace(side, functions=there))

    def is_compared(self, step: Step) -> bool:
        """Report whether a step runs on both sides."""
        return step in self._compared

    def run(self, xr: RenderInputs, comparison: Comparison) -> Sequence[RequirementSource | None]:
        """Run the pipeline, which goes on with the other function's responses.

        Return what it required. Raises FatalError.
        """

        def call(step: Step, request: fnv1.RunFunctionRequest) -> StepResponse:
            is_compared = self.is_compared(step)
            return self.ask(step, request, comparison) if is_compared else runner(step, request)

        with self._theirs.origin.map_errors():
            # A function that nothing runs is an error before any step is called.
            runner = self._theirs.open().start(self._pipeline)
            try:
                result = render.reconcile(xr, self._pipeline, call)
            except DocumentError:
                # The answers of both sides cannot be composed, which is no difference of them.
                if xr.cluster is not None:
                    raise
                return []
            failure = result.failure
            # The other side's refusal ends a pipeline. It was compared.
            if failure and (
                isinstance(failure, UnfetchedError) or not self.is_compared(failure.step)
            ):
                raise failure
        if result.requirements is None:
            raise InputError.of(_PAUSED)
        return [result.requirements]


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


def is_go_template(value: Object) -> bool:
    """Report whether a value is an input of function-go-templating, of any version."""
    return inputs.find_kind(value) == inputs.PEERS


def _find(ours: Answer, theirs: Answer) -> tuple[list[Difference], set[Named]]:
    """Compare two answers; after a refusal, Crossplane reads nothing else."""
    refusals = (theirs.refusal, ours.refusal)
    if refusals == (None, None):
        return differences.find(ours.response.response, theirs.response.response)
    if None not in refusals:
        return [], set()
    texts = ["no error" if text is None else f"error: {text}" for text in refusals]
    return [Difference(resource=None, path=(), theirs=texts[0], ours=texts[1])], set()


def _describe(difference: Difference, other: str) -> str:
    """Return a sentence with both values; ``other`` is such as "with function-a"."""
    place = "the response" if difference.resource is None else f'resource "{difference.resource}"'
    is_error = difference.resource is None and not difference.path
    if difference.path:
        place = f"{place}: {format_path(difference.path)}"
    if difference.is_secret:
        return f"{place} is another one {other} than here"
    if difference.theirs is None and difference.ours is None:
        return f"{place} is null on one side, and absent on the other"
    # The end of an error says most.
    size = _MAX_ERROR if is_error else _MAX_VALUE
    theirs, ours = (console.to_short(each, size) for each in (difference.theirs, difference.ours))
    return f"{place} is {theirs} {other}, and {ours} here"
