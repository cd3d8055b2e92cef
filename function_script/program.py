"""What passes between the main path and an engine: program and scope in, a result out.

Engines know these shapes and nothing of the protocol; the main path knows them and nothing of
the languages.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from function_script.values import Object, Readable, Value

if TYPE_CHECKING:
    from function_script.source import Source, Span

# Names of requirements that are the function's own: programs do not see what they bring.
OWN_REQUIREMENTS = "script.fn.crossplane.io/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Sources to run. ``modules`` maps the name a program imports to its source."""

    main: Source
    modules: Mapping[str, Source] = field(default_factory=dict)
    options: Mapping[str, Value] = field(default_factory=dict)

    def sources(self) -> tuple[Source, ...]:
        """Return the main source and those of the modules."""
        return (self.main, *self.modules.values())

    def size_bytes(self) -> int:
        """How long all its sources are together, in UTF-8."""
        texts = (source.text for source in self.sources())
        return sum(
            len(text) if text.isascii() else len(text.encode("utf-8", "replace")) for text in texts
        )


class _LazyDict(dict[str, Readable]):
    """What was read of a lazy mapping so far; a key that is not there is built, and stays."""

    __slots__ = ("_build",)

    def __init__(self, build: Callable[[str], Readable]) -> None:
        self._build = build

    def __missing__(self, key: str) -> Readable:
        value = self[key] = self._build(key)
        return value


class _LazyDictByKey(dict[str, Readable]):
    """The same, with a builder for each key."""

    __slots__ = ("_builders",)

    def __init__(self, builders: Mapping[str, Callable[[], Readable]]) -> None:
        self._builders = builders

    def __missing__(self, key: str) -> Readable:
        value = self[key] = self._builders[key]()
        return value


class Lazy(Mapping[str, Readable]):
    """A read-only mapping whose values are built when first read, and then kept.

    ``builders`` gives each key's value. Iteration order is the order of ``builders``.
    """

    # ``kept[key]`` is what ``self[key]`` is, without a call where it was built before.
    __slots__ = ("_decode", "_keys", "kept")

    def __init__(self, builders: Mapping[str, Callable[[], Readable]]) -> None:
        self._keys: Collection[str] = builders
        self.kept: dict[str, Readable] = _LazyDictByKey(builders)
        self._decode: Callable[[str], Value] | None = None

    @classmethod
    def of(
        cls,
        keys: Collection[str],
        build: Callable[[str], Readable],
        decode: Callable[[str], Value] | None = None,
    ) -> Lazy:
        """With these keys, and ``build`` for the value of each; raises KeyError.

        ``decode`` gives the same value in dicts and lists, where ``build`` gives lazy ones.
        """
        lazy = cls.__new__(cls)
        lazy._keys, lazy.kept, lazy._decode = keys, _LazyDict(build), decode  # noqa: SLF001 - its own kind
        return lazy

    def __getitem__(self, key: str) -> Readable:
        return self.kept[key]

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def built(self) -> Mapping[str, Readable]:
        """What was read so far; builds nothing."""
        return self.kept

    def plain(self, key: str) -> Value:
        """The value of a key in dicts and lists only; nothing is kept of what was not read yet."""
        if self._decode is None or key in self.kept:
            return plain(self.kept[key])
        return self._decode(key)

    def __repr__(self) -> str:
        return f"Lazy({', '.join(self._keys)})"


def plain(value: Readable) -> Value:
    """Build everything: the same data as dicts and lists only."""
    if isinstance(value, Lazy):
        return {key: value.plain(key) for key in value}
    if isinstance(value, list) and value and isinstance(value[0], Lazy):
        return [plain(item) for item in value]
    return value  # type: ignore[return-value] # dicts have no Lazy in them, other lists neither


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a program may see of one request.

    ``request`` has the protocol's field names: meta, observed, desired, input, context,
    required_resources, extra_resources, credentials, required_schemas; absent fields are empty.
    Resources stand below as ``{"resource": {...}, "connection_details": {...}, "ready": ...}``.
    ``seed`` is the XR's uid (empty when there is none): the root of every stable choice.
    ``sent`` names those of observed, desired, input, context and ``desired.composite`` that the
    request has, even empty.
    """

    request: Lazy
    params: Object = field(default_factory=dict)
    seed: str = ""
    sent: frozenset[str] = frozenset()

    @property
    def xr(self) -> Object:
        """The observed composite resource, or an empty object (Operations have none)."""
        return _object_at(self.request, "observed", "composite", "resource")


def _object_at(value: Readable, *path: str) -> Object:
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return {}
        value = value[key]
    return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingValue:
    """Where a value was to be written that does not exist: nothing was written there.

    ``offset`` counts characters of the text. ``missing`` says what does not exist, ``span`` is
    the template's expression that needs it.
    """

    offset: int
    missing: str
    span: Span | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateResult:
    """A template's result: text to be read as a YAML stream.

    ``locate`` maps a 1-based line of ``text`` to the template's place that produced it. It is
    called only for errors and may be slow. ``gaps`` are in the order of the text.
    """

    text: str
    locate: Callable[[int], Span | None]
    gaps: Sequence[MissingValue] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredResource:
    """A composed resource that a script could not make; the rest is as for a Gap."""

    name: str
    missing: str
    span: Span | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptResult:
    """A script's result: a RunFunctionResponse-shaped object, and where it was returned.

    ``locate`` gives the place of a field in it, for errors; it is ``span`` if nobody knows better.
    ``resources`` are members of ``desired.resources`` that are not in ``value``: a text of JSON
    ``"name": entry`` each, for a text that came before need not be read again.
    """

    value: Object
    span: Span | None = None
    resources: Sequence[str] = ()
    withheld: Sequence[DeferredResource] = ()
    locate: Callable[[Sequence[str | int]], Span | None] | None = None
