"""XRs that an XRD allows, made from its schema: each differs in one field from a whole XR.

A variant satisfies the schema and its rules in CEL, as `xr_validation` judges them; a rule that
cannot be evaluated counts as violated. The same XRD and examples give the same variants.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from function_script.request import objects
from function_script.request.objects import Path
from function_script.request.reader import format_path
from function_script.request.values import Object, Value
from function_script.tools import manifests, structural_schema, xr_validation, xrds

_MAX_DEPTH: Final = 10
# In characters of JSON: etcd stores no larger object.
_MAX_SIZE: Final = 1_500_000
# The items of a long list where the schema allows more.
_LONG: Final = 3
_KEY: Final = "key"
_TEXTS: Final = {
    "date": "2024-01-01",
    "date-time": "2024-01-01T00:00:00Z",
    "duration": "1h",
    "email": "someone@example.org",
    "hostname": "example.org",
    "ipv4": "192.0.2.1",
    "cidr": "192.0.2.0/24",
    "uri": "https://example.org",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "byte": "dGV4dA==",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """An XR with its schema's defaults.

    ``difference`` says how it differs from the first: ``without spec.size``, ``spec.size: large``;
    empty for the first. ``invented`` are the paths of texts that are neither in an example nor in
    the schema.
    """

    xr: Object
    difference: str = ""
    invented: frozenset[Path] = frozenset()


def make(
    xrd: Object,
    type_: tuple[str, str],
    examples: Sequence[Object],
    reads: Mapping[Path, int],
    count: int,
) -> list[Variant]:
    """Return at most ``count`` XRs of a type, which is an apiVersion and a kind.

    ``examples`` are XRs whose values are good. ``reads`` counts the places of a program that read a
    field of the XR: the fields that most places read come first.
    """
    schema = xrds.find_schema(xrd, *type_)
    if schema is None or count <= 0:
        return []
    own = xrds.crossplane_fields(xrds.scope_of(xrd))["spec"]
    spec = manifests.object_at(schema, "properties", "spec")
    fields = {
        name: part for name, part in structural_schema.properties(spec).items() if name not in own
    }
    maker = _Maker(
        xrd=xrd, type=type_, schema={**spec, "properties": {**fields}}, examples=examples
    )
    variants: dict[str, Variant] = {}
    for variant in maker.make(reads):
        # By the defaults of the schema two choices may give one XR.
        variants.setdefault(json.dumps(variant.xr, sort_keys=True), variant)
        if len(variants) == count:
            break
    return list(variants.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """Another value of the field at ``path``; ``value`` None: the field is absent."""

    path: Path
    value: Value

    def describe(self) -> str:
        name = format_path(self.path)
        if self.value is None:
            return f"without {name}"
        size = f"{len(self.value)} items" if isinstance(self.value, list) else None
        return f"with {name}: {size or json.dumps(self.value)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Maker:
    """Makes XRs of one schema of ``spec``; ``invented`` collects the paths of invented texts."""

    xrd: Object
    type: tuple[str, str]
    schema: Object
    examples: Sequence[Object]
    invented: set[Path] = field(default_factory=set)

    def make(self, reads: Mapping[Path, int]) -> Iterator[Variant]:
        """Yield variants, the first ones first; some may be equal."""
        whole = self._first()
        if whole is None:
            return
        yield whole
        spec = whole.xr["spec"]
        sparse = objects.deep_copy(spec)
        _drop_optional(sparse, self.schema)
        if variant := self._variant(sparse, "with only the required fields"):
            yield variant
        choices = [*self._choices(spec, self.schema, ("spec",), is_optional=False)]
        for choice in _order(choices, reads):
            changed: Object = {"spec": objects.deep_copy(spec)}
            _replace(changed, choice.path, choice.value)
            if variant := self._variant(changed["spec"], choice.describe()):
                yield variant

    def _first(self) -> Variant | None:
        """Return an XR with all fields, or with as many as the XRD's rules allow."""
        spec = self._value(self.schema, [*self._parts("spec")], ("spec",))
        if whole := self._variant(spec):
            return whole
        sparse = objects.deep_copy(spec)
        _drop_optional(sparse, self.schema)
        candidates = [self._variant(sparse), *map(self._variant, self._parts("spec"))]
        best = next((each for each in candidates if each is not None), None)
        if best is None or not isinstance(spec, dict):
            return best
        # Fields that rule each other out: the first one stays.
        for name, value in spec.items():
            if name not in manifests.object_at(best.xr, "spec"):
                best = self._variant({**manifests.object_at(best.xr, "spec"), name: value}) or best
        return best

    def _parts(self, key: str) -> Iterator[Value]:
        return (example[key] for example in self.examples if key in example)

    def _variant(self, spec: Value, difference: str = "") -> Variant | None:
        """Return a variant with the schema's defaults, None for one that the XRD refuses."""
        api_version, kind = self.type
        names = [manifests.name(example) for example in self.examples]
        metadata: Object = {"name": next(filter(None, names), kind.lower())}
        if xrds.scope_of(self.xrd) == xrds.NAMESPACED:
            spaces = [manifests.namespace(example) for example in self.examples]
            metadata["namespace"] = next(filter(None, spaces), "default")
        value = objects.deep_copy(spec)
        structural_schema.add_defaults(value, self.schema)
        xr: Object = {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": value}
        verdict = xr_validation.validate(xr, self.xrd)
        if verdict.errors or verdict.notes:
            return None
        invented = {path for path in self.invented if objects.find_path(xr, path) is not None}
        return Variant(xr=xr, difference=difference, invented=frozenset(invented))

    def _value(self, schema: Object, examples: Sequence[Value], path: Path) -> Value:
        """Return a value with all optional fields; None where none can be made."""
        fields = structural_schema.properties(schema)
        additional = structural_schema.additional(schema)
        if schema.get("type") == "object" and (fields or additional) and len(path) < _MAX_DEPTH:
            bodies = [each for each in examples if isinstance(each, dict)]
            keys = [*fields, *(key for body in bodies[:1] for key in body if key not in fields)]
            if additional is not None and not bodies and not fields:
                keys = [_KEY]
            whole: Object = {}
            size = 0
            for key in keys:
                parts = [body[key] for body in bodies if key in body]
                # A field without a schema has the value of an example.
                value = self._value(fields.get(key, additional or {}), parts, (*path, key))
                size += _size(value)
                if size > _MAX_SIZE:
                    return None
                if value is not None:
                    whole[key] = value
            return whole
        items = structural_schema.items(schema)
        if schema.get("type") == "array" and items is not None and len(path) < _MAX_DEPTH:
            parts = next((each for each in examples if isinstance(each, list) and each), [])
            bound = schema.get("minItems")
            least = bound if isinstance(bound, int) else 0
            first = self._value(items, parts[:1], (*path, 0))
            if first is None:
                return []
            if least * _size(first) > _MAX_SIZE:
                return None
            return [first, *parts[1:]] if len(parts) >= least else _repeat(first, max(1, least))
        return self._leaf(schema, examples, path)

    def _leaf(self, schema: Object, examples: Sequence[Value], path: Path) -> Value:
        words = schema.get("enum")
        stated: list[Value] = words if isinstance(words, list) else []
        for value in (*examples, schema.get("default"), *stated):
            if value is not None:
                return value
        match schema.get("type"):
            case "boolean":
                return True
            case "integer" | "number":
                return next(iter(_bounds(schema)), 1)
            case "string" if "pattern" not in schema:
                text = _text(schema)
                if text is not None:
                    self.invented.add(path)
                return text
            case "object":
                return {}
            case "array":
                return []
            case _ if schema.get(structural_schema.INT_OR_STRING) is True:
                return 1
        return None

    def _choices(
        self, value: Value, schema: Object, path: Path, *, is_optional: bool
    ) -> Iterator[_Choice]:
        """Yield the other values of a field and of those below it."""
        if is_optional:
            yield _Choice(path=path, value=None)
        for other in _others(value, schema):
            if other != value:
                yield _Choice(path=path, value=other)
        fields, names = structural_schema.properties(schema), structural_schema.required(schema)
        for key, part, below in structural_schema.below(value, schema):
            # The items of a list have one shape.
            if key in (0, _KEY) or not isinstance(key, int):
                yield from self._choices(
                    part, below, (*path, key), is_optional=key in fields and key not in names
                )


def _others(value: Value, schema: Object) -> Iterable[Value]:
    """Return the values that a schema names, and the ends of its ranges."""
    words = schema.get("enum")
    if isinstance(words, list):
        return words
    match schema.get("type"):
        case "boolean":
            return (True, False)
        case "integer" | "number":
            return _bounds(schema)
        case "array" if isinstance(value, list) and value:
            most = schema.get("maxItems")
            length = min(most, _LONG) if isinstance(most, int) else _LONG
            return ([], value[:1], _repeat(value[0], length))
        case "object" if structural_schema.additional(schema) is not None:
            return ({},)
    return ()


def _bounds(schema: Object) -> Iterator[Value]:
    """Yield the least and the greatest number that a schema allows, if it says so."""
    for key, step in (("minimum", 1), ("maximum", -1)):
        bound = schema.get(key)
        if isinstance(bound, (int, float)) and not isinstance(bound, bool):
            is_excluded = schema.get(f"exclusive{key.title()}") is True
            yield bound + step if is_excluded else bound


def _size(value: Value) -> int:
    """Return the number of characters of a value as JSON."""
    return len(json.dumps(value))


def _text(schema: Object) -> str | None:
    """Return a text of a schema's format and length; None for one that is too long."""
    least, most = schema.get("minLength"), schema.get("maxLength")
    if isinstance(least, int) and least > _MAX_SIZE:
        return None
    text = _TEXTS.get(str(schema.get("format")), "example")
    if isinstance(least, int):
        text = text.ljust(least, "x")
    return text[:most] if isinstance(most, int) else text


def _repeat(item: Value, length: int) -> list[Value]:
    """Return a list of one item's copies, which differ in the texts that are no choice."""
    return [item, *(_number(item, index) for index in range(2, length + 1))]


def _number(value: Value, index: int) -> Value:
    """Return a copy in which the first text is another one, as keys of items must be unique."""
    if isinstance(value, str):
        return f"{value}{index}"
    if isinstance(value, dict):
        copy: Object = {**value}
        for key in ("name", "key", "id", *value):
            if isinstance(value.get(key), str):
                copy[key] = f"{value[key]}{index}"
                return copy
        return copy
    return value + index if isinstance(value, int) and not isinstance(value, bool) else value


def _drop_optional(value: Value, schema: Object) -> None:
    """Remove the fields that the schema does not require, in place."""
    if isinstance(value, dict):
        for key in value.keys() - structural_schema.required(schema):
            del value[key]
    for _, part, below in structural_schema.below(value, schema):
        _drop_optional(part, below)


def _replace(root: Object, path: Path, value: Value) -> None:
    """Set the value at a path whose holder exists, or remove it for None."""
    *above, last = path
    holder = objects.find_path(root, above)
    if isinstance(holder, dict) and isinstance(last, str):
        if value is None:
            del holder[last]
        else:
            holder[last] = objects.deep_copy(value)
    elif isinstance(holder, list) and isinstance(last, int):
        holder[last] = objects.deep_copy(value)


def _order(choices: Iterable[_Choice], reads: Mapping[Path, int]) -> list[_Choice]:
    """Return first one choice of each field, then the second ones; those of most reads first."""
    rounds: dict[Path, int] = {}
    places: list[tuple[bool, int, int, _Choice]] = []
    for choice in choices:
        round_ = rounds[choice.path] = rounds.get(choice.path, -1) + 1
        count = sum(
            number for path, number in reads.items() if path[: len(choice.path)] == choice.path
        )
        places.append((not count, round_, -count, choice))
    return [choice for *_, choice in sorted(places, key=lambda place: place[:3])]
