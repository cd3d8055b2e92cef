"""Interface of engines: a Program and a Scope in, a ScriptResult or a TemplateResult out.

Engines know nothing of the protocol, and the main path nothing of the languages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from function_script.request.lazy import Lazy
from function_script.request.limits import Limits
from function_script.request.objects import Path
from function_script.request.values import Object, Readable, Value
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import LimitError
from function_script.texts.source import Piece, Source, Span

# Prefix of the function's own requirements, whose resources programs do not see.
OWN_REQUIREMENTS = "script.fn.crossplane.io/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Sources of a program. ``modules`` has the source for each name that a program imports.

    ``parts`` are the author's sources that the main one joins, if it joins several.
    """

    main: Source
    modules: Mapping[str, Source] = field(default_factory=dict)
    options: Mapping[str, Value] = field(default_factory=dict)
    parts: tuple[Source, ...] = ()

    def sources(self) -> tuple[Source, ...]:
        """Return the main source, or its parts, and those of the modules."""
        return (*(self.parts or (self.main,)), *self.modules.values())

    def size_bytes(self) -> int:
        """Return the length of all sources in UTF-8."""
        texts = (source.text for source in self.sources())
        return sum(
            len(text) if text.isascii() else len(text.encode("utf-8", "replace")) for text in texts
        )

    def check_size(self, limits: Limits) -> None:
        """Raise LimitError for sources that are too big to be parsed."""
        size = self.size_bytes()
        if size > limits.source_bytes:
            cause = f"a source of {size} bytes, the limit is {limits.source_bytes}"
            message = f"cannot parse {self.main.name}: {cause}"
            hint = "its modules count, too" if self.modules else None
            raise LimitError.of(message, hint=hint, limit="source")


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
                if key not in value.memo and key not in value:
                    return {}
                value = value.memo[key]
            elif isinstance(value, Mapping) and key in value:
                value = value[key]
            else:
                return {}
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingValue:
    """A position in a template's output at which a value was missing.

    ``offset`` counts characters of the text; it is negative where it is not certain. ``missing``
    describes the value, ``span`` is the expression that needs it, ``hint`` says what mends it.
    """

    offset: int
    missing: str
    span: Span | None
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateResult:
    """A template's result: text to be read as a YAML stream.

    ``locate`` maps a 1-based line of ``text`` to the position in the template that produced it.
    It is called only for errors and may be slow. ``gaps`` are in the order of the text,
    as are those ``missing`` values for which it has Go's words.
    ``explain`` returns the place to correct and a hint for a line that is no YAML, or None, where
    the line is one of another language. ``trace`` returns the pieces of ``text``, or of none of
    it; it may be slow, too. ``outdents`` are where printed values of several lines begin and end
    whose later lines are less indented than their place.
    ``doubts`` are parts of the template that no author can mean, whatever they rendered.
    ``list_lines`` are the lines of ``text`` whose value is a list printed without commas.
    """

    text: str
    locate: Callable[[int], Span | None]
    gaps: Sequence[MissingValue] = ()
    missing: Sequence[MissingValue] = ()
    explain: Callable[[int], tuple[Span, str] | None] | None = None
    trace: Callable[[], Sequence[Piece]] = tuple
    outdents: Sequence[tuple[int, int]] = ()
    doubts: Sequence[Diagnostic] = ()
    list_lines: Sequence[int] = ()


class Branch(NamedTuple):
    """A body that a run enters or not: where its text begins, and the number of its last line."""

    span: Span
    last_line: int
    is_reached: bool


class Withheld(NamedTuple):
    """A script's resource that is not sent yet, since a value it needs does not exist.

    ``entry`` has what its entry states beside the object. ``missing``, ``span``: see MissingValue.
    """

    name: str
    missing: str
    span: Span | None
    entry: Object


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptResult:
    """A script's result: an object shaped as a RunFunctionResponse.

    ``locate`` returns the position of a field, or that of ``main``, for errors.
    ``explain_null`` returns the hint for a field that is null, and for others the one it gets.
    ``trace``
    returns the certain positions of fields by path; it may be slow. A value that is not there came
    with the one above it, and nothing is known of one with None.
    ``resources`` are members of ``desired.resources`` that are not in ``value``: a text of JSON
    ``"name": entry`` each, since a text that came before need not be parsed again. ``mentions``
    reports whether the program or its request has a text in it.
    """

    value: Object
    locate: Callable[[Path], Span | None]
    resources: Sequence[str] = ()
    withheld: tuple[Withheld, ...] = ()
    explain_null: Callable[[Path, str | None], str | None] = lambda _, hint: hint
    trace: Callable[[], Mapping[tuple[str | int, ...], Span | None]] = dict
    mentions: Callable[[str], bool] = lambda _: True


class Blocked(NamedTuple):
    """A withheld subject and the reason: ``for vpc``, ``because spec.size is undefined``.

    ``dependencies`` are the names of the resources that it waits for.
    """

    subject: str
    reason: str
    dependencies: tuple[str, ...] = ()
