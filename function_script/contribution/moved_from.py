"""The old names of a composed resource, from which it keeps its object."""

from collections.abc import Iterable

from function_script.reader import ObjectReader


def from_annotation(annotations: ObjectReader, key: str, name: str) -> tuple[str, ...]:
    """Read names that are separated by commas or line breaks."""
    text = annotations.value.get(key)
    if text is None:
        return ()
    return _check(annotations, key, name, str(text).replace("\n", ",").split(","))


def from_entry(entry: ObjectReader, name: str) -> tuple[str, ...]:
    """Read the field ``moved_from``: a text, or a list of texts."""
    value = entry.value.get("moved_from")
    if value is None:
        return ()
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        hint = 'write `"moved_from": "database"`'
        entry.problems.add(entry.at("moved_from"), "must be a text or a list of texts", hint=hint)
        return ()
    return _check(entry, "moved_from", name, map(str, texts))


def _check(fields: ObjectReader, key: str, name: str, texts: Iterable[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(filter(None, map(str.strip, texts))))
    if not names:
        fields.problems.add(fields.at(key), "must name a resource")
    if name in names:
        fields.problems.add(fields.at(key), f'must not be the name "{name}" itself')
    return names
