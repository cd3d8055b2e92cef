"""Programs to compiled programs: parse every source, compile all templates, cache the result.

The cache is keyed by content, so a template is compiled once however often it runs.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from function_script.engines.gotemplate import registry
from function_script.engines.gotemplate.compiler.missing_values import Policy
from function_script.engines.gotemplate.compiler.pipelines import Context
from function_script.engines.gotemplate.compiler.templates import TemplateCompiler
from function_script.engines.gotemplate.data import LazyDict, template_data
from function_script.engines.gotemplate.errors import EvalError, LimitExceededError, ParseError
from function_script.engines.gotemplate.language import DELIMS
from function_script.engines.gotemplate.run import MAIN, Body, Run
from function_script.engines.gotemplate.runtime import MissingKey
from function_script.engines.gotemplate.syntax import nodes, parser
from function_script.engines.gotemplate.syntax.nodes import Site
from function_script.request.cache import ByteLruCache
from function_script.request.limits import Limits
from function_script.request.program import Program, Scope
from function_script.request.values import Value
from function_script.texts.source import Source

# Compiled code takes about as many megabytes as it has hundreds of thousands of characters.
_MAX_CHARACTERS: Final = 1_000_000
_MAX_PROGRAMS: Final = 2_000
# All analyses of one `check` have one program.
_MAX_PARSED: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedSource(Source):
    """A main text that was joined from several parts, with a line between two of them."""

    parts: tuple[Source, ...]


class Settings(NamedTuple):
    """The settings of a program's step; ``allowed`` are the options that let functions be used.

    ``is_own``: it is of our own kind, which has additional functions.
    """

    delims: tuple[str, str] = DELIMS
    missing: MissingKey = "default"
    allowed: frozenset[str] = frozenset()
    is_own: bool = False
    defers: bool = False

    @property
    def policy(self) -> Policy:
        """The treatment of values that do not exist."""
        if self.defers:
            return Policy.GAP
        return Policy.REFUSE if self.missing == "checked" else Policy.IGNORE

    def grammar(self) -> parser.Grammar:
        """Return the grammar of the program's texts, with the functions that it may call."""
        is_checked = self.policy is not Policy.IGNORE
        functions = registry.func_map(self.allowed, is_own=self.is_own, is_checked=is_checked)
        return parser.Grammar(self.delims, functions)


class Sources(NamedTuple):
    """The texts of a program, each by its template's name; the first is the main one."""

    texts: tuple[tuple[str, Source], ...]
    settings: Settings


class LoadedProgram(NamedTuple):
    """Compiled templates by name, the source of each, and the settings of their program.

    ``mutates``: some of them may change their data. ``failures`` are certain once their place is
    reached.
    """

    templates: dict[str, Body]
    mutates: bool
    failures: list[tuple[Site, EvalError]]
    origins: Mapping[str, Source]
    settings: Settings

    def begin(self, scope: Scope, limits: Limits) -> Run:
        """Return a run for a request."""
        return Run(
            self.templates, limits, scope.seed, is_salted=scope.is_salted, mutates=self.mutates
        )

    def data_of(self, scope: Scope) -> LazyDict:
        """Return the dot; a step in function-go-templating's apiVersion has only the request."""
        return template_data(scope, mutates=self.mutates, is_own=self.settings.is_own)


class BadSource(NamedTuple):
    """A source that does not parse, and its errors."""

    source: Source
    errors: list[ParseError]


class ProgramFailure(Exception):  # noqa: N818 # several errors, not one
    """A program that does not parse; ``sources`` are its bad sources in the order of reading."""

    def __init__(self, sources: list[BadSource]) -> None:
        super().__init__(str(sources[0].errors[0]))
        self.sources = sources


def read_settings(options: Mapping[str, Value]) -> Settings:
    """Return the options of a step that the compiler must know."""
    delims = options.get("delims")
    left, right = delims if isinstance(delims, list) and len(delims) == len(DELIMS) else DELIMS
    return Settings(
        # As in Go, an empty delimiter stands for the usual one.
        (str(left) or DELIMS[0], str(right) or DELIMS[1]),
        _missing_key(options),
        frozenset(name for name in registry.OPTIONS if options.get(name)),
        options.get("dialect") != "gotemplating",
        options.get("missing") == "Defer",
    )


def main_source(program: Program) -> Source:
    """Return the main source, with the parts that it joins."""
    main, parts = program.main, program.parts
    return JoinedSource(name=main.name, text=main.text, parts=parts) if parts else main


def _missing_key(options: Mapping[str, Value]) -> MissingKey:
    """Return the handling of absent keys; a deferring step withholds what Go would print."""
    missing = options.get("missingkey")
    if missing == "error":
        return "error"
    if missing == "checked" or options.get("missing") == "Defer":
        return "checked"
    return "zero" if missing == "zero" else "default"


def sources_of(program: Program) -> Sources:
    """Return the texts of a program: its modules are templates under their names."""
    modules = tuple(sorted(program.modules.items()))
    return Sources(((MAIN, main_source(program)), *modules), read_settings(program.options))


_programs: Final[ByteLruCache[Sources, LoadedProgram]] = ByteLruCache(
    _MAX_CHARACTERS, max_entries=_MAX_PROGRAMS
)


def parse_texts(program: Program) -> Sequence[tuple[Source, parser.Trees]]:
    """Return the texts of a program, parsed once for all analyses of it; the first is the main one.

    A text that does not parse has no trees. Nothing may change them.
    """
    return _parse_sources(sources_of(program))


@lru_cache(maxsize=_MAX_PARSED)
def _parse_sources(sources: Sources) -> Sequence[tuple[Source, parser.Trees]]:
    grammar = sources.settings.grammar()
    texts: list[tuple[Source, parser.Trees]] = []
    for name, source in sources.texts:
        trees: parser.Trees = {}
        with suppress(parser.ParseFailure, LimitExceededError):
            trees = parser.parse(name, source.text, grammar).trees
        texts.append((source, trees))
    return texts


def parse_main(program: Program) -> list[nodes.Node]:
    """Return the nodes of a program's main template; none if it does not parse."""
    return parse_texts(program)[0][1].get(MAIN, [])


def find_unused(program: Program) -> tuple[str, ...]:
    """Return the modules whose templates are never named; none when in doubt."""
    main, *modules = (trees for _, trees in parse_texts(program))
    if not all((main, *modules)):
        return ()
    unused = dict(zip(sorted(program.modules), modules, strict=True))
    # A module counts as used through any template that it defines.
    pending = [main]
    while pending:
        names = count_uses(pending.pop())
        if names is None:
            return ()
        used = [name for name, trees in unused.items() if not names.keys().isdisjoint(trees)]
        pending += [unused.pop(name) for name in used]
    return tuple(unused)


def count_uses(trees: parser.Trees) -> Counter[str] | None:
    """Return how often each template is used; None when the name of one is computed."""
    names: Counter[str] = Counter()
    for part in nodes.walk_trees(trees):
        match part:
            case nodes.Template(name=name):
                names[name] += 1
            case nodes.Command(words=(_, nodes.String(value=name), *_)) if (
                part.function == "include"
            ):
                names[name] += 1
            case nodes.Command() if part.function == "include":
                return None
    return names


def load(sources: Sources) -> LoadedProgram:
    """Return the program from the cache, or compile it.

    Raises ProgramFailure, and LimitExceededError for too many tokens.
    """
    program = _programs.get(sources)
    if program is None:
        program = compile_program(sources)
        _programs.put(sources, program, sum(len(source.text) for _, source in sources.texts))
    return program


def compile_program(
    sources: Sources, change: Callable[[str, list[nodes.Node]], None] | None = None
) -> LoadedProgram:
    """Compile all templates of a program; raises ProgramFailure and LimitExceededError.

    ``change`` gets the name and the nodes of each template before.
    """
    grammar = sources.settings.grammar()
    trees: dict[str, list[nodes.Node]] = {}
    origins: dict[str, Source] = {}
    assigned: set[str] = set()
    bad: list[BadSource] = []
    tokens = 0
    for name, source in sources.texts:
        try:
            parsed = parser.parse(name, source.text, grammar)
        except parser.ParseFailure as failure:
            bad.append(BadSource(source, failure.errors))
            continue
        for template, root in parsed.trees.items():
            # The main text comes first, so its templates win over those of modules.
            trees.setdefault(template, root)
            origins.setdefault(template, source)
        assigned |= parsed.assigned
        # The parser has checked each text alone, and all are compiled together.
        tokens += parsed.tokens
        parser.check_tokens(tokens)
    if bad:
        raise ProgramFailure(bad)
    if change is not None:
        for name, root in trees.items():
            change(name, root)
    context = Context(
        grammar.functions,
        frozenset(trees),
        frozenset(assigned),
        sources.settings.missing,
        sources.settings.policy,
    )
    templates = {
        name: TemplateCompiler(context, name).compile_template(root) for name, root in trees.items()
    }
    return LoadedProgram(
        templates, context.has_mutation, context.failures, origins, sources.settings
    )
