"""What to say of a value that does not exist: its path from the data, and what was meant perhaps.

Called when an error is told, never before: the path is found by searching the data for the very
object in which the lookup failed.
"""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from jinja2 import Undefined
from jinja2.utils import missing

from function_script.engines.jinja.exceptions import a, reworded
from function_script.engines.jinja.filters import FILTERS
from function_script.engines.jinja.scope import NAMES
from function_script.problems import nearest, suggest
from function_script.program import Lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_MAX_VISITED = 200_000
_MAX_SHOWN = 8
_MAX_KEYS = 20
_MAX_KEY_LENGTH = 64
_MAX_CANDIDATES = 1_000
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
# An expression that looks something up: a name, a call or a text, then keys.
_CHAIN = r"""(?P<chain>(?:"[^"]*"|'[^']*'|[A-Za-z_]\w*)(?:\.\w+|\[[^\[\]]*\]|\([^()]*\))*?)"""


class MissingPath(NamedTuple):
    """What happened. ``name`` is the missing key, to be underlined."""

    message: str
    hint: str | None
    name: str | None


def describe(undefined: Undefined, roots: Mapping[str, object], statement: str) -> MissingPath:
    """Say which path does not exist; ``statement`` is the template's text where it was used."""
    if undefined._undefined_hint:  # noqa: SLF001 - Jinja keeps what is known of it there
        return MissingPath(reworded(undefined._undefined_hint), None, None)  # noqa: SLF001 - same
    base, keys = _chain(undefined)
    if base is missing:
        return _unknown_name(keys)
    start = _path(base, roots, statement, keys)
    first, whole = start + _join(keys[:1]), start + _join(keys)
    message = f"{whole.lstrip('.')} is undefined"
    if len(keys) > 1:
        message += f" ({first.lstrip('.')} does not exist)"
    if not isinstance(base, (Mapping, list, tuple, range)):
        message += f" ({start.lstrip('.') or 'the value'} is {a(base)})"
    return MissingPath(message, _hint(keys[0], base), str(keys[0]))


def _chain(undefined: Undefined) -> tuple[object, list[object]]:
    """The innermost value that does exist, and the keys that were looked up from there on."""
    keys: deque[object] = deque(maxlen=_MAX_KEYS)
    current: object = undefined
    while isinstance(current, Undefined):
        keys.appendleft(current._undefined_name)  # noqa: SLF001 - Jinja keeps the key there
        current = current._undefined_obj  # noqa: SLF001 - and the parent here
    return current, list(keys)


def _unknown_name(keys: Sequence[object]) -> MissingPath:
    name, whole = str(keys[0]), _join(keys).lstrip(".")
    cause = f" ({name} does not exist)" if len(keys) > 1 else ""
    hint = suggest(name, NAMES, _filter_like(name))
    return MissingPath(f"{whole} is undefined{cause}", hint, name)


def _filter_like(name: str) -> str:
    near = nearest(name, FILTERS)
    if near:
        return f'there is a filter "{near}": write `value | {near}`'
    return "nothing sets this name; the request's parts are observed, desired, context and others"


def _hint(key: object, base: object) -> str | None:
    if isinstance(base, Mapping):
        return _hint_of_keys(str(key), base)
    if isinstance(base, (list, tuple, range)):
        return f"the list has {len(base)} items"
    return None


def _hint_of_keys(key: str, candidates: Iterable[object]) -> str:
    first = (str(each) for each in itertools.islice(candidates, _MAX_CANDIDATES))
    keys = [each for each in first if len(each) <= _MAX_KEY_LENGTH]
    if hint := suggest(key[:_MAX_KEY_LENGTH], tuple(keys)):
        return hint
    if not keys:
        return "the object is empty: `| default(value)` says what to take instead"
    shown = ", ".join(sorted(keys)[:_MAX_SHOWN])
    more = ", …" if len(keys) > _MAX_SHOWN else ""
    return f"available: {shown}{more}; `| default(value)` where it may be missing"


def _join(keys: Iterable[object]) -> str:
    return "".join(map(_step, keys))


def _step(key: object) -> str:
    if isinstance(key, str):
        key = key if len(key) <= _MAX_KEY_LENGTH else f"{key[:_MAX_KEY_LENGTH]}…"
        return f".{key}" if _WORD.match(key) else f'["{key}"]'
    return f"[{key}]"


def _path(base: object, roots: Mapping[str, object], statement: str, keys: Sequence[object]) -> str:
    """Where ``base`` stands: in the data if it is found there, else as the template says it."""
    if isinstance(base, (Mapping, list)):
        names = sorted(roots, key=lambda name: not re.search(rf"(?<![\w.]){name}\b", statement))
        budget = itertools.repeat(None, _MAX_VISITED)
        for name in names:
            found = _search(roots[name], base, budget)
            if found is not None:
                return name + _join(found)
    return _written(statement, keys)


def _written(statement: str, keys: Sequence[object]) -> str:
    key = re.escape(str(keys[0]))
    for found in re.finditer(rf"{_CHAIN}(?:\.{key}\b|\[[\"']?{key}[\"']?\])", statement):
        return found["chain"]
    return ""


def _search(root: object, wanted: object, budget: Iterable[None]) -> tuple[object, ...] | None:
    """The keys from ``root`` to the very object ``wanted``, the nearest first."""
    pending: deque[tuple[tuple[object, ...], object]] = deque([((), root)])
    for _ in budget:
        if not pending:
            return None
        way, value = pending.popleft()
        if value is wanted:
            return way
        pending.extend(((*way, key), child) for key, child in _children(value))
    return None


def _children(value: object) -> Iterator[tuple[object, object]]:
    if isinstance(value, Lazy):
        # An object that a template has got hold of was built, so only those need be searched.
        value = value.built()
    if isinstance(value, Mapping):
        yield from ((key, child) for key, child in value.items() if _is_container(child))
    elif isinstance(value, list):
        yield from ((index, child) for index, child in enumerate(value) if _is_container(child))


def _is_container(value: object) -> bool:
    return isinstance(value, (Mapping, list))
