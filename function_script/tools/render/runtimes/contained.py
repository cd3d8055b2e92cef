"""A function that this package contains."""

from __future__ import annotations

from dataclasses import dataclass

from function_script.errors import InputError
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.tools.render import builtin
from function_script.tools.render.requirements import StepResponse
from function_script.tools.render.runtimes.model import (
    FunctionCaller,
    FunctionReference,
    Runtime,
    RuntimeKind,
    Suitability,
)
from function_script.tools.render.steps import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Builtin(Runtime):
    """A built-in function; ``package`` is the reference that the Function has."""

    function: builtin.BuiltinFunction
    package: str = ""

    def describe(self) -> str:
        """Return the words after the function's name."""
        return f"is built in, as {self.function.version}"

    def note(self) -> str:
        """Say which version runs, and which one the Function names."""
        text = f"{self.function.name} {self.function.version} is built in"
        other = self.other_version()
        return f"{text}; the Function names {other}" if other else text

    def other_version(self) -> str:
        """Return the tag or digest that the Function names, or "" if it is the version here."""
        reference, _, digest = self.package.partition("@")
        tag = reference.rpartition("/")[2].partition(":")[2]
        if not tag:
            return digest
        return "" if tag.removeprefix("v") == self.function.version.removeprefix("v") else tag

    def call(
        self,
        step: Step,
        request: fnv1.RunFunctionRequest,
        caller: FunctionCaller,
        timeout_seconds: float,
    ) -> StepResponse:
        """Answer as the real function does."""
        del step, caller, timeout_seconds
        return StepResponse(response=builtin.call(self.function, request))


class BuiltinKind(RuntimeKind):
    """Functions that most pipelines have need nothing to be started."""

    word = "local"
    meaning = "runs it here: this function, function-go-templating, or one that is built in"

    def judge(self, function: FunctionReference) -> Suitability:
        """Accept the packages in the table of built-in functions."""
        match = builtin.find((function.repository,))
        if match is None:
            return Suitability(is_suitable=False, reason="it is not built in")
        return Suitability(is_suitable=True, reason=f"{match.name} needs no image here")

    def build(self, function: FunctionReference) -> Runtime:
        """Return the built-in function."""
        match = builtin.find((function.repository,))
        if match is None:
            raise InputError.of("it is not built in")
        return Builtin(function=match, package=function.package)
