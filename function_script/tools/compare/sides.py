"""Run each Go template on both sides: by the function that Crossplane has, and by this one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from function_script import inputs
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError
from function_script.tools.compare import differences
from function_script.tools.compare.differences import Difference, Named
from function_script.tools.render.functions import FunctionIndex, find_other_runtime
from function_script.tools.render.positions import Call
from function_script.tools.render.requirements import StepResponse
from function_script.tools.render.runtimes.local import Local
from function_script.tools.render.runtimes.model import FunctionCaller, Runtime
from function_script.tools.render.steps import Step
from function_script.tools.results import fatal_messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One request that both sides answered; ``call`` locates the values of this side.

    ``problem`` is the reason for which this function alone refuses the request.
    """

    call: Call
    differences: Sequence[Difference]
    named: set[Named]
    problem: Diagnostic | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BothSides:
    """The functions of a pipeline, of which those for Go templates run on both sides.

    ``comparisons`` receives what was compared.
    """

    index: FunctionIndex
    comparisons: list[Comparison] = field(default_factory=list)

    def find_runtimes(self, pipeline: Sequence[Step], caller: FunctionCaller) -> Sequence[Runtime]:
        """Return the runtime of every step. Raises InputError with all that have none."""
        others = [step for step in pipeline if not is_compared(step)]
        runtimes = dict(
            zip(
                (step.index for step in others),
                self.index.find_runtimes(others, caller),
                strict=True,
            )
        )
        for step in pipeline:
            if step.index not in runtimes:
                runtimes[step.index] = _Pair(find_other_runtime(step, self.index), self)
        return [runtimes[step.index] for step in pipeline]


def is_compared(step: Step) -> bool:
    """Report whether a step has an input of function-go-templating, of any version."""
    return step.input is not None and inputs.find_kind(step.input) == inputs.PEERS


class _Pair(Runtime):
    """The other function, whose response goes on, and this one beside it."""

    def __init__(self, theirs: Runtime, sides: BothSides) -> None:
        self._theirs = theirs
        self._sides = sides

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

        def ask(runtime: Runtime) -> StepResponse:
            return runtime.call(step, first_request, caller, timeout_seconds)

        theirs, ours = ask(self._theirs), _ask_here(ask)
        unequal, named = _compare(ours, theirs)
        if unequal:
            # A clock or a random text: a side differs from itself.
            their_second, our_second = ask(self._theirs), _ask_here(ask)
            again = _compare(our_second, their_second)[0]
            own = _compare(our_second, ours)[0] + _compare(their_second, theirs)[0]
            stable = {each.place for each in again} - {each.place for each in own}
            lasting = [each for each in unequal if each.place in stable]
            if len(lasting) < len(unequal):
                named.add("changes in every run")
            unequal = lasting
        refuses_here = _refusal(ours) is not None and _refusal(theirs) is None
        self._sides.comparisons.append(
            Comparison(
                call=Call(
                    step,
                    first_request,
                    ours.response,
                    partial(Local().locate, first_request, caller),
                ),
                differences=unequal,
                named=named,
                problem=next(iter(ours.diagnostics), None) if refuses_here else None,
            )
        )
        return theirs


def _ask_here(ask: Callable[[Runtime], StepResponse]) -> StepResponse:
    """Ask this function; an error is a response with its problems."""
    try:
        return ask(Local())
    except FatalError as error:
        return StepResponse(response=fnv1.RunFunctionResponse(), diagnostics=error.diagnostics)


def _compare(ours: StepResponse, theirs: StepResponse) -> tuple[list[Difference], set[Named]]:
    """Compare two responses; after a refusal, Crossplane reads nothing else."""
    refusals = (_refusal(theirs), _refusal(ours))
    if refusals == (None, None):
        return differences.find(ours.response, theirs.response)
    if None not in refusals:
        return [], {"messages"}
    texts = ["no error" if text is None else f"error: {text}" for text in refusals]
    return [Difference(resource=None, path=(), theirs=texts[0], ours=texts[1])], set()


def _refusal(response: StepResponse) -> str | None:
    """Return the first line of the reason for a refusal; None if there is none."""
    texts = [problem.message for problem in response.diagnostics]
    texts += fatal_messages(response.response)
    return texts[0].partition("\n")[0] if texts else None
