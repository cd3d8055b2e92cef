"""Reading untrusted objects field by field: inputs, what a script returned, meta documents.

Every problem is kept with the path to its field, so that all of them can be told at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from function_script.problems import ProblemList, suggest
from function_script.values import Object, Value, type_name, type_phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

T = TypeVar("T")


class ObjectReader:
    """One object at a path. A getter that finds a problem notes it and gives the absent value.

    ``path`` is a text, or the Fields that hold the object and its key there: nearly always
    nobody asks for the text.
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
        """Where the object stands, such as ``spec.rules[0]``; empty for the outermost."""
        if isinstance(self._path, str):
            return self._path
        holder, key = self._path
        return holder.at(key)

    def at(self, key: str) -> str:
        """The path of the field ``key``."""
        return child(self.path, key)

    def noting(self, problems: ProblemList) -> ObjectReader:
        """The same object, of which ``problems`` takes what is wrong."""
        return ObjectReader(self.value, self._path, problems)

    def refuse_unknown(self, *known: str, hint: str | None = None) -> None:
        """Note every field that is not ``known``, with the nearest name that is."""
        unknown = [key for key in self.value if key not in known]
        unknown.sort()
        for key in unknown:
            self.problems.add(self.at(key), "unknown field", hint=suggest(key, known, hint))

    def text(self, key: str, *, required: bool = False) -> str | None:
        """A string; when ``required`` it must be there and must not be empty."""
        found = self._typed(key, str, "a string", required=required)
        if required and found == "":
            self.problems.add(self.at(key), "must not be empty")
        return found

    def flag(self, key: str) -> bool | None:
        """A boolean."""
        return self._typed(key, bool, "a boolean")

    def object(self, key: str, *, required: bool = False) -> ObjectReader | None:
        """An object, as Fields of its own."""
        found: Object | None = self._typed(key, dict, "an object", required=required)
        return None if found is None else ObjectReader(found, (self, key), self.problems)

    def objects(self, key: str) -> Iterator[ObjectReader]:
        """The objects of a list."""
        found: list[Value] | None = self._typed(key, list, "a list")
        for index, item in enumerate(found or ()):
            path = f"{self.at(key)}[{index}]"
            if isinstance(item, dict):
                yield ObjectReader(item, path, self.problems)
            else:
                self._mismatch(path, "an object", item)

    def members(self, *, nullable: bool = False) -> Iterator[tuple[str, ObjectReader | None]]:
        """Every key with its object; with ``nullable``, None for keys whose value is null."""
        for key, item in self.value.items():
            if isinstance(item, dict):
                yield key, ObjectReader(item, (self, key), self.problems)
            elif item is None and nullable:
                yield key, None
            else:
                self._mismatch(self.at(key), "an object", item)

    def texts(self, key: str) -> dict[str, str] | None:
        """An object whose values are all strings, such as labels."""
        found = self.object(key)
        if found is None:
            return None
        texts = {name: item for name, item in found.value.items() if isinstance(item, str)}
        if len(texts) < len(found.value):
            for name in [name for name in found.value if name not in texts]:
                self._mismatch(found.at(name), "a string", found.value[name])
        return texts

    def choice(
        self, key: str, choices: Mapping[str, T], *, required: bool = False, exact: bool = False
    ) -> T | None:
        """What ``choices`` holds for the field's text; a boolean is read as "True" or "False".

        ``exact``: it is not, and the text must be one of the short names as they are spelt.
        """
        found = self.value.get(key)
        if found is None:
            if required:
                self.problems.add(self.at(key), "is required")
            return None
        if exact:
            choices = {name: choices[name] for name in public_names(choices)}
        if isinstance(found, str) and found in choices:
            return choices[found]
        word = str(found) if isinstance(found, (str, bool)) else None
        # What a template prints for a boolean.
        word = {"true": "True", "false": "False"}.get(word or "", word)
        if exact or word is None or word not in choices:
            shown = f'"{found}"' if isinstance(found, str) else type_name(found)
            hint = suggest(str(found), choices)
            allowed = ", ".join(sorted(public_names(choices)))
            self.problems.add(self.at(key), f"must be one of {allowed}, not {shown}", hint=hint)
            return None
        return choices[word]

    def parsed(self, key: str, parse: Callable[[str], T]) -> T | None:
        """A string in a notation of its own; ``parse`` raises ValueError to refuse it."""
        found = self.text(key)
        if found is None:
            return None
        try:
            return parse(found)
        except ValueError as error:
            self.problems.add(self.at(key), str(error))
            return None

    def _typed(self, key: str, kind: type[T], name: str, *, required: bool = False) -> T | None:
        found = self.value.get(key)
        if found is None:
            if required:
                self.problems.add(self.at(key), "is required")
            return None
        if not isinstance(found, kind):
            self._mismatch(self.at(key), name, found)
            return None
        return found

    def _mismatch(self, path: str, expected: str, found: Value) -> None:
        self.problems.add(path, f"must be {expected}, not {type_phrase(found)}")


def child(path: str, key: str) -> str:
    """``spec.size``, and ``spec["a b"]`` for keys that are not plain words."""
    if key.replace("_", "").replace("-", "").isalnum():
        return f"{path}.{key}" if path else key
    return f'{path}["{key}"]'


def public_names(choices: Mapping[str, object]) -> list[str]:
    """The spellings to show people: without the protocol's long ones (``SEVERITY_WARNING``)."""
    return [name for name in choices if "_" not in name]
