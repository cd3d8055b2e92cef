"""Find where each step's function runs: in the sandbox, built in, at an address, or not at all.

This is done before the pipeline runs, so that an unknown function is an error at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from function_script import inputs, objects, spelling
from function_script.diagnostics import Diagnostic
from function_script.errors import InputError
from function_script.problems import suggest
from function_script.tools import manifests
from function_script.tools.render import builtin
from function_script.tools.render.steps import Step
from function_script.values import Object

OURS: Final = "function-script"

_TYPES: Final = {("pkg.crossplane.io/v1", "Function"), ("pkg.crossplane.io/v1beta1", "Function")}
_RUNTIME: Final = "render.crossplane.io/runtime"
_ADDRESS: Final = "render.crossplane.io/runtime-development-target"
_DEFAULT_ADDRESS: Final = "localhost:9443"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """A function that is served in plain text at a gRPC target such as ``localhost:9443``."""

    address: str

    @classmethod
    def at(cls, target: str) -> Remote:
        """Build one from a target of gRPC for Go, which has a scheme that Python's gRPC lacks."""
        return cls(address=target.removeprefix("passthrough:///"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Builtin:
    """A function that this package contains; ``package`` is the reference that the Function has."""

    function: builtin.BuiltinFunction
    package: str = ""

    def note(self) -> str:
        """Say which version runs, and which one the Function names."""
        text = f"{self.function.name} {self.function.version} is built in"
        tag = self.package.partition("@")[0].rpartition("/")[2].partition(":")[2]
        return (
            f"{text}; the Function names {tag}" if tag not in {"", self.function.version} else text
        )


# "local": the sandbox here. "skip": the step is left out and desired state passes unchanged.
Runtime: TypeAlias = Literal["local", "skip"] | Remote | Builtin


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionIndex:
    """The Functions by manifest, and what the flags say of them.

    ``manifests`` is None without a file. ``runtimes`` are those of single functions by name, OCI
    reference or revision; ``annotations`` override those of every Function.
    """

    manifests: Sequence[Object] | None
    runtimes: Mapping[str, Runtime]
    annotations: Mapping[str, str]


def parse_runtime(text: str) -> tuple[str, Runtime]:
    """Parse ``NAME=local``, ``NAME=skip`` or ``NAME=HOST:PORT``. Raises ValueError."""
    name, equals, runtime = text.rpartition("=")
    if not (name and equals and runtime):
        raise ValueError(f'"{text}" is not of the form NAME=local, NAME=skip or NAME=HOST:PORT')
    if runtime in {"local", "skip"}:
        return name, "local" if runtime == "local" else "skip"
    return name, Remote.at(runtime)


def find_runtimes(steps: Iterable[Step], index: FunctionIndex) -> dict[str, Runtime]:
    """Return the runtime of every step's function. Raises InputError with all that have none."""
    runtimes: dict[str, Runtime] = {}
    problems = []
    for step in steps:
        runtime = _find_runtime(step, index)
        if isinstance(runtime, Diagnostic):
            problems.append(runtime)
        else:
            runtimes[step.name] = runtime
    if problems:
        raise InputError(*problems)
    return runtimes


def _find_runtime(step: Step, index: FunctionIndex) -> Runtime | Diagnostic:
    for name in (step.revision, step.function):
        if name and name in index.runtimes:
            return _local_or(index.runtimes[name], step.function)
    if index.manifests is None:
        has_own_input = step.input is not None and inputs.is_meant_for_us(step.input)
        if has_own_input or _is_own(step.function, step.function):
            return "local"
        if function := builtin.find((step.function,)):
            return Builtin(function=function)
        return _unknown(step, "no FUNCTIONS file was given")
    # Of two Functions with one name the last counts, as when they are applied.
    for manifest in reversed(index.manifests):
        if step.function in {
            manifests.name(manifest),
            manifests.text_at(manifest, "spec", "package"),
        }:
            return _described_runtime(step, manifest, index)
    if _is_own(step.function, step.function):
        return "local"
    if function := builtin.find((step.function,)):
        return Builtin(function=function)
    return _unknown_in(index.manifests, step)


def _unknown_in(functions: Sequence[Object], step: Step) -> Diagnostic:
    """Return the problem of a function that is not in FUNCTIONS."""
    near = spelling.nearest(step.function, map(manifests.name, functions))
    if near is None:
        return _unknown(step, f'FUNCTIONS has none named "{step.function}"')
    return Diagnostic(
        message=f'cannot run step "{step.name}": FUNCTIONS has no function "{step.function}"',
        field=_field(step),
        hint=f'did you mean "{near}"?',
    )


def _field(step: Step) -> str:
    return f"spec.pipeline[{step.index}].functionRef.name"


def _local_or(runtime: Runtime, name: str) -> Runtime:
    """Return the built-in function for "local" if ``name`` is one."""
    function = builtin.find((name,)) if runtime == "local" else None
    return Builtin(function=function) if function else runtime


def _described_runtime(step: Step, manifest: Object, index: FunctionIndex) -> Runtime | Diagnostic:
    if _is_own(manifests.name(manifest), manifests.text_at(manifest, "spec", "package")):
        return "local"
    own = manifests.texts_at(manifest, "metadata", "annotations")
    annotations = {**own, **index.annotations}
    if annotations.get(_RUNTIME) == "Development" or _ADDRESS in annotations:
        return Remote.at(annotations.get(_ADDRESS, _DEFAULT_ADDRESS))
    package = manifests.text_at(manifest, "spec", "package")
    if function := builtin.find((package, manifests.name(manifest))):
        return Builtin(function=function, package=package)
    return _unknown(step, "it is not ours, and nothing says where it is served")


def _is_own(name: str, package: str) -> bool:
    """Report whether the name, or the last part of the package's repository, is ours."""
    return OURS in {name, builtin.repository_name(package)}


def _unknown(step: Step, cause: str) -> Diagnostic:
    return Diagnostic(
        message=f'cannot run step "{step.name}": where function "{step.function}" runs is unknown',
        notes=(cause,),
        field=_field(step),
        hint=f"serve it with --insecure and pass --function {step.function}=HOST:PORT, "
        f"or leave it out with --function {step.function}=skip",
    )


def find_unused(steps: Iterable[Step], runtimes: Mapping[str, Runtime]) -> Iterator[str]:
    """Yield a note for each runtime of a function that no step calls."""
    names = [name for step in steps for name in (step.function, step.revision) if name]
    called_names = tuple(dict.fromkeys(names))
    for name in runtimes:
        if name not in called_names:
            hint = suggest(name, called_names, f"steps call {', '.join(called_names)}")
            yield f'no step calls function "{name}" of --function: {hint}'


def check_kinds(functions: Iterable[Object]) -> None:
    """Raise InputError unless every object is a Function."""
    for manifest in functions:
        if objects.api_version_and_kind(manifest) not in _TYPES:
            raise InputError.of(
                f"cannot use {manifests.describe(manifest)} as a function",
                hint="FUNCTIONS holds objects of kind Function, pkg.crossplane.io/v1",
            )
