"""The messages between a command and the supervisor of one of its functions: JSON in datagrams.

The command sends an `Assignment` and then any number of `STATUS` requests. The end of the socket
ends the supervisor and the function. Named tuples, because `dataclasses` is slow to import.
"""

import json
from typing import Final, Literal, NamedTuple, TypeAlias

MAX_MESSAGE_BYTES: Final = 128 << 10
STATUS: Final = b"status"

# listening: the function accepts connections. status: the answer to a request. exited: it ended.
# flooded: it was ended because of its log. refused: the system refused ``call``. inexecutable: its
# entrypoint is no program.
State: TypeAlias = Literal["listening", "status", "exited", "flooded", "refused", "inexecutable"]


class Assignment(NamedTuple):
    """The function to run: an image's command and directory, and the port that it listens on.

    ``user`` is the one that the image names, by name or number. It has a home, and runs nothing.
    """

    arguments: tuple[str, ...]
    environment: dict[str, str]
    working_directory: str
    user: str
    directory: str = ""
    port: int = 0
    is_confined: bool = True


class Report(NamedTuple):
    """The state of a function.

    ``status`` is an exit status as in ``subprocess``, ``log`` the end of what it printed, ``ports``
    are those that it listens on. ``call`` and ``errno`` are of a refused system call.
    """

    state: State
    status: int = 0
    log: str = ""
    ports: tuple[int, ...] = ()
    call: str = ""
    errno: int = 0


def encode(message: Assignment | Report) -> bytes:
    """Format as JSON, by the names of the fields."""
    return json.dumps(message._asdict()).encode()
