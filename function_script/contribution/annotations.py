"""The annotations of documents that address this function, by their keys.

The keys are looked up in every document, so each set is built once.
"""

from typing import Final

from function_script.request.objects import MOVED_TO
from function_script.request.values import Object

MOVED_FROM: Final = "script.fn.crossplane.io/moved-from"
"""Annotation of documents of every dialect, with names that the resource had before."""


class Annotations:
    """The keys below ``prefix``.

    ``owns_prefix``: every key with the prefix is removed from the resource. Otherwise only
    the resource's name and ``ready`` are, which are all that function-go-templating reads, and
    ``moved-from``, which is ours.
    """

    def __init__(self, prefix: str, *, owns_prefix: bool) -> None:
        self.prefix: Final = prefix
        self._owns_prefix: Final = owns_prefix
        self._start: Final = f"{prefix}/"
        self.name: Final = f"{prefix}/composition-resource-name"
        self.ready: Final = f"{prefix}/ready"
        self.merge: Final = f"{prefix}/merge"
        self.depends_on: Final = f"{prefix}/depends-on"
        self.ready_when: Final = f"{prefix}/ready-when"
        self.usages: Final = f"{prefix}/usages"
        self.moved_from: Final = MOVED_FROM
        self.keys: Final = (
            *(self.name, self.ready, self.merge, self.depends_on),
            *(self.ready_when, self.usages, MOVED_FROM),
        )
        self._expected: Final = frozenset({*self.keys, MOVED_TO})

    def is_own(self, key: str) -> bool:
        """Report whether an annotation is for the function, and not part of the resource."""
        if self._owns_prefix:
            return key.startswith(self._start)
        return key in {self.name, self.ready, MOVED_FROM}

    def unknown_in(self, annotations: Object) -> list[str]:
        """List the keys that have the prefix and no meaning."""
        start, expected = self._start, self._expected
        return [key for key in annotations if key.startswith(start) and key not in expected]
