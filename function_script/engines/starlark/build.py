"""Build a program's sources into a frozen script that can be called any number of times.

Scripts are cached by their sources. A frozen script cannot keep a value from one run for the next.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, cast

import starlark
from starlark import LibraryExtension

from function_script.engines.recent import remembered
from function_script.engines.starlark import errors, interpreter, predeclared
from function_script.engines.starlark.analysis import pruning
from function_script.engines.starlark.errors import BRIDGE, WRAPPER, refuse
from function_script.request.cache import ByteLruCache
from function_script.request.lazy import PartTree
from function_script.request.limits import Limits
from function_script.request.program import Program
from function_script.texts import field_names
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import ProgramError
from function_script.texts.problems import list_choices, suggest
from function_script.texts.source import Source

# Deeper chains of modules are a mistake; each level is a nested call of Python.
_MAX_MODULE_DEPTH = 50
_NOTHING: Final[Mapping[str, Callable[[int], object]]] = MappingProxyType({})
_SILENT: Final[Mapping[str, Callable[[int], object]]] = MappingProxyType({"print": lambda *_: None})
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A script that can be called: ``wrapped`` is ``frozen`` behind the bridge, with its limits.

    ``sources`` are its own and its modules', by name.
    ``reach`` are the parts of a request that it needs; None: all.
    """

    frozen: starlark.FrozenModule
    wrapped: starlark.FrozenModule
    main: Source
    sources: Mapping[str, Source]
    reach: PartTree | None


# Memory of a frozen script, measured: 30 KB, and 90 bytes for a byte of its text.
_BASE_BYTES = 30_000
_BYTES_PER_CHARACTER = 90
_SCRIPTS: ByteLruCache[tuple[object, ...], Script] = ByteLruCache(32 << 20, max_entries=256)


@remembered(8)
def script(program: Program, limits: Limits, options: starlark.EvalOptions) -> Script:
    """Return the program's script, from the cache or built; raises FatalError."""
    # The limits are compiled into the wrapper, or checked only when a script is built.
    of_limits = limits.source_bytes, limits.nodes, limits.depth
    key = *of_limits, program.main, *sorted(program.modules.items())
    result = _SCRIPTS.get(key)
    if result is None:
        program.check_size(limits)
        result = _Build(program, limits, options).script()
        length = sum(len(source.text) for source in result.sources.values())
        _SCRIPTS.put(key, result, _BASE_BYTES + _BYTES_PER_CHARACTER * length)
    return result


def silent(
    program: Program,
    limits: Limits,
    options: starlark.EvalOptions,
    callables: Mapping[str, Callable[[int], object]] = _NOTHING,
) -> Script:
    """Build the program's script, not from the cache and unable to print; raises FatalError.

    ``callables`` are functions that its sources can call, by name.
    """
    return _Build(program, limits, options, {**_SILENT, **callables}).script()


class _Build:
    """The build of one program: its modules first, each of them once.

    ``stubs`` are names that a source finds although nothing defines them, behind its own name.
    """

    def __init__(
        self,
        program: Program,
        limits: Limits,
        options: starlark.EvalOptions,
        callables: Mapping[str, Callable[[int], object]] = _NOTHING,
        *,
        stubs: Collection[tuple[str, str]] = (),
    ) -> None:
        self._callables = callables
        self._stubs = stubs
        self._program = program
        self._limits = limits
        self._options = options
        self._frozen: dict[str, starlark.FrozenModule] = {}
        self._sources: dict[str, Source] = {}
        # Modules whose build has begun, the outermost first.
        self._loading: list[str] = []
        # For a module that is not there.
        self._load_hint: str | None = None

    def module(self) -> starlark.FrozenModule:
        """Build the main source, which need not have ``main``."""
        return self._freeze(self._program.main)

    def script(self) -> Script:
        main = self._program.main
        frozen = self._freeze(main)
        try:
            wrapped = wrap(frozen, self._limits)
        except starlark.StarlarkError as error:
            raise errors.no_main(main) from error
        # Positions and excerpts refer to the text as it was parsed.
        main = self._sources[main.name]
        return Script(
            frozen=frozen,
            wrapped=wrapped,
            main=main,
            sources=self._sources,
            reach=pruning.project_request(source.text for source in self._sources.values()),
        )

    def _freeze(self, source: Source) -> starlark.FrozenModule:
        tree = self._parse(source)
        for load in tree.loads():
            self._load(load.module_id)
        module = predeclared.module()
        for name, callable_ in self._callables.items():
            module.add_callable(name, callable_)
        for holder, name in self._stubs:
            if holder == source.name:
                module.add_callable(name, lambda *_: None)
        try:
            starlark.eval_with(
                self._options, module, tree, interpreter.GLOBALS, starlark.FileLoader(self._get)
            )
        except starlark.StarlarkError as error:
            text = str(error)
            raise errors.unloadable(
                text, source, self._sources, self._limits, self._load_hint
            ) from error
        except (TypeError, ValueError):
            # The binding cannot convert the value of the last statement, which nobody reads.
            pass
        return module.freeze()

    def _parse(self, source: Source) -> starlark.AstModule:
        text = source.text.removeprefix(_BYTE_ORDER_MARK)
        source = Source(name=source.name, text=text)
        self._sources[source.name] = source
        try:
            return starlark.parse(source.name, text, interpreter.DIALECT)
        except starlark.StarlarkError as error:
            raise errors.unparsable(str(error), source) from error
        except UnicodeEncodeError as error:
            cause = "half of a surrogate pair in its text"
            raise ProgramError.of(f"cannot parse {source.name}: {cause}") from error

    def _load(self, name: str) -> None:
        """Build the module of a load statement; `_get` raises where that is not possible."""
        source = self._program.modules.get(name)
        if source is None or name in self._frozen or name in self._loading:
            return
        if len(self._loading) < _MAX_MODULE_DEPTH:
            self._loading.append(name)
            self._frozen[name] = self._freeze(source)
            self._loading.pop()

    @errors.recorded
    def _get(self, name: str) -> starlark.FrozenModule:
        """Return the module for a load statement; the interpreter adds its position to an error."""
        if name in self._frozen:
            return self._frozen[name]
        if name in self._loading:
            cycle = [*self._loading[self._loading.index(name) :], name]
            raise ValueError(f"cannot load {name}: modules load each other: {' → '.join(cycle)}")
        if name in self._program.modules:
            raise ValueError(f"cannot load {name}: more than {_MAX_MODULE_DEPTH} modules deep")
        names = tuple(sorted(self._program.modules))
        if not names:
            self._load_hint = "the field modules of the input has the texts of modules by name"
            raise ValueError(f"cannot load {name}: the input has no modules")
        self._load_hint = suggest(name, names, list_choices(names, field_names.listed(names)))
        raise ValueError(f"cannot load {name}: there is no such module")


# All problems of a program's sources: the interpreter reports only the first. Each source is built
# on its own, and again with stubs for its undefined names, until a build finds nothing new.

_MAX_NAMES: Final = 20


def find_problems(
    program: Program, limits: Limits, options: starlark.EvalOptions
) -> list[Diagnostic]:
    """Return the problems of the main source and of every module."""
    problems = [
        problem
        for source in program.sources()
        for problem in _find_in_main(replace(program, main=source), limits, options)
    ]
    return list(dict.fromkeys(problems))


def _find_in_main(
    program: Program, limits: Limits, options: starlark.EvalOptions
) -> list[Diagnostic]:
    stubs: set[tuple[str, str]] = set()
    problems: list[Diagnostic] = []
    for _ in range(_MAX_NAMES):
        try:
            _Build(program, limits, options, _SILENT, stubs=stubs).module()
        except ProgramError as error:
            (problem,) = error.diagnostics
            failure = interpreter.read(str(error.__cause__))
            if failure.code != "undefined" or problem.span is None:
                # With stubs, a further error may be no mistake of the program.
                return problems or [problem]
            problems.append(problem)
            stubs.add((problem.span.name, failure.arguments["name"]))
        else:
            return problems
    return problems


# -- The bridge between Python and a script: the request and the result are a JSON text each

# The binding converts values at 4 us a node; a text costs a quarter of that, and less as a name:
# the binding passes the keys of a dict to Starlark and the names of a struct to Python as they are,
# and other texts through JSON. The bridge is a Starlark module of its own, so no name that a script
# defines can disturb it.
BRIDGE_GLOBALS = starlark.Globals.extended_by([LibraryExtension.StructType, LibraryExtension.Json])
_WRAPPER = starlark.parse(
    WRAPPER,
    """
load("script", "main")
load("bridge", "as_name", "built", "part_along", "to_json")

def run(request):
    return as_name(to_json(built(main(json.decode(request.keys()[0]))), nodes, depth))

def along(request, path):
    return json.encode(part_along(built(main(json.decode(request.keys()[0]))), json.decode(path)))
""",
)


_module = starlark.Module()
_module.add_callable("refuse", refuse)
starlark.eval(
    _module,
    starlark.parse(BRIDGE, (Path(__file__).parent / "bridge.star").read_text(encoding="utf-8")),
    BRIDGE_GLOBALS,
)
BRIDGE_MODULE = _module.freeze()


def wrap(script: starlark.FrozenModule, limits: Limits) -> starlark.FrozenModule:
    """Return the script behind the bridge; raises StarlarkError when it has no ``main``."""
    parts = {"script": script, "bridge": BRIDGE_MODULE}
    module = starlark.Module()
    module["nodes"] = limits.nodes
    module["depth"] = limits.depth
    starlark.eval(module, _WRAPPER, BRIDGE_GLOBALS, starlark.FileLoader(parts.__getitem__))
    return module.freeze()


def call_main(wrapped: starlark.FrozenModule, request: str, options: starlark.EvalOptions) -> str:
    """Run ``main`` with a request as JSON, return its result as JSON; raises StarlarkError."""
    return name_of(wrapped.call_with(options, "run", key_of(request)).value)


def key_of(text: str) -> dict[str, list[object]]:
    """Return an argument with the text as its only key."""
    return {text: []}


def name_of(result: object) -> str:
    """Return the only name of a struct that the bridge has made of a text."""
    (text,) = cast("dict[str, object]", result)
    return text
