"""Descriptions of missing values: the path in the data, and suggestions.

The path is found by a search of the data for the very object in which the lookup failed, and only
when an error is reported.
"""

import itertools
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from jinja2 import Undefined
from jinja2.utils import missing

from function_script.engines import habits, missing_values
from function_script.engines.jinja import exceptions, hints, lookups, wording
from function_script.engines.jinja.filters import FILTERS
from function_script.request.lazy import Lazy
from function_script.texts import field_names
from function_script.texts.problems import suggest

_MAX_VISITED = 200_000
_MAX_LISTED = 8
_MAX_KEYS = 20
_MAX_KEY_LENGTH = 64
_MAX_CANDIDATES = 1_000
_MAX_LINE = 300  # of what is searched, and of a key that is searched for
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_OBSERVED = re.compile(
    rf'{re.escape(missing_values.OBSERVED)}(?:\.(?P<word>\w+)|\["(?P<text>[^"]+)"\])'
)
# A chain of lookups: a name, a call or a text, then keys.
_CHAIN = r"""(?P<chain>(?:"[^"]*"|'[^']*'|[A-Za-z_]\w*)(?:\.\w+|\[[^\[\]]*\]|\([^()]*\))*?)"""


class MissingPath(NamedTuple):
    """The description of a missing value; ``name`` is the missing key to underline.

    ``is_open``: nothing says that the key is a mistake, so the value may be there in another run.
    ``resource`` is the name of the observed resource that it is one of, if it is one.
    """

    message: str
    hint: str | None
    name: str | None
    is_open: bool = False
    resource: str = ""


def describe(
    undefined: Undefined, roots: Mapping[str, object], statement: str, template: str
) -> MissingPath:
    """Describe the path that does not exist; ``statement`` is the part that used it."""
    base, keys, words = _chain(undefined)
    if words:
        advice = "pass it in the call, or give it a default in the macro"
        is_parameter = wording.is_parameter(words)
        return MissingPath(wording.reword(words), advice if is_parameter else None, None)
    if base is missing:
        return _unknown_name(keys, roots, statement, template)
    start = _path(base, roots, statement, keys)
    first, whole = start + _join(keys[:1]), start + _join(keys)
    message = f"{whole.lstrip('.')} is undefined"
    if len(keys) > 1:
        message += f" ({first.lstrip('.')} does not exist)"
    if not isinstance(base, (Mapping, list, tuple, range)):
        message += f" ({start.lstrip('.') or 'the value'} is {exceptions.type_of(base)})"
    hint = _correction_of(base, keys[0], statement, start)
    key = _value_at(keys, roots)
    if isinstance(base, Mapping) and isinstance(key, str) and key in base:
        hint = f"write {start.lstrip('.')}[{_join(keys)[1:]}]"
    if hint is None and "_" in str(keys[-1]) and keys[-1] in FILTERS:
        hint = f"write `value | {keys[-1]}`"
    if hint is None and isinstance(base, str):
        hint = _loop_hint(base, start, roots, template)
    is_open = hint is None and isinstance(base, (type(None), Mapping, list, tuple, range))
    if is_open:
        hint = _describe_holder(base, start, statement)
    resource = match["word"] or match["text"] if (match := _OBSERVED.match(whole)) else ""
    return MissingPath(message, hint, str(keys[0]), is_open, resource)


def _correction_of(base: object, key: object, statement: str, path: str) -> str | None:
    """Return the hint for a key that the value at a path cannot have, or has in another form."""
    name = str(key)
    if isinstance(base, str):
        return habits.find("jinja", name, "text") or suggest(name, lookups.STRING_METHODS)
    if isinstance(base, (list, tuple, range)):
        return _correction_of_list(key)
    hint = habits.find("jinja", name, "object") if f".{name}(" in statement else None
    if not isinstance(base, Mapping):
        return hint
    if missing_values.is_below_resource(name, base.keys()):
        return f"the object is below resource: write {path.lstrip('.')}.resource.{name}"
    if re.search(rf"\.{re.escape(name)}(?:-\w|[\w.-]*/\w)", statement):
        hint = hints.key_hint(statement, name)
    loop = re.search(rf"\bfor [\w, ]+ in [\w.]*\b{re.escape(name)} *[-+]?%}}", statement)
    # No loop goes over a text or a number, whatever its name.
    candidates = (k for k in _keys_of(base) if loop is None or _is_container(base[k]))
    return hint or suggest(name[:_MAX_KEY_LENGTH], tuple(candidates))


def _correction_of_list(key: object) -> str | None:
    if not isinstance(key, str):
        return None
    advice = "this is a list: its items have numbers, as in [0], or a loop goes over them"
    return habits.find("jinja", key, "list") or advice


def _describe_holder(holder: object, path: str, statement: str) -> str | None:
    """Return what the value at a path has instead of a key."""
    if isinstance(holder, (list, tuple, range)):
        counted = "; loop.index counts from 1, and loop.index0 from 0" * (
            "[loop.index]" in statement
        )
        return f"the list has {len(holder)} item{'s' * (len(holder) != 1)}{counted}"
    if not isinstance(holder, Mapping):
        return None
    if not holder and path == missing_values.OBSERVED:
        return "no resource is observed yet"
    names = field_names.listed(_keys_of(holder), _MAX_LISTED)
    return f"it has {names}" if names else f"{path.lstrip('.')} is empty"


def _loop_hint(base: str, name: str, roots: Mapping[str, object], template: str) -> str | None:
    """Return the hint for a key of an object that a loop goes over, read like one of its values."""
    pattern = rf"\bfor\s+{re.escape(name)}\s+in\s+(.+?)\s*[-+]?%\}}"
    loops = re.findall(pattern, _without_long_lines(template))
    # Of several loops with the name, any may be the one.
    (path,) = loops if len(loops) == 1 else ("",)
    value = _value_at(path.split("."), roots)
    if not isinstance(value, Mapping) or base not in value:
        return None
    return f"a loop over an object has its keys: write `for key, value in {path}.items()`"


def _value_at(path: Iterable[object], roots: Mapping[str, object]) -> object:
    value: object = roots
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _keys_of(holder: Mapping[object, object]) -> list[str]:
    first = (str(each) for each in itertools.islice(holder, _MAX_CANDIDATES))
    return [each for each in first if len(each) <= _MAX_KEY_LENGTH]


def _chain(undefined: Undefined) -> tuple[object, list[object], str]:
    """Return the innermost value that exists, the keys that were looked up from there, and words.

    These are Jinja's own about the first key, such as that of a macro's parameter; else "".
    """
    keys: deque[object] = deque(maxlen=_MAX_KEYS)
    current: object = undefined
    words = ""
    while isinstance(current, Undefined):
        key = current._undefined_name  # noqa: SLF001 - Jinja keeps the key there
        keys.appendleft(key[:_MAX_LINE] if isinstance(key, str) else key)
        words = current._undefined_hint or ""  # noqa: SLF001 - and what it says about it
        current = current._undefined_obj  # noqa: SLF001 - and the parent here
    return current, list(keys), words


def _unknown_name(
    keys: Sequence[object], roots: Mapping[str, object], statement: str, template: str
) -> MissingPath:
    name, whole = str(keys[0]), _join(keys).lstrip(".")
    cause = f" ({name} does not exist)" if len(keys) > 1 else ""
    otherwise: str | None = (
        "nothing sets this name; the request's parts are observed, desired, context and others"
    )
    spec = roots.get("spec")
    # The argument of `get` may also lack its quotes.
    if isinstance(spec, Mapping) and name in spec and f"get({name}" not in statement:
        otherwise = f"write spec.{name}"
    template = _without_long_lines(template)
    own = re.findall(r"\{%[-+]? *(?:set|macro|for) +(\w+)", template)
    # A name that is set in another scope, as in `{% set n = n + 1 %}` in a loop.
    otherwise = None if name in own else otherwise
    holder = re.search(rf"([\w.]+)\[\s*{re.escape(name)}\s*\]", statement)
    is_key = holder and _value_at([*holder[1].split("."), name], roots) is not None
    hint = hints.unset_hint(name, statement, template, own, otherwise)
    hint = hints.QUOTES.format(name) if is_key else hint
    return MissingPath(f"{whole} is undefined{cause}", hint, name)


def _without_long_lines(template: str) -> str:
    """Return the lines in which a search for a tag cannot take the square of a great length."""
    return "\n".join(line for line in template.split("\n") if len(line) <= _MAX_LINE)


def _join(keys: Iterable[object]) -> str:
    steps = []
    for key in keys:
        if isinstance(key, str):
            shortened = key if len(key) <= _MAX_KEY_LENGTH else f"{key[:_MAX_KEY_LENGTH]}…"
            steps.append(f".{shortened}" if _WORD.match(shortened) else f'["{shortened}"]')
        else:
            steps.append(f"[{key}]")
    return "".join(steps)


def _path(base: object, roots: Mapping[str, object], statement: str, keys: Sequence[object]) -> str:
    """Return the path of ``base`` in the data, else the expression in the template."""
    if isinstance(base, (Mapping, list)):
        names = sorted(roots, key=lambda name: not re.search(rf"(?<![\w.]){name}\b", statement))
        budget = itertools.repeat(None, _MAX_VISITED)
        for name in names:
            path = _search(roots[name], base, budget)
            if path is not None:
                return name + _join(path)
    key = re.escape(str(keys[0]))
    match = re.search(rf"{_CHAIN}(?:\.{key}\b|\[[\"']?{key}[\"']?\])", statement)
    return match["chain"] if match else ""


def _search(root: object, target: object, budget: Iterable[None]) -> tuple[object, ...] | None:
    """Return the keys from ``root`` to the very object ``target``, the nearest first."""
    pending: deque[tuple[tuple[object, ...], object]] = deque([((), root)])
    for _ in budget:
        if not pending:
            return None
        path, value = pending.popleft()
        if value is target:
            return path
        pending.extend(((*path, key), child) for key, child in _children(value))
    return None


def _children(value: object) -> Iterator[tuple[object, object]]:
    if isinstance(value, Lazy):
        # An object that a template has read was built, so only built ones are searched.
        value = value.memo
    if isinstance(value, Mapping):
        yield from ((key, child) for key, child in value.items() if _is_container(child))
    elif isinstance(value, list):
        yield from ((index, child) for index, child in enumerate(value) if _is_container(child))


def _is_container(value: object) -> bool:
    return isinstance(value, (Mapping, list))
