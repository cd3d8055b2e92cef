"""Jinja, hardened: the environment that templates are compiled for and that their code calls.

One environment belongs to one program and is never changed once that is compiled; what changes
during a run hangs on the context's `Run`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Never, cast

from jinja2 import Template, TemplateNotFound, TemplateSyntaxError, Undefined
from jinja2.lexer import TokenStream
from jinja2.runtime import BlockReference, LoopContext, Macro
from jinja2.runtime import Context as JinjaContext
from jinja2.sandbox import ImmutableSandboxedEnvironment

from function_script.engines.jinja import lookups, tree
from function_script.engines.jinja.calls import argument_error, usage
from function_script.engines.jinja.codegen import CodeGenerator
from function_script.engines.jinja.deferring import DeferringCodeGenerator
from function_script.engines.jinja.exceptions import MissingError, RenderError, a
from function_script.engines.jinja.filters import FILTERS
from function_script.engines.jinja.functions import Builtin
from function_script.engines.jinja.lookups import Method
from function_script.engines.jinja.methods import invoke
from function_script.engines.jinja.operators import turns
from function_script.engines.jinja.tests import TESTS
from function_script.engines.jinja.undefined import Lenient, Strict
from function_script.program import Lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping

    from jinja2.environment import TemplateModule
    from jinja2.lexer import Token

    from function_script.engines.jinja.budget import Budget
    from function_script.engines.jinja.run import Run
    from function_script.source import Source

# The variable under which a run travels through Jinja's contexts; no template can name it.
RUN = "(run)"


# More than templates of the greatest size allowed have; see `tree`.
_MAX_TOKENS = 4 * tree.MAX_NODES


def _limited(tokens: Iterable[tuple[int, Token]]) -> Iterator[Token]:
    for number, token in tokens:
        if number >= _MAX_TOKENS:
            message = f"more than {_MAX_TOKENS} words, the limit of a template"
            raise TemplateSyntaxError(message, token.lineno)
        yield token


class Context(JinjaContext):
    """A context that knows its run."""

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
        # Never without a context: `tree` refuses includes without one.
        run, name = cast("Context", ctx).run, str(self.name)
        if name not in run.modules:
            run.modules[name] = self.make_module(run.variables, shared=True)
        return run.modules[name]


class Environment(ImmutableSandboxedEnvironment):
    """Lookups by allowlist, calls of known kinds only, templates from the program only.

    ``sources`` has the source behind each compiled template, by the template's own name;
    ``templates`` the modules, by the name that programs import. With ``defers`` a missing value
    leaves a gap instead of stopping the run.
    """

    code_generator_class = CodeGenerator
    deferring_class: type[CodeGenerator] = DeferringCodeGenerator
    context_class = Context
    template_class = ModuleTemplate

    def __init__(self, *, is_strict: bool = False, defers: bool = False) -> None:
        if defers:
            self.code_generator_class = self.deferring_class
        self.defers = defers
        # The macros whose text may be several documents, by name; see `deferring`.
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
        # By this way round the stubs, which want plain functions.
        vars(self)["filters"] = dict(FILTERS)
        vars(self)["tests"] = dict(TESTS)
        self.globals = {}
        self.sources: Mapping[str, Source] = {}
        self.templates: Mapping[str, Template] = {}

    def _tokenize(
        self, source: str, name: str | None, filename: str | None = None, state: str | None = None
    ) -> TokenStream:
        """The lexer's words, as many as a template may have: parsing takes time for each."""
        tokens = enumerate(super()._tokenize(source, name, filename, state))
        return TokenStream(_limited(tokens), name, filename)

    def getattr(self, obj: object, attribute: str) -> object:
        """``obj.attribute``; the key of an object comes first."""
        if type(obj) is dict:
            found: Mapping[str, object] = obj
        elif type(obj) is Lazy:
            found = obj.kept
        else:
            return lookups.attribute(obj, attribute, self.undefined)
        try:
            return found[attribute]
        except KeyError:
            return lookups.attribute(obj, attribute, self.undefined)

    def getitem(self, obj: object, argument: object) -> object:
        """``obj[argument]``."""
        if type(argument) is str:
            return self.getattr(obj, argument)
        if type(argument) is int and type(obj) is list and 0 <= argument < len(obj):
            return obj[argument]
        return lookups.item(obj, argument, self.undefined)

    def call(  # type: ignore[override] # positional only, so that no named argument can clash
        self, context: Context, callee: object, /, *args: object, **kwargs: object
    ) -> object:
        """``callee(…)``; only what is known to be harmless can be called."""
        run = context.run
        run.budget.spend(1 + len(args) + len(kwargs))
        if isinstance(callee, Builtin):
            return self._call_builtin(run, callee, args, kwargs)
        if isinstance(callee, Method):
            if kwargs:
                raise RenderError("methods take no named arguments", name=callee.name)
            return invoke(run.budget, callee, args)
        if isinstance(callee, (Macro, LoopContext, BlockReference)):
            return self._call_nested(context, callee, args, kwargs)
        if isinstance(callee, Undefined):
            raise MissingError(callee)
        raise RenderError(f"{a(callee)} cannot be called")

    def _call_builtin(
        self, run: Run, builtin: Builtin, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> object:
        try:
            return builtin.call(run, *args, **kwargs)
        except TypeError:
            problem = argument_error(builtin.call, 1 + len(args), kwargs)
            if problem is None:
                raise
            hint = f"it is {usage(builtin.name, builtin.call, 1)}"
            message = f'wrong arguments for function "{builtin.name}": {problem}'
            raise RenderError(message, name=builtin.name, hint=hint) from None

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
                return self._call_loop(budget, callee, args)
            if "caller" in kwargs and not callee.caller:
                message = f'macro "{callee.name}" takes no block: it never writes caller()'
                raise RenderError(message, name="call")
            return callee(*args, **kwargs)
        except MissingError as error:
            if isinstance(callee, Macro) and callee.name in self.document_macros:
                error.decides_documents = True
            raise
        finally:
            budget.depth -= 1

    def _call_loop(self, budget: Budget, loop: LoopContext, args: tuple[object, ...]) -> object:
        if len(args) != 1:
            raise RenderError("loop() takes one list", name="loop")
        return loop(cast("Iterable[Never]", turns(budget, args[0], 1)))

    def get_template(
        self,
        name: str | Template,
        parent: str | None = None,  # noqa: ARG002 - names are not relative
        globals: MutableMapping[str, object] | None = None,  # noqa: A002, ARG002 - Jinja's signature
    ) -> Template:
        """A module of the program."""
        if not isinstance(name, str) or name not in self.templates:
            raise TemplateNotFound(str(name))
        return self.templates[name]
