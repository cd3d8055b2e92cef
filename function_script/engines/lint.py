"""The analyses that `check` makes of a program that compiles, without running it.

A language overrides those that it can make in a subclass, an instance of which is ``LINT`` in its
module ``lint``. An analysis that is unsure finds nothing.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Final, Literal, NamedTuple, TypeAlias, TypeVar

from function_script.engines import secret_fields
from function_script.engines.recent import remembered
from function_script.request import objects
from function_script.request.limits import Limits
from function_script.request.objects import CONDITION_FIELDS, Path
from function_script.request.program import Program
from function_script.request.reader import child
from function_script.request.values import Object, Readable
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.source import Source, Span, span_at

_TOP_FIELD: Final = r"^{}: *[\"']?(?P<value>[\w./-]+)[\"']?[ \t]*$"
API_VERSION: Final = re.compile(_TOP_FIELD.format("apiVersion"), re.MULTILINE)
KIND: Final = re.compile(_TOP_FIELD.format("kind"), re.MULTILINE)

# In a path: an index, or a key that only a run knows.
ANY: Final = 0
CONDITION: Final = "get_condition"
LIBRARY: Final = (CONDITION, "response")
"""The functions of the library whose values have a path, their name, outside of the request."""
CONDITION_SCHEMA: Final[Object] = {
    "properties": {
        **{field: {} for field in CONDITION_FIELDS},
        "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
    }
}
# The types of constants, in JSON Schema.
CONSTANT_TYPES: Final[dict[type, str]] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
}


QUOTED: Final = r"""["'](?P<name>[^"'\\]+)["']"""
"""A name that is written out, in quotes."""
_WORDS: Final = r"""[^()"'#\n]|"[^"\n]*"|'[^'\n]*'"""
CONDITION_CALL: Final = (
    rf"\b(?:is_ready|get_condition)\((?:(?:{_WORDS}|\((?:{_WORDS})*\))*,)?\s*{QUOTED}\s*\)"
)
"""A call of the library with the type of a condition behind the object, or behind a filter."""
_OWN_NAMESPACE: Final = re.compile(r"metadata\W{1,4}namespace")


def reads_own_namespace(text: str) -> bool:
    """Report whether a program's expression for a namespace shows that it is the XR's."""
    return _OWN_NAMESPACE.search(text) is not None


class Mention(NamedTuple):
    """A text of a program, and where it is written."""

    text: str
    source: Source
    span: Span


CallKind: TypeAlias = Literal[
    "clock", "condition", "credentials", "observed", "readiness", "required"
]
"""A kind of calls: those that read the clock, getters, and `is_ready` of an observed resource.

Those of ``condition`` have the type of one.
"""
Policy: TypeAlias = Literal["depends_on", "moved_from", "ready_when"]
"""The statements of a resource about its order and readiness, by the names that scripts have."""
# The parts of the request that have the names which getters take.
_PARTS: Final[Mapping[CallKind, Path]] = {
    "credentials": ("credentials",),
    "observed": ("observed", "resources"),
}
# A function of the program itself, of which nothing is known.
_OWN_GETTER: Final = re.compile(r"\b(?:def|macro) +(get_\w+|is_(?:ready|observed))\(")


def _find_calls(program: Program, pattern: re.Pattern[str]) -> Iterator[Mention]:
    """Yield the texts that are the group ``name`` of a pattern's matches in all sources."""
    texts = [source.text for source in program.sources()]
    own = {name for text in texts for name in _OWN_GETTER.findall(text)}
    for source in program.sources():
        for match in pattern.finditer(source.text):
            span = span_at(source, match.start("name"), len(match["name"]))
            if own.isdisjoint(re.findall(r"\w+", match[0])):
                yield Mention(match["name"], source, span)


class ResourceKind(NamedTuple):
    """The apiVersion and kind of a composed resource."""

    api_version: str
    kind: str


class FieldAccess(NamedTuple):
    """A lookup of the last part of ``path``, which begins at the request.

    ``is_guarded``: the program goes on when that part does not exist. ``is_use``: no lookup, but
    the use of a name whose value is made of that part.
    """

    path: Path
    source: Source
    span: Span
    is_guarded: bool = False
    is_use: bool = False


class FieldComparison(NamedTuple):
    """A test of the field at ``path`` for equality with a constant.

    ``is_default``: no test, but what takes the place of a value that is absent; None is any value,
    and true also takes the place of false.
    """

    path: Path
    value: str | float | None
    source: Source
    span: Span
    is_default: bool = False


# The programs of a pipeline, of which `check` reads one after the other.
_MAX_RECENT: Final = 16
# An analysis has none; the identity is a part of the key.
_LIMITS: Final = Limits()
_Use = TypeVar("_Use", FieldAccess, FieldComparison)


def format_access(path: Path) -> str:
    """Write the path of a lookup, as in ``spec.rules[].host``."""
    text = ""
    for part in path:
        text = f"{text}[]" if isinstance(part, int) else child(text, part)
    return text


def find_values(value: Readable, path: Path) -> list[Readable]:
    """Return the values at the path of a lookup, where ANY stands for all items of a list."""
    if ANY not in path:
        return [objects.find_path(value, path)]
    index = path.index(ANY)
    items = objects.find_path(value, path[:index])
    below = items if isinstance(items, list) else ()
    return [each for item in below for each in find_values(item, path[index + 1 :])]


def unchanged(uses: Iterable[_Use], changed: Iterable[Path]) -> list[_Use]:
    """Return the uses outside of paths that the program changes: those may be its own values."""
    prefixes = set(changed)
    return [
        use
        for use in dict.fromkeys(uses)
        if not any(_is_below(use.path, prefix) for prefix in prefixes)
    ]


def without_defaults(comparisons: Iterable[FieldComparison]) -> Iterator[FieldComparison]:
    """Yield the tests whose value is that of the field, and the defaults that are true."""
    uses = [*comparisons]
    defaults = {(each.path, each.value) for each in uses if each.is_default}
    unknown = [path for path, value in defaults if value is None]
    for each in uses:
        is_own = any(_is_below(each.path, path) for path in unknown)
        is_own = is_own or (each.path, each.value) in defaults
        if each.value is True if each.is_default else not is_own:
            yield each


def _is_below(path: Path, prefix: Path) -> bool:
    """Report whether a path may be below another one, or the same."""
    pairs = zip(path, prefix, strict=False)
    return len(path) >= len(prefix) and all(ANY in pair or pair[0] == pair[1] for pair in pairs)


def guarded(reads: Iterable[FieldAccess], tested: Collection[Path]) -> list[FieldAccess]:
    """Return the reads, those marked as guarded whose path the program tests anywhere."""
    return [read._replace(is_guarded=read.is_guarded or read.path in tested) for read in reads]


@remembered(_MAX_RECENT)
def _find_reads(program: Program, _: Limits, lint: "Lint") -> Sequence[FieldAccess]:
    return [access for access in lint.find_accesses(program) if not access.is_use]


class Lint:
    """The analyses of a language of which nothing is known: they find nothing.

    ``random_call`` matches calls of functions that give random texts. ``calls`` match those of a
    kind, with the argument that is written out, or the function that reads the clock, in the group
    ``name``.
    """

    random_call: re.Pattern[str] | None = None
    calls: ClassVar[Mapping[CallKind, re.Pattern[str]]] = MappingProxyType({})

    def find_accesses(self, _program: Program, /) -> Iterable[FieldAccess]:
        """Find the fields of the request that a program certainly reads, and their uses."""
        return ()

    def find_reads(self, program: Program) -> Sequence[FieldAccess]:
        """Find the lookups alone: once, though every rule and every run asks for them."""
        return _find_reads(program, _LIMITS, self)

    def find_unknown_names(self, _program: Program) -> Iterable[Diagnostic]:
        """Find names that never have a value, and that the compiler accepts."""
        return ()

    def find_failures(self, _program: Program, /) -> Iterable[Diagnostic]:
        """Find operations that fail in every run that reaches them."""
        return ()

    def find_comparisons(self, _program: Program, /) -> Iterable[FieldComparison]:
        """Find comparisons of fields of the request with constants."""
        return ()

    def find_doubts(self, _program: Program, /) -> Iterable[Diagnostic]:
        """Find parts that run without an error, and that nobody can mean."""
        return ()

    def find_names(self, program: Program, kind: CallKind) -> Iterator[Mention]:
        """Find names that are written out: of parts of the request, and in calls of a kind."""
        for read in self.find_reads(program) if kind in _PARTS else ():
            name = read.path[-1]
            if read.path[:-1] == _PARTS[kind] and isinstance(name, str):
                yield Mention(name, read.source, read.span)
        if kind in self.calls:
            yield from _find_calls(program, self.calls[kind])

    def find_composed_kinds(self, _program: Program) -> Iterable[tuple[str, ResourceKind]]:
        """Find resources whose name and kind are written out, by name."""
        return ()

    def find_composed_names(self, _program: Program) -> frozenset[str] | None:
        """Find the names of all composed resources; None when only a run knows them."""
        return None

    def find_statements(self, _policy: Policy, _program: Program, /) -> Iterable[Mention]:
        """Find the texts of a policy of resources that are written out, each by itself."""
        return ()

    def find_rules(self, _program: Program, /) -> Iterable[tuple[str, Mention]]:
        """Find the rules of readiness that are written out, with the names of their resources."""
        return ()

    def find_dependencies(self, program: Program) -> Iterator[Mention]:
        """Find names of resources that others depend on."""
        for mention in self.find_statements("depends_on", program):
            yield mention._replace(text=mention.text.partition(":")[0].strip())

    def find_awaited(self, program: Program) -> Iterator[tuple[str, str, Mention]]:
        """Find the rules of resources that others or their readiness wait for.

        Each has the resource's name, and the rule as in ``ready-when``: a path, for example.
        """
        for mention in self.find_statements("depends_on", program):
            name, _, path = mention.text.partition(":")
            if path.strip():
                yield name.strip(), path.strip(), mention
        for name, mention in self.find_rules(program):
            yield name, mention.text, mention

    def find_documents(self, _program: Program) -> Iterable[tuple[Source, str]]:
        """Find YAML in sources: each with its text, where other characters stand for actions."""
        return ()

    def find_kinds(self, program: Program) -> Iterable[tuple[Mention, str]]:
        """Find the apiVersions of whole objects that are written out, each with its kind."""
        for source, text in self.find_documents(program):
            offset = 0
            # Split in front of the separator, so that the lengths add up to offsets.
            for document in re.split(r"(?m)^(?=---)", text):
                version, kind = API_VERSION.search(document), KIND.search(document)
                if version is not None and kind is not None:
                    start = offset + version.start("value")
                    span = span_at(source, start, len(version["value"]))
                    yield Mention(version["value"], source, span), kind["value"]
                offset += len(document)

    def find_object_names(self, _program: Program) -> Iterable[Mention]:
        """Find a ``metadata.name`` that is written out, of resources that all XRs may share."""
        return ()

    def find_random_secrets(self, program: Program) -> Iterable[secret_fields.RandomSecret]:
        """Find random texts of the program that go into secrets."""
        if self.random_call is None:
            return ()
        return secret_fields.find_random(program, self.random_call)

    def find_constant_events(self, _program: Program) -> Iterable[Span]:
        """Find results in the main source that every run emits: in no condition and no loop."""
        return ()
