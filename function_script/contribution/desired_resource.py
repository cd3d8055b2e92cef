"""One composed resource, as the readers of results make it for whoever merges it.

There may be hundreds in a result: a plain class, for compiled it is made in a tenth of the time
that a dataclass takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Hashable

    from function_script.contribution.model import ResourcePolicy
    from function_script.values import Object


class DesiredResource:
    """One composed resource the step has an opinion on.

    ``resource`` None: the step removes it; it may be shared, and hold null fields that mean
    nothing, so it is not to be changed. ``replace``: it takes the place of an earlier step's
    entry instead of merging into it. ``ready`` None: not said. ``key``: all that the entry was
    read from, for whoever remembers what is derived from it; None: not worth remembering.
    ``order`` None: nothing is said about what it waits for or when it is ready. ``keeps_nulls``:
    null fields do mean something, and are sent.
    """

    def __init__(  # noqa: PLR0913 # what can be said of a resource
        self,
        *,
        resource: Object | None,
        ready: int | None = None,
        replace: bool = True,
        order: ResourcePolicy | None = None,
        keeps_nulls: bool = False,
        key: Hashable = None,
    ) -> None:
        self.resource: Final = resource
        self.ready: Final = ready
        self.replace: Final = replace
        self.order: Final = order
        self.keeps_nulls: Final = keeps_nulls
        self.key: Final = key

    def __eq__(self, other: object) -> bool:
        """Whether both say the same, wherever they were read."""
        return isinstance(other, DesiredResource) and self._said() == other._said()

    __hash__ = None  # type: ignore[assignment] # it holds dicts

    def judged(self, ready: int) -> DesiredResource:
        """The same with this readiness."""
        return DesiredResource(
            resource=self.resource,
            ready=ready,
            replace=self.replace,
            order=self.order,
            keeps_nulls=self.keeps_nulls,
            key=None if self.key is None else (self.key, ready),
        )

    def _said(self) -> tuple[object, ...]:
        return (self.resource, self.ready, self.replace, self.order, self.keeps_nulls)
