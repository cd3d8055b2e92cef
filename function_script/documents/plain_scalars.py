"""Plain scalars of a YAML text that have another type than they seem to, for warnings.

Kubernetes reads YAML 1.1 as go-yaml does: `no` is a boolean, also as a key, and `1_000` a number.
Numbers of base 60, such as `12:30`, are texts there and numbers to other readers.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from yaml import events

from function_script.documents import positions
from function_script.documents.errors import YamlError
from function_script.documents.kubernetes_yaml import WORDS, start_of
from function_script.request.objects import Path

# Everybody reads these as booleans.
_EVIDENT: Final = frozenset({"true", "false"})
_UNDERSCORES: Final = re.compile(r"[-+]?[0-9]+(_[0-9]+)+(\.[0-9_]*)?")
_VERSION: Final = re.compile(r"[0-9]+\.[0-9]*0")
_BASE_60: Final = re.compile(r"[-+]?[1-9][0-9]*(:[0-5]?[0-9])+(\.[0-9]*)?")
_TEXT_MAPS: Final = frozenset({"labels", "annotations", "matchLabels", "nodeSelector"})


class PlainScalar(NamedTuple):
    """A scalar at a position, both numbers 0-based; ``message`` says how it is read.

    ``is_certain``: it stands where a text is needed, so the author did not mean that type.
    """

    text: str
    line: int
    column: int
    message: str
    hint: str
    is_certain: bool


def find(text: str) -> list[PlainScalar]:
    """Find the scalars in the first document of a text; nothing in a text that is not YAML."""
    try:
        fields = list(positions.walk(text))
    except YamlError:
        return []
    # Beside a text, the others of a list are meant as texts.
    with_texts = {path[:-1] for path, field in fields if _is_text_item(path, field.value)}
    scalars: list[PlainScalar] = []
    keys: dict[Path, list[str | int]] = {}
    for path, field in fields:
        *above, name = path or ("",)
        before = keys.setdefault(tuple(above), [])
        if isinstance(name, int):
            is_certain = tuple(above) in with_texts
        else:
            # A variable of a container: {name: DEBUG, value: no}.
            is_variable = name == "value" and before == ["name"]
            is_certain = is_variable or (bool(above) and above[-1] in _TEXT_MAPS)
        before.append(name)
        scalars += _judge(field.key, is_key=True, is_certain=True)
        scalars += _judge(field.value, is_key=False, is_certain=is_certain, name=str(name))
    return scalars


def _is_text_item(path: Path, value: events.Event) -> bool:
    """Report whether a value is an item of a list, and a word that is read as what it seems."""
    return (
        bool(path)
        and isinstance(path[-1], int)
        and isinstance(value, events.ScalarEvent)
        and value.value not in WORDS
        and not value.value[:1].isdigit()
        and not [*_judge(value, is_key=False, is_certain=False)]
    )


def _judge(
    event: events.Event | None, *, is_key: bool, is_certain: bool, name: str = ""
) -> Iterator[PlainScalar]:
    if not isinstance(event, events.ScalarEvent) or not event.implicit[0]:
        return
    text = event.value
    message = ""
    hint = f'write "{text}" for the text'
    word, is_version = WORDS.get(text), name.lower().endswith("version")
    if isinstance(word, bool) and text.lower() not in _EVIDENT:
        value = "true" if word else "false"
        message = f'the key {text} is read as "{value}"' if is_key else f"{text} is read as {value}"
        hint += "" if is_key else f", {value} for the boolean"
    elif _UNDERSCORES.fullmatch(text) or (is_version and _VERSION.fullmatch(text)):
        digits = f"{float(text):g}" if is_version else text.replace("_", "")
        message = f"{text} is read as the number {digits}"
        hint += f", {digits} for the number"
    elif _BASE_60.fullmatch(text) and not is_key:
        message = f"{text} is text here, and a number of base 60 to other readers of YAML 1.1"
    if message:
        line, column = start_of(event)
        yield PlainScalar(text, line, column, message, hint, is_certain)
