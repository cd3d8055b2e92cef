"""The facts about a request by which its pool schedules it."""

from collections.abc import Hashable
from typing import NamedTuple


class RequestIdentity(NamedTuple):
    """The owner and the program of a request; each is None if it is unknown.

    Requests that wait are served round robin by ``owner``. ``program`` is the same for all owners,
    and what it costs is estimated by it.
    """

    owner: Hashable = None
    program: Hashable = None

    @property
    def key(self) -> Hashable:
        """The program of this owner, which is penalized for a lost worker; None if unknown."""
        return None if self.owner is None else (self.owner, self.program)
