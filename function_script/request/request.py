"""The Scope of a program: a lazy view of a request with the protocol's names and plain values.

A part of a resource is decoded when a program first reads it. Bytes are text if they are UTF-8.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Final

from function_script import wire
from function_script.request.lazy import ANY, Lazy, PartTree, plain
from function_script.request.program import OWN_REQUIREMENTS, Scope
from function_script.request.values import Object, Readable, Value
from function_script.texts.diagnostics import Diagnostic, digest
from function_script.texts.errors import InputError
from function_script.texts.problems import Problem, list_choices, suggest
from function_script.wire import enums

CAPABILITIES: Final[dict[int, str]] = {
    number: name for name, number in vars(enums).items() if name.startswith("CAPABILITY_")
}
READY: Final = {enums.READY_TRUE: "READY_TRUE", enums.READY_FALSE: "READY_FALSE"}
# Objects down to this level are decoded by key: programs read few keys of status.atProvider.
_LEVELS: Final = 3
# Keys that are searched one by one; reading more keys of an object builds an index of it.
_MAX_SEARCHES: Final = 4
# Name of a requirement that shows which of the two fields for required resources is answered.
PROBE = "script.fn.crossplane.io/probe"
NO_RESOURCE: Final = wire.index_resource(b"")
# The protocol's names of the parts of a state and of a resource.
_STATE_PARTS: Final = ("composite", "resources")
_CREDENTIALS: Final = "list them in the step's credentials, beside its input"
_OBJECT: Final = "resource"
_DETAILS: Final = "connection_details"
_READY: Final = "ready"
_ONLY_OBJECT: Final = (_OBJECT,)
_UID: Final[PartTree] = {"metadata": {"uid": None}}


def scope(  # noqa: PLR0913 # the facts of a scope
    request: wire.Request,
    params: Object,
    *,
    to_diagnostic: Callable[[Problem], Diagnostic],
    credentials: tuple[str, ...] | None = (),
    keep_managed_fields: bool = False,
    sort_keys: bool = True,
    seed: bytes = b"",
) -> Scope:
    """Return the scope of one run; ``params`` come from the step's input.

    ``credentials`` are the names of those that the program may see, None for all; raises
    InputError for one that the step does not have, with what ``to_diagnostic`` makes of the
    problem. ``sort_keys``: Crossplane sends maps in another order on every call, which must not
    change the result of a program that sees it. ``seed`` is the XR's secret, if the operator has a
    salt.
    """
    visible_credentials = _select_credentials(request, credentials, to_diagnostic)
    decoding = _Decoding(keep_managed_fields=keep_managed_fields, sort_keys=sort_keys)
    uid = _uid(request, decoding)
    return Scope(
        request=Lazy(
            {
                "meta": lambda: _meta(request),
                "observed": lambda: _state(request.observed, decoding),
                "desired": lambda: _state(request.desired, decoding),
                "input": lambda: decoding.struct(request.input),
                "context": lambda: decoding.struct(request.context),
                "required_resources": lambda: _resources(request.required_resources, decoding),
                "extra_resources": lambda: _resources(request.extra_resources, decoding),
                "credentials": lambda: {
                    name: {"data": to_texts(visible_credentials[name])}
                    for name in sorted(visible_credentials)
                },
                "required_schemas": lambda: _schemas(request, decoding),
            }
        ),
        params=params,
        uid=uid,
        seed=seed.hex() if seed else uid,
        is_salted=bool(seed),
        sent=_sent(request),
    )


class _Decoding:
    """The choices of a step that decide how parts of its request are decoded.

    ``unread`` is a key of a resource's metadata that programs do not see.
    """

    def __init__(self, *, keep_managed_fields: bool, sort_keys: bool) -> None:
        self.sort_keys: Final = sort_keys
        self.unread: Final = "" if keep_managed_fields else "managedFields"

    def struct(self, payload: bytes | None) -> Object:
        """Decode an object; a missing one is empty."""
        return _struct(payload, sort_keys=self.sort_keys)

    def open_object(self, struct: wire.Part) -> _Encoded:
        """Return the object of a resource, to be decoded by its parts."""
        return _Encoded(struct, 1, unread=self.unread, sort_keys=self.sort_keys)


def needs_probe(request: wire.Request) -> bool:
    """Report whether the caller may know the deprecated field only, or was probed for it before.

    Requirements must be the same on every call, so a probe is repeated.
    """
    if enums.CAPABILITY_CAPABILITIES in request.capabilities:
        return False
    return not request.required_resources or PROBE in request.extra_resources


def view_object(struct: wire.Part | None) -> Mapping[str, Readable]:
    """Return an encoded object whose parts are decoded when they are read; a missing one is empty.

    Nothing is left out of it, and its keys keep their order.
    """
    if struct is None:
        return {}
    return _Decoding(keep_managed_fields=True, sort_keys=False).open_object(struct).lazy()


def _sent(request: wire.Request) -> frozenset[str]:
    names: list[str] = []
    if request.observed is not None:
        names.append("observed")
    if request.desired is not None:
        names.append("desired")
        composite = request.desired.composite
        if composite is not None and composite.struct_part is not None:
            names.append("desired.composite")
    if request.input is not None:
        names.append("input")
    if request.context is not None:
        names.append("context")
    return frozenset(names)


def find_context(request: wire.Request, key: str) -> Value:
    """Return the value of one key of the pipeline's context; None if there is none."""
    return None if request.context is None else wire.decode_field(request.context, key)


def identify_call(request: wire.Request) -> str:
    """Return a digest that is the same when Crossplane calls a step again with what it requires.

    Another step with the same input, to which the same names are handed, has the same digest.
    """
    names = sorted(request.desired.resources) if request.desired is not None else []
    text = json.dumps([_struct(request.input, sort_keys=True), names], sort_keys=True)
    return digest(text)


def find_required(
    request: wire.Request, name: str, selector: wire.Selector
) -> list[wire.Resource] | None:
    """Return the resources for a requirement, also from the deprecated field; None if unanswered.

    Resources that the selector does not match were fetched for an earlier selector of that name.
    """
    items = request.required_resources.get(name)
    # A caller that answers the deprecated field alone does not know namespaces.
    if items is None and selector.namespace is None:
        items = request.extra_resources.get(name)
    if items is None or not all(_is_selected(item, selector) for item in items):
        return None
    return items


def has_unanswered(
    request: wire.Request, resources: Collection[str], schemas: Collection[str]
) -> bool:
    """Report whether the request lacks the answer to a requirement of one of these names."""
    if not resources and not schemas:
        return False
    answers = request.required_resources.keys() | request.extra_resources.keys()
    return bool(set(resources) - answers or set(schemas) - request.required_schemas.keys())


def read_required(request: wire.Request, name: str, selector: wire.Selector) -> list[Object] | None:
    """Return the resources of `find_required` as plain objects."""
    items = find_required(request, name, selector)
    return None if items is None else [_struct(item.struct, sort_keys=True) for item in items]


def _is_selected(item: wire.Resource, selector: wire.Selector) -> bool:
    """Report whether a selector matches an object; a missing apiVersion or kind matches.

    So does a missing namespace: the API server ignores that of a selector for a cluster scoped
    kind, and an answer that counted as none would end in a response without the step's resources.
    """
    struct = item.struct or b""
    value = wire.decode_field(struct, "metadata")
    metadata: Object = value if isinstance(value, dict) else {}
    labels = metadata.get("labels")
    match_labels: Object = dict(selector.match_labels or {})
    return (
        wire.decode_field(struct, "apiVersion") in (None, selector.api_version)
        and wire.decode_field(struct, "kind") in (None, selector.kind)
        and selector.match_name in (None, metadata.get("name"))
        and (selector.namespace is None or metadata.get("namespace") in (None, selector.namespace))
        and match_labels.items() <= (labels if isinstance(labels, dict) else {}).items()
    )


def _meta(request: wire.Request) -> Object:
    names: list[Value] = [
        CAPABILITIES[number] for number in sorted(request.capabilities) if number in CAPABILITIES
    ]
    return {"tag": request.tag, "capabilities": names}


def _uid(request: wire.Request, decoding: _Decoding) -> str:
    composite = request.observed.composite if request.observed is not None else None
    if composite is None or composite.struct_part is None:
        return ""
    # Every request comes here, so nothing else is decoded: managedFields are most of an XR's bytes.
    metadata = decoding.open_object(composite.struct_part).select(_UID).get("metadata")
    uid = metadata.get("uid") if isinstance(metadata, dict) else None
    return uid if isinstance(uid, str) else ""


def _state(state: wire.State | None, decoding: _Decoding) -> Lazy:
    parts = _StateParts(state, decoding)
    return Lazy.of(_STATE_PARTS, parts.build, select=parts.select)


class _StateParts:
    """The builders of observed or desired state: its parts, and its resources by name."""

    def __init__(self, state: wire.State | None, decoding: _Decoding) -> None:
        composite = state.composite if state is not None else None
        self._composite: Final = composite or NO_RESOURCE
        self._resources: Final = state.resources if state is not None else {}
        self._decoding: Final = decoding

    def build(self, name: str) -> Lazy:
        """Build a part; raise KeyError for another name."""
        if name == "resources":
            return Lazy.of(_SortedNames(self._resources), self.build_resource)
        if name == "composite":
            return _ResourceParts(self._composite, self._decoding, is_composite=True).lazy()
        raise KeyError(name)

    def build_resource(self, name: str) -> Lazy:
        """Build the view of a resource; raise KeyError for a name that no resource has."""
        return _ResourceParts(self._resources[name], self._decoding).lazy()

    def select(self, tree: PartTree) -> Object:
        """Decode the parts of a tree."""
        selected: Object = {}
        for key, below in tree.items():
            if key == "resources":
                selected[key] = self._select_resources(below)
            elif key == "composite":
                parts = _ResourceParts(self._composite, self._decoding, is_composite=True)
                selected[key] = parts.select(below)
        return selected

    def _select_resources(self, tree: PartTree | None) -> Object:
        resources = self._resources
        names = sorted(resources) if tree is None or ANY in tree else list(tree)
        selected: Object = {}
        for name in names:
            resource = resources.get(name)
            if resource is not None:
                below = None if tree is None else tree[name if name in tree else ANY]
                selected[name] = _ResourceParts(resource, self._decoding).select(below)
        return selected


class _SortedNames:
    """Names that are sorted when they are first iterated over."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self._ordered: list[str] | None = None

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        if self._ordered is None:
            self._ordered = sorted(self._names)
        return iter(self._ordered)

    def __len__(self) -> int:
        return len(self._names)


class _ResourceParts:
    """The builders of a resource: its object, and what the request says about it."""

    def __init__(
        self, indexed: wire.Resource, decoding: _Decoding, *, is_composite: bool = False
    ) -> None:
        self._indexed: Final = indexed
        self._decoding: Final = decoding
        self._is_composite: Final = is_composite

    def lazy(self) -> Lazy:
        """Return the view for a program."""
        return Lazy.of(self._names(), self.build)

    def select(self, tree: PartTree | None) -> Object:
        """Decode the parts of a tree, or all."""
        names = self._names()
        struct = self._indexed.struct_part
        selected: Object = {}
        for key in names if tree is None else tree:
            below = None if tree is None else tree[key]
            if key == _OBJECT and struct is not None and below is not None:
                selected[key] = self._decoding.open_object(struct).select(below)
            elif key in names:
                selected[key] = plain(self.build(key))
        return selected

    def _names(self) -> Collection[str]:
        """Return the names of the parts that the resource has."""
        indexed = self._indexed
        if not indexed.connection_details and indexed.ready not in READY:
            return _ONLY_OBJECT
        names = [_OBJECT]
        if indexed.connection_details:
            names.append(_DETAILS)
        if indexed.ready in READY:
            names.append(_READY)
        return names

    def build(self, name: str) -> Readable:
        """Build a part; raise KeyError for one that the resource does not have."""
        indexed = self._indexed
        if name == _OBJECT:
            struct = indexed.struct_part
            if struct is None:
                return {}
            encoded = self._decoding.open_object(struct)
            return encoded.whole() if self._is_composite else encoded.lazy()
        if name == _DETAILS and indexed.connection_details:
            return to_texts(indexed.connection_details)
        if name == _READY and indexed.ready in READY:
            return READY[indexed.ready]
        raise KeyError(name)


class _Encoded:
    """An encoded object whose parts are decoded when they are read.

    ``level`` is its depth, 1 for a resource. ``unread`` is a key of a resource's metadata that
    programs do not see.
    """

    def __init__(self, struct: wire.Part, level: int, *, unread: str, sort_keys: bool) -> None:
        self.struct: wire.Part = struct
        self.level: int = level
        self.unread: str = unread
        self.sort_keys: bool = sort_keys
        self.searches: int = 0
        self.index: dict[str, wire.Part] | None = None

    def lazy(self) -> Lazy:
        """Return the view for a program."""
        return Lazy.of(self, self.read, self.decode, self.select)

    def whole(self) -> Object:
        """Decode all keys."""
        return {key: self._decode(part, key) for key, part in self.parts().items()}

    def read(self, key: str) -> Readable:
        """Return the value of a key; objects down to _LEVELS are lazy."""
        part = self._find(key)
        below = wire.open_part(part) if self.level < _LEVELS else None
        if below is None:
            return self._decode(part, key)
        unread = self._unread_in(key)
        return _Encoded(below, self.level + 1, unread=unread, sort_keys=self.sort_keys).lazy()

    def decode(self, key: str) -> Value:
        """Decode the value of a key as a whole."""
        return self._decode(self._find(key), key)

    def select(self, tree: PartTree) -> Object:
        """Decode the parts of a tree."""
        selected: Object = {}
        for key, tree_below in tree.items():
            part = self._search(key)
            if part is None:
                continue
            below = None if tree_below is None else wire.open_part(part)
            if tree_below is None or below is None:
                selected[key] = self._decode(part, key)
            else:
                unread = self._unread_in(key)
                encoded = _Encoded(below, self.level + 1, unread=unread, sort_keys=self.sort_keys)
                selected[key] = encoded.select(tree_below)
        return selected

    def parts(self) -> dict[str, wire.Part]:
        """Return the encoded value of each key."""
        if self.index is None:
            self.index = wire.index_object(self.struct, sort_keys=self.sort_keys)
            if self.unread and self.level > 1:
                self.index.pop(self.unread, None)
        return self.index

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._search(key) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts())

    def __len__(self) -> int:
        return len(self.parts())

    def _find(self, key: str) -> wire.Part:
        part = self._search(key)
        if part is None:
            raise KeyError(key)
        return part

    def _search(self, key: str) -> wire.Part | None:
        # The index lacks `unread`, which a search in the bytes would find.
        if self.index is None and self.searches < _MAX_SEARCHES and key != self.unread:
            self.searches += 1
            return wire.find_part(self.struct, key)
        return self.parts().get(key)

    def _unread_in(self, key: str) -> str:
        return self.unread if self.level == 1 and key == "metadata" else ""

    def _decode(self, part: wire.Part, key: str) -> Value:
        return wire.decode_part(
            part, without=self._unread_in(key), sort_keys=self.sort_keys, depth=self.level + 1
        )


def _resources(groups: Mapping[str, list[wire.Resource]], decoding: _Decoding) -> Lazy:
    def items(name: str) -> Lazy:
        return Lazy(
            {"items": lambda: [_ResourceParts(item, decoding).lazy() for item in groups[name]]}
        )

    names = [name for name in sorted(groups) if not name.startswith(OWN_REQUIREMENTS)]
    return Lazy({name: partial(items, name) for name in names})


def _struct(payload: bytes | None, *, sort_keys: bool) -> Object:
    return {} if payload is None else wire.decode_struct(payload, sort_keys=sort_keys)


def _select_credentials(
    request: wire.Request,
    names: tuple[str, ...] | None,
    to_diagnostic: Callable[[Problem], Diagnostic],
) -> Mapping[str, Mapping[str, bytes]]:
    if names is None:
        return request.credentials
    others = tuple(sorted(request.credentials))
    for index, name in enumerate(names):
        if name not in others:
            problem = Problem(
                f"input.credentials[{index}]",
                f'the step has no credentials "{name}"',
                suggest(name, others, list_choices(others) if others else _CREDENTIALS),
            )
            raise InputError(to_diagnostic(problem))
    return {name: request.credentials[name] for name in names}


def _schemas(request: wire.Request, decoding: _Decoding) -> Lazy:
    def schema(payload: bytes | None) -> Object:
        return {} if payload is None else {"openapi_v3": decoding.struct(payload)}

    schemas = request.required_schemas
    return Lazy({name: partial(schema, schemas[name]) for name in sorted(schemas)})


def to_texts(data: Mapping[str, bytes]) -> Object:
    """Convert bytes for programs: text, or ``{"base64": ...}`` if they are not UTF-8."""
    return {key: _to_text(data[key]) for key in sorted(data)}


def _to_text(data: bytes) -> Value:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}
