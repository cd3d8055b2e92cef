"""Where each step's function runs: in this process's sandbox, at an address, or not at all.

Called once before the pipeline runs, so that a function nobody can call is told right away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from function_script import inputs, objects
from function_script.diagnostics import Diagnostic
from function_script.errors import InputError
from function_script.fields import nearest
from function_script.tools import manifests

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from function_script.tools.render.steps import Step
    from function_script.values import Object

OURS: Final = "function-script"

_TYPES: Final = {("pkg.crossplane.io/v1", "Function"), ("pkg.crossplane.io/v1beta1", "Function")}
_RUNTIME: Final = "render.crossplane.io/runtime"
_ADDRESS: Final = "render.crossplane.io/runtime-development-target"
_DEFAULT_ADDRESS: Final = "localhost:9443"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """A function that is served, in plain text, at a gRPC target such as ``localhost:9443``."""

    address: str

    @classmethod
    def at(cls, target: str) -> Remote:
        """The function at a target as Go knows them, of which Python's gRPC lacks one scheme."""
        return cls(address=target.removeprefix("passthrough:///"))


# "local": our own sandbox. "skip": the step is left out, desired state passes it untouched.
Runtime: TypeAlias = Literal["local", "skip"] | Remote


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionIndex:
    """What is known of functions: ``manifests`` None: no file was given.

    ``runtimes`` is what the user said of single functions, by name, OCI reference or revision;
    ``annotations`` override those of every Function.
    """

    manifests: Sequence[Object] | None
    runtimes: Mapping[str, Runtime]
    annotations: Mapping[str, str]


def parse_runtime(text: str) -> tuple[str, Runtime]:
    """``NAME=local``, ``NAME=skip`` or ``NAME=HOST:PORT``; raises ValueError."""
    name, equals, runtime = text.rpartition("=")
    if not (name and equals and runtime):
        raise ValueError(f'"{text}" is not of the form NAME=local, NAME=skip or NAME=HOST:PORT')
    if runtime in {"local", "skip"}:
        return name, "local" if runtime == "local" else "skip"
    return name, Remote.at(runtime)


def find_runtimes(steps: Iterable[Step], known: FunctionIndex) -> dict[str, Runtime]:
    """The runtime of every step's function; raises InputError with all that have none."""
    runtimes: dict[str, Runtime] = {}
    problems = []
    for step in steps:
        found = _runtime(step, known)
        if isinstance(found, Diagnostic):
            problems.append(found)
        else:
            runtimes[step.name] = found
    if problems:
        raise InputError(*problems)
    return runtimes


def _runtime(step: Step, known: FunctionIndex) -> Runtime | Diagnostic:
    for name in (step.revision, step.function):
        if name and name in known.runtimes:
            return known.runtimes[name]
    if known.manifests is None:
        return "local" if _is_our_input(step) else _unknown(step, "no FUNCTIONS file was given")
    # Of two Functions with a name the last one counts, as when they are applied.
    for manifest in reversed(known.manifests):
        if step.function in {
            manifests.name(manifest),
            manifests.text_at(manifest, "spec", "package"),
        }:
            return _described_runtime(step, manifest, known)
    if _is_ours(step.function, step.function):
        return "local"
    near = nearest(step.function, tuple(manifests.name(item) for item in known.manifests))
    cause = f'FUNCTIONS has none named "{step.function}"'
    return _unknown(step, f'{cause}, did you mean "{near}"?' if near else cause)


def _described_runtime(step: Step, manifest: Object, known: FunctionIndex) -> Runtime | Diagnostic:
    if _is_ours(manifests.name(manifest), manifests.text_at(manifest, "spec", "package")):
        return "local"
    own = manifests.texts_at(manifest, "metadata", "annotations")
    annotations = {**own, **known.annotations}
    if annotations.get(_RUNTIME) == "Development" or _ADDRESS in annotations:
        return Remote.at(annotations.get(_ADDRESS, _DEFAULT_ADDRESS))
    return _unknown(step, "it is not ours, and nothing says where it is served")


def _is_ours(name: str, package: str) -> bool:
    """By name, or by the last part of the package's repository."""
    repository = package.partition("@")[0].rpartition("/")[2].partition(":")[0]
    return OURS in {name, repository}


def _is_our_input(step: Step) -> bool:
    is_ours = step.input is not None and inputs.is_meant_for_us(step.input)
    return is_ours or _is_ours(step.function, step.function)


def _unknown(step: Step, cause: str) -> Diagnostic:
    return Diagnostic(
        message=f'cannot run step "{step.name}": where function "{step.function}" runs is unknown',
        notes=(cause,),
        hint=f"serve it with --insecure and pass --function {step.function}=HOST:PORT, "
        f"or leave it out with --function {step.function}=skip",
    )


def check_names(steps: Iterable[Step], runtimes: Mapping[str, Runtime]) -> None:
    """Raise InputError for a place that was given to a function which no step calls."""
    names = [name for step in steps for name in (step.function, step.revision) if name]
    called = tuple(dict.fromkeys(names))
    for name in runtimes:
        if name not in called:
            near = nearest(name, called)
            raise InputError.of(
                f'cannot give function "{name}" a place: no step calls it',
                hint=f'did you mean "{near}"?' if near else f"steps call {', '.join(called)}",
            )


def check_kinds(functions: Iterable[Object]) -> None:
    """Raise InputError unless every object is a Function."""
    for manifest in functions:
        if objects.api_version_and_kind(manifest) not in _TYPES:
            raise InputError.of(
                f"cannot use {manifests.describe(manifest)} as a function",
                hint="FUNCTIONS holds objects of kind Function, pkg.crossplane.io/v1",
            )
