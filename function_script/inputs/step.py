"""The Step that an input is parsed to, the object it names, and the sources of its program."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias

from function_script import wire
from function_script.engines.language import Language
from function_script.inputs.files import Files
from function_script.inputs.requirements import Requirements
from function_script.request import objects, reader
from function_script.request.limits import Limits
from function_script.request.program import Program
from function_script.request.remote.content import Content
from function_script.request.remote.reference import RemoteReference
from function_script.request.values import Object, Readable
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.problems import Problem
from function_script.texts.source import Source

NOTHING_REQUIRED = Requirements()

# The path of a field, and the reference in it whose content is not there.
MissingContent: TypeAlias = tuple[str, RemoteReference]
# Returns the content of a reference, None where it is not at hand.
FindContent: TypeAlias = Callable[[RemoteReference], Content | None]
# Rules for annotations, merging and data, where ours and function-go-templating's differ.
Dialect: TypeAlias = Literal["script", "gotemplating"]
# Judge readiness of the step's own resources, or of all that are desired.
ReadinessScope: TypeAlias = Literal["Step", "All"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadinessOptions:
    """Options of readiness, creation order and missing values.

    ``auto_ready`` None: readiness is not judged. ``overwrite_stated``: readiness that earlier
    steps stated is judged anew. ``condition`` is the type of the condition that reports the
    resources; None: one only while something is blocked. ``usages``: dependencies become Usages,
    of the apiVersion ``usage_version`` or of the one that fits the XR. ``defer_missing``: a
    resource that needs a missing value is withheld; ``keep_existing``: one that exists stays as
    it is in the cluster.
    """

    auto_ready: ReadinessScope | None = None
    overwrite_stated: bool = False
    condition: str | None = None
    usages: bool = False
    usage_version: str | None = None
    defer_missing: bool = False
    keep_existing: bool = False


class InputReference(NamedTuple):
    """The object that a step names: its ``selector``, and the ``path`` of the field that names it.

    ``own_fields`` are the step's other fields, with apiVersion and kind.
    """

    selector: wire.Selector
    path: str
    own_fields: Object

    @property
    def name(self) -> str:
        """The namespace and the name of the object."""
        return f"{self.selector.namespace}/{self.selector.match_name}"

    @property
    def origin(self) -> str:
        """The object for a reader, such as ``JinjaTemplate platform/network``."""
        return f"{self.selector.kind} {self.name}"

    def may_bring(self, path: str) -> bool:
        """Report whether the object may have a field: it is not in one of the step's own."""
        # The path of the whole input has no keys.
        key, *_ = (*objects.read_path(path)[1:], "")
        return key not in self.own_fields

    def to_diagnostic(self, problem: Problem) -> Diagnostic:
        """Return a diagnostic of the whole input, with the object before a field that is in it."""
        keys = objects.read_path(problem.path)[1:]
        if objects.find_path(self.own_fields, keys) is not None:
            return problem.to_diagnostic()
        path = reader.format_path(keys)
        diagnostic = problem._replace(path=path).to_diagnostic(f"{self.origin}: ")
        return replace(diagnostic, field=self.path)

    def name_sources(self, program: Program, language: Language) -> Program:
        """Return the program with names of texts that lead to the object, where they are in it."""

        def rename(source: Source, path: objects.Path) -> Source:
            if objects.find_path(self.own_fields, path) is not None:
                return source
            field = ".".join(map(str, path))
            return replace(source, name=f"{self.selector.kind.lower()}/{self.name}[{field}]")

        main = program.main
        if main.name == language.text_field:
            main = rename(main, (language.text_field,))
        modules = {}
        for name, source in program.modules.items():
            key, bracket, _ = source.name.partition("[")
            is_inline = bracket and key in {"modules", language.text_field}
            modules[name] = rename(source, (key, name)) if is_inline else source
        return replace(program, main=main, modules=modules)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step, ready to run.

    ``limits`` are the operator's, narrowed by the input. ``ttl_seconds`` None: the input says
    nothing. ``program.options`` are the language's own, checked.
    ``requirements`` must be answered before the program runs, and until then ``program`` may be
    empty. ``credentials`` are the names that the program may see; None: all. ``readiness`` None:
    the input has no such field. ``doubts`` are warnings for fields of an input of
    function-go-templating that this function ignores. ``reads_files``: its program or a module is
    in a file, which may change without a change of the request. ``reference`` is the object that
    the input comes from, if it is not in the request's own. ``missing`` are all remote programs and
    modules of a step, if any is not in the request; then ``program`` may be empty.
    """

    api_version: str
    kind: str
    language: Language
    program: Program
    limits: Limits
    dialect: Dialect = "script"
    params: Object = field(default_factory=dict)
    ttl_seconds: float | None = None
    keep_managed_fields: bool = False
    requirements: Requirements = NOTHING_REQUIRED
    credentials: tuple[str, ...] | None = ()
    readiness: ReadinessOptions | None = None
    doubts: tuple[Diagnostic, ...] = ()
    reads_files: bool = False
    reference: InputReference | None = None
    missing: tuple[MissingContent, ...] = ()

    def to_diagnostic(self, problem: Problem) -> Diagnostic:
        """Return a diagnostic of a field of the input, wherever that comes from."""
        reference = self.reference
        return problem.to_diagnostic() if reference is None else reference.to_diagnostic(problem)


FindInput: TypeAlias = Callable[[wire.Selector], Sequence[Object] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramSources:
    """Sources of programs that are not in the input.

    ``context`` returns the value of a key of the pipeline's context, None where there is none.
    ``required`` returns the objects that were fetched for a requirement, None while Crossplane
    has not looked for them. ``remote`` returns the content of a reference, None where it is not at
    hand. With None for a source, a program that comes from it stays empty. ``remote_contents``
    receives each reference and whether it is there, ``selectors`` those of required resources by
    requirement.
    """

    files: Files | None = None
    context: Callable[[str], Readable] | None = None
    required: Callable[[str, wire.Selector], Sequence[Object] | None] | None = None
    remote: FindContent | None = None
    remote_contents: dict[MissingContent, bool] = field(default_factory=dict)
    selectors: dict[str, wire.Selector] = field(default_factory=dict)
