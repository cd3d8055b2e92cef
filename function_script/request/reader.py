"""Reader of untrusted objects, field by field: inputs, returned values, meta documents.

Problems are collected with the path of their field, so that all of them are reported at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeGuard, TypeVar

from function_script.request.values import Object, Value, text_hint, type_name, type_phrase
from function_script.texts import spelling
from function_script.texts.diagnostics import Code, cut
from function_script.texts.problems import ProblemList, list_choices, suggest

# Of more fields, a list says less than the documentation.
_MAX_NAMES: Final = 8
# Of a longer text the beginning shows what it is.
_MAX_TEXT: Final = 80
T = TypeVar("T")
NO_HINTS: Final[Mapping[str, str]] = {}


class ObjectReader:
    """An object and its path. A getter adds a problem to the list and returns the absent value.

    ``path`` is a text, or the reader of the holder and the key there: the text is only built for
    a problem.
    """

    __slots__ = ("_path", "problems", "value")

    def __init__(
        self, value: Object, path: str | tuple[ObjectReader, str], problems: ProblemList
    ) -> None:
        self.value = value
        self.problems = problems
        self._path = path

    @property
    def path(self) -> str:
        """Return the object's path, such as ``spec.rules[0]``; empty for the outermost."""
        if isinstance(self._path, str):
            return self._path
        holder, key = self._path
        return holder.at(key)

    def at(self, key: str) -> str:
        """Return the path of the field ``key``."""
        return child(self.path, key)

    def noting(self, problems: ProblemList) -> ObjectReader:
        """Return a reader of the same object that adds its problems to ``problems``."""
        return ObjectReader(self.value, self._path, problems)

    def refuse_unknown(
        self, *names: str, hint: str | None = None, hints: Mapping[str, str] = NO_HINTS
    ) -> None:
        """Add a problem for every field that is not in ``names``.

        ``hints`` are those of fields that authors are known to confuse with others.
        """
        unknown = [key for key in self.value if key not in names]
        if not unknown:
            return
        unknown.sort()
        if hint is None and len(names) <= _MAX_NAMES:
            hint = list_choices(names)
        for key in unknown:
            advice = hints.get(key) or suggest(key, names, hint)
            code = Code("unknown-field", key)
            self.problems.add(self.at(key), "unknown field", hint=advice, code=code)

    def refuse_misspelt(self, *names: str) -> None:
        """Add a problem for each key that is one of ``names`` but for a typo; others may exist."""
        for key in sorted(self.value.keys() - set(names)):
            if hint := suggest(key, names):
                self.problems.add(self.at(key), "unknown field", hint=hint)

    def text(self, key: str, *, required: bool = False) -> str | None:
        """Return a string; when ``required`` it must be present and not empty."""
        value = self.value.get(key)
        if isinstance(value, str) and value:
            # Nearly every text. The general way is slower: it takes its type as an argument.
            return value
        text = self._typed(key, str, "a string", required=required)
        if required and text == "":
            self.problems.add(self.at(key), "must not be empty")
        return text

    def flag(self, key: str) -> bool | None:
        """Return a boolean."""
        return self._typed(key, bool, "a boolean")

    def object(self, key: str, *, required: bool = False) -> ObjectReader | None:
        """Return a reader of an object."""
        value = self.value.get(key)
        if not isinstance(value, dict):
            self._typed(key, dict, "an object", required=required)
            return None
        return ObjectReader(value, (self, key), self.problems)

    def objects(self, key: str) -> Iterator[ObjectReader]:
        """Yield a reader of each object in a list."""
        items: list[Value] | None = self._typed(key, list, "a list")
        for index, item in enumerate(items or ()):
            path = f"{self.at(key)}[{index}]"
            if isinstance(item, dict):
                yield ObjectReader(item, path, self.problems)
            else:
                self._mismatch(path, "an object", item)

    def members(self) -> Iterator[tuple[str, ObjectReader]]:
        """Yield every key with a reader of its object."""
        for key, item in self.value.items():
            if isinstance(item, dict):
                yield key, ObjectReader(item, (self, key), self.problems)
            else:
                self._mismatch(self.at(key), "an object", item)

    def texts(self, key: str) -> dict[str, str] | None:
        """Return an object whose values are all strings, such as labels; others are left out.

        Without any others it is no copy, so it must not be changed.
        """
        members = self.value.get(key)
        if isinstance(members, dict) and are_texts(members):
            return members
        member = self.object(key)
        if member is None:
            return None
        texts: dict[str, str] = {}
        for name, item in member.value.items():
            if isinstance(item, str):
                texts[name] = item
            else:
                self._mismatch(member.at(name), "a string", item)
        return texts

    def choice(
        self, key: str, choices: Mapping[str, T], *, required: bool = False, exact: bool = False
    ) -> T | None:
        """Return the value in ``choices`` for the field's text; a boolean is "True" or "False".

        ``exact``: booleans are refused, and so are the protocol's long names.
        """
        value = self.value.get(key)
        if value is None:
            if required:
                self._add_missing(key)
            return None
        if exact:
            choices = {name: choices[name] for name in public_names(choices)}
        if isinstance(value, str) and value in choices:
            return choices[value]
        word = str(value) if isinstance(value, (str, bool)) else None
        # A template prints a boolean in lower case.
        word = {"true": "True", "false": "False"}.get(word or "", word)
        if exact or word is None or word not in choices:
            actual = f'"{cut(value, _MAX_TEXT)}"' if isinstance(value, str) else type_name(value)
            hint = suggest(str(value), choices)
            names = ", ".join(sorted(public_names(choices)))
            self.problems.add(self.at(key), f"must be one of {names}, not {actual}", hint=hint)
            return None
        return choices[word]

    def parsed(self, key: str, parse: Callable[[str], T]) -> T | None:
        """Return a parsed string; a ValueError of ``parse`` becomes a problem."""
        value = self.value.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            # A value that lacks quotes may be wrong with them, too.
            self.problems.add(self.at(key), f"must be a string, not {type_phrase(value)}")
            return None
        text = self.text(key)
        if text is None:
            return None
        try:
            return parse(text)
        except ValueError as error:
            self.problems.add(self.at(key), str(error))
            return None

    def _typed(self, key: str, kind: type[T], name: str, *, required: bool = False) -> T | None:
        value = self.value.get(key)
        if value is None:
            if required:
                self._add_missing(key)
            return None
        if not isinstance(value, kind):
            self._mismatch(self.at(key), name, value)
            return None
        return value

    def _add_missing(self, key: str) -> None:
        """Add the problem of a required field; a key that is misspelt is its hint."""
        other = spelling.nearest(key, self.value)
        if other is None or other == key:
            self.problems.add(self.at(key), "is required")
        else:
            problem = f'there is no such field, and "{key}" is required'
            self.problems.add(self.at(other), problem, hint=f"write {key}")

    def _mismatch(self, path: str, expected: str, value: Value) -> None:
        hint = text_hint(value) if expected == "a string" else None
        self.problems.add(path, f"must be {expected}, not {type_phrase(value)}", hint=hint)


def are_texts(members: Object) -> TypeGuard[dict[str, str]]:
    """Report whether all values of an object are strings."""
    for item in members.values():  # noqa: SIM110 # compiled, a loop is faster than a generator
        if not isinstance(item, str):
            return False
    return True


def child(path: str, key: str) -> str:
    """Return the path of a key: ``spec.size``, and ``spec["a b"]`` for other than plain words."""
    if key.replace("_", "").replace("-", "").isalnum():
        return f"{path}.{key}" if path else key
    return f"{path}[{json.dumps(key, ensure_ascii=False)}]"


def format_path(path: Iterable[str | int]) -> str:
    """Write a path as in ``spec.rules[0].host``."""
    text = ""
    for part in path:
        text = f"{text}[{part}]" if isinstance(part, int) else child(text, part)
    return text


def public_names(choices: Mapping[str, object]) -> list[str]:
    """Return the names without the protocol's long ones (``SEVERITY_WARNING``)."""
    return [name for name in choices if "_" not in name]
