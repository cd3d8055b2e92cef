"""The hardened Jinja environment: templates are compiled for it, and their code calls it.

One environment belongs to one program and does not change once the program is compiled; the
state of a run is in the context's `Run`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping
from typing import Never, cast

from jinja2 import Template, TemplateNotFound
from jinja2.compiler import CodeGenerator
from jinja2.environment import TemplateModule
from jinja2.runtime import BlockReference, LoopContext, Macro
from jinja2.runtime import Context as JinjaContext
from jinja2.sandbox import ImmutableSandboxedEnvironment

from function_script.engines.jinja import exceptions, lookups
from function_script.engines.jinja.calls import Builtin, Call, signature_of
from function_script.engines.jinja.compiler import Operation
from function_script.engines.jinja.exceptions import Lenient, Strict
from function_script.engines.jinja.lookups import Method
from function_script.engines.jinja.run import Run
from function_script.engines.jinja.runtime import invoke, iterate
from function_script.engines.signatures import Parameter, Signature, explain_names
from function_script.request.lazy import Lazy
from function_script.texts.source import Source

# The variable that carries a run through Jinja's contexts; no template can name it.
RUN = "(run)"


class Context(JinjaContext):
    """A context that refers to its run."""

    run: Run

    def __init__(
        self,
        environment: Environment,
        parent: dict[str, object],
        name: str | None,
        blocks: dict[str, Callable[[JinjaContext], Iterator[str]]],
        globals: MutableMapping[str, object] | None = None,  # noqa: A002 - the name Jinja passes
    ) -> None:
        super().__init__(environment, parent, name, blocks, globals)
        self.run = cast("Run", parent[RUN])


class ModuleTemplate(Template):
    """A template whose module lives as long as one run: Jinja itself would keep the first one."""

    def _get_default_module(self, ctx: JinjaContext | None = None) -> TemplateModule:
        # Never without a context: `policy` refuses includes without one.
        run, name = cast("Context", ctx).run, str(self.name)
        if name not in run.modules:
            run.modules[name] = self.make_module(run.variables, shared=True)
        return run.modules[name]


class Environment(ImmutableSandboxedEnvironment):
    """Lookups by allowlist, calls of listed kinds only, templates from the program only.

    ``filters`` and ``tests`` are the tables of callables; an environment that only parses needs
    none. ``sources`` has the source of each compiled template by the template's own name,
    ``templates`` has the modules by the name that programs import.
    """

    context_class = Context
    template_class = ModuleTemplate

    def __init__(
        self,
        filters: Mapping[str, Call] | None = None,
        tests: Mapping[str, Call] | None = None,
        *,
        code_generator: type[CodeGenerator] = CodeGenerator,
        is_strict: bool = False,
    ) -> None:
        self.code_generator_class = code_generator
        # The macros whose text may be several documents, by name; see `deferral`.
        self.document_macros: set[str | None] = set()
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=False,
            # Constants must not be computed by the compiler, where no budget counts.
            optimized=False,
            undefined=Strict if is_strict else Lenient,
            cache_size=0,
        )
        # Assigned through vars(): the stubs of Jinja allow plain functions only.
        vars(self)["filters"] = dict(filters or {})
        vars(self)["tests"] = dict(tests or {})
        self.globals = {}
        self.sources: Mapping[str, Source] = {}
        # The operations of each compiled template by their line and column in its code.
        self.operations: dict[str, Mapping[tuple[int, int], Operation]] = {}
        # The lines of its code that write a value into the main text.
        self.writing_lines: dict[str, set[int]] = {}
        self.templates: Mapping[str, Template] = {}

    def getattr(self, obj: object, attribute: str) -> object:
        """Return ``obj.attribute``; the key of an object comes first."""
        if type(obj) is dict:
            fields: Mapping[str, object] = obj
        elif type(obj) is Lazy:
            fields = obj.memo
        else:
            return lookups.get_attribute(obj, attribute, self.undefined)
        try:
            return fields[attribute]
        except KeyError:
            return lookups.get_attribute(obj, attribute, self.undefined)

    def getitem(self, obj: object, argument: object) -> object:
        """Return ``obj[argument]``."""
        if type(argument) is str:
            return self.getattr(obj, argument)
        if type(argument) is int and type(obj) is list and 0 <= argument < len(obj):
            return obj[argument]
        return lookups.get_item(obj, argument, self.undefined)

    def call(  # type: ignore[override] # positional only, so that no named argument can clash
        self, context: Context, callee: object, /, *args: object, **kwargs: object
    ) -> object:
        """Return ``callee(…)``; only the listed kinds of callables can be called."""
        run = context.run
        run.budget.spend(1 + len(args) + len(kwargs))
        if isinstance(callee, Builtin):
            try:
                return callee.call(run, *args, **kwargs)
            except TypeError:
                # The function itself may have raised it: asked only now, since few calls are wrong.
                _check_names(signature_of(callee.name, callee.call), len(args), kwargs)
                raise
        if isinstance(callee, Method):
            if kwargs:
                hint = f"leave `{next(iter(kwargs))} =` out"
                message = f"arguments of {callee.name} have no names"
                raise exceptions.RenderError(message, name=callee.name, hint=hint)
            return invoke(run.budget, callee, args)
        if isinstance(callee, (Macro, LoopContext, BlockReference)):
            return self._call_nested(context, callee, args, kwargs)
        raise exceptions.unsuitable("{} cannot be called", callee)

    def _call_nested(
        self,
        context: Context,
        callee: Macro | LoopContext | BlockReference,
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> object:
        budget = context.run.budget
        budget.enter()
        try:
            if isinstance(callee, BlockReference):
                return budget.concat(callee._stack[callee._depth](callee._context))  # noqa: SLF001 - its own call joins without a limit
            if isinstance(callee, LoopContext):
                if len(args) != 1:
                    raise exceptions.RenderError("loop() takes one list", name="loop")
                return callee(cast("Iterable[Never]", iterate(budget, args[0], 1)))
            # Jinja's own error speaks of two values for an argument that no author wrote.
            if "caller" in kwargs and not callee.caller:
                message = f'macro "{callee.name}" takes no block: it never writes caller()'
                raise exceptions.RenderError(message, name="call")
            return _call_macro(callee, args, kwargs)
        except exceptions.MissingError as error:
            if isinstance(callee, Macro) and callee.name in self.document_macros:
                # A gap in such a macro would hide how many documents it writes.
                error.decides_documents = True
            raise
        finally:
            budget.depth -= 1

    def get_template(
        self,
        name: str | Template,
        parent: str | None = None,  # noqa: ARG002 - names are not relative
        globals: MutableMapping[str, object] | None = None,  # noqa: A002, ARG002 - Jinja's signature
    ) -> Template:
        """Return a module of the program."""
        if not isinstance(name, str) or name not in self.templates:
            raise TemplateNotFound(str(name))
        return self.templates[name]


def _call_macro(macro: Macro, args: tuple[object, ...], kwargs: Mapping[str, object]) -> object:
    try:
        return macro(*args, **kwargs)
    except TypeError:
        # The body may have raised it. The signature is compared only now: few calls are wrong.
        # The block of a call has no name of its own.
        name = macro.name or "caller"
        signature = Signature(
            name=name,
            usage=f"{name}({', '.join(macro.arguments)})",
            parameters=tuple(Parameter(each, is_required=False) for each in macro.arguments),
            is_variadic=macro.catch_varargs,
            takes_any_name=macro.catch_kwargs,
        )
        _check_names(signature, len(args), [name for name in kwargs if name != "caller"])
        raise


def _check_names(signature: Signature, count: int, names: Collection[str]) -> None:
    """Raise RenderError for wrong numbers or names of arguments."""
    problem = explain_names(signature, count, names)
    if problem is not None:
        message, hint = problem
        raise exceptions.RenderError(message, name=signature.name, hint=hint) from None
