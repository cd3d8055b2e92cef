"""Interface of engines: a Program and a Scope in, a ScriptResult or a TemplateResult out.

Engines know nothing of the protocol, and the main path nothing of the languages.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from function_script.diagnostics import Diagnostic
from function_script.source import Source, Span
from function_script.values import Object, Readable, Value

# Prefix of the function's own requirements, whose resources programs do not see.
OWN_REQUIREMENTS = "script.fn.crossplane.io/"

PartTree: TypeAlias = Mapping[str, "PartTree | None"]
"""The keys of an object whose values are needed: in part, or with None as a whole.

The key ANY stands for all that are not in the tree.
"""
# No resource has this name. For a key of this name a script gets all others, too: no harm.
ANY = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Sources of a program. ``modules`` has the source for each name that a program imports."""

    main: Source
    modules: Mapping[str, Source] = field(default_factory=dict)
    options: Mapping[str, Value] = field(default_factory=dict)

    def sources(self) -> tuple[Source, ...]:
        """Return the main source and those of the modules."""
        return (self.main, *self.modules.values())

    def size_bytes(self) -> int:
        """Return the length of all sources in UTF-8."""
        texts = (source.text for source in self.sources())
        return sum(
            len(text) if text.isascii() else len(text.encode("utf-8", "replace")) for text in texts
        )


class _LazyDict(dict[str, Readable]):
    """Values of a lazy mapping that were read; a missing key is built and stored.

    Whoever makes one sets ``build``: a constructor in Python would take as long as all else.
    """

    __slots__ = ("build",)

    build: Callable[[str], Readable]

    def __missing__(self, key: str) -> Readable:
        value = self[key] = self.build(key)
        return value


class _LazyDictByKey(dict[str, Readable]):
    """A _LazyDict with a builder for each key."""

    __slots__ = ("_builders",)

    def __init__(self, builders: Mapping[str, Callable[[], Readable]]) -> None:
        self._builders = builders

    def __missing__(self, key: str) -> Readable:
        value = self[key] = self._builders[key]()
        return value


class Lazy(Mapping[str, Readable]):
    """A read-only mapping whose values are built when first read, and then stored.

    ``builders`` has a function for each key's value. Iteration is in their order.
    """

    # ``kept[key]`` equals ``self[key]``, without a call for a value that was built before.
    __slots__ = ("_decode", "_keys", "_select", "kept")

    def __init__(self, builders: Mapping[str, Callable[[], Readable]]) -> None:
        self._keys: Collection[str] = builders
        self.kept: dict[str, Readable] = _LazyDictByKey(builders)
        self._decode: Callable[[str], Value] | None = None
        self._select: Callable[[PartTree], Object] | None = None

    @classmethod
    def of(
        cls,
        keys: Collection[str],
        build: Callable[[str], Readable],
        decode: Callable[[str], Value] | None = None,
        select: Callable[[PartTree], Object] | None = None,
    ) -> Lazy:
        """Return a mapping with one function for all values, which raises KeyError.

        ``decode`` returns the same value in dicts and lists, where ``build`` returns lazy ones.
        ``select`` returns parts of the mapping in the same way.
        """
        lazy = cls.__new__(cls)
        lazy.kept = kept = _LazyDict()
        kept.build = build
        lazy._keys, lazy._decode, lazy._select = keys, decode, select  # noqa: SLF001 - its own kind
        return lazy

    def __getitem__(self, key: str) -> Readable:
        return self.kept[key]

    def get(self, key: str, default: Readable = None, /) -> Readable:  # type: ignore[override] # less general
        """Return the value of a key, or the default; Mapping's way is to catch an error."""
        return self.kept[key] if key in self._keys else default

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def built(self) -> Mapping[str, Readable]:
        """Return the values that were read; builds none."""
        return self.kept

    def plain(self, key: str) -> Value:
        """Return the value of a key in dicts and lists; stores nothing."""
        if self._decode is None or key in self.kept:
            return plain(self.kept[key])
        return self._decode(key)

    def select(self, tree: PartTree) -> Object | None:
        """Return the parts of a tree that exist, in dicts and lists; None if they are not encoded.

        Stores nothing.
        """
        return None if self._select is None else self._select(tree)

    def __repr__(self) -> str:
        return f"Lazy({', '.join(self._keys)})"


def plain(value: Readable) -> Value:
    """Build everything: return the same data as dicts and lists only."""
    if isinstance(value, Lazy):
        return {key: value.plain(key) for key in value}
    if isinstance(value, list) and value and isinstance(value[0], Lazy):
        return [plain(item) for item in value]
    return value  # type: ignore[return-value] # dicts have no Lazy in them, other lists neither


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The part of one request that a program may see.

    ``request`` has the protocol's field names: meta, observed, desired, input, context,
    required_resources, extra_resources, credentials, required_schemas; absent fields are empty.
    Its resources are ``{"resource": {...}, "connection_details": {...}, "ready": ...}``.
    ``uid`` is the XR's, empty without an XR: the root of names and choices that stay. ``seed`` is
    that of random values: a secret of the XR if ``is_salted``, else the uid, with which anybody can
    compute them. ``random_texts`` collects those texts that the program makes of either and that
    anybody can compute.
    ``sent`` has the names among observed, desired, input, context and ``desired.composite`` that
    the request has, even if they are empty.
    """

    request: Lazy
    params: Object = field(default_factory=dict)
    uid: str = ""
    seed: str = ""
    is_salted: bool = False
    random_texts: list[str] = field(default_factory=list, compare=False)
    sent: frozenset[str] = frozenset()

    @property
    def xr(self) -> Object:
        """Return the observed composite resource, or an empty object (Operations have none)."""
        value: Readable = self.request
        for key in ("observed", "composite", "resource"):
            if type(value) is Lazy:
                # Without calls for what was built before: the XR is read many times.
                if key not in value.kept and key not in value:
                    return {}
                value = value.kept[key]
            elif isinstance(value, Mapping) and key in value:
                value = value[key]
            else:
                return {}
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingValue:
    """A position in a template's output at which a value was missing; nothing is written there.

    ``offset`` counts characters of the text. ``missing`` describes the value, ``span`` is the
    template's expression that needs it.
    """

    offset: int
    missing: str
    span: Span | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateResult:
    """A template's result: text to be read as a YAML stream.

    ``locate`` maps a 1-based line of ``text`` to the position in the template that produced it.
    It is called only for errors and may be slow. ``gaps`` are in the order of the text.
    ``explain`` returns the place to correct and a hint for a line that is no YAML, or None.
    ``doubts`` are parts of the template that no author can mean, whatever they rendered.
    ``list_lines`` are the lines of ``text`` whose value is a list printed without commas.
    """

    text: str
    locate: Callable[[int], Span | None]
    gaps: Sequence[MissingValue] = ()
    explain: Callable[[int], tuple[Span, str] | None] | None = None
    doubts: Sequence[Diagnostic] = ()
    list_lines: Sequence[int] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredResource:
    """A composed resource that a script could not make; see MissingValue."""

    name: str
    missing: str
    span: Span | None
    moved_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptResult:
    """A script's result: an object shaped as a RunFunctionResponse, and the return's position.

    ``locate`` returns the position of a field, for errors; ``span`` is the fallback.
    ``resources`` are members of ``desired.resources`` that are not in ``value``: a text of JSON
    ``"name": entry`` each, since a text that came before need not be parsed again. ``mentions``
    reports whether the program or its request has a text in it.
    """

    value: Object
    span: Span | None = None
    resources: Sequence[str] = ()
    withheld: Sequence[DeferredResource] = ()
    locate: Callable[[Sequence[str | int]], Span | None] | None = None
    mentions: Callable[[str], bool] = lambda _: True
