"""What is said beside a composed resource: what it waits for, and when it is ready.

Read from a document's annotations or from an entry of a script's response, with the same words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.contribution.model import Dependency, ResourcePolicy
from function_script.objects import parse_path
from function_script.problems import suggest
from function_script.readiness import parse_rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from function_script.contribution.annotations import Annotations
    from function_script.reader import ObjectReader

_FLAGS = {"True": True, "False": False}


def refuse_unknown(stated: ObjectReader, keys: Annotations) -> None:
    """Note every annotation that is meant for us and that we do not know."""
    for key in keys.unknown_in(stated.value):
        known = tuple(name.rpartition("/")[2] for name in keys.known)
        hint = suggest(key.rpartition("/")[2], known, f"there are {', '.join(known)}")
        stated.problems.add(stated.at(key), "unknown annotation", hint=hint)


def from_annotations(stated: ObjectReader, keys: Annotations) -> ResourcePolicy | None:
    """The order in the annotations ``depends-on``, ``ready-when`` and ``usages``."""
    depends_on, ready_when, usages = keys.depends_on, keys.ready_when, keys.usages
    said = stated.value
    if depends_on not in said and ready_when not in said and usages not in said:
        return None
    _refuse_both(stated, keys.ready, ready_when)
    texts = str(stated.value.get(depends_on, "")).replace("\n", ",").split(",")
    if depends_on in stated.value and not any(map(str.strip, texts)):
        stated.problems.add(stated.at(depends_on), "must name a resource")
    return ResourcePolicy(
        depends_on=_dependencies(stated, depends_on, filter(str.strip, texts)),
        ready_when=stated.parsed(ready_when, parse_rule),
        usages=stated.choice(usages, _FLAGS),
    )


def from_entry(entry: ObjectReader) -> ResourcePolicy | None:
    """The order in ``depends_on`` (a list of texts), ``ready_when`` and ``usages``."""
    stated = entry.value
    if "depends_on" not in stated and "ready_when" not in stated and "usages" not in stated:
        return None
    _refuse_both(entry, "ready", "ready_when")
    texts = entry.value.get("depends_on")
    if texts is None:
        texts = []
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        hint = 'write `"depends_on": ["network", "database:status.endpoint"]`'
        entry.problems.add(entry.at("depends_on"), "must be a list of texts", hint=hint)
        texts = []
    return ResourcePolicy(
        depends_on=_dependencies(entry, "depends_on", map(str, texts)),
        ready_when=entry.parsed("ready_when", parse_rule),
        usages=entry.flag("usages"),
    )


def _refuse_both(fields: ObjectReader, ready: str, rule: str) -> None:
    if fields.value.get(ready) is not None and fields.value.get(rule) is not None:
        fields.problems.add(fields.at(rule), f"must not be set beside {ready}, which says it all")


def _dependencies(fields: ObjectReader, key: str, texts: Iterable[str]) -> tuple[Dependency, ...]:
    found: dict[str, Dependency] = {}
    for text in map(str.strip, texts):
        name, colon, path = (part.strip() for part in text.partition(":"))
        try:
            is_whole = bool(name) and (not colon or bool(path and parse_path(path)))
            cause = "" if is_whole else f'cannot read the dependency "{text}"'
        except ValueError as error:
            cause = f'cannot read the dependency "{text}": {error}'
        if cause:
            hint = 'write a resource name, or "name:status.path"'
            fields.problems.add(fields.at(key), cause, hint=hint)
        found[text] = Dependency(name=name, path=path or None, text=text)
    return tuple(found.values())
