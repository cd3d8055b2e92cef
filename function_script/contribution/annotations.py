"""The annotations of composed resources that are meant for a function, by their keys.

Each set is made once: the keys are looked for in every document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from function_script.values import Object

_NAMES: Final = (
    "composition-resource-name",
    "ready",
    "merge",
    "depends-on",
    "ready-when",
    "usages",
)


class Annotations:
    """The keys below ``prefix``.

    ``claims_all``: whatever has the prefix is meant for us; else only a resource's name and
    ``ready``, which are all that function-go-templating reads.
    """

    def __init__(self, prefix: str, *, claims_all: bool) -> None:
        self.prefix: Final = prefix
        self._claims_all: Final = claims_all
        self._before: Final = f"{prefix}/"
        keys = [f"{prefix}/{name}" for name in _NAMES]
        self.known: Final = tuple(keys)
        self.name: Final = keys[0]
        self.ready: Final = keys[1]
        self.merge: Final = keys[2]
        self.depends_on: Final = keys[3]
        self.ready_when: Final = keys[4]
        self.usages: Final = keys[5]

    def claims(self, key: str) -> bool:
        """Whether an annotation is for us, and goes no further."""
        if self._claims_all:
            return key.startswith(self._before)
        return key in (self.name, self.ready)

    def unknown_in(self, stated: Object) -> list[str]:
        """The keys with the prefix that are none of these."""
        before = self._before
        return [key for key in stated if key.startswith(before) and key not in self.known]
