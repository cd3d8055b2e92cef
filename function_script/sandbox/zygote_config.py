"""What a pool tells its zygote, or a plain worker, on the command line."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, dataclass

from function_script.limits import Limits

# A zygote that has been ready and is silent for longer is stuck.
ANSWER_SECONDS = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ZygoteConfig:
    """``module`` has ``handle(data, limits, on_limits)``; ``preload`` modules serve it later.

    ``rehearsals`` are requests to handle once before any worker exists, so that every worker is
    born with what the first request of its kind would have to load. ``capacity_bytes``: a request
    may have so many, and so may a response with its report.
    """

    module: str
    preload: tuple[str, ...]
    rehearsals: tuple[bytes, ...]
    limits: Limits
    max_runs: int
    capacity_bytes: int

    def to_json(self) -> str:
        """One line of text."""
        encoded = [base64.b64encode(request).decode() for request in self.rehearsals]
        return json.dumps(asdict(self) | {"rehearsals": encoded})

    @classmethod
    def from_json(cls, text: str) -> ZygoteConfig:
        """The settings in the text that ``to_json`` wrote."""
        document = json.loads(text)
        return cls(
            module=document["module"],
            preload=tuple(document["preload"]),
            rehearsals=tuple(base64.b64decode(request) for request in document["rehearsals"]),
            limits=Limits(**document["limits"]),
            max_runs=document["max_runs"],
            capacity_bytes=document["capacity_bytes"],
        )
