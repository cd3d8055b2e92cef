"""A function that the author serves in plain text, at an address."""

from dataclasses import dataclass, field
from typing import Final, Self

from function_script.texts.errors import ProgramError
from function_script.tools.render.requirements import StepCall, StepResponse
from function_script.tools.render.runtimes import model
from function_script.tools.render.runtimes.local import Local

TARGET: Final = "render.crossplane.io/runtime-development-target"
_DEFAULT_TARGET: Final = "localhost:9443"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote(model.Runtime):
    """A function at a gRPC target such as ``localhost:9443``; ``hint`` helps if none answers."""

    # The annotations of the official command, or `--function NAME=HOST:PORT`, select it.
    word = "HOST:PORT"
    meaning = "calls it there, in plain text"
    annotation = "Development"
    suits_all = True

    address: str
    hint: str = field(default="", compare=False)

    @classmethod
    def judge(cls, function: model.FunctionReference) -> model.Suitability:
        """Accept a function with a target; the official annotation needs not stand beside it."""
        if function.annotations.get(TARGET):
            return model.Suitability(f"its Function has the annotation {TARGET}")
        return model.Suitability("no annotation says where it is served", is_suitable=False)

    @classmethod
    def build(cls, function: model.FunctionReference) -> Self:
        """Return the runtime at the annotation's target.

        Raises InputError for one that a file may not name.
        """
        target = function.annotations.get(TARGET) or _DEFAULT_TARGET
        function.check_address(TARGET, target)
        return cls.at(target, function)

    @classmethod
    def at(cls, target: str, function: model.FunctionReference) -> Self:
        """Build one from a target of gRPC for Go, which has a scheme that Python's gRPC lacks."""
        address = target.removeprefix("passthrough:///")
        way = Local.word if Local.judge(function).is_suitable else "…"
        hint = (
            f"serve {function.name} there with --insecure, "
            f"or select another way with --function {function.name}={way}"
        )
        return cls(address=address, hint=hint)

    def describe(self) -> str:
        """Return the words after the function's name."""
        return f"is called at {self.address}"

    def is_answering(self) -> bool:
        """Report whether a function accepts connections there."""
        from function_script.tools.render import remote  # noqa: PLC0415 - grpc is slow to import

        return remote.is_answering(self.address)

    def call(self, call: StepCall, caller: model.FunctionCaller) -> StepResponse:
        """Call the function at its address."""
        from function_script.tools.render import remote  # noqa: PLC0415 - grpc is slow to import

        silent = caller.options.servers.silent
        if self.address in silent and not self.is_answering():
            # It was waited for once, and is not for each XR.
            call = call._replace(timeout_seconds=0.0)
        try:
            response = remote.call(call, self.address, caller.options.print, self.hint)
        except ProgramError:
            silent.add(self.address)
            raise
        return StepResponse(response=response)
