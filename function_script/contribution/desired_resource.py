"""One composed resource of a contribution.

There may be hundreds of them in a request. This is a plain class, since mypyc creates one in a
tenth of the time that it takes for a dataclass.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from function_script.contribution.ordering import ResourcePolicy
from function_script.request.values import Object


class DesiredResource:
    """A composed resource that the step creates, changes or removes.

    ``resource`` None: the step removes it. It may be shared between requests, so it must not be
    changed. Its null fields are dropped, or sent with ``keeps_nulls``. ``ready`` None: the step
    does not set it. ``replace``: it replaces an earlier step's entry and is not merged into it.
    ``policy`` None: the step sets neither dependencies nor rules of readiness. ``key`` identifies
    everything that the entry was read from, for caches of what is derived from it; None: not
    cacheable.
    """

    def __init__(  # noqa: PLR0913 # the fields of an entry
        self,
        *,
        resource: Object | None,
        ready: int | None = None,
        replace: bool = True,
        policy: ResourcePolicy | None = None,
        keeps_nulls: bool = False,
        key: Hashable = None,
    ) -> None:
        self.resource: Final = resource
        self.ready: Final = ready
        self.replace: Final = replace
        self.policy: Final = policy
        self.keeps_nulls: Final = keeps_nulls
        self.key: Final = key

    def __eq__(self, other: object) -> bool:
        """Compare all fields but ``key``: the same entry may have been read from other texts."""
        return isinstance(other, DesiredResource) and self._fields() == other._fields()

    __hash__ = None  # type: ignore[assignment] # it holds dicts

    def with_ready(self, ready: int) -> DesiredResource:
        """Return a copy with this readiness."""
        return DesiredResource(
            resource=self.resource,
            ready=ready,
            replace=self.replace,
            policy=self.policy,
            keeps_nulls=self.keeps_nulls,
            key=None if self.key is None else (self.key, ready),
        )

    def _fields(self) -> tuple[object, ...]:
        return (self.resource, self.ready, self.replace, self.policy, self.keeps_nulls)
