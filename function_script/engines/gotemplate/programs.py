"""Programs to units: parse every source, compile all their templates, remember the result.

Kept by content, so a template is compiled once however often it runs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from function_script.cache import ByteLruCache
from function_script.engines.gotemplate import registry
from function_script.engines.gotemplate.compiler import checking, deferring
from function_script.engines.gotemplate.compiler.expressions import CompileContext
from function_script.engines.gotemplate.compiler.statements import compile_templates
from function_script.engines.gotemplate.run import MAIN
from function_script.engines.gotemplate.syntax import parser
from function_script.engines.gotemplate.syntax.parser import Grammar, ParseFailure
from function_script.engines.gotemplate.values import is_broken, to_bytes, to_string

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.engines.gotemplate.access import MissingKey
    from function_script.engines.gotemplate.compiler.statements import CodegenOptions
    from function_script.engines.gotemplate.errors import ParseError
    from function_script.engines.gotemplate.function import Function
    from function_script.engines.gotemplate.run import CompiledProgram
    from function_script.engines.gotemplate.syntax.nodes import Node
    from function_script.program import Program
    from function_script.source import Source
    from function_script.values import Value

DELIMS: Final = ("{{", "}}")
# About as many megabytes of compiled code as hundred thousands of characters.
_MAX_CHARACTERS: Final = 1_000_000
_MAX_PROGRAMS: Final = 2_000


class Settings(NamedTuple):
    """How a program is to be read; ``allowed`` are the options that let functions be used.

    ``is_own``: it is of our own kind, which has some functions more.
    """

    delims: tuple[str, str] = DELIMS
    missing: MissingKey = "default"
    allowed: frozenset[str] = frozenset()
    is_own: bool = False
    defers: bool = False

    @property
    def is_checked(self) -> bool:
        """Whether using a value that does not exist is an error."""
        return self.defers or self.missing == "checked"

    def functions(self) -> Mapping[str, Function]:
        """What it may call, by name."""
        return registry.functions(self.allowed, is_own=self.is_own, is_checked=self.is_checked)


class Sources(NamedTuple):
    """The texts of a program, each by its template's name; the first is the main one."""

    texts: tuple[tuple[str, Source], ...]
    settings: Settings


class Loaded(NamedTuple):
    """A unit, and which source each of its templates stands in."""

    unit: CompiledProgram
    origins: Mapping[str, Source]


class BadSource(NamedTuple):
    """A source that does not parse, and what is wrong with it."""

    name: str
    source: Source
    errors: list[ParseError]


class ProgramFailure(Exception):  # noqa: N818 # several errors, not one
    """A program that does not parse: its bad sources, in the order they are read."""

    def __init__(self, sources: list[BadSource]) -> None:
        super().__init__(str(sources[0].errors[0]))
        self.sources = sources


def read_settings(options: Mapping[str, Value]) -> Settings:
    """The options of a step that the compiler must know."""
    delims = options.get("delims")
    left, right = delims if isinstance(delims, list) and len(delims) == len(DELIMS) else DELIMS
    return Settings(
        (str(left) or DELIMS[0], str(right) or DELIMS[1]),
        _missing_key(options),
        frozenset(name for name in registry.OPTIONS if options.get(name)),
        options.get("dialect") == "script",
        options.get("missing") == "Defer",
    )


def _missing_key(options: Mapping[str, Value]) -> MissingKey:
    """What an absent key gives; a step that defers withholds what Go would print or pass over."""
    match options.get("missingkey"):
        case "error":
            return "error"
        case "checked":
            return "checked"
        case _ if options.get("missing") == "Defer":
            return "checked"
        case "zero":
            return "zero"
        case _:
            return "default"


def sources_of(program: Program) -> Sources:
    """The texts of a program: its modules are templates under their names."""
    modules = tuple(sorted(program.modules.items()))
    return Sources(((MAIN, program.main), *modules), read_settings(program.options))


_programs: Final[ByteLruCache[Sources, Loaded]] = ByteLruCache(
    _MAX_CHARACTERS, max_entries=_MAX_PROGRAMS
)


def load(sources: Sources) -> Loaded:
    """The program, compiled now if it is not kept; raises ProgramFailure and OverLimit."""
    found = _programs.get(sources)
    if found is None:
        found = compile_program(sources)
        _programs.put(sources, found, sum(len(source.text) for _, source in sources.texts))
    return found


def compile_program(sources: Sources) -> Loaded:
    """All templates of a program, compiled; raises ProgramFailure and OverLimit."""
    functions = sources.settings.functions()
    grammar = Grammar(sources.settings.delims, functions)
    trees: dict[str, list[Node]] = {}
    origins: dict[str, Source] = {}
    assigned: set[str] = set()
    called: set[str] = set()
    bad: list[BadSource] = []
    tokens = 0
    for name, source in sources.texts:
        try:
            parsed = parser.parse(name, source.text, grammar)
        except ParseFailure as failure:
            bad.append(BadSource(name, source, failure.errors))
            continue
        for template, root in parsed.trees.items():
            trees.setdefault(template, root)
            origins.setdefault(template, source)
        assigned |= parsed.assigned
        called |= parsed.called
        tokens += parsed.tokens
        parser.check_tokens(tokens)
    if bad:
        raise ProgramFailure(bad)
    mutates = any(functions[name].mutates for name in called)
    around = CompileContext(functions, frozenset(assigned), mutates)
    manner = _manner(sources.settings)
    return Loaded(compile_templates(trees, around, sources.settings.missing, manner), origins)


def _manner(settings: Settings) -> CodegenOptions | None:
    if settings.defers:
        return deferring.MANNER
    return checking.MANNER if settings.is_checked else None


def to_output(parts: list[str]) -> str:
    """The text that was written; bytes that are not UTF-8 become U+FFFD."""
    text = "".join(parts)
    if not is_broken(text):
        return text
    whole = to_string(to_bytes(text))
    return _LONE_BYTE.sub("\ufffd", whole)


_LONE_BYTE: Final = re.compile("[\ud800-\udfff]")
