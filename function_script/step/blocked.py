"""A resource that is withheld, and the reason: from the step that withholds it to the tools."""

from typing import NamedTuple


class Blocked(NamedTuple):
    """A withheld subject and the reason: ``for vpc``, ``because spec.size is undefined``.

    ``dependencies`` are the names of the resources that it waits for.
    """

    subject: str
    reason: str
    dependencies: tuple[str, ...] = ()
