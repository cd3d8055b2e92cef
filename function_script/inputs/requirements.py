"""Requirements that an input declares; Crossplane answers them before the program runs.

Values may come from the XR, by the paths of ``fromFieldPath``; they are resolved for each
request.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from function_script import wire
from function_script.request import objects
from function_script.request.program import OWN_REQUIREMENTS
from function_script.request.reader import ObjectReader

MAX_REQUIREMENTS = 100
_MAX_LABELS = 100

_BELOW_RESOURCES = "objects are below `resources`, by name: `resources: {NAME: {kind: ...}}`"
_SELECTING = ("matchName", "matchLabels", "namespace")
# Of a step's own requirements in a Composition.
_NAMES_OF_CROSSPLANE = {"name": 'did you mean "matchName"?'}


@dataclass(frozen=True, slots=True, kw_only=True)
class Required:
    """One required resource: its selector, without the values that are texts in the XR.

    ``paths`` has the path in the XR of each of these, by its field: ``("matchLabels", "app")``.
    ``is_optional``: it is not required while the XR lacks one of them.
    """

    selector: wire.Selector
    paths: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    is_optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """Requirements by name. ``schemas`` have (apiVersion, kind); ``programs`` fetch programs."""

    resources: Mapping[str, Required] = field(default_factory=dict)
    schemas: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    programs: Mapping[str, wire.Selector] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.resources or self.schemas or self.programs)


def parse(fields: ObjectReader, programs: Mapping[str, wire.Selector]) -> Requirements:
    """Parse the field ``requirements``; ``programs`` are the selectors of the program's parts."""
    value = fields.value.get("requirements")
    if isinstance(value, list):
        problem = "must be an object, not a list"
        fields.problems.add(fields.at("requirements"), problem, hint=_BELOW_RESOURCES)
        return Requirements(programs=programs)
    section = fields.object("requirements")
    if section is None:
        return Requirements(programs=programs)
    section.refuse_unknown("resources", "schemas", hint=_BELOW_RESOURCES)
    return Requirements(
        resources={name: _required(item) for name, item in _members(section, "resources")},
        schemas={name: _schema(item) for name, item in _members(section, "schemas")},
        programs=programs,
    )


def field_path(fields: ObjectReader, key: str) -> str | None:
    """Return a path such as ``spec.clusterRef.name``; None if absent, or after a problem."""
    text = fields.text(key)
    if text is None:
        return None
    if not objects.read_path(text):
        hint = "write the keys with dots between them, as in spec.clusterRef.name"
        fields.problems.add(fields.at(key), f'must be a path, not "{text}"', hint=hint)
        return None
    return text


def _members(fields: ObjectReader, key: str) -> list[tuple[str, ObjectReader]]:
    section = fields.object(key)
    if section is None:
        return []
    if len(section.value) > MAX_REQUIREMENTS:
        fields.problems.add(section.path, f"must be at most {MAX_REQUIREMENTS}")
    for name in section.value:
        if not name or name.startswith(OWN_REQUIREMENTS):
            hint = (
                f'names that begin with "{OWN_REQUIREMENTS}" are the function\'s own'
                if name
                else None
            )
            path = f'{section.path}["{name}"]'
            fields.problems.add(path, "must not be the name of a requirement", hint=hint)
    return list(section.members())


def _schema(item: ObjectReader) -> tuple[str, str]:
    item.refuse_unknown("apiVersion", "kind")
    return item.text("apiVersion", required=True) or "", item.text("kind", required=True) or ""


def _required(item: ObjectReader) -> Required:
    item.refuse_unknown(
        "apiVersion", "kind", *_SELECTING, "fromFieldPath", "optional", hints=_NAMES_OF_CROSSPLANE
    )
    paths = item.object("fromFieldPath") or ObjectReader(
        {}, item.at("fromFieldPath"), item.problems
    )
    paths.refuse_unknown(*_SELECTING, hints=_NAMES_OF_CROSSPLANE)
    _check_selection(item, paths)
    for holder in (item, paths):
        match_labels = holder.value.get("matchLabels")
        if isinstance(match_labels, dict) and len(match_labels) > _MAX_LABELS:
            item.problems.add(holder.at("matchLabels"), f"must be at most {_MAX_LABELS}")
    texts = [
        item.text(key, required=key in {"apiVersion", "kind"} or item.value.get(key) is not None)
        for key in ("apiVersion", "kind", "matchName", "namespace")
    ]
    labels = item.texts("matchLabels")
    of_xr: dict[tuple[str, ...], str | None] = {
        (key,): field_path(paths, key) for key in ("matchName", "namespace")
    }
    label_paths = paths.object("matchLabels")
    if label_paths is not None:
        labels = labels or {}
        of_xr |= {("matchLabels", key): field_path(label_paths, key) for key in label_paths.value}
    return Required(
        selector=wire.Selector(texts[0] or "", texts[1] or "", texts[2], labels, texts[3]),
        paths={keys: path for keys, path in of_xr.items() if path is not None},
        is_optional=bool(item.flag("optional")),
    )


def _check_selection(item: ObjectReader, paths: ObjectReader) -> None:
    """Check that a resource is selected by name or by labels, each value given only once."""
    by_name, by_labels = (
        item.value.get(key) is not None or paths.value.get(key) is not None
        for key in ("matchName", "matchLabels")
    )
    if by_name == by_labels:
        # Any other field may be a selection that is misspelt.
        is_bare = item.value.keys() <= {"apiVersion", "kind", "namespace", "optional"}
        hint = "`matchLabels: {}` asks for every object of the kind" if is_bare else None
        item.problems.add(item.path, "needs exactly one of matchName and matchLabels", hint=hint)
    for key in ("matchName", "namespace"):
        if item.value.get(key) is not None and paths.value.get(key) is not None:
            item.problems.add(paths.at(key), f"must not be set beside {key}")
    values, value_paths = item.value.get("matchLabels"), paths.value.get("matchLabels")
    if isinstance(values, dict) and isinstance(value_paths, dict):
        for key in sorted(values.keys() & value_paths.keys()):
            path = f'{paths.at("matchLabels")}["{key}"]'
            item.problems.add(path, "must not be set beside the same label in matchLabels")
